import proto from '@temporalio/proto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Mailer } from '../../src/domains/providers/mailer.ts';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { enqueue } from '../../src/store/outbox/queries.ts';
import { taskQueue } from '../../temporal/commands.ts';
import { openTemporal, type TemporalConnection } from '../../temporal/connection.ts';
import { deploymentName } from '../../temporal/versions.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { automationHand } from '../support/automations.ts';
import { aCampaign, campaignRow, contacts, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';

// Two releases of workers over one database: the new one takes over from the old one at work, and neither loses nor repeats a message.
const recipients = 300;
const campaignSubject = 'The herons are back';
const namespace = 'default';
const mailer = new FakeMailer({ name: 'versions' });
let database: TestDatabase;
let api: TestApi;
let temporal: TemporalConnection;
let project: TestProject;
let deployment: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { SEND_CHUNK: '10', CAMPAIGN_CALLS_IN_FLIGHT: '2', CAMPAIGN_PARALLEL_BATCHES: '1' });
  temporal = openTemporal({ address: api.config.TEMPORAL_ADDRESS ?? '', namespace, apiKey: null, tls: null });
  project = await aProject(database);
  deployment = deploymentName(api.config.TEMPORAL_TASK_QUEUE);
});
afterAll(async () => {
  await api?.close();
  await temporal?.close();
  await database?.close();
});

/** A worker process's parts of a release, with what it logs and the subjects that it hands over. */
async function release(buildId: string) {
  const subjects: string[] = [];
  const lines: string[] = [];
  const { name, maxBatchMessages, maxBatchBytes, maxMessageBytes } = mailer;
  const via: Mailer = {
    ...{ name, maxBatchMessages, maxBatchBytes, maxMessageBytes },
    send(claimId, messages) {
      subjects.push(...messages.map(({ subject }) => String(subject)));
      return mailer.send(claimId, messages);
    },
    accepted: (claimId) => mailer.accepted(claimId),
  };
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const worker = await startWorker({ ...api.config, TEMPORAL_BUILD_ID: buildId }, log, { mailer: via });
  onTestFinished(() => worker.close());
  const says = (text: string) => expect.poll(() => lines.some((line) => line.includes(text))).toBe(true);
  return { says, subjects, lines, close: () => worker.close() };
}

async function currentVersion(): Promise<string | null | undefined> {
  const { workerDeploymentInfo } = await temporal.connection.workflowService.describeWorkerDeployment({
    ...{ namespace, deploymentName: deployment },
  });
  return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
}

const sentTo = (subject: string) => mailer.taken.filter(({ message }) => message.subject === subject);
let letters = 0;

/** Sends a transactional message; answers its subject. */
async function sendOne(): Promise<string> {
  const subject = `Letter ${letters++}`;
  const body = { from: project.sender, to: `reader-${letters}@example.com`, subject, body: '<p>Hi</p>' };
  expect((await api.call(project.secretKey, 'POST', '/v1/send', body)).status).toBe(200);
  return subject;
}
const arrives = (subject: string) => expect.poll(() => sentTo(subject).length, { message: subject }).toBe(1);

async function openExecutions(query: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of temporal.client.workflow.list({
    query: `${query} and ExecutionStatus = "Running"`,
  }))
    ids.push(workflowId);
  return ids;
}

