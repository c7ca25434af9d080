import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { alive, emailActivities } from '../../activities/mail.ts';
import type { Pace } from '../../src/mail/engine/run.ts';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import { signalOrStart } from '../../src/store/outbox/calls.ts';
import { signals, workflowId } from '../../temporal/commands.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, deliveryDeps, queueMany, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(() => store.close());
beforeEach(() => store.db.count('delete from provider_holds'));

const never = new AbortController().signal;
const pace: Pace = { claims: 4, lingerMs: 100, longestMs: 5000 };

function aWorker(
  mailer: FakeMailer,
  { stopping = never, lingerMs = pace.lingerMs }: { stopping?: AbortSignal; lingerMs?: number } = {},
): Promise<TestWorker> {
  const activities = emailActivities({ ...deliveryDeps(store.db, mailer), stopping, pace: { ...pace, lingerMs } });
  return testWorker({ activities, queues: ['mail'] });
}

function wake(worker: TestWorker, project: TestProject): Promise<void> {
  return signalOrStart(
    worker.temporal,
    worker.queuePrefix,
    {
      workflow: 'emailDelivery',
      id: workflowId.delivery(project.id),
      input: { projectId: project.id },
      searchAttributes: { ProjectId: project.id, Kind: 'delivery' },
    },
    signals.wake,
  );
}

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(20);
}
const left = async (project: TestProject) =>
  Number(
    (await store.db.row<{ n: string }>('select count(*) as n from email_queue where project_id = $1', [project.id]))?.n,
  );
const sentEvents = async (project: TestProject) =>
  Number(
    (
      await store.db.row<{ n: string }>(
        "select count(*) as n from events where project_id = $1 and name = 'email.sent'",
        [project.id],
      )
    )?.n,
  );

test('a wake delivers what is queued, and the delivery ends by itself', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 30);
  const mailer = new FakeMailer();
  await using worker = await aWorker(mailer);
  await wake(worker, project);
  await until(() => mailer.sent.length === 30);
  expect(await worker.result(workflowId.delivery(project.id))).toEqual({ delivered: 30, failed: 0 });
  expect(mailer.recipients.toSorted()).toEqual(addresses.toSorted());
  expect(await left(project)).toBe(0);
});

test('wakes at any moment, while it works, idles or ends, leave nothing unsent and nothing twice', async () => {
  const project = await aProject(store.db);
  const mailer = new FakeMailer({ latencyMs: 30 });
  await using worker = await aWorker(mailer);
  const all: string[] = [];
  for (let round = 0; round < 12; round += 1) {
    all.push(...(await queueMany(store.db, project, 3)));
    await wake(worker, project);
    await sleep(round * 23);
  }
  await until(() => mailer.sent.length >= all.length);
  const handle = worker.client.workflow.getHandle(workflowId.delivery(project.id));
  await handle.result();
  // The closed run is followed by a new one under the same id.
  all.push(...(await queueMany(store.db, project, 2)));
  await wake(worker, project);
  await until(() => mailer.sent.length >= all.length);
  expect(mailer.recipients.toSorted()).toEqual(all.toSorted());
  await until(async () => (await left(project)) === 0);
  expect(await sentEvents(project)).toBe(all.length);
});

test('mail that comes while the queue is watched needs no further activity', async () => {
  const project = await aProject(store.db);
  const mailer = new FakeMailer();
  await using worker = await aWorker(mailer, { lingerMs: 4000 });
  const all = await queueMany(store.db, project, 1);
  await wake(worker, project);
  await until(() => mailer.sent.length === 1);
  for (let n = 0; n < 5; n += 1) {
    await sleep(30);
    all.push(...(await queueMany(store.db, project, 1)));
  }
  // Nobody was woken for these.
  await until(() => mailer.sent.length === 6);
  const handle = worker.client.workflow.getHandle(workflowId.delivery(project.id));
  await handle.result();
  const { events = [] } = await handle.fetchHistory();
  expect(events?.filter((event) => event.activityTaskScheduledEventAttributes)).toHaveLength(1);
  expect(mailer.recipients.toSorted()).toEqual(all.toSorted());
});

