import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { recoverableRuns, wakesUnderWay } from '../../src/automations/runtime/recovery.ts';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { leastId } from '../../src/lib/ids.ts';
import { enqueueAll, finish, type Lane, type TakenRow, takeDue, takeOf } from '../../src/store/outbox/queries.ts';
import { type Command, signals, workflowId } from '../../temporal/commands.ts';
import { type AutomationSpec, advanceDeps, anAutomation, anEvent, letIn } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

const crowd = inFull(100_000, 5_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.count('truncate outbox');
});

/** An automation of a project, of a new one unless another is named. */
async function aWorkflow(projectId?: string): Promise<string> {
  const of = projectId ?? (await aProject(database.db)).id;
  return (await anAutomation(database.db, of, { steps: { out: ['EXIT'] } })).id;
}

/** Wakes of as many executions of an automation, which have been due for so many seconds, the later ones for less. Answers their workflow IDs in that order. */
async function wakes(automationId: string, count: number, dueForSeconds = 600, kind = 'signal'): Promise<string[]> {
  const rows = await database.db.rows<{ id: string }>(
    `insert into outbox (id, dedupe_key, kind, workflow_id, payload, next_attempt_at)
     select uuidv7(), id, $4::text, id, jsonb_build_object('type', $4::text, 'id', id, 'signal', 'resume', 'input', '{"seq": 2}'::jsonb),
       now() - $3::float8 * interval '1 second' + n * interval '1 millisecond'
     from (select n, 'automation/' || $1 || '/' || gen_random_uuid() || '/1' as id from generate_series(1, $2::int) n) made
     returning workflow_id as id`,
    [automationId, count, dueForSeconds, kind],
  );
  return rows.map(({ id }) => id);
}

const leaseMs = 15_000;
const take = async (limit = 50, lane: Lane = 'wakes') =>
  (await takeDue(database.db, lane, limit, leaseMs)).map(({ workflow_id: id }) => id);
const ofAutomation = (ids: readonly string[], automationId: string) => ids.filter((id) => id.includes(automationId));

