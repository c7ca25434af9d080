import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pauseAutomation, resumeAutomation } from '../../src/automations/list-service.ts';
import { cancelByOperator } from '../../src/automations/runs/actions.ts';
import { countPaths } from '../../src/automations/runs/queries.ts';
import { getExecution } from '../../src/automations/runs/service.ts';
import { advance } from '../../src/automations/runtime/advance.ts';
import { decideSplit } from '../../src/automations/runtime/steps.ts';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { contactFacts } from '../../src/insight/explain/queries.ts';
import { explainWorkflow } from '../../src/insight/explain/workflow.ts';
import { newId } from '../../src/lib/ids.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { sql } from '../../src/store/sql.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  enrolPending,
  letIn,
  runOf,
  runsOf,
  type TestAutomation,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

const races = inFull(1_000, 200);

let database: TestDatabase;
let project: TestProject;
let contact: string;
let deps: ReturnType<typeof advanceDeps>;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  project = await aProject(database.db);
  contact = await aContact(database.db, project.id, 'ingrid.dahl@example.com', {
    data: { name: 'Ingrid', plan: 'pro' },
  });
  deps = advanceDeps(database.db);
});

async function begin(spec: AutomationSpec, context: Record<string, unknown> | null = null) {
  const automation = await anAutomation(database.db, project.id, spec);
  const [run] = await letIn(database.db, automation, [contact], context);
  if (run === undefined) throw new Error('no run');
  return { automation, runId: run.id };
}
const see = ({ id }: TestAutomation) => runOf(database.db, id);
const hurry = (runId: string) =>
  database.db.count(
    `update automation_step_runs set scheduled_for = scheduled_for - interval '400 days',
       execute_after = execute_after - interval '400 days' where run_id = $1`,
    [runId],
  );