test('a new release takes over under load: no message is lost or sent twice, nothing stands still, and the old one ends idle', async () => {
  const own = automationHand(api, project);
  const first = await release('r1');
  await first.says('tasks go to this version');

  const { id: onboarding } = await own.automation({ eventName: 'signup' });
  for (const [type, config] of [
    ['DELAY', { amount: 0.02, unit: 'minutes' }],
    ['SEND_EMAIL', { templateId: await own.template('Welcome') }],
    ['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 86_400 }],
  ] as const)
    await own.step(onboarding, type, { ...config });
  await own.step(onboarding, 'SEND_EMAIL', { templateId: await own.template('Thanks') }, { waitOutcome: 'EVENT' });
  await own.enable(onboarding);
  const people: string[] = [];
  const track = async (email: string, event: string) =>
    expect((await api.call(project.publicKey, 'POST', '/v1/track', { email, event })).status).toBe(200);
  const enters = async () => {
    people.push(`member-${people.length}@example.org`);
    await track(people.at(-1) ?? '', 'signup');
  };
  const runs = async (status: string) =>
    (
      await database.db.rows('select from automation_runs where automation_id = $1 and status = $2', [
        onboarding,
        status,
      ])
    ).length;

  // The campaign stays under way until the new release has taken over, however slow this machine is.
  const upgraded = Promise.withResolvers<void>();
  onTestFinished(() => upgraded.resolve());
  mailer.onCall = (_claim, [message]) =>
    message?.subject === campaignSubject && sentTo(campaignSubject).length >= 40 ? upgraded.promise : undefined;
  await contacts(database.db, project.id, recipients);
  const campaign = await aCampaign(database.db, project, { subject: campaignSubject });
  const start = await started(database.db, project.id, campaign, recipients);
  await database.db.transaction((sql) => enqueue(sql, start));
  const before = await Promise.all([enters(), enters(), sendOne(), sendOne()]);
  await expect.poll(() => runs('WAITING')).toBe(2);
  await expect.poll(() => sentTo(campaignSubject).length).toBeGreaterThanOrEqual(40);

  const second = await release('r2');
  const during: string[] = [];
  await expect
    .poll(
      async () => {
        // Work goes on arriving; on a slow machine the take-over lasts, and a few of each are enough.
        if (during.length < 6) await Promise.all([enters(), sendOne().then((subject) => during.push(subject))]);
        return second.lines.some((line) => line.includes('tasks go to this version'));
      },
      { interval: 500 },
    )
    .toBe(true);
  expect(await currentVersion()).toBe('r2');
  upgraded.resolve();
  during.push(await sendOne());
  await first.close();
  await Promise.all([enters(), enters()]);
  const after = await Promise.all([sendOne(), sendOne()]);

  await expect.poll(async () => (await campaignRow(database.db, campaign)).status).toBe('SENT');
  // Whoever has the first mail waits for the event.
  const welcomed = () => people.filter((email) => mailer.recipients.includes(email));
  await expect.poll(welcomed).toEqual(people);
  for (const email of people) await track(email, 'paid');
  await expect.poll(() => runs('COMPLETED')).toBe(people.length);
  for (const subject of [...before, ...during, ...after]) if (typeof subject === 'string') await arrives(subject);

  const perRecipient = (subject: string) =>
    sentTo(subject)
      .map(({ message }) => message.to.address)
      .sort();
  const watchers = Array.from({ length: recipients }, (_, n) => `watcher-${n + 1}@example.com`);
  const counted = perRecipient(campaignSubject).filter((address) => address.startsWith('watcher-'));
  expect(counted).toEqual(watchers.sort());
  expect(new Set(perRecipient(campaignSubject)).size).toBe(sentTo(campaignSubject).length);
  const emails = mailer.taken.map(({ message }) => message.emailId);
  expect(new Set(emails).size).toBe(emails.length);
  for (const status of ['QUEUED', 'SENDING', 'FAILED'])
    expect(await database.db.rows('select from emails where status = $1', [status])).toEqual([]);

  // Both had a part in it, and nothing is left with the old one.
  expect(first.subjects).toContain(campaignSubject);
  expect(second.subjects).toContain(campaignSubject);
  for (const subject of after) expect(second.subjects).toContain(subject);
  const onOld = `TemporalWorkerDeploymentVersion = "${deployment}:r1"`;
  await expect.poll(() => openExecutions(onOld)).toEqual([]);
});

test('an old release that is restarted waits; it takes over when it is told to, or when the current one is gone', async () => {
  const second = await release('r2');
  await second.says('tasks go to this version');
  const first = await release('r1');
  await first.says('tasks go to version r2, whose workers are there');
  await arrives(await sendOne());
  expect(await currentVersion()).toBe('r2');
  expect(first.subjects).toEqual([]);

  const { workflowService } = temporal.connection;
  await workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName: deployment, buildId: 'r1' });
  await second.says('tasks go to version r1, whose workers are there');
  await expect
    .poll(async () => {
      await arrives(await sendOne());
      return first.subjects.length;
    })
    .toBeGreaterThan(0);

  // A sweep keeps the version that it began on, whatever becomes current.
  const bulk = taskQueue(api.config.TEMPORAL_TASK_QUEUE, 'bulk');
  const swept = await temporal.client.workflow.start('retention', { workflowId: `${deployment}/1`, taskQueue: bulk });
  await swept.result();
  const { workflowExecutionInfo } = (await swept.describe()).raw;
  expect(workflowExecutionInfo?.versioningInfo).toMatchObject({
    behavior: proto.temporal.api.enums.v1.VersioningBehavior.VERSIONING_BEHAVIOR_PINNED,
    deploymentVersion: { buildId: 'r1' },
  });

  // Its workers end with work on their hands: a message, and a sweep that only they may take.
  await first.close();
  const waiting = await sendOne();
  const sweep = await temporal.client.workflow.start('retention', {
    workflowId: `${deployment}/2`,
    taskQueue: bulk,
    versioningOverride: { pinnedTo: { deploymentName: deployment, buildId: 'r1' } },
  });
  await expect.poll(currentVersion, { interval: 2000 }).toBe('r2');
  await arrives(waiting);
  await expect(sweep.result()).rejects.toThrow('has no workers any more');
  await second.says('was bound to a version without workers');
});