describe('wakes', () => {
  test(`of other projects are among the first that are taken beside ${crowd} that are older`, async () => {
    const own = await aWorkflow();
    const all = await wakes(own, crowd);
    const others = await Promise.all(Array.from({ length: 4 }, () => aWorkflow()));
    const few = (await Promise.all(others.map((id) => wakes(id, 3, 1)))).flat();
    const first = await take();
    expect(first).toHaveLength(10 + few.length);
    expect(first).toEqual(expect.arrayContaining(few));
    // In the order of time within the crowd, which has everything once the others are done.
    expect(new Set(ofAutomation(first, own))).toEqual(new Set(all.slice(0, 10)));
    expect(new Set(await take())).toEqual(new Set(all.slice(10, 60)));
  });

  test('of a project with many workflows are no more than those of one with a single one, and each workflow has its part', async () => {
    const { id: projectId } = await aProject(database.db);
    const many = await Promise.all(Array.from({ length: 5 }, () => aWorkflow(projectId)));
    for (const id of many) await wakes(id, 100);
    const single = await aWorkflow();
    await wakes(single, 100, 1);
    const taken = await take();
    expect(ofAutomation(taken, single)).toHaveLength(25);
    expect(many.map((id) => ofAutomation(taken, id).length)).toEqual([5, 5, 5, 5, 5]);
  });

  test('of more projects than are taken at a time are taken by those who have waited for longest', async () => {
    const workflows = await Promise.all(Array.from({ length: 12 }, () => aWorkflow()));
    const waiting = new Map<string, string[]>();
    for (const [n, id] of workflows.entries()) waiting.set(id, await wakes(id, 2, 100 - n));
    const [, ...younger] = workflows;
    const first = await take(5);
    expect(new Set(first)).toEqual(new Set(workflows.slice(0, 5).map((id) => waiting.get(id)?.[0])));
    // The second ones of those are older than what the others have, and it is their turn again.
    expect(await take(5)).toHaveLength(5);
    const rest = [...first];
    for (let taken = await take(5); taken.length > 0; taken = await take(5)) rest.push(...taken);
    expect(ofAutomation(rest, younger.at(-1) ?? '')).toHaveLength(2);
  });

  test('are taken by several workers at once, each of them once, and none comes back empty while there are some', async () => {
    const [own, other] = [await aWorkflow(), await aWorkflow()];
    const all = [...(await wakes(own, 400)), ...(await wakes(other, 4))];
    const taken = await Promise.all(Array.from({ length: 6 }, () => take()));
    expect(taken.every((some) => some.length > 0)).toBe(true);
    expect(new Set(taken.flat()).size).toBe(taken.flat().length);
    for (let some = await take(); some.length > 0; some = await take()) taken.push(some);
    expect(taken.flat().toSorted()).toEqual(all.toSorted());
  });

  test('that have to wait for an earlier call to their execution, or are not due, take nothing of the share of others', async () => {
    const [blocked, later, free] = [await aWorkflow(), await aWorkflow(), await aWorkflow()];
    const [id = ''] = await wakes(blocked, 1, -60);
    await database.db.count(
      `insert into outbox (id, dedupe_key, kind, workflow_id, payload) select uuidv7(), 'second', kind, workflow_id, payload from outbox where workflow_id = $1`,
      [id],
    );
    await wakes(later, 10, -60);
    await wakes(free, 60);
    expect(ofAutomation(await take(), free)).toHaveLength(50);
    expect(await take()).toHaveLength(10);
    await database.db.count(
      'update outbox set next_attempt_at = now() where workflow_id = $1 and next_attempt_at > now()',
      [id],
    );
    expect(await take()).toEqual([id]);
    // Its lease holds back the second one.
    expect(await take()).toEqual([]);
  });

  test('of automations that are gone have one share, and IDs that are none do no harm', async () => {
    const alive = await aWorkflow();
    await wakes(alive, 100);
    for (const gone of [randomUUID(), randomUUID()]) await wakes(gone, 100, 60, 'cancel');
    await wakes('spring', 1, 60);
    const taken = await take(60);
    expect(ofAutomation(taken, alive)).toHaveLength(30);
    expect(taken.length).toBeGreaterThan(45);
  });

  test('are cancellations too, so that starts and campaigns do not wait behind those of a crowd', async () => {
    const own = await aWorkflow();
    const cancelled = await wakes(own, 200, 60, 'cancel');
    const start: Command = {
      type: 'start',
      workflow: 'automation',
      id: workflowId.automation(own, randomUUID(), 1),
      input: { executionId: randomUUID() },
    };
    await database.db.transaction((tx) =>
      enqueueAll(tx, [start, { type: 'cancel', id: `campaign/${randomUUID()}/1` }]),
    );
    expect(await take(50, 'others')).toHaveLength(2);
    // Nor does whoever enqueued one make it before its turn.
    expect(await takeOf(database.db, cancelled, 50, leaseMs)).toEqual([]);
    expect(await take()).toHaveLength(50);
  });

  test('cost look-ups in indexes and no reading of those that wait, also by a plan from when there were none', async () => {
    const projects = await Promise.all(Array.from({ length: 5 }, () => aWorkflow()));
    await database.db.count('analyze outbox');
    await database.db.transaction(async (tx) => {
      // So many times until Postgres keeps a plan for all values.
      for (let n = 0; n < 7; n += 1) expect(await takeDue(tx, 'wakes', 50, leaseMs)).toEqual([]);
      const soFar = async () => {
        const row = await tx.row<{ scans: number; rows: number }>(
          `select seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
           from pg_stat_xact_user_tables where relname = 'outbox'`,
        );
        return row ?? { scans: 0, rows: 0 };
      };
      const [own = '', ...others] = projects;
      // Due before this transaction began.
      await wakes(own, crowd, 3_600);
      for (const id of others) await wakes(id, 3, 600);
      const before = await soFar();
      expect(await takeDue(tx, 'wakes', 50, leaseMs)).toHaveLength(10 + 12);
      const now = await soFar();
      expect({ scans: now.scans - before.scans, rows: now.rows - before.rows }).toEqual({
        scans: 0,
        rows: expect.toSatisfy((rows: number) => rows < 500),
      });
    });
  });
});