describe('the way of a run', () => {
  test('an automation of a trigger alone is completed at once', async () => {
    const { automation, runId } = await begin({ steps: {} });
    expect(await advance(deps, runId, 0)).toMatchObject({ next: 'done', status: 'COMPLETED' });
    expect(await see(automation)).toMatchObject({
      status: 'COMPLETED',
      at: null,
      steps: [{ name: 'trigger', status: 'COMPLETED', output: { triggered: true, eventName: 'user.signup' } }],
    });
  });

  test('consecutive cheap steps share one transaction, and beyond 25 the run goes on in another', async () => {
    const steps = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`set${n}`, ['UPDATE_CONTACT', { updates: { n } }] as const]),
    );
    const { automation, runId } = await begin({ steps: steps as unknown as AutomationSpec['steps'] });
    expect(await advance(deps, runId, 0)).toEqual({ next: 'goOn', seq: 25 });
    expect(await advance(deps, runId, 25)).toMatchObject({ next: 'done', status: 'COMPLETED', seq: 31 });
    const run = await see(automation);
    expect(run.steps.map((step) => step.status)).toEqual(Array(31).fill('COMPLETED'));
    expect(run.steps.at(-1)?.output).toMatchObject({ newData: { name: 'Ingrid', plan: 'pro', n: 29 } });
  });

  test('an EXIT ends the run with its reason, and without one with exit_step', async () => {
    const first = await begin({ steps: { out: ['EXIT', { reason: 'converted' }] } });
    await advance(deps, first.runId, 0);
    expect(await see(first.automation)).toMatchObject({ status: 'EXITED', reason: 'converted', at: 'out' });
    const second = await begin({ steps: { out: ['EXIT'] } });
    await advance(deps, second.runId, 0);
    expect(await see(second.automation)).toMatchObject({ status: 'EXITED', reason: 'exit_step' });
  });

  test.each([
    ['pro', 'paid'],
    ['free', 'unpaid'],
  ])('a condition reads the contact as it is when the step runs: %s', async (plan, branch) => {
    const { automation, runId } = await begin({
      steps: {
        check: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
        paid: ['EXIT', { reason: 'paid' }],
        unpaid: ['EXIT', { reason: 'unpaid' }],
      },
      ways: [
        ['trigger', 'check'],
        ['check.yes', 'paid'],
        ['check.no', 'unpaid'],
      ],
    });
    await database.db.count(`update contacts set data = jsonb_build_object('plan', $2::text) where id = $1`, [
      contact,
      plan,
    ]);
    await advance(deps, runId, 0);
    expect((await see(automation)).reason).toBe(branch);
  });

  test('a split takes the branch of the contact, and the same one when it enters again', async () => {
    const halves = {
      branches: [
        { id: 'a', percent: 50 },
        { id: 'b', percent: 50 },
      ],
      holdout: 'b',
    };
    const automation = await anAutomation(database.db, project.id, {
      allowReentry: true,
      steps: { split: ['SPLIT', halves], first: ['EXIT', { reason: 'a' }], second: ['EXIT', { reason: 'b' }] },
      ways: [
        ['trigger', 'split'],
        ['split.a', 'first'],
        ['split.b', 'second'],
      ],
    });
    const step = {
      id: automation.steps.split ?? '',
      type: 'SPLIT',
      name: 'split',
      config: halves,
      templateId: null,
    } as const;
    const { branch } = decideSplit(step, contact);
    for (const entry of [1, 2]) {
      const [run] = await letIn(database.db, automation, [contact]);
      await advance(deps, run?.id ?? '', 0);
      const seen = (await runsOf(database.db, automation.id)).at(-1);
      expect([seen?.id, seen?.reason], `entry ${entry}`).toEqual([run?.id, branch]);
      expect(seen?.steps.at(1)?.output).toEqual({ branch, percent: 50, holdout: branch === 'b' });
    }
  });

  test('a wait until a date follows the contact: changed, removed, invalid, passed and reached', async () => {
    const far = '2099-05-01';
    const give = (data: object) =>
      writeContacts(database.db, project.id, [{ id: contact, ...data }], writingAs(database.db, 'contact'));
    const spec = (passed: string): AutomationSpec => ({
      allowReentry: true,
      steps: { wait: ['WAIT_UNTIL', { field: 'data.ends', offset: '-1d', at: '09:00', passed }], out: ['EXIT'] },
    });
    await give({ set: { ends: far, timezone: 'Europe/Berlin' } });
    const { automation, runId } = await begin(spec('continue'));
    const summary = expect.stringContaining('wait until data.ends');
    expect(await advance(deps, runId, 0)).toMatchObject({ next: 'sleep', until: '2099-04-30T07:00:00.000Z', summary });
    const waking = () =>
      database.db.row<{ signals: number }>(`select count(*)::int as signals from outbox where kind = 'signal'
        and workflow_id = 'automation/${automation.id}/${contact}/1'`);
    const due = () =>
      database.db.row<{ due: string | null; at: string | null }>(
        `select r.due_at::text as due, s.scheduled_for::text as at from automation_runs r
         join automation_step_runs s on s.run_id = r.id and s.seq = r.seq - 1 where r.id = $1`,
        [runId],
      );
    // What else changes wakes nobody, and waking without a change moves nothing.
    await give({ set: { plan: 'team' } });
    expect(await waking()).toEqual({ signals: 0 });
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'sleep', seq: 2, until: '2099-04-30T07:00:00.000Z' });
    await give({ set: { timezone: 'America/New_York' } });
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'sleep', until: '2099-04-30T13:00:00.000Z' });
    await give({ set: { ends: '2099-06-01' } });
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'sleep', until: '2099-05-31T13:00:00.000Z' });
    const moved = await due();
    expect([moved?.due, moved?.at]).toEqual([moved?.at, moved?.due]);
    for (const data of [{ remove: ['ends'] }, { set: { ends: 'soon' } }]) {
      await give(data);
      expect(await advance(deps, runId, 2)).toMatchObject({ next: 'wait', until: null, event: 'data.ends' });
      expect(await due()).toEqual({ due: null, at: null });
    }
    expect(await waking()).toEqual({ signals: 4 });
    await give({ set: { ends: '2020-01-01' } });
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
    expect((await see(automation)).steps[1]).toMatchObject({
      status: 'COMPLETED',
      output: { until: '2019-12-31T14:00:00.000Z', zone: 'America/New_York', passed: true },
    });

    // A date in the past has passed when the step begins as well, and one that was waited for has been reached.
    const exits = await begin(spec('exit'));
    expect(await advance(deps, exits.runId, 0)).toMatchObject({
      next: 'done',
      status: 'EXITED',
      reason: 'date_passed',
    });
    await give({ set: { ends: far, timezone: 'Mars' } });
    const reaches = await begin(spec('exit'));
    expect(await advance(deps, reaches.runId, 0)).toMatchObject({ until: '2099-04-30T09:00:00.000Z' });
    await database.db.count(
      `with past as (update contacts set data = data || '{"ends": "2026-01-02"}' where id = $1)
       update automation_step_runs set scheduled_for = '2026-01-01T09:00:00Z' where run_id = $2 and status = 'SCHEDULED'`,
      [contact, reaches.runId],
    );
    expect(await advance(deps, reaches.runId, 2)).toMatchObject({ next: 'done', reason: 'exit_step' });
    expect((await see(reaches.automation)).steps[1]?.output).toEqual({
      until: '2026-01-01T09:00:00.000Z',
      zone: 'UTC',
      invalidZone: true,
    });
    const inPath = { branch: null, count: 0, open: 0, invalidZones: 1 };
    expect(await countPaths(database.db, reaches.automation.id, 1)).toContainEqual(expect.objectContaining(inPath));
  });

  test('a wait until a time of day ends at that time, in the zone that the contact has by then', async () => {
    const { automation, runId } = await begin({
      steps: { wait: ['WAIT_UNTIL', { time: '09:00', fallback: 'Europe/Berlin' }], out: ['EXIT'] },
    });
    const first = await advance(deps, runId, 0);
    if (first.next !== 'sleep') throw new Error(first.next);
    expect(new Date(first.until).toLocaleTimeString('de', { timeZone: 'Europe/Berlin' })).toBe('09:00:00');
    const zone = { id: contact, set: { timezone: 'Asia/Kathmandu' } };
    await writeContacts(database.db, project.id, [zone], writingAs(database.db, 'contact'));
    const second = await advance(deps, runId, 2);
    if (second.next !== 'sleep') throw new Error(second.next);
    expect(new Date(second.until).toLocaleTimeString('de', { timeZone: 'Asia/Kathmandu' })).toBe('09:00:00');
    await hurry(runId);
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
    expect((await see(automation)).steps[1]?.output).toMatchObject({ zone: 'Asia/Kathmandu' });
  });

  test('condition trees ask for the history of the contact, what the run changed, its mail and the event that started it', async () => {
    const template = await aTemplate(database.db, project);
    const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
    const spec: AutomationSpec = {
      steps: {
        set: ['UPDATE_CONTACT', { updates: { plan: 'team' } }],
        mail: ['SEND_EMAIL', { templateId: template }],
        check: ['CONDITION', {}],
        sort: ['CONDITION', {}],
        large: ['EXIT', { reason: 'large' }],
        other: ['EXIT', { reason: 'other' }],
        no: ['EXIT', { reason: 'no' }],
      },
      ways: [
        ['trigger', 'set'],
        ['set', 'mail'],
        ['mail', 'check'],
        ['check.yes', 'sort'],
        ['check.no', 'no'],
        ['sort.large', 'large'],
        ['sort.default', 'other'],
      ],
    };
    const reasons: (string | null)[] = [];
    for (const [orders, total] of [
      [1, 80],
      [2, 80],
      [2, 20],
    ] as const) {
      const automation = await anAutomation(database.db, project.id, spec);
      const configs = {
        check: {
          mode: 'tree',
          condition: all(
            { field: 'data.plan', operator: 'equals', value: 'team' },
            { field: 'event.ordered', operator: 'triggered', times: { atLeast: 2 } },
            { field: 'email.sent', operator: 'notTriggered', of: { stepId: automation.steps.mail } },
          ),
        },
        sort: {
          mode: 'multi',
          branches: [{ id: 'large', condition: all({ field: 'trigger.total', operator: 'greaterThan', value: 50 }) }],
        },
      };
      for (const [name, config] of Object.entries(configs))
        await database.db.count(`update automation_steps set config = $2 where id = $1`, [
          automation.steps[name],
          JSON.stringify(config),
        ]);
      await database.db.count(`delete from events where contact_id = $1`, [contact]);
      for (let n = 0; n < orders; n++) await anEvent(database.db, project.id, contact, 'ordered');
      const [run] = await letIn(database.db, automation, [contact], { total });
      await advance(deps, run?.id ?? '', 0);
      const { reason, steps } = await see(automation);
      reasons.push(reason);
      const output = steps.find((step) => step.name === 'check')?.output;
      expect(output).toEqual({ mode: 'tree', result: orders === 2, branch: orders === 2 ? 'yes' : 'no' });
    }
    expect(reasons).toEqual(['no', 'large', 'other']);
  });

  test('a branch without a way out completes the run', async () => {
    const { automation, runId } = await begin({
      steps: { check: ['CONDITION', { field: 'data.plan', operator: 'exists' }], out: ['EXIT'] },
      ways: [
        ['trigger', 'check'],
        ['check.no', 'out'],
      ],
    });
    await advance(deps, runId, 0);
    expect(await see(automation)).toMatchObject({ status: 'COMPLETED', at: null });
  });

  test('a config that cannot be used fails the step and the run, with a text that says why', async () => {
    const { automation, runId } = await begin({
      steps: { bad: ['CONDITION', { field: 'data.plan', operator: 'is' }] },
    });
    expect(await advance(deps, runId, 0)).toMatchObject({ next: 'done', status: 'FAILED' });
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'FAILED', at: 'bad' });
    expect(run.reason).toContain('operator');
    expect(run.steps.at(-1)).toMatchObject({ name: 'bad', status: 'FAILED', error: run.reason });
  });

  test('a number that the run has left behind changes nothing and says what it waits for', async () => {
    const { automation, runId } = await begin({ steps: { wait: ['DELAY', { amount: 2, unit: 'days' }] } });
    const first = await advance(deps, runId, 0);
    const before = await see(automation);
    expect(await advance(deps, runId, 0)).toEqual(first);
    expect(await advance(deps, runId, null)).toEqual(first);
    expect(await see(automation)).toEqual(before);
  });

  test('two at once move a run once', async () => {
    const template = await aTemplate(database.db, project);
    const { automation, runId } = await begin({
      steps: { mail: ['SEND_EMAIL', { templateId: template }], out: ['EXIT'] },
    });
    await Promise.all(Array.from({ length: 5 }, () => advance(deps, runId, 0)));
    expect((await see(automation)).steps.map((step) => step.name)).toEqual(['trigger', 'mail', 'out']);
    expect(await database.db.rows('select id from emails where contact_id = $1', [contact])).toHaveLength(1);
  });

  test('a disabled project cancels the run at its next step', async () => {
    const { automation, runId } = await begin({
      steps: { wait: ['DELAY', { amount: 1, unit: 'minutes' }], out: ['EXIT'] },
    });
    const { seq } = await advance(deps, runId, 0);
    await database.db.count('update projects set disabled = true where id = $1', [project.id]);
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'sleep' });
    await hurry(runId);
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'done', status: 'CANCELLED' });
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'CANCELLED', reason: 'Project disabled' });
    expect(run.steps.at(-1)).toMatchObject({ name: 'wait', status: 'SKIPPED' });
  });

  test('a run whose contact is deleted ends quietly', async () => {
    const { runId } = await begin({ steps: { wait: ['DELAY', { amount: 1, unit: 'minutes' }] } });
    const { seq } = await advance(deps, runId, 0);
    await database.db.count('delete from contacts where id = $1', [contact]);
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'done', status: 'GONE' });
  });
});

