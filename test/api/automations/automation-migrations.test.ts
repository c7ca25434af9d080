import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { moveContacts } from '../../../src/automations/migrating/job.ts';
import { recoverableMigrations } from '../../../src/automations/migrating/service.ts';
import { createRecovery } from '../../../src/store/outbox/recovery.ts';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let own: AutomationHand;
let other: AutomationHand;
let used = 0;

beforeAll(async () => {
  database = await testDatabase();
  // Nothing is started here: the job is run by hand.
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  own = automationHand(api, await aProject(database));
  other = automationHand(api, await aProject(database, 'Umbrella'));
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** An automation with people at its TRIGGER; its second version has another delay. */
async function inside(people: number) {
  const { id, trigger } = await own.automation();
  const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' }, { name: 'Wait' });
  const exit = await own.step(id, 'EXIT', {}, { name: 'Done' });
  await own.enable(id);
  for (let n = 0; n < people; n++) {
    const contactId = await own.contact(addresses(1, used++)[0] ?? '');
    await own.done('POST', `/workflows/${id}/executions`, { contactId });
  }
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { config: { amount: 5, unit: 'days' } });
  return { id, trigger, wait, exit };
}
const migrate = (id: string, body: object) => own.call('POST', `/workflows/${id}/migrate`, body);
const move = (migrationId: string, peoplePerChunk: number, stop = new AbortController().signal) =>
  moveContacts({ db: database.db }, migrationId, {
    stop,
    longestMs: 600_000,
    onChunk() {},
    peoplePerChunk,
  });

test('a dry run tells whom each rule meets and moves nobody', async () => {
  const { id, trigger } = await inside(2);
  const preview = await migrate(id, { dryRun: true });
  expect([preview.status, preview.body]).toEqual([
    200,
    {
      dryRun: true,
      toVersion: 2,
      people: 2,
      rules: [
        {
          stepId: trigger,
          stepName: 'Trigger: user.signup',
          stepType: 'TRIGGER',
          action: 'finish',
          toStepId: null,
          people: 2,
        },
      ],
    },
  ]);
  expect(await database.db.rows('select from automation_migrations where automation_id = $1', [id])).toEqual([]);
});

test('rules that cannot work are refused by their place in the plan', async () => {
  const { id, trigger, wait, exit } = await inside(1);
  const refused = async (body: object) => {
    for (const dryRun of [true, false]) {
      const { status, body: answer } = await migrate(id, { ...body, dryRun });
      expect(status).toBe(422);
      if (!dryRun) return answer.error.errors.map(({ field }: { field: string }) => field);
    }
  };
  const now = { action: 'moveNow' };
  expect(await refused({ plan: [{ stepId: wait, ...now }] })).toEqual(['plan.0.toStepId']);
  expect(await refused({ plan: [{ stepId: wait, ...now, toStepId: randomUUID() }] })).toEqual(['plan.0.toStepId']);
  expect(await refused({ plan: [{ stepId: wait, ...now, toStepId: trigger }] })).toEqual(['plan.0.toStepId']);
  expect(await refused({ plan: [{ stepId: randomUUID(), action: 'exit' }] })).toEqual(['plan.0.stepId']);
  const twice = [exit, wait, wait].map((stepId) => ({ stepId, action: 'finish' }));
  expect(await refused({ plan: twice })).toEqual(['plan.2.stepId']);
  expect(await refused({ otherwise: now })).toEqual(['otherwise.toStepId']);
  expect(await refused({ plan: [{ stepId: wait, action: 'teleport' }] })).toEqual(['plan.0.action']);
  expect(await refused({ plan: [{ stepId: 'nonsense', action: 'exit' }] })).toEqual(['plan.0.stepId']);
  expect((await migrate(randomUUID(), {})).body.error.code).toBe('WORKFLOW_NOT_FOUND');
  expect((await other.call('POST', `/workflows/${id}/migrate`, {})).status).toBe(404);
});

test('people at a step that the new version lacks cannot move at their next step', async () => {
  const { id, wait } = await inside(1);
  await database.db.count('update automation_runs set current_step_id = $2 where automation_id = $1', [id, wait]);
  await own.done('DELETE', `/workflows/${id}/steps/${wait}`);
  const gone = await own.done('GET', `/workflows/${id}`);
  expect(gone.steps).toHaveLength(1);
  const rule = await migrate(id, { plan: [{ stepId: wait, action: 'moveAtNextStep' }] });
  expect([rule.status, rule.body.error.errors[0]]).toMatchObject([
    422,
    { field: 'plan.0.action', message: expect.stringContaining('Wait') },
  ]);
  const all = await migrate(id, { otherwise: { action: 'moveAtNextStep' } });
  expect(all.body.error.errors).toMatchObject([
    { field: 'otherwise.action', message: expect.stringContaining('Wait') },
  ]);
  expect((await migrate(id, { dryRun: true, otherwise: { action: 'exit' } })).status).toBe(200);
});

test('nobody is moved to a graph that cannot be enabled', async () => {
  const { id, wait } = await inside(1);
  await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { config: { amount: -1, unit: 'days' } });
  const { status, body } = await migrate(id, { dryRun: true });
  expect([status, body.error.errors[0].field]).toEqual([422, `steps.${wait}.config.amount`]);
});