describe('a wake is under way', () => {
  const waitsForDate: AutomationSpec['steps'] = { wait: ['WAIT_UNTIL', { field: 'data.starts' }], out: ['EXIT'] };
  const waitsForEvent = (config: object = {}): AutomationSpec['steps'] => ({
    wait: ['WAIT_FOR_EVENT', { eventName: 'plan.chosen', ...config }],
    out: ['EXIT'],
  });

  /** A contact in the first step of an automation. */
  async function aWaiter(spec: AutomationSpec) {
    const { db } = database;
    const { id: projectId } = await aProject(db);
    const automation = await anAutomation(db, projectId, spec);
    const contact = await aContact(db, projectId, `waiter-${randomUUID()}@example.com`);
    const give = (set: Record<string, string>) =>
      writeContacts(db, projectId, [{ id: contact, set }], writingAs(db, 'contact'));
    await give({ starts: '2099-05-01T09:00:00.000Z' });
    const [run] = await letIn(db, automation, [contact]);
    if (run === undefined) throw new Error('There is no run');
    const act = (seq: number) => advance(advanceDeps(db), run.id, seq);
    await act(0);
    await db.count('truncate outbox');
    const tell = (name: string, data: Record<string, unknown> = {}) => anEvent(db, projectId, contact, name, data);
    return { projectId, automation, contact, run, give, act, tell };
  }

  /** Signals what is due, and answers a count of one at most. */
  async function signalled() {
    const underWay = wakesUnderWay(database.db, 1);
    const [row, ...more] = await takeDue(database.db, 'wakes', 50, leaseMs);
    if (row === undefined || more.length > 0) throw new Error(`${more.length + (row ? 1 : 0)} wakes are due`);
    underWay.add(row);
    return Object.assign(underWay, { row });
  }
  // Longer ago than what nothing shows of counts.
  const age = ({ row }: { row: TakenRow }) =>
    database.db.count(`update outbox set done_at = now() - interval '2 seconds' where id = $1`, [row.id]);

  const cases: Record<string, { spec: AutomationSpec; wake(waiter: Awaited<ReturnType<typeof aWaiter>>): unknown }> = {
    'an event that ends a wait': { spec: { steps: waitsForEvent() }, wake: ({ tell }) => tell('plan.chosen') },
    'an event that does not pass its test': {
      spec: { steps: waitsForEvent({ where: [{ path: 'total', operator: 'greaterThan', value: 100 }] }) },
      wake: ({ tell }) => tell('plan.chosen', { total: 5 }),
    },
    'an exit': {
      spec: { steps: waitsForEvent(), exits: [{ id: 'bought', on: { event: 'order.paid' }, reason: 'bought' }] },
      wake: ({ tell }) => tell('order.paid'),
    },
    'another date': { spec: { steps: waitsForDate }, wake: ({ give }) => give({ starts: '2098-01-01' }) },
    'a date that has passed': { spec: { steps: waitsForDate }, wake: ({ give }) => give({ starts: '2020-01-01' }) },
    'a zone that moves nothing': {
      spec: { steps: waitsForDate },
      wake: ({ give }) => give({ timezone: 'Asia/Tokyo' }),
    },
  };
  for (const [what, { spec, wake }] of Object.entries(cases))
    test(`by ${what} until its run has acted`, async () => {
      const waiter = await aWaiter(spec);
      await wake(waiter);
      const underWay = await signalled();
      expect(await underWay.remaining()).toBe(0);
      await finish(database.db, [underWay.row.id]);
      await age(underWay);
      expect(await underWay.remaining()).toBe(0);
      await waiter.act(2);
      expect(await underWay.remaining()).toBe(1);
    });

  test('for a second where nothing shows whether the run has acted', async () => {
    const { db } = database;
    const paused = await aWaiter({ steps: waitsForDate });
    await db.count('update automations set paused_at = now() where id = $1', [paused.automation.id]);
    const delayed = await aWaiter({ steps: { wait: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] } });
    await paused.give({ starts: '2098-01-01' });
    const id = workflowId.automation(delayed.automation.id, delayed.contact, delayed.run.entry);
    const calls: Command[] = [
      { type: 'signal', id, signal: signals.resume, input: { seq: 2 } },
      { type: 'cancel', id },
    ];
    const first = await signalled();
    await finish(db, [first.row.id]);
    const checked = [first];
    for (const call of calls) {
      await db.transaction((tx) => enqueueAll(tx, [call]));
      const one = await signalled();
      await finish(db, [one.row.id]);
      checked.push(one);
    }
    expect(checked.map(({ row }) => row.payload.type)).toEqual(['signal', 'signal', 'cancel']);
    for (const underWay of checked) {
      expect(await underWay.remaining()).toBe(0);
      await age(underWay);
      expect(await underWay.remaining()).toBe(1);
    }
  });

  test('in the outbox too, so that nobody takes a run of a crowd for one that was lost while its wake waits for its turn', async () => {
    const { db } = database;
    const exits = [{ id: 'bought', on: { event: 'order.paid' }, reason: 'bought' }];
    const ending = await aWaiter({ steps: waitsForEvent(), exits });
    await ending.tell('order.paid');
    await db.count(`update automation_runs set due_at = now() - interval '1 hour' where id = $1`, [ending.run.id]);
    const query = { afterMs: 300_000, changedAt: null, place: { at: '-infinity', id: leastId }, limit: 500 };
    const lost = async () => (await recoverableRuns.stalled(db, query)).map(({ id }) => id);
    expect(await lost()).not.toContain(ending.run.id);
    const { row } = await signalled();
    await finish(db, [row.id]);
    expect(await lost()).toContain(ending.run.id);
  });

  test('not of a run that has ended, moved on, or calls a webhook', async () => {
    const { db } = database;
    const exits = [{ id: 'bought', on: { event: 'order.paid' }, reason: 'bought' }];
    const calling = await aWaiter({
      steps: { call: ['WEBHOOK', { url: 'https://example.com', method: 'POST' }], out: ['EXIT'] },
      exits,
    });
    await calling.tell('order.paid');
    expect(await (await signalled()).remaining()).toBe(1);
    const waiter = await aWaiter({ steps: waitsForEvent() });
    await waiter.tell('plan.chosen');
    const underWay = await signalled();
    await db.count('delete from automation_runs where id = $1', [waiter.run.id]);
    expect(await underWay.remaining()).toBe(1);
  });
});