describe('a delay', () => {
  test('has a row that says when it ends, and an output that says what it was', async () => {
    const { automation, runId } = await begin({ steps: { wait: ['DELAY', { amount: 1.5, unit: 'hours' }] } });
    const before = Date.now();
    const directive = await advance(deps, runId, 0);
    if (directive.next !== 'sleep') throw new Error(directive.next);
    expect(Math.abs(Date.parse(directive.until) - before - 5_400_000)).toBeLessThan(30_000);
    expect(directive.summary).toContain('delay 1.5 hours');
    expect(await see(automation)).toMatchObject({ status: 'WAITING', at: 'wait' });
    await hurry(runId);
    expect(await advance(deps, runId, directive.seq)).toMatchObject({ next: 'done', status: 'COMPLETED' });
    expect((await see(automation)).steps.at(-1)).toMatchObject({
      status: 'COMPLETED',
      output: { delayAmount: 1.5, delayUnit: 'hours' },
    });
  });
});

describe('a wait for an event', () => {
  const spec: AutomationSpec = {
    steps: {
      wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 86_400 }],
      paid: ['EXIT', { reason: 'paid' }],
      late: ['EXIT', { reason: 'late' }],
    },
    ways: [
      ['trigger', 'wait'],
      ['wait.EVENT', 'paid'],
      ['wait.TIMEOUT', 'late'],
    ],
  };

  test('an event of the contact resumes it and its data is merged into the context', async () => {
    const { automation, runId } = await begin(spec, { total: 1, from: 'trigger' });
    const directive = await advance(deps, runId, 0);
    expect(directive).toMatchObject({ next: 'wait', event: 'order.paid' });
    await anEvent(database.db, project.id, contact, 'order.paid', {
      total: 620,
      id: 'order-7',
      coupon: { value: 'HERON', persistent: false },
    });
    const [signal] = await database.db.rows<{ payload: object }>(
      `select payload from outbox where kind = 'signal' and workflow_id like '%' || $1 || '%'`,
      [contact],
    );
    expect(signal?.payload).toMatchObject({ signal: 'resume', input: { seq: directive.seq } });
    await advance(deps, runId, directive.seq);
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'EXITED', reason: 'paid' });
    expect(run.context).toEqual({ total: 620, id: 'order-7', coupon: 'HERON', from: 'trigger' });
    expect(run.steps[1]).toMatchObject({
      outcome: 'EVENT',
      output: { waitOutcome: 'EVENT', eventReceived: true, eventName: 'order.paid', eventData: { total: 620 } },
    });
  });

  test('the timeout takes its own way and leaves the context alone', async () => {
    const { automation, runId } = await begin(spec, { total: 1 });
    const { seq } = await advance(deps, runId, 0);
    await hurry(runId);
    await advance(deps, runId, seq);
    const run = await see(automation);
    expect(run).toMatchObject({ reason: 'late', context: { total: 1 } });
    expect(run.steps[1]).toMatchObject({
      outcome: 'TIMEOUT',
      output: { waitOutcome: 'TIMEOUT', timedOut: true, eventName: 'order.paid' },
    });
  });

  test('a timer that fires while the signal is still in the outbox takes the way of the event', async () => {
    const { automation, runId } = await begin(spec);
    const { seq } = await advance(deps, runId, 0);
    await anEvent(database.db, project.id, contact, 'order.paid');
    await hurry(runId);
    await advance(deps, runId, seq);
    expect((await see(automation)).reason).toBe('paid');
  });

  test('others do not resume it: another name, another letter case, another contact, no contact, another project', async () => {
    const { automation, runId } = await begin(spec);
    const { seq } = await advance(deps, runId, 0);
    const other = await aContact(database.db, project.id, 'erik.lund@example.com');
    const elsewhere = await aProject(database.db);
    await anEvent(database.db, project.id, contact, 'order.placed');
    await anEvent(database.db, project.id, contact, 'Order.paid');
    await anEvent(database.db, project.id, other, 'order.paid');
    await anEvent(database.db, project.id, null, 'order.paid');
    await anEvent(database.db, elsewhere.id, contact, 'order.paid');
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'wait' });
    expect((await see(automation)).status).toBe('WAITING');
  });

  test('an event from before the wait does not count', async () => {
    const { automation, runId } = await begin(spec);
    await anEvent(database.db, project.id, contact, 'order.paid');
    expect(await advance(deps, runId, 0)).toMatchObject({ next: 'wait' });
    expect((await see(automation)).status).toBe('WAITING');
  });

  test('a first event that is followed by a second one keeps the wait', async () => {
    const { automation, runId } = await begin(spec);
    const { seq } = await advance(deps, runId, 0);
    await anEvent(database.db, project.id, contact, 'order.paid', { total: 1 });
    await anEvent(database.db, project.id, contact, 'order.paid', { total: 2 });
    await advance(deps, runId, seq);
    expect((await see(automation)).context).toEqual({ total: 1 });
  });

  test('one event resumes every run that waits for it', async () => {
    const runs = [await begin(spec), await begin(spec), await begin(spec)];
    const seqs = await Promise.all(runs.map(({ runId }) => advance(deps, runId, 0)));
    await anEvent(database.db, project.id, contact, 'order.paid');
    for (const [n, { automation, runId }] of runs.entries()) {
      await advance(deps, runId, seqs[n]?.seq ?? 0);
      expect((await see(automation)).reason).toBe('paid');
    }
  });

  const large = { path: 'total', operator: 'greaterThanOrEqual', value: 100 };
  const waitingFor = (config: object): AutomationSpec => ({
    ...spec,
    steps: { ...spec.steps, wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 3600, ...config }] },
  });
  const paid = (data: object) => anEvent(database.db, project.id, contact, 'order.paid', data);
  const signals = () =>
    database.db.count(`select from outbox where kind = 'signal' and workflow_id like '%' || $1 || '%'`, [contact]);

  test('with tests of the data only an event that passes them ends it, whatever came before and after', async () => {
    const { automation, runId } = await begin(
      waitingFor({ where: [large, { path: 'order.country', operator: 'exists' }] }),
    );
    const { seq } = await advance(deps, runId, 0);
    await paid({ total: 620 });
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'wait', seq });
    await paid({ total: 20, order: { country: 'NO' } });
    const second = { total: 100, order: { country: 'NO' } };
    await paid(second);
    await paid({ total: 700, order: { country: 'SE' } });
    // Each event that may be the one says so, for a signal may have been on its way when the next one came.
    expect(await signals()).toBe(4);
    await hurry(runId);
    await advance(deps, runId, seq);
    expect(await see(automation)).toMatchObject({ reason: 'paid', context: second });
  });

  test('events that do not pass leave the timeout its way, and one of a key with limits passes nothing for others', async () => {
    const { automation, runId } = await begin(waitingFor({ where: [large] }));
    const { seq } = await advance(deps, runId, 0);
    await paid({ total: 99 });
    const limited = { name: 'order.paid', data: { total: 500 }, limitedBy: project.id };
    await database.db.count(recordingEvents({ events: [{ projectId: project.id, contactId: contact, ...limited }] }));
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'wait' });
    await hurry(runId);
    await advance(deps, runId, seq);
    expect((await see(automation)).reason).toBe('late');
  });

  test('that counts from the entry ends at once by an event since then, but for the one that started the run', async () => {
    for (const [where, reason] of [
      [null, 'paid'],
      [[large], null],
    ] as const) {
      await paid({ total: 1_000 });
      const automation = await anAutomation(database.db, project.id, {
        ...waitingFor({ where, countsFrom: 'entry' }),
        event: 'order.paid',
      });
      await paid({ total: 2_000 });
      await enrolPending(database.db);
      const { id: runId } = await see(automation);
      await paid({ total: 30 });
      await advance(deps, runId, 0);
      expect((await see(automation)).reason).toBe(reason);
      if (reason !== null) continue;
      await paid({ total: 300 });
      await advance(deps, runId, 2);
      expect(await see(automation)).toMatchObject({ reason: 'paid', context: { total: 300 } });
    }
  });

  test('that counts from the entry checks once more for an event whose transaction was under way when it began', async () => {
    const { db } = database;
    const spec = { ...waitingFor({ timeout: null, countsFrom: 'entry' }), allowReentry: true };
    const { automation, runId } = await begin(spec);
    const due = async (id: string) =>
      (
        await db.row<{ due: string | null }>(
          `select to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due from automation_runs where id = $1`,
          [id],
        )
      )?.due;
    const [begun] = await db.transaction(async (tx) => {
      await anEvent(tx, project.id, contact, 'order.paid', { total: 1 });
      return [await advance(deps, runId, 0)];
    });
    expect(begun).toMatchObject({ next: 'wait', until: expect.any(String) });
    expect(begun).toMatchObject({ until: await due(runId) });
    expect(await signals()).toBe(0);
    await advance(deps, runId, 2);
    expect((await see(automation)).reason).toBe('paid');

    const [other] = await letIn(db, automation, [contact]);
    if (other === undefined) throw new Error('no run');
    await advance(deps, other.id, 0);
    await db.count(`update automation_step_runs set started_at = now() - interval '31 seconds' where run_id = $1`, [
      other.id,
    ]);
    expect(await advance(deps, other.id, 2)).toMatchObject({ next: 'wait', until: null });
    expect(await due(other.id)).toBeNull();
  });

  test('a trigger with tests lets in whose event passes them, each of many events for itself', async () => {
    const where = [{ path: 'plan', operator: 'equals', value: 'pro' }];
    const automation = await anAutomation(database.db, project.id, { event: 'app.opened', where, steps: {} });
    const plans = ['pro', 'free', 'pro', null, 'PRO'];
    const contacts = await Promise.all(plans.map((_, n) => aContact(database.db, project.id, `plan-${n}@example.com`)));
    const events = plans.map((plan, n) => ({
      projectId: project.id,
      contactId: contacts[n] ?? '',
      name: 'app.opened',
      data: { plan },
    }));
    await database.db.count(recordingEvents({ events }));
    await enrolPending(database.db);
    const runs = await database.db.rows<{ id: string }>(
      'select contact_id as id from automation_runs where automation_id = $1',
      [automation.id],
    );
    expect(runs.map(({ id }) => contacts.indexOf(id)).sort()).toEqual([0, 2]);
    expect(await database.db.count('select from automation_arrivals where automation_id = $1', [automation.id])).toBe(
      0,
    );
    const facts = await contactFacts(database.db, project.id, contacts[1] ?? '');
    if (facts === null) throw new Error('The contact is gone');
    const why = await explainWorkflow(database.db, project.id, facts, automation.id, new Date().toISOString());
    expect(why).toMatchObject({ verdict: 'did_not', sentence: expect.stringContaining('does not match the trigger') });
  });

  test.each([
    ['', () => spec],
    [' with tests of the data', () => waitingFor({ where: [{ path: 'total', operator: 'equals', value: 7 }] })],
  ])(
    `event and timeout at the same instant%s, ${races} times: exactly one way each, and never half`,
    async (_, raced) => {
      const contacts = await Promise.all(
        Array.from({ length: races }, (_, n) => aContact(database.db, project.id, `racer-${n}@example.com`)),
      );
      const automation = await anAutomation(database.db, project.id, raced());
      const runs = await letIn(database.db, automation, contacts);
      await Promise.all(runs.map((run) => advance(deps, run.id, 0)));
      await database.db.count(
        `update automation_step_runs set execute_after = clock_timestamp() + interval '30 ms' where execute_after is not null`,
      );
      await Promise.all(
        runs.map(async (run, n) => {
          await new Promise((resolve) => setTimeout(resolve, 20 + (n % 10) * 3));
          await Promise.all([
            advance(deps, run.id, 2),
            anEvent(database.db, project.id, run.contactId, 'order.paid', { total: 7 }),
            ...(raced() === spec ? [] : [anEvent(database.db, project.id, run.contactId, 'order.paid', { total: 6 })]),
          ]);
        }),
      );
      for (const run of runs) await advance(deps, run.id, 2);
      const ended = await database.db.rows<{ reason: string; outcome: string; context: unknown; ways: number }>(
        `select r.exit_reason as reason, x.outcome, r.context,
         (select count(*)::int from automation_step_runs y where y.run_id = r.id and y.step_type = 'EXIT') as ways
       from automation_runs r join automation_step_runs x on x.run_id = r.id and x.step_type = 'WAIT_FOR_EVENT'
       where r.automation_id = $1`,
        [automation.id],
      );
      expect(ended).toHaveLength(races);
      for (const { reason, outcome, context, ways } of ended) {
        expect(ways).toBe(1);
        expect(outcome).toBe(reason === 'paid' ? 'EVENT' : 'TIMEOUT');
        expect(context).toEqual(reason === 'paid' ? { total: 7 } : null);
      }
    },
  );
});

