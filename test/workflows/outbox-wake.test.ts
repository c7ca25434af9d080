import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../../src/lib/time.ts';
import { createDeliveryWaker, createMailSweep } from '../../src/store/outbox/wake.ts';
import { workflowId } from '../../temporal/commands.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { doorTo } from '../support/door.ts';
import { type TestTemporal, testTemporal } from '../support/worker.ts';

let db: TestDatabase;
let server: TestTemporal;
const silent = pino({ level: 'silent' });

beforeAll(async () => {
  [db, server] = await Promise.all([testDatabase(), testTemporal()]);
});
afterAll(async () => {
  await Promise.all([db.close(), server[Symbol.asyncDispose]()]);
});

const aWaker = (of = db.db, times: { gapMs?: number } = {}) =>
  createDeliveryWaker({ db: of, temporal: server.temporal, queuePrefix: server.queuePrefix, log: silent, ...times });

async function wakesOf(projectId: string): Promise<number> {
  const { events } = await server.client.workflow.getHandle(workflowId.delivery(projectId)).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

async function isDelivering(projectId: string): Promise<boolean> {
  const handle = server.client.workflow.getHandle(workflowId.delivery(projectId));
  return handle.describe().then(
    ({ status, taskQueue }) => status.name === 'RUNNING' && taskQueue === `${server.queuePrefix}-mail`,
    () => false,
  );
}

/** Mail of a new project that has been due for so many seconds. */
async function queuedMail(dueForSeconds: number, claim: string | null = null): Promise<string> {
  const [projectId, contactId, emailId] = [randomUUID(), randomUUID(), randomUUID()];
  const key = (name: string) => Buffer.from(`${name} of ${projectId}`);
  await db.db.transaction(async (sql) => {
    await sql.count(
      `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
       values ($1, 'Acme', $2, $3, '', '')`,
      [projectId, key('public'), key('secret')],
    );
    await sql.count(
      `insert into contacts (id, project_id, email, subscribed)
       values ($1, $2, 'ida.bauer@example.com', true)`,
      [contactId, projectId],
    );
    await sql.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class)
       values ($1, $2, $3, 'ida.bauer@example.com', 'hello@acme.test', 'TRANSACTIONAL', 'TRANSACTIONAL')`,
      [emailId, projectId, contactId],
    );
    await sql.count(
      `insert into email_queue (email_id, project_id, claim_id, due_at)
       values ($1, $2, $3, now() - make_interval(secs => $4))`,
      [emailId, projectId, claim, dueForSeconds],
    );
  });
  return projectId;
}

test('a thousand wakes at once are one signal, and a wake after it is one more', async () => {
  const waker = aWaker();
  const projectId = randomUUID();
  for (let n = 0; n < 1000; n++) waker.wake(projectId);
  await waker.drain();
  expect(await isDelivering(projectId)).toBe(true);
  expect(await wakesOf(projectId)).toBe(1);

  waker.wake(projectId);
  await waker.drain();
  expect(await wakesOf(projectId)).toBe(2);
});

/** Wakes the delivery of a project again and again, as mail that keeps coming does. Answers how long that was, in milliseconds. */
async function wakeFor(ms: number, projectId: string): Promise<number> {
  const started = performance.now();
  const waker = aWaker();
  while (performance.now() - started < ms) {
    waker.wake(projectId);
    await pause(20);
  }
  await waker.drain();
  return performance.now() - started;
}

test('while mail keeps coming and is taken, one signal is enough', async () => {
  const projectId = randomUUID();
  await wakeFor(1_600, projectId);
  expect(await wakesOf(projectId)).toBe(1);
});

test('mail that nobody takes is signalled again, less and less often', async () => {
  const projectId = await queuedMail(1);
  const ms = await wakeFor(1_600, projectId);
  const count = await wakesOf(projectId);
  expect(count).toBeGreaterThan(1);
  // At once, and after pauses of 400, 800, 1600 and then 3200 ms.
  expect(count).toBeLessThanOrEqual(2 + Math.log2(1 + ms / 400));
});

test('mail that comes after the last signal, and that nobody takes, is signalled without another wake', async () => {
  const projectId = await queuedMail(1);
  const waker = aWaker();
  waker.wake(projectId);
  await expect.poll(() => isDelivering(projectId)).toBe(true);
  // The mail so far was taken, and the delivery has ended its round.
  await db.db.rows('update email_queue set due_at = clock_timestamp() where project_id = $1', [projectId]);
  waker.wake(projectId);
  await waker.drain();
  expect(await wakesOf(projectId)).toBe(2);
});

test('later mail, of which nobody sees whether a delivery at work has seen it, is signalled once more', async () => {
  const projectId = await queuedMail(-60);
  const waker = aWaker(db.db, { gapMs: 500 });
  waker.wake(projectId);
  await expect.poll(() => isDelivering(projectId)).toBe(true);
  waker.wake(projectId, true);
  await waker.drain();
  expect(await wakesOf(projectId)).toBe(2);
  // The signal that it begins with is enough.
  waker.wake(projectId, true);
  await waker.drain();
  expect(await wakesOf(projectId)).toBe(3);
});

test('a process that stops signals once more, and does not watch the mail that others keep queueing', async () => {
  const projectId = randomUUID();
  // There is always mail that was queued a moment ago.
  const waker = aWaker(Object.assign(Object.create(db.db), { row: async () => ({ ms: 1 }) }));
  let isStopping = false;
  const own = (async () => {
    for (; !isStopping; await pause(10)) waker.wake(projectId);
  })();
  await expect.poll(() => isDelivering(projectId)).toBe(true);
  const before = await wakesOf(projectId);
  isStopping = true;
  await own;
  await waker.drain();
  expect(await wakesOf(projectId)).toBeGreaterThan(before);
});

test('a delivery that has ended is started again by the next wake', async () => {
  const waker = aWaker();
  const projectId = randomUUID();
  waker.wake(projectId);
  await waker.drain();
  const handle = server.client.workflow.getHandle(workflowId.delivery(projectId));
  const first = await handle.describe();
  await handle.terminate('idle');
  waker.wake(projectId);
  await waker.drain();
  expect(await isDelivering(projectId)).toBe(true);
  expect((await handle.describe()).runId).not.toBe(first.runId);
});

test('wakes that cannot reach Temporal harm nobody, are logged once, and are made up for by the sweep', async () => {
  await using door = await doorTo(server.temporal.settings.address);
  await using temporal = openTemporal({ ...server.temporal.settings, address: door.address });
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const waker = createDeliveryWaker({ db: db.db, temporal, queuePrefix: server.queuePrefix, log });
  const projects = [await queuedMail(10), await queuedMail(10)];
  for (const projectId of [...projects, ...projects]) waker.wake(projectId);
  await waker.drain();
  waker.wake(projects[0] ?? '');
  await waker.drain();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(door.address);

  await door.open();
  let now = Date.now();
  const sweep = createMailSweep({ db: db.db, waker, clock: () => new Date(now) });
  await expect
    .poll(
      async () => {
        now += 60_000;
        await sweep();
        await waker.drain();
        return Promise.all(projects.map(isDelivering));
      },
      { interval: 200 },
    )
    .toEqual([true, true]);
});

test('the sweep wakes projects whose mail has waited and nobody holds, less and less often', async () => {
  await db.db.rows('delete from email_queue');
  const waiting = [await queuedMail(10), await queuedMail(3600)];
  const others = [await queuedMail(0), await queuedMail(-60), await queuedMail(10, 'run/activity/1')];
  const waker = aWaker();
  let now = Date.parse('2026-03-02T09:00:00Z');
  const sweep = createMailSweep({ db: db.db, waker, clock: () => new Date(now) });
  expect(await sweep()).toBe(2);
  await waker.drain();
  expect(await Promise.all(waiting.map(isDelivering))).toEqual([true, true]);
  expect(await Promise.all(others.map(isDelivering))).toEqual([false, false, false]);

  const wokenAt: number[] = [];
  await db.db.rows('delete from email_queue where project_id <> $1', [waiting[0]]);
  for (let second = 1; second <= 200; second++) {
    now += 1000;
    if ((await sweep()) > 0) wokenAt.push(second);
  }
  expect(wokenAt).toEqual([5, 15, 35, 75, 135, 195]);

  // Mail that went out and new mail later: a new wait, watched as closely as the first.
  await db.db.rows('delete from email_queue');
  expect(await sweep()).toBe(0);
  await queuedMail(10);
  expect(await sweep()).toBe(1);
  await waker.drain();
});
