import { afterAll, beforeAll, expect, test } from 'vitest';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { cancelSend, lockCampaign, lockCampaignSend, setPaused } from '../../src/campaigns/state.ts';
import { pause } from '../../src/lib/time.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

// As the API does it: with the campaign locked before its send, as everything does that locks both, so that no claim is being made.
const paused = (project: string, campaign: string, on: boolean) =>
  db.db.transaction(async (sql) => {
    await lockCampaign(sql, project, campaign);
    await lockCampaignSend(sql, campaign, 1);
    return setPaused(sql, campaign, 1, on);
  });

test('a pause stops a campaign where it is, shows in the Web UI, outlives the worker, and ends by a resume', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 60);
  const campaign = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ name: 'pause', latencyMs: 20 });
  const activities = campaignActivitiesFor(db.db, mailer, { lanes: 1, chunk: 5, pace: { claims: 1, longestMs: 5000 } });
  const first = await testWorker({ activities, queues: ['campaign'] });
  mailer.onTaken = async () => {
    if (mailer.calls.length === 3) await paused(project.id, campaign, true);
  };
  const start = await started(db.db, project.id, campaign, 60);
  await first.perform(start);
  const handle = first.client.workflow.getHandle(start.id);
  await expect.poll(async () => (await handle.query<{ phase: string; sent: number }>('progress')).phase).toBe('paused');
  // A call takes five, or fewer where rendering was slow: what was left of them waits too.
  const before = mailer.sent.length;
  expect(mailer.calls).toHaveLength(3);
  await expect.poll(async () => (await handle.describe()).searchAttributes.State?.[0]).toBe('PAUSED');
  expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENDING', sent: before });
  await first.stop();

  await using second = await testWorker({ activities, queues: ['campaign'], queuePrefix: first.queuePrefix });
  await second.perform(wakeCampaign(campaign, 1));
  // A wake alone changes nothing: the row decides.
  await pause(300);
  expect(mailer.sent).toHaveLength(before);
  expect(await paused(project.id, campaign, false)).toBe(true);
  await second.perform(wakeCampaign(campaign, 1));
  expect(await second.result(start.id)).toMatchObject({ status: 'SENT', sent: 60 });
  expect(new Set(mailer.recipients).size).toBe(60);
  expect(mailer.recipients).toHaveLength(60);
});

test('a campaign that is cancelled while it is paused ends, and keeps what was sent', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 30);
  const campaign = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ name: 'pause-cancel' });
  await using worker = await testWorker({
    activities: campaignActivitiesFor(db.db, mailer, { lanes: 1, chunk: 5, pace: { claims: 1, longestMs: 5000 } }),
    queues: ['campaign'],
  });
  mailer.onTaken = async () => {
    if (mailer.calls.length === 1) await paused(project.id, campaign, true);
  };
  const start = await started(db.db, project.id, campaign, 30);
  await worker.perform(start);
  const handle = worker.client.workflow.getHandle(start.id);
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('paused');
  expect(await cancelSend(db.db, campaign, 1)).toBe(true);
  await worker.perform(wakeCampaign(campaign, 1));
  expect(mailer.calls).toHaveLength(1);
  const sent = mailer.sent.length;
  const counts = { status: 'CANCELLED', sent, skipped: 30 - sent };
  expect(await worker.result(start.id)).toMatchObject({ ...counts, failed: 0 });
  expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: sent, 'FAILED: Campaign cancelled': 30 - sent });
  expect(await campaignRow(db.db, campaign)).toMatchObject({ ...counts, total: 30 });
});