describe('a mail', () => {
  test('is in ledger and queue with the template as it is now, and the project is woken', async () => {
    const template = await aTemplate(database.db, project, { type: 'MARKETING' });
    const { automation, runId } = await begin(
      { steps: { mail: ['SEND_EMAIL', { templateId: template }] } },
      { total: 620 },
    );
    await database.db.count(`update templates set subject = 'Edited since' where id = $1`, [template]);
    await advance(deps, runId, 0);
    const [mail] = await database.db.rows<Record<string, unknown>>(
      `select e.*, q.email_id is not null as queued from emails e left join email_queue q on q.email_id = e.id where contact_id = $1`,
      [contact],
    );
    expect(mail).toMatchObject({
      status: 'PENDING',
      queued: true,
      source_type: 'WORKFLOW',
      message_class: 'MARKETING',
      to_address: 'ingrid.dahl@example.com',
      workflow_execution_id: runId,
      render: { subject: 'Edited since', event: { total: 620 }, contact: { name: 'Ingrid' } },
    });
    expect((await see(automation)).steps[1]?.output).toMatchObject({
      emailId: mail?.id,
      recipientType: 'CONTACT',
      recipientEmail: 'ingrid.dahl@example.com',
    });
    expect(deps.woken).toEqual([project.id]);
  });

  test.each(['MARKETING', 'HEADLESS'])(
    '%s to a contact that is not subscribed is kept as FAILED, and the run goes on',
    async (type) => {
      await database.db.count('update contacts set subscribed = false where id = $1', [contact]);
      const template = await aTemplate(database.db, project, { type });
      const { automation, runId } = await begin({
        steps: { mail: ['SEND_EMAIL', { templateId: template }], out: ['EXIT'] },
      });
      await advance(deps, runId, 0);
      const run = await see(automation);
      expect(run.status).toBe('EXITED');
      expect(run.steps[1]).toMatchObject({ status: 'COMPLETED', output: { skipped: 'unsubscribed' } });
      const mails = await database.db.rows(
        'select status, mail_reason_text(reason) as error from emails where contact_id = $1',
        [contact],
      );
      expect(mails).toEqual([{ status: 'FAILED', error: 'The contact is not subscribed' }]);
      expect(await database.db.rows('select email_id from email_queue where project_id = $1', [project.id])).toEqual(
        [],
      );
      expect(deps.woken).toEqual([]);
    },
  );

  test('to an address of its own the subscription of the contact does not matter', async () => {
    await database.db.count('update contacts set subscribed = false where id = $1', [contact]);
    const template = await aTemplate(database.db, project, { type: 'MARKETING' });
    const recipient = { type: 'CUSTOM', customEmail: 'sales@birdwatch.test' };
    const { automation, runId } = await begin({ steps: { mail: ['SEND_EMAIL', { templateId: template, recipient }] } });
    await advance(deps, runId, 0);
    expect((await see(automation)).steps[1]?.output).toMatchObject({
      recipientType: 'CUSTOM',
      recipientEmail: 'sales@birdwatch.test',
    });
    const [mail] = await database.db.rows('select to_address, status, contact_id from emails where contact_id = $1', [
      contact,
    ]);
    expect(mail).toEqual({ to_address: 'sales@birdwatch.test', status: 'PENDING', contact_id: contact });
  });

  test('a template that is gone fails the step and the run', async () => {
    const template = await aTemplate(database.db, project);
    const { automation, runId } = await begin({ steps: { mail: ['SEND_EMAIL', { templateId: template }] } });
    await database.db.count('update automation_steps set template_id = null where template_id = $1', [template]);
    await database.db.count('delete from templates where id = $1', [template]);
    await advance(deps, runId, 0);
    expect(await see(automation)).toMatchObject({
      status: 'FAILED',
      reason: `The template ${template} no longer exists`,
    });
  });

  test('within the limit of the month mail is counted once, and beyond it the step fails', async () => {
    await database.db.count('update projects set billing_limit_workflows = 2 where id = $1', [project.id]);
    const template = await aTemplate(database.db, project, { type: 'MARKETING' });
    const steps: AutomationSpec['steps'] = {
      first: ['SEND_EMAIL', { templateId: template }],
      second: ['SEND_EMAIL', { templateId: template }],
      third: ['SEND_EMAIL', { templateId: template }],
    };
    const { automation, runId } = await begin({ steps });
    await advance(deps, runId, 0);
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'FAILED', at: 'third', reason: 'Billing limit reached' });
    expect(await database.db.rows('select id from emails where contact_id = $1', [contact])).toHaveLength(2);
  });
});

