import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEnroller } from '../../src/automations/runtime/enrol.ts';
import { Outbox, type OutboxDeps } from '../../src/store/outbox/dispatcher.ts';
import { enqueue, enqueueAll, type OutboxTicket, removeDone, type TakenRow } from '../../src/store/outbox/queries.ts';
import { startRelay } from '../../src/store/outbox/recovery.ts';
import { type SignalCommand, type StartCommand, signals, workflowId } from '../../temporal/commands.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { anAutomation, anEvent, enrolPending } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject } from '../support/delivery-fixtures.ts';
import { doorTo } from '../support/door.ts';
import { type TestTemporal, testTemporal } from '../support/worker.ts';

// No worker runs here: what the outbox promises is what the server holds, and its histories tell.
let db: TestDatabase;
let server: TestTemporal;
const silent = pino({ level: 'silent' });

beforeAll(async () => {
  [db, server] = await Promise.all([testDatabase(), testTemporal()]);
});
afterAll(async () => {
  await Promise.all([db.close(), server[Symbol.asyncDispose]()]);
});
beforeEach(async () => {
  await db.db.rows('delete from outbox');
});

function outboxOf(deps: Partial<OutboxDeps> = {}): Outbox {
  const { temporal, queuePrefix } = server;
  return new Outbox({ db: db.db, temporal, queuePrefix, log: silent, revivers: {}, ...deps });
}

function aStart(campaignId: string = randomUUID()): StartCommand {
  return {
    type: 'start',
    workflow: 'campaignSend',
    id: workflowId.campaign(campaignId, 1),
    input: { campaignId, sendSeq: 1 },
    searchAttributes: { CampaignId: campaignId, Kind: 'campaign', DueAt: '2027-01-01T00:00:00.000Z', Recipients: 3 },
    memo: { campaign: 'Spring sale' },
    staticSummary: 'Campaign "Spring sale"',
  };
}

function aWake(id: string, n: number): SignalCommand {
  return { type: 'signal', id, signal: signals.wake, input: { n } };
}

function commit(...commands: Parameters<typeof enqueueAll>[1]): Promise<OutboxTicket[]> {
  return db.db.transaction((sql) => enqueueAll(sql, commands));
}

async function openRows(): Promise<{ kind: string; attempts: number; last_error: string | null; due: boolean }[]> {
  return db.db.rows(
    'select kind, attempts, last_error, next_attempt_at <= now() as due from outbox where done_at is null order by id',
  );
}

async function isThere(client: Client, id: string): Promise<boolean> {
  return client.workflow
    .getHandle(id)
    .describe()
    .then(
      () => true,
      () => false,
    );
}

/** The signals that the execution has received, by the number each carries. */
async function signalsOf(client: Client, id: string): Promise<number[]> {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const signal = event.workflowExecutionSignaledEventAttributes;
    return signal ? [JSON.parse(String(signal.input?.payloads?.[0]?.data)).n as number] : [];
  });
}

