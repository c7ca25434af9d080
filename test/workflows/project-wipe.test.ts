import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wipeActivities } from '../../activities/erasure.ts';
import { deleteProject, resetProject, startOfWipe } from '../../src/insight/wipes/queries.ts';
import { alongTables, leftTables, recoverableWipes, wipedTables } from '../../src/insight/wipes/wipe.ts';
import { newId } from '../../src/lib/ids.ts';
import { endExecutionsOf } from '../../src/store/outbox/calls.ts';
import { createRecovery } from '../../src/store/outbox/recovery.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { aCampaign, contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aPerson, joins, type Person } from '../support/people.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let owner: Person;
const cancelled: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const queuePrefix = `wipe-${newId().slice(-8)}`;
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: queuePrefix });
  worker = await testWorker({
    queuePrefix,
    queues: ['bulk'],
    activities: wipeActivities({
      db: database.db,
      log: api.app.log,
      stopping: new AbortController().signal,
      endExecutions: (projectId) => endExecutionsOf(worker.temporal, projectId, 'test'),
      cancelSubscription: async (subscription) => {
        cancelled.push(subscription);
        throw new Error('Stripe is away');
      },
    }),
  });
  owner = await aPerson(database.db, api.config, { name: 'ylva.strand' });
});

afterAll(async () => {
  await worker?.stop();
  await api?.close();
  await database?.close();
});

const as = (person: Person, method: string, path: string, body?: unknown) =>
  api.call(null, method, path, body, person.session);

/** A project of the owner's with something in most tables. */
async function filled(name: string, people = 30): Promise<TestProject> {
  const project = await aProject(database, name);
  await database.db.count('update memberships set user_id = $2 where project_id = $1', [project.id, owner.id]);
  await contacts(database.db, project.id, people);
  await aCampaign(database.db, project);
  await api.call(project.secretKey, 'POST', '/templates', {
    name: 'Welcome',
    subject: 'Welcome aboard',
    body: '<p>Hello</p>',
    from: project.sender,
    type: 'TRANSACTIONAL',
  });
  await api.call(project.secretKey, 'POST', '/segments', {
    name: 'Everybody',
    type: 'DYNAMIC',
    trackMembership: true,
    condition: {
      logic: 'AND',
      groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
    },
  });
  await api.call(project.publicKey, 'POST', '/v1/track', { event: 'boarded', email: 'otto.graf@example.org' });
  await api.call(
    project.secretKey,
    'POST',
    '/v1/send',
    { to: 'otto.graf@example.org', subject: 'Hi', body: '<p>Hi</p>', from: project.sender },
    { 'Idempotency-Key': `welcome-${project.id}` },
  );
  return project;
}

/** Tables that still have rows of the project, with their number. */
async function rowsLeft(projectId: string): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  for (const table of await tablesOfProjects()) {
    const row = await database.db.row<{ n: number }>(`select count(*)::int as n from ${table} where project_id = $1`, [
      projectId,
    ]);
    if (row && row.n > 0) left[table] = row.n;
  }
  return left;
}