describe('a change of the contact', () => {
  test('follows the rules of contact data and tells of a flip of the subscription once', async () => {
    const updates = { stage: 'activated', plan: null, name: '', id: 'mine' };
    const { automation, runId } = await begin({
      steps: {
        change: ['UPDATE_CONTACT', { updates, subscriptionAction: 'unsubscribe' }],
        again: ['UPDATE_CONTACT', { data: { stage: 'activated' }, subscriptionAction: 'unsubscribe' }],
      },
    });
    await advance(deps, runId, 0);
    const [row] = await database.db.rows('select subscribed, data from contacts where id = $1', [contact]);
    expect(row).toEqual({ subscribed: false, data: { name: 'Ingrid', stage: 'activated' } });
    const events = await database.db.rows('select name from events where contact_id = $1', [contact]);
    expect(events).toEqual([{ name: 'contact.unsubscribed' }]);
    expect((await see(automation)).steps[1]?.output).toEqual({
      updated: true,
      updates,
      newData: { name: 'Ingrid', stage: 'activated' },
      subscriptionAction: 'unsubscribe',
      subscribed: false,
    });
  });

  test('that would exceed a limit of contact data fails the step with the reason, and changes nothing', async () => {
    await database.db.count(
      `update contacts set data = (select jsonb_object_agg('k' || n, n) from generate_series(1, 1000) n) where id = $1`,
      [contact],
    );
    const { automation, runId } = await begin({
      steps: { change: ['UPDATE_CONTACT', { updates: { more: 1 }, subscriptionAction: 'unsubscribe' }] },
    });
    expect(await advance(deps, runId, 0)).toMatchObject({ next: 'done', status: 'FAILED' });
    expect(await see(automation)).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('1,000 keys') });
    expect(
      await database.db.row(`select subscribed, data ? 'more' as more from contacts where id = $1`, [contact]),
    ).toEqual({ subscribed: true, more: false });
  });

  test('its event may resume another run of the contact', async () => {
    const waiting = await begin({
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'contact.unsubscribed' }], out: ['EXIT'] },
    });
    const { seq } = await advance(deps, waiting.runId, 0);
    const changing = await begin({ steps: { change: ['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }] } });
    await advance(deps, changing.runId, 0);
    expect(await advance(deps, waiting.runId, seq)).toMatchObject({ next: 'done', status: 'EXITED' });
  });
});