test('one migration at a time; it can be polled, cancelled in the middle, and leaves nobody between two versions', async () => {
  const { id } = await inside(5);
  const plan = { otherwise: { action: 'moveAtNextStep' } };
  const first = await migrate(id, plan);
  expect([first.status, first.body]).toMatchObject([
    202,
    { state: 'waiting', expected: 5, progress: 0, workflowId: id },
  ]);
  expect((await migrate(id, plan)).status).toBe(409);
  const path = `/workflows/${id}/migrations/${first.body.id}`;
  const stop = new AbortController();
  stop.abort();
  expect(await move(first.body.id, 2, stop.signal)).toEqual({ state: 'unfinished', people: 2 });
  expect(await own.done('GET', path)).toMatchObject({ state: 'active', movedAtNextStep: 2, progress: 40 });
  expect(await own.done('DELETE', path)).toMatchObject({ state: 'cancelled', movedAtNextStep: 2 });
  expect(await move(first.body.id, 2)).toEqual({ state: 'over', people: 0 });
  expect(await own.done('DELETE', path)).toMatchObject({ state: 'cancelled' });
  const second = await migrate(id, plan);
  expect(second.body.expected).toBe(3);
  expect(await move(second.body.id, 2)).toEqual({ state: 'completed', people: 3 });
  expect(await move(second.body.id, 2)).toEqual({ state: 'over', people: 0 });
  const versions = await database.db.rows(
    `select v.version, count(*)::int from automation_runs r join automation_versions v on v.id = r.version_id
     where r.automation_id = $1 group by v.version`,
    [id],
  );
  expect(versions).toEqual([{ version: 2, count: 5 }]);
  for (const foreign of [randomUUID(), 'nonsense'])
    expect((await own.call('GET', `/workflows/${id}/migrations/${foreign}`)).status).toBe(404);
  expect((await other.call('GET', path)).status).toBe(404);
});

test('a migration whose execution was lost is started again', async () => {
  const { id } = await inside(1);
  const { body } = await migrate(id, { otherwise: { action: 'exit' } });
  await database.db.count(`update automation_migrations set updated_at = now() - interval '1 hour' where id = $1`, [
    body.id,
  ]);
  const open = new Set<string>();
  const deps = { db: database.db, isOpen: async (one: string) => open.has(one), dispatchSoon() {} };
  const recover = createRecovery(deps, recoverableMigrations);
  expect(await recover()).toBe(1);
  open.add(`automation-migration/${body.id}`);
  expect(await recover()).toBe(0);
  expect(await move(body.id, 10)).toEqual({ state: 'completed', people: 1 });
  expect((await own.done('GET', `/workflows/${id}/executions`)).data[0]).toMatchObject({
    status: 'EXITED',
    exitReason: 'migrated',
  });
});