async function tablesOfProjects(): Promise<string[]> {
  const rows = await database.db.rows<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name = 'project_id' order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('every table of a project has its rule: a reset empties it, the removal does, or it goes with the project', async () => {
  const named = [...wipedTables.DELETE.map(({ table }) => table), ...alongTables, ...leftTables];
  expect(named.toSorted()).toEqual(await tablesOfProjects());
  expect(new Set(named).size).toBe(named.length);
});

describe('a reset', () => {
  test('deletes what is in a project, keeps keys, members, domains, settings and idempotency keys, and no other project notices', async () => {
    const [project, other] = [await filled('Reset me', 2_500), await filled('Bystander')];
    const before = await rowsLeft(other.id);
    const answer = await as(owner, 'POST', `/users/@me/projects/${project.id}/reset`);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    // On a busy machine it may outlast the 25 seconds that the call waits.
    const isResetting = 'select resetting from projects where id = $1';
    await expect.poll(() => database.db.row(isResetting, [project.id])).toEqual({ resetting: false });
    await api.app.directory.forgetEverywhere(project.id);
    const left = await rowsLeft(project.id);
    const kept = Object.keys(left);
    const emptied = [...wipedTables.RESET.map(({ table }) => table), ...alongTables];
    expect(kept).toEqual(expect.arrayContaining(['domains', 'memberships', 'idempotency_keys']));
    expect(kept.filter((table) => emptied.some((one) => one === table))).toEqual([]);
    expect(await rowsLeft(other.id)).toEqual(before);
    expect((await api.call(project.secretKey, 'GET', '/contacts')).body).toMatchObject({ data: [], total: 0 });
    const again = { to: 'otto.graf@example.org', subject: 'Hi', body: '<p>Hi</p>', from: project.sender };
    const key = { 'Idempotency-Key': `welcome-${project.id}` };
    expect((await api.call(project.secretKey, 'POST', '/v1/send', again, key)).status).toBe(409);
    expect((await api.call(project.secretKey, 'POST', '/v1/send', again)).status).toBe(200);
  });

  test('refuses writes with 409 on every process until it has finished, and a second reset', async () => {
    const other = await testApi(database);
    try {
      const project = await filled('Slow reset');
      expect((await other.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
      const { id, ticket } = await resetProject(database.db, project.id);
      expect(ticket.workflowId).toBe(startOfWipe(id).id);
      await api.app.directory.forgetEverywhere(project.id);
      for (const one of [api, other]) {
        const { secretKey, publicKey } = project;
        const refused = [
          await one.call(secretKey, 'POST', '/contacts', { email: 'late@example.org' }),
          await one.call(secretKey, 'POST', '/v1/send', { to: 'late@example.org', subject: 'x', body: 'x' }),
          await one.call(publicKey, 'POST', '/v1/track', { event: 'late', email: 'late@example.org' }),
          await as(owner, 'POST', `/users/@me/projects/${project.id}/reset`),
          await as(owner, 'DELETE', `/users/@me/projects/${project.id}`),
        ];
        expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
          refused.map(() => [409, 'CONFLICT']),
        );
        expect((await one.call(secretKey, 'GET', '/contacts')).status).toBe(200);
      }
      await worker.perform(startOfWipe(id));
      await worker.result(startOfWipe(id).id);
      await api.app.directory.forgetEverywhere(project.id);
      for (const one of [api, other])
        expect(
          (await one.call(project.secretKey, 'POST', '/contacts', { email: 'late@example.org' })).status,
        ).toBeLessThan(300);
    } finally {
      await other.close();
    }
  });

  test('stops campaigns: nothing more is claimed once it has begun', async () => {
    const project = await filled('Stopped');
    await database.db.count(`update campaigns set status = 'SENDING' where project_id = $1`, [project.id]);
    const { id } = await resetProject(database.db, project.id);
    const row = await database.db.row<{ status: string }>('select status from campaigns where project_id = $1', [
      project.id,
    ]);
    expect(row?.status).toBe('CANCELLED');
    await worker.perform(startOfWipe(id));
    await worker.result(startOfWipe(id).id);
  });
});

describe('the removal of a project', () => {
  test('takes keys, members and domains away at once on every process, and the rest in the background', async () => {
    const other = await testApi(database);
    try {
      const project = await filled('Farewell', 2_500);
      const colleague = await aPerson(database.db, api.config);
      await joins(database.db, project.id, colleague, 'ADMIN');
      await database.db.count(`update projects set subscription = 'sub_farewell' where id = $1`, [project.id]);
      for (const one of [api, other]) expect((await one.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
      const path = `/users/@me/projects/${project.id}`;
      expect((await api.call(project.secretKey, 'DELETE', path)).status).toBe(403);
      expect(await as(colleague, 'DELETE', path)).toMatchObject({ status: 200, body: { success: true } });
      for (const one of [api, other]) {
        expect((await one.call(project.secretKey, 'GET', '/contacts')).status).toBe(401);
        expect(
          (await one.call(project.publicKey, 'POST', '/v1/track', { event: 'x', email: 'x@example.org' })).status,
        ).toBe(401);
        expect((await one.call(null, 'GET', path.replace('/users/@me', ''), undefined, owner.session)).status).toBe(
          404,
        );
      }
      expect((await as(owner, 'GET', '/users/@me/projects')).body.map(({ id }: { id: string }) => id)).not.toContain(
        project.id,
      );
      const wipe = await database.db.row<{ id: string }>('select id from project_wipes where project_id = $1', [
        project.id,
      ]);
      await api.app.outbox.drain();
      await worker.result(startOfWipe(wipe?.id ?? '').id);
      expect(Object.keys(await rowsLeft(project.id))).toEqual(['project_wipes']);
      expect(await database.db.row('select 1 from projects where id = $1', [project.id])).toBeNull();
      // The payment service did not answer: that is told in the log and stops nothing.
      expect(cancelled).toContain('sub_farewell');
      const taker = await aProject(database, 'Taker');
      const taken = await api.call(taker.secretKey, 'POST', '/domains', { domain: project.domain });
      expect(taken.status).not.toBe(403);
    } finally {
      await other.close();
    }
  });

  test('is refused for a disabled project and for a MEMBER', async () => {
    const project = await filled('Kept');
    const member = await aPerson(database.db, api.config);
    await joins(database.db, project.id, member, 'MEMBER');
    const path = `/users/@me/projects/${project.id}`;
    expect((await as(member, 'DELETE', path)).status).toBe(403);
    await database.db.count('update projects set disabled = true where id = $1', [project.id]);
    for (const [method, end] of [
      ['DELETE', ''],
      ['POST', '/reset'],
    ] as const)
      expect(await as(owner, method, `${path}${end}`)).toMatchObject({
        status: 403,
        body: { error: { code: 'PROJECT_DISABLED' } },
      });
    expect((await as(owner, 'PATCH', path, { name: 'Kept anyway' })).status).toBe(200);
  });

  test('goes on where it stood after its execution was lost', async () => {
    const project = await filled('Interrupted');
    const { id } = await deleteProject(database.db, project.id, async () => undefined);
    await database.db.count(`update project_wipes set updated_at = now() - interval '1 hour' where id = $1`, [id]);
    const found: string[] = [];
    const recover = createRecovery(
      {
        db: database.db,
        isOpen: async () => false,
        dispatchSoon: (...tickets) => {
          found.push(...tickets.map(({ workflowId }) => workflowId));
          api.app.outbox.dispatchSoon(...tickets);
        },
      },
      recoverableWipes,
    );
    await recover();
    expect(found).toContain(startOfWipe(id).id);
    await api.app.outbox.drain();
    await worker.result(startOfWipe(id).id);
    expect(Object.keys(await rowsLeft(project.id))).toEqual(['project_wipes']);
  });
});