describe('an exit', () => {
  const bought = {
    id: 'bought',
    on: { event: 'order.paid', where: [{ path: 'total', operator: 'greaterThan', value: 5 }] },
    reason: 'bought something',
  };
  const paid = (total: number, contactId = contact) =>
    anEvent(database.db, project.id, contactId, 'order.paid', { total });

  const queued = () => database.db.count('select from email_queue where project_id = $1', [project.id]);
  const signals = () =>
    database.db.rows<{ payload: object }>(
      `select payload from outbox where kind = 'signal' and workflow_id like '%' || $1 || '%' order by id`,
      [contact],
    );

  test('by an event ends a run at once, in a delay too, with its mail that waits; other events change nothing', async () => {
    const template = await aTemplate(database.db, project);
    const { automation, runId } = await begin({
      exits: [bought],
      steps: { mail: ['SEND_EMAIL', { templateId: template }], rest: ['DELAY', { amount: 3, unit: 'days' }] },
    });
    const { seq } = await advance(deps, runId, 0);
    await anEvent(database.db, project.id, contact, 'order.sent', { total: 50 });
    expect(await signals()).toEqual([]);
    await paid(5);
    const sleeping = await advance(deps, runId, seq);
    expect(sleeping).toMatchObject({ next: 'sleep', seq });
    expect(await database.db.count('select from automation_runs where id = $1 and due_at > now()', [runId])).toBe(1);
    await paid(6);
    const [, signal] = await signals();
    expect(signal?.payload).toMatchObject({ signal: 'resume', input: { seq } });
    expect(await advance(deps, runId, seq)).toMatchObject({
      next: 'done',
      status: 'EXITED',
      reason: 'bought something',
    });
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'EXITED', reason: 'bought something', at: 'rest' });
    expect(run.steps.at(-1)).toMatchObject({
      status: 'SKIPPED',
      output: { exit: 'bought', reason: 'bought something' },
    });
    const mails = await database.db.rows(
      `select status, mail_reason_text(reason) as reason from emails where workflow_execution_id = $1`,
      [runId],
    );
    expect(mails).toEqual([{ status: 'CANCELLED', reason: 'left the workflow: bought something' }]);
    expect(await queued()).toBe(0);
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'done', status: 'EXITED' });
  });

  test('wins over the event that the step waits for, of one statement too; and each contact leaves for itself', async () => {
    const { automation, runId } = await begin({
      exits: [bought],
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }], out: ['EXIT', { reason: 'waited' }] },
    });
    const other = await aContact(database.db, project.id, 'erik.lund@example.com');
    const [second] = await letIn(database.db, automation, [other]);
    for (const id of [runId, second?.id ?? '']) await advance(deps, id, 0);
    const events = [
      { projectId: project.id, contactId: contact, name: 'order.paid', data: { total: 6 } },
      { projectId: project.id, contactId: other, name: 'order.paid', data: { total: 5 } },
    ];
    await database.db.count(recordingEvents({ events }));
    for (const id of [runId, second?.id ?? '']) await advance(deps, id, 2);
    const reasons = (await runsOf(database.db, automation.id)).map(({ reason }) => reason);
    expect(reasons).toEqual(['bought something', 'waited']);
  });

  test('by a condition is asked before what cannot be taken back, of the contact as the steps before left it', async () => {
    const plan = { field: 'data.plan', operator: 'equals', value: 'team' };
    const { automation, runId } = await begin({
      exits: [
        bought,
        { id: 'team', on: { condition: { logic: 'AND', groups: [{ filters: [plan] }] } }, reason: 'has the plan' },
      ],
      steps: {
        set: ['UPDATE_CONTACT', { updates: { plan: 'team' } }],
        ask: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'team' }],
        mail: ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }],
      },
      ways: [
        ['trigger', 'set'],
        ['set', 'ask'],
        ['ask.yes', 'mail'],
      ],
    });
    await advance(deps, runId, 0);
    const run = await see(automation);
    expect(run).toMatchObject({ status: 'EXITED', reason: 'has the plan', at: 'mail' });
    expect(run.steps.map(({ name, status }) => [name, status])).toEqual([
      ['trigger', 'COMPLETED'],
      ['set', 'COMPLETED'],
      ['ask', 'COMPLETED'],
      ['mail', 'SKIPPED'],
    ]);
    expect(await database.db.count('select from emails where project_id = $1', [project.id])).toBe(0);
  });

  test('by a segment that the contact leaves is known by the ID of the segment', async () => {
    const id = newId();
    await database.db.count(
      `insert into segments (id, project_id, name, type, track_membership) values ($1, $2, 'Trial users', 'STATIC', true)`,
      [id, project.id],
    );
    const { automation, runId } = await begin({
      exits: [{ id: 'left', on: { leavesSegment: id }, reason: 'trial is over' }],
      steps: { rest: ['DELAY', { amount: 3, unit: 'days' }] },
    });
    const { seq } = await advance(deps, runId, 0);
    const leaves = (segmentId: string) =>
      anEvent(database.db, project.id, contact, 'segment.trial-users.exit', { segmentId, segmentName: 'Trial users' });
    await leaves(newId());
    expect(await advance(deps, runId, seq)).toMatchObject({ next: 'sleep' });
    await leaves(id);
    await advance(deps, runId, seq);
    expect(await see(automation)).toMatchObject({ status: 'EXITED', reason: 'trial is over' });
  });

  test('that does not end a run in a paused workflow leaves it due, so that the resume finds it', async () => {
    const { db } = database;
    const { automation, runId } = await begin({
      exits: [bought],
      steps: { until: ['WAIT_UNTIL', { field: 'data.ends' }], rest: ['DELAY', { amount: 3, unit: 'days' }] },
    });
    await advance(deps, runId, 0);
    await pauseAutomation(db, project.id, automation.id);
    await writeContacts(db, project.id, [{ id: contact, set: { ends: '2020-01-01' } }], writingAs(db, 'contact'));
    await advance(deps, runId, 2);
    await paid(5);
    expect(await advance(deps, runId, 2)).toMatchObject({ next: 'wait', event: 'the end of the pause' });
    await db.count('delete from outbox');
    await resumeAutomation(db, project.id, automation.id, 0);
    expect(await signals()).toHaveLength(1);
    expect(await advance(deps, runId, null)).toMatchObject({ next: 'sleep', step: { name: 'rest' } });
  });

  test('costs an event that nobody listens to one look for waits, exits and goals, beside that for triggers', async () => {
    // Of tables that nobody else has filled.
    await using own = await testDatabase(2);
    const { db } = own;
    const { id: projectId } = await aProject(db);
    const contactId = await aContact(db, projectId, 'ingrid.dahl@example.com');
    for (let n = 0; n < 20; n += 1) {
      const automation = await anAutomation(db, projectId, {
        exits: [{ id: 'left', on: { event: `left.${n}` }, reason: 'left' }],
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: `waited.${n}` }] },
      });
      for (const { id } of await letIn(db, automation, [contactId])) await advance(advanceDeps(db), id, 0);
    }
    await db.pool.query('vacuum analyze');
    const event = { projectId, contactId, name: 'page.viewed', data: { path: '/prices' } };
    const buffers = await db.transaction(async (tx) => {
      const plans: number[] = [];
      for (let call = 0; call < 3; call += 1) {
        const recording = recordingEvents({ events: [event] });
        const row = await tx.row<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          sql`explain (analyze, buffers, format json) ${recording}`,
        );
        const plan = row?.['QUERY PLAN'][0].Plan;
        plans.push((plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0));
      }
      return plans.at(-1);
    });
    // 10 pages: of the event, its indexes, and the two of listeners. One more look costs two.
    expect(buffers).toBeGreaterThan(0);
    expect(buffers).toBeLessThanOrEqual(11);
  });
});