test('a committed start whose process died before it could make the call is made by the relay of another', async () => {
  const start = aStart();
  await commit(start);
  expect(await isThere(server.client, start.id)).toBe(false);
  const relay = startRelay({ outbox: outboxOf(), listenUrl: db.url, log: silent });
  try {
    await expect.poll(() => isThere(server.client, start.id)).toBe(true);
    await expect.poll(openRows).toEqual([]);
  } finally {
    await relay.close();
  }
  const execution = await server.client.workflow.getHandle(start.id).describe();
  expect(execution).toMatchObject({
    type: 'campaignSend',
    taskQueue: `${server.queuePrefix}-campaign`,
    memo: { campaign: 'Spring sale' },
  });
  const shown = new Map(execution.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(shown.get('Kind')).toBe('campaign');
  expect(shown.get('Recipients')).toBe(3);
  expect(shown.get('DueAt')).toEqual(new Date('2027-01-01T00:00:00.000Z'));
});

test('a commit wakes the relay, which would otherwise not have looked for a minute', async () => {
  const relay = startRelay({ outbox: outboxOf(), listenUrl: db.url, log: silent, pollMs: 60_000 });
  try {
    const listeners = () =>
      db.db.rows(
        "select 1 from pg_stat_activity where application_name = 'fernpost-outbox' and datname = current_database() and query like 'listen%'",
      );
    await expect.poll(async () => (await listeners()).length).toBeGreaterThan(0);
    const start = aStart();
    await commit(start);
    await expect.poll(() => isThere(server.client, start.id)).toBe(true);
  } finally {
    await relay.close();
  }
});

test('the relay goes on after Postgres has cut its connections', async () => {
  const relay = startRelay({ outbox: outboxOf(), listenUrl: db.url, log: silent, pollMs: 100 });
  try {
    const cut = () =>
      db.db.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'fernpost-outbox' and datname = current_database()`,
      );
    for (let n = 0; n < 2; n++) {
      await expect.poll(async () => (await cut()).length).toBe(1);
      const start = aStart();
      await commit(start);
      await expect.poll(() => isThere(server.client, start.id)).toBe(true);
    }
  } finally {
    await relay.close();
  }
});

test('the call is made right after the commit when its process lives', async () => {
  const outbox = outboxOf();
  const start = aStart();
  outbox.dispatchSoon(...(await commit(start)));
  await outbox.drain();
  expect(await isThere(server.client, start.id)).toBe(true);
  expect(await openRows()).toEqual([]);
});

test('a transaction that is rolled back starts nothing', async () => {
  const start = aStart();
  const failing = db.db.transaction(async (sql) => {
    await enqueue(sql, start);
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await outboxOf().dispatchDue(100)).toBe(0);
  expect(await isThere(server.client, start.id)).toBe(false);
});

test('the same start is one execution however often it is enqueued, even after the first has ended and its row is gone', async () => {
  const outbox = outboxOf();
  const start = aStart();
  const tickets = (await Promise.all([commit(start), commit(start), commit(start, start)])).flat();
  expect(await openRows()).toHaveLength(1);
  outbox.dispatchSoon(...tickets);
  await outbox.drain();
  const handle = server.client.workflow.getHandle(start.id);
  const { runId } = await handle.describe();
  await handle.terminate('the test ends it');
  await db.db.rows('delete from outbox');

  const outcomes: string[] = [];
  await commit(start);
  await outboxOf({ onCall: (_kind, outcome) => outcomes.push(outcome) }).dispatchDue(100);
  expect(outcomes).toEqual(['existed']);
  expect(await openRows()).toEqual([]);
  expect((await handle.describe()).runId).toBe(runId);
});

test('signals wait for the start of their execution and arrive in the order of their commits', async () => {
  const outbox = outboxOf();
  const start = aStart();
  await commit(start, aWake(start.id, 1), aWake(start.id, 2));
  await commit(aWake(start.id, 3));
  // As after a refusal: the start is due later, and nothing may overtake it.
  await db.db.rows("update outbox set next_attempt_at = now() + interval '1 hour' where kind = 'start'");
  expect(await outbox.dispatchDue(100)).toBe(0);
  await db.db.rows("update outbox set next_attempt_at = now() where kind = 'start'");
  while ((await outbox.dispatchDue(100)) > 0);
  expect(await signalsOf(server.client, start.id)).toEqual([1, 2, 3]);
  expect(await openRows()).toEqual([]);
});

test('with Temporal down every commit is accepted and kept, and runs once Temporal is there', async () => {
  await using door = await doorTo(server.temporal.settings.address);
  await using temporal = openTemporal({ ...server.temporal.settings, address: door.address });
  const outcomes: string[] = [];
  const outbox = outboxOf({ temporal, onCall: (_kind, outcome) => outcomes.push(outcome) });
  const starts = Array.from({ length: 5 }, () => aStart());
  for (const start of starts) outbox.dispatchSoon(...(await commit(start)));
  await outbox.drain();
  expect(outcomes).toContain('unreachable');
  // The outage is not the rows' fault: they stay due and are not held back.
  const kept = await openRows();
  expect(kept).toHaveLength(5);
  expect(kept.every((row) => row.attempts === 0 && row.due)).toBe(true);

  const relay = startRelay({ outbox, listenUrl: db.url, log: silent, pollMs: 50 });
  try {
    await door.open();
    await expect.poll(openRows).toEqual([]);
    // And once more while it runs.
    await door.shut();
    starts.push(aStart());
    await commit(...starts.slice(-1));
    await expect.poll(async () => (await openRows())[0]?.last_error).toContain(door.address);
    await door.open();
    await expect.poll(openRows).toEqual([]);
  } finally {
    await relay.close();
  }
  for (const start of starts) expect(await isThere(server.client, start.id)).toBe(true);
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(6);
});

/** Contacts of a project in which an event of each has begun to enroll them, and the IDs of the executions that this starts. */
async function pendingEnrollments(count: number): Promise<string[]> {
  const project = await aProject(db.db);
  const automation = await anAutomation(db.db, project.id, { event: 'joined', steps: { out: ['EXIT'] } });
  const executions: string[] = [];
  for (let n = 0; n < count; n++) {
    const contact = await aContact(db.db, project.id, `walker-${n}@example.com`);
    await anEvent(db.db, project.id, contact, 'joined');
    executions.push(workflowId.automation(automation.id, contact, 1));
  }
  return executions;
}
const pending = () => db.db.rows('select from automation_arrivals');
const areThere = (executions: readonly string[]) => Promise.all(executions.map((id) => isThere(server.client, id)));

test('whoever makes runs of pending enrollments starts their executions, without a relay', async () => {
  const executions = await pendingEnrollments(3);
  const outbox = outboxOf();
  await createEnroller({ db: db.db, startsPerHour: 0, outbox })();
  await outbox.drain();
  expect(await areThere(executions)).toEqual([true, true, true]);
  expect([await pending(), await openRows()]).toEqual([[], []]);
});

test('where a process dies between a run and the start of its execution, another one makes it after the lease, and not before', async () => {
  const executions = await pendingEnrollments(2);
  await enrolPending(db.db);
  const other = outboxOf();
  expect([await pending(), await other.dispatchDue(100)]).toEqual([[], 0]);
  expect(await areThere(executions)).toEqual([false, false]);
  await db.db.rows('update outbox set next_attempt_at = now() where done_at is null');
  expect(await other.dispatchDue(100)).toBe(2);
  expect(await areThere(executions)).toEqual([true, true]);
});

test('while Temporal is out of reach enrollments stay pending, and all are started once it is back', async () => {
  await using door = await doorTo(server.temporal.settings.address);
  await using temporal = openTemporal({ ...server.temporal.settings, address: door.address });
  const outbox = outboxOf({ temporal });
  await commit(aStart());
  await outbox.dispatchDue(100);
  const executions = await pendingEnrollments(3);
  const enrol = createEnroller({ db: db.db, startsPerHour: 0, outbox });
  await enrol();
  // One of them may have found out that Temporal is still away.
  expect((await pending()).length).toBeGreaterThanOrEqual(2);
  await door.open();
  await expect
    .poll(async () => {
      await enrol();
      await outbox.dispatchDue(100);
      return [(await pending()).length, (await openRows()).length];
    })
    .toEqual([0, 0]);
  expect(await areThere(executions)).toEqual([true, true, true]);
});

test('relays side by side make each call once', async () => {
  // A busy server may refuse a call or leave it without an answer: that call is made again, and is counted by its answer.
  // Only a call that had no answer may find, when it is made again, that the execution exists.
  const outcomes: string[] = [];
  const onCall: OutboxDeps['onCall'] = (_kind, outcome) => outcomes.push(outcome);
  await commit(...Array.from({ length: 120 }, () => aStart()));
  const relays = [1, 2, 3].map(() => startRelay({ outbox: outboxOf({ onCall }), listenUrl: db.url, log: silent }));
  try {
    await expect.poll(openRows).toEqual([]);
  } finally {
    await Promise.all(relays.map((relay) => relay.close()));
  }
  const answers = outcomes.filter((outcome) => outcome !== 'refused' && outcome !== 'unreachable');
  expect(answers).toHaveLength(120);
  const unanswered = outcomes.length - answers.length;
  expect(answers.filter((answer) => answer !== 'done').length).toBeLessThanOrEqual(unanswered);
});

test('a call that the server refuses is held back for longer each time, and holds up no other', async () => {
  const pauses: number[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void pauses.push(JSON.parse(line).retryInMs) });
  const outbox = outboxOf({ log });
  const refused = { ...aStart(), input: { much: 'x'.repeat(3_000_000) } };
  const fine = aStart();
  await commit(refused, aWake(refused.id, 1), fine);
  await outbox.dispatchDue(100);
  expect(await isThere(server.client, fine.id)).toBe(true);
  for (let round = 1; round <= 3; round++) {
    const [row] = await openRows();
    expect(row).toMatchObject({ kind: 'start', attempts: round, due: false, last_error: expect.stringMatching(/./) });
    await db.db.rows("update outbox set next_attempt_at = now() where kind = 'start' and done_at is null");
    await outbox.dispatchDue(100);
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000]);
  expect((await openRows()).map((row) => row.kind)).toEqual(['start', 'signal']);
});

test('a row that is made due is taken at once, in whatever half of a millisecond that happens', async () => {
  const outbox = outboxOf();
  for (let n = 0; n < 50; n++) {
    await commit({ type: 'cancel', id: `campaign/${randomUUID()}/1` });
    await db.db.rows('update outbox set next_attempt_at = now() where done_at is null');
    expect(await outbox.dispatchDue(100)).toBe(1);
  }
});

test('a signal without an execution starts it again while its row is active, and is dropped when it is not', async () => {
  const active = aStart();
  const finished = aStart();
  const asked: string[] = [];
  const outbox = outboxOf({
    revivers: {
      campaign: async (sql, id) => {
        expect(await sql.row('select 1')).not.toBeNull();
        asked.push(id);
        return id === active.id ? active : null;
      },
    },
  });
  // It ran once and was ended by hand, so its id is taken as far as a first start is concerned.
  await commit(active);
  await outbox.dispatchDue(100);
  await server.client.workflow.getHandle(active.id).terminate('by an operator');
  await commit(aWake(active.id, 1), aWake(finished.id, 1), { type: 'cancel', id: finished.id });
  while ((await outbox.dispatchDue(100)) > 0);
  expect(asked.sort()).toEqual([active.id, finished.id, finished.id].sort());
  expect((await server.client.workflow.getHandle(active.id).describe()).status.name).toBe('RUNNING');
  expect(await isThere(server.client, finished.id)).toBe(false);
  expect(await openRows()).toEqual([]);
});

test('with a codec key the server stores inputs, memos and summaries encrypted, and the client reads them', async () => {
  const codecKey = 'a secret of more than thirty-two characters';
  await using temporal = openTemporal({ ...server.temporal.settings, codecKey });
  const start = aStart();
  await commit(start);
  await outboxOf({ temporal }).dispatchDue(100);
  const handle = server.client.workflow.getHandle(start.id);
  const { events } = await handle.fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const stored = [...(started?.input?.payloads ?? []), ...Object.values(started?.memo?.fields ?? {})];
  expect(stored).toHaveLength(2);
  for (const { data } of stored) expect(Buffer.from(data ?? []).toString()).not.toMatch(/campaignId|Spring sale/);
  expect((await temporal.client.workflow.getHandle(start.id).describe()).memo).toEqual({ campaign: 'Spring sale' });
});

test('a cancellation reaches the open execution', async () => {
  const outbox = outboxOf();
  const start = aStart();
  await commit(start, { type: 'cancel', id: start.id });
  while ((await outbox.dispatchDue(100)) > 0);
  const { events } = await server.client.workflow.getHandle(start.id).fetchHistory();
  expect((events ?? []).filter((event) => event.workflowExecutionCancelRequestedEventAttributes)).toHaveLength(1);
});

test('rows of done work are removed once they are old enough, open ones never', async () => {
  await commit(aStart(), aStart(), aStart());
  const [first, second] = await db.db.rows<{ id: string }>(
    "update outbox set created_at = now() - interval '9 days' returning id",
  );
  await db.db.rows("update outbox set done_at = now() - interval '25 hours' where id = $1", [first?.id]);
  await db.db.rows("update outbox set done_at = now() - interval '23 hours' where id = $1", [second?.id]);
  expect(await removeDone(db.db, 24, 100)).toBe(1);
  expect(await db.db.rows('select 1 from outbox where done_at is null')).toHaveLength(1);
  expect(await db.db.rows('select 1 from outbox')).toHaveLength(2);
});

test('wakes of automations that are held back hold up nothing else, and are made when there is room', async () => {
  const run = workflowId.automation(randomUUID(), randomUUID(), 1);
  const waked = Array.from(
    { length: 30 },
    (_, n): SignalCommand => ({
      type: 'signal',
      id: run,
      signal: signals.resume,
      input: { seq: n },
    }),
  );
  await commit(...waked);
  const start = aStart();
  await commit(start);
  let open = true;
  const made: unknown[] = [];
  const wakes = {
    remaining: async () => (open ? 10 : 0),
    add: ({ payload }: TakenRow) => {
      made.push(payload.type === 'signal' ? payload.input : payload);
      open = made.length % 10 !== 0;
    },
  };
  open = false;
  const relay = startRelay({ outbox: outboxOf(), listenUrl: db.url, log: silent, pollMs: 60_000, wakes });
  await expect.poll(async () => (await openRows()).map(({ kind }) => kind)).toEqual(waked.map(() => 'signal'));
  expect(made).toEqual([]);
  for (const count of [10, 20, 30]) {
    open = true;
    await expect.poll(() => made.length).toBe(count);
  }
  // A call is told before its row is closed.
  await expect.poll(openRows).toEqual([]);
  expect(made).toEqual(waked.map(({ input }) => input));
  await relay.close();
});