test('while the provider is held, the delivery says so, shows it and goes on by itself', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 4);
  const mailer = new FakeMailer({ outages: 4, outage: 503 });
  await using worker = await aWorker(mailer);
  await wake(worker, project);
  const handle = worker.client.workflow.getHandle(workflowId.delivery(project.id));
  let detail = '';
  await until(async () => {
    const { phase, detail: said } = await handle.query<{ phase: string; detail: string }>('progress');
    detail = said;
    return phase === 'held';
  });
  expect(detail).toMatch(/^held: provider answers 503 since \d\d:\d\d UTC, 4 waiting, next try/);
  const { typedSearchAttributes } = await handle.describe();
  expect(JSON.stringify(typedSearchAttributes)).toContain('HELD');
  await until(() => mailer.sent.length === 4);
  expect(await handle.result()).toEqual({ delivered: 4, failed: 0 });
  expect(mailer.recipients.toSorted()).toEqual(addresses.toSorted());
  expect(JSON.stringify((await handle.describe()).typedSearchAttributes)).not.toContain('HELD');
});

test('a worker that stops finishes what it claimed; the next one delivers the rest, each once', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 2600);
  const mailer = new FakeMailer({ latencyMs: 150 });
  const stopping = new AbortController();
  mailer.onCall = () => stopping.abort();
  const first = await aWorker(mailer, { stopping: stopping.signal });
  await wake(first, project);
  await until(() => mailer.calls.length > 0);
  await until(async () => mailer.sent.length > 0 && (await left(project)) === 2600 - mailer.sent.length);
  expect(mailer.sent.length).toBeLessThan(2600);
  const activities = emailActivities({ ...deliveryDeps(store.db, mailer), stopping: never, pace });
  await using second = await testWorker({ activities, queues: ['mail'], queuePrefix: first.queuePrefix });
  await first.stop();
  await until(async () => (await left(project)) === 0);
  expect(mailer.recipients.toSorted()).toEqual(addresses.toSorted());
  expect(await sentEvents(project)).toBe(2600);
  expect(await second.result(workflowId.delivery(project.id))).toEqual({ delivered: 2600, failed: 0 });
});

test('two projects do not wait for one another', async () => {
  const [slow, quick] = [await aProject(store.db), await aProject(store.db)];
  await queueMany(store.db, slow, 3);
  await queueMany(store.db, quick, 3);
  const mailer = new FakeMailer();
  const gate = Promise.withResolvers<void>();
  mailer.onCall = (_, messages) => (messages[0]?.projectId === slow.id ? gate.promise : undefined);
  await using worker = await aWorker(mailer);
  await wake(worker, slow);
  await until(() => mailer.calls.length === 1);
  await wake(worker, quick);
  await until(() => mailer.sent.length === 3);
  expect(new Set(mailer.sent.map(({ projectId }) => projectId))).toEqual(new Set([quick.id]));
  gate.resolve();
  await until(() => mailer.sent.length === 6);
});

test('a delivery that is woken all the time goes on in a new run long before the server suggests it, and both can be replayed', async () => {
  const project = await aProject(store.db);
  const id = workflowId.delivery(project.id);
  const woken = Promise.withResolvers<void>();
  const handedOver = [woken.promise, null];
  const deliverPending = () =>
    alive(1000, async () => {
      await handedOver.shift();
      return { delivered: 1, failed: 0, waitMs: handedOver.length > 0 ? 0 : null, held: null };
    });
  await using worker = await testWorker({ activities: { deliverPending }, queues: ['mail'] });
  await wake(worker, project);
  const { runId } = await worker.client.workflow.getHandle(id).describe();
  for (let n = 0; n < 200; n += 1) await worker.client.workflow.getHandle(id, runId).signal(signals.wake);
  woken.resolve();
  expect(await worker.result(id)).toEqual({ delivered: 2, failed: 0 });

  const first = await worker.client.workflow.getHandle(id, runId).fetchHistory();
  const next = first.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  expect(next).not.toBe('');
  const second = await worker.client.workflow.getHandle(id, next).fetchHistory();
  for (const history of [first, second])
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, id);
});