test('a cancellation by an operator that waits for the run leaves no step open', async () => {
  const { automation, runId } = await begin({ steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }] } });
  let cancelled: Promise<void> | undefined;
  await database.db.transaction(async (sql) => {
    // The run is being moved on: its row is held, and the step that it enters cannot be seen yet.
    await sql.row('select id from automation_runs where id = $1 for update', [runId]);
    cancelled = cancelByOperator(database.db, runId);
    await expect
      .poll(
        async () =>
          (
            await database.db.rows(
              `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
            )
          ).length,
      )
      .toBeGreaterThan(0);
    await sql.count(
      `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, event_name)
       select uuidv7(), id, project_id, contact_id, $2, 0, 'WAIT_FOR_EVENT', 'wait', 'WAITING', 'order.paid' from automation_runs where id = $1`,
      [runId, automation.steps.wait],
    );
    await sql.count(`update automation_runs set status = 'WAITING', seq = 1 where id = $1`, [runId]);
  });
  await cancelled;
  expect(await see(automation)).toMatchObject({
    status: 'CANCELLED',
    reason: 'Cancelled by operator',
    steps: [{ name: 'wait', status: 'SKIPPED' }],
  });
});

describe('a pause', () => {
  test('holds runs whose time has passed, and a resume wakes them evenly over its minutes', async () => {
    const template = await aTemplate(database.db, project);
    const steps = { wait: ['DELAY', { amount: 9, unit: 'days' }], mail: ['SEND_EMAIL', { templateId: template }] };
    const automation = await anAutomation(database.db, project.id, { steps } as unknown as AutomationSpec);
    const people = [contact];
    for (const name of ['odd', 'eva', 'per', 'liv'])
      people.push(await aContact(database.db, project.id, `${name}@example.com`));
    const runs = await letIn(database.db, automation, people);
    for (const { id } of runs) await advance(deps, id, 0);
    const [first, second, third, fourth, patient] = runs.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
      string,
    ];
    for (const id of [first, second, third, fourth]) {
      await hurry(id);
      await database.db.count(`update automation_runs set due_at = due_at - interval '400 days' where id = $1`, [id]);
    }
    const { pausedAt } = await pauseAutomation(database.db, project.id, automation.id);
    expect(await pauseAutomation(database.db, project.id, automation.id)).toMatchObject({ pausedAt });
    for (const id of [first, second, third, fourth])
      expect(await advance(deps, id, 2)).toMatchObject({ next: 'wait', seq: 2, until: null, step: { name: 'wait' } });
    expect(await advance(deps, patient, 2)).toMatchObject({ next: 'sleep', step: { name: 'wait' } });
    const facts = await contactFacts(database.db, project.id, contact);
    if (facts === null) throw new Error('The contact is gone');
    expect(await explainWorkflow(database.db, project.id, facts, automation.id, facts.readAt)).toMatchObject({
      verdict: 'will',
      sentence: 'The workflow is paused: the contact stays where it is until it resumes.',
      fixes: [{ method: 'POST', path: `/workflows/${automation.id}/resume` }],
    });
    expect(await database.db.rows('select from emails where project_id = $1', [project.id])).toEqual([]);
    await database.db.count('delete from outbox');
    await resumeAutomation(database.db, project.id, automation.id, 60);
    const due = await database.db.rows<{ minute: number }>(
      `select round(extract(epoch from next_attempt_at - min(next_attempt_at) over ()) / 60)::int as minute
       from outbox where kind = 'signal' order by next_attempt_at`,
    );
    expect(due.map(({ minute }) => minute)).toEqual([0, 15, 30, 45]);
    // A second resume has nobody to wake.
    await resumeAutomation(database.db, project.id, automation.id, 0);
    expect(await database.db.rows(`select from outbox where kind = 'signal'`)).toHaveLength(4);
    expect(await advance(deps, first, null)).toMatchObject({ next: 'done', status: 'COMPLETED' });
    expect(await database.db.rows('select from emails where project_id = $1', [project.id])).toHaveLength(1);
  });

  test('takes the event of a wait and a date that passes, which end their steps once it is over', async () => {
    const { db } = database;
    const where = [{ path: 'total', operator: 'greaterThan', value: 100 }];
    const automation = await anAutomation(db, project.id, {
      steps: {
        wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', where }],
        until: ['WAIT_UNTIL', { field: 'data.ends', passed: 'exit' }],
        out: ['EXIT'],
      },
    });
    const [run] = await letIn(db, automation, [contact]);
    const id = run?.id ?? '';
    const waitingFor = async () =>
      (await getExecution(db, project.id, automation.id, id, (workflow) => workflow)).waitingFor;
    const resumed = async () => {
      await db.count('delete from outbox');
      await resumeAutomation(db, project.id, automation.id, 0);
      return (await db.rows(`select from outbox where kind = 'signal'`)).length;
    };
    await advance(deps, id, 0);
    await pauseAutomation(db, project.id, automation.id);
    await anEvent(db, project.id, contact, 'order.paid', { total: 5 });
    expect(await advance(deps, id, 2)).toMatchObject({ next: 'wait', event: 'order.paid' });
    expect(await waitingFor()).toBe('event order.paid');
    await anEvent(db, project.id, contact, 'order.paid', { total: 500 });
    expect(await advance(deps, id, 2)).toMatchObject({ next: 'wait', event: 'the end of the pause', seq: 2 });
    expect(await waitingFor()).toBe('the workflow to resume');
    expect(await resumed()).toBe(1);
    expect(await advance(deps, id, null)).toMatchObject({ next: 'wait', event: 'data.ends', seq: 3 });

    await pauseAutomation(db, project.id, automation.id);
    expect(await waitingFor()).toBe('a date in data.ends');
    const give = (ends: string) =>
      writeContacts(db, project.id, [{ id: contact, set: { ends } }], writingAs(db, 'contact'));
    await give('2020-01-01');
    expect(await advance(deps, id, 3)).toMatchObject({ next: 'wait', event: 'the end of the pause' });
    expect(await waitingFor()).toBe('the workflow to resume');
    // Another date, and the one from before: the resume wakes nobody for the first of them.
    await give('2099-01-01');
    expect(await advance(deps, id, 3)).toMatchObject({ next: 'sleep', until: '2099-01-01T00:00:00.000Z' });
    expect(await waitingFor()).toBe('timer');
    await give('2020-01-01');
    expect(await advance(deps, id, 3)).toMatchObject({ next: 'wait', event: 'the end of the pause' });
    expect(await resumed()).toBe(1);
    expect(await advance(deps, id, null)).toMatchObject({ next: 'done', status: 'EXITED', reason: 'date_passed' });
  });

  test('queues who would enter; they enter after it, each at a turn of their own', async () => {
    const { db } = database;
    const template = await aTemplate(db, project);
    const steps = { mail: ['SEND_EMAIL', { templateId: template }] };
    const automation = await anAutomation(db, project.id, { steps } as unknown as AutomationSpec);
    await pauseAutomation(db, project.id, automation.id);
    await anEvent(db, project.id, contact, 'user.signup');
    await enrolPending(db);
    expect(await runsOf(db, automation.id)).toEqual([]);
    const facts = await contactFacts(db, project.id, contact);
    if (facts === null) throw new Error('The contact is gone');
    const explained = await explainWorkflow(db, project.id, facts, automation.id, facts.readAt);
    expect(explained.sentence).toBe('The workflow is paused: the contact enters when it resumes.');
    await resumeAutomation(db, project.id, automation.id, 10_080);
    await enrolPending(db);
    const { id } = await see(automation);
    expect(await advance(deps, id, 0)).toMatchObject({ next: 'sleep', seq: 0, step: { name: 'trigger' } });
    // Whoever comes after the pause does not wait for a turn.
    const late = await aContact(db, project.id, 'late@example.com');
    await anEvent(db, project.id, late, 'user.signup');
    await enrolPending(db);
    const later = (await runsOf(db, automation.id)).find((run) => run.id !== id);
    expect(await advance(deps, later?.id ?? '', 0)).toMatchObject({ next: 'done' });
    await db.count('update automation_runs set due_at = now() where id = $1', [id]);
    expect(await advance(deps, id, 0)).toMatchObject({ next: 'done', status: 'COMPLETED' });
    expect(await db.rows('select from emails where project_id = $1', [project.id])).toHaveLength(2);
  });
});
