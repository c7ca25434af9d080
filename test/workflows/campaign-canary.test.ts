import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TellMembers } from '../../src/accounts/system-mail/service.ts';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { lockCampaignSend, setPaused } from '../../src/campaigns/state.ts';
import { continueFromCanary, releaseStopped, setCanary } from '../../src/launches/canary/choose.ts';
import { type CanaryOptions, canariesOf, canaryCounts } from '../../src/launches/canary/view.ts';
import { pause } from '../../src/lib/time.ts';
import { sql } from '../../src/store/sql.ts';
import { aCampaign, campaignActivitiesFor, campaignRow, contacts, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

/** A campaign of 60 with a canary of 20, and a worker that sends it. */
async function aCanary(name: string, changes: Partial<CanaryOptions> = {}) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 60);
  const id = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ name: `canary-${name}` });
  const told: Parameters<TellMembers>[1][] = [];
  const activities = campaignActivitiesFor(db.db, mailer, {
    chunk: 5,
    tell: async (_, mail) => {
      told.push(mail);
      return [];
    },
  });
  const start = await started(db.db, project.id, id, 60);
  await setCanary(db.db.session(), id, 1, {
    recipients: 20,
    hold: '1h',
    stopIf: { bounceRate: 10 },
    minDelivered: 15,
    ...changes,
  });
  return { project, id, mailer, told, activities, start };
}

const canary = async (id: string) => (await canariesOf(db.db, [id])).get(id);
const held = (id: string) => expect.poll(async () => (await canary(id))?.state).toBe('HOLDING');
/** Reports of the provider, as they move the ledger. */
const reported = (id: string, column: 'delivered_at' | 'bounced_at', count: number) =>
  db.db.count(
    `update emails set ${column} = now() where id in (
       select id from emails where campaign_id = $1 and sent_at is not null and ${column} is null order by id limit $2)`,
    [id, count],
  );
const holdEnds = (id: string) =>
  db.db.count(`update campaign_canaries set held_until = now() where campaign_id = $1`, [id]);

test('the slice is that of lowest hash, a killed worker loses nothing of the hold, and everybody else follows once', async () => {
  const { id, mailer, activities, start, told } = await aCanary('passes');
  const first = await testWorker({ activities, queues: ['campaign'] });
  await first.perform(start);
  await held(id);
  const rows = await db.db.rows<{ id: string; email: string }>(
    'select contact_id as id, to_address as email from emails where campaign_id = $1',
    [id],
  );
  const hash = (contact: string) =>
    createHash('sha256')
      .update(Buffer.from(`${id}${contact}`.replaceAll('-', ''), 'hex'))
      .digest('hex');
  const lowest = rows.sort((a, b) => (hash(a.id) < hash(b.id) ? -1 : 1)).slice(0, 20);
  expect([...mailer.recipients].sort()).toEqual(lowest.map(({ email }) => email).sort());
  const handle = first.client.workflow.getHandle(start.id);
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('held');
  await first.stop();

  await reported(id, 'delivered_at', 15);
  await holdEnds(id);
  await using second = await testWorker({ activities, queues: ['campaign'], queuePrefix: first.queuePrefix });
  await second.perform(wakeCampaign(id, 1));
  expect(await second.result(start.id)).toMatchObject({ status: 'SENT', sent: 60 });
  expect(mailer.recipients).toHaveLength(60);
  expect(new Set(mailer.recipients).size).toBe(60);
  expect(await canary(id)).toMatchObject({ state: 'PASSED', counts: { mailed: 20, delivered: 15 }, stopped: null });
  expect(told).toEqual([]);
});

test('a limit that is broken during the hold pauses the campaign once, tells the members, and a person decides', async () => {
  const { project, id, mailer, activities, start, told } = await aCanary('stops');
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  await held(id);
  await reported(id, 'bounced_at', 2);
  await worker.perform(wakeCampaign(id, 1));
  await pause(300);
  expect(await canary(id)).toMatchObject({ state: 'HOLDING', counts: { bounced: 2 } });
  await reported(id, 'bounced_at', 1);
  await worker.perform(wakeCampaign(id, 1));
  await expect.poll(async () => (await canary(id))?.state).toBe('STOPPED');
  expect(await canary(id)).toMatchObject({ stopped: { code: 'canary_bounce_rate', count: 3, of: 20, limit: 10 } });
  const row = await db.db.row('select paused_at is not null as paused, pause_reason from campaigns where id = $1', [
    id,
  ]);
  expect(row).toEqual({ paused: true, pause_reason: 'canary_bounce_rate' });
  expect(told).toMatchObject([{ projectId: project.id, kind: 'campaign-stopped' }]);
  const events = await db.db.rows('select data from events where project_id = $1 and name = $2', [
    project.id,
    'campaign.paused',
  ]);
  expect(events).toMatchObject([{ data: { campaignId: id, sent: 20, reason: 'canary_bounce_rate' } }]);
  await worker.perform(wakeCampaign(id, 1));
  expect(mailer.recipients).toHaveLength(20);

  // As the API resumes it.
  await db.db.transaction(async (tx) => {
    await lockCampaignSend(tx, id, 1);
    await setPaused(tx, id, 1, false);
    await releaseStopped(tx, id, 1);
  });
  await worker.perform(wakeCampaign(id, 1));
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 60 });
  expect(new Set(mailer.recipients).size).toBe(60);
  expect(mailer.recipients).toHaveLength(60);
  expect(told).toHaveLength(1);
});

test('too few delivered at the end of the hold pauses', async () => {
  const { id, mailer, activities, start } = await aCanary('unknown', { hold: '1s' });
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  await expect.poll(async () => (await canary(id))?.state).toBe('STOPPED');
  expect(await canary(id)).toMatchObject({
    stopped: { code: 'canary_too_few_delivered', count: 0, of: 20, limit: 15 },
  });
  expect(mailer.recipients).toHaveLength(20);
  expect(await campaignRow(db.db, id)).toMatchObject({ status: 'SENDING', sent: 20 });
});

test('a person ends the hold early', async () => {
  const { project, id, mailer, activities, start } = await aCanary('early');
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  await held(id);
  await reported(id, 'bounced_at', 20);
  await continueFromCanary(db.db, project.id, id);
  await worker.perform(wakeCampaign(id, 1));
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 60 });
  expect(mailer.recipients).toHaveLength(60);
  expect(await canary(id)).toMatchObject({ state: 'PASSED', releasedAt: expect.any(String) });
  expect(await continueFromCanary(db.db, project.id, id).catch((error) => error.status)).toBe(409);
});

test('an audience no larger than the canary has none', async () => {
  const { id, mailer, activities, start } = await aCanary('all', { recipients: 60 });
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 60 });
  expect(mailer.recipients).toHaveLength(60);
  expect(await canary(id)).toMatchObject({ state: 'PASSED', counts: { mailed: 0 } });
});

test('each member is found by its key, whatever the statistics say of the campaign', async () => {
  const { id } = await aCanary('plans');
  const plan = await db.db.transaction(async (tx) => {
    // The tables of a test are so small that reading them whole is the least work.
    await tx.rows('set local enable_seqscan = off');
    await tx.rows('set local enable_bitmapscan = off');
    return tx.rows<{ 'QUERY PLAN': string }>(sql`
      explain select now.counts from campaign_canaries k, lateral (${canaryCounts}) now where k.campaign_id = ${id}`);
  });
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toMatch(
    /Limit [^\n]*\n[^\n]*Index Scan using emails_\w+ [^\n]*\n *Index Cond: [^\n]*contact_id = m\.contact_id/,
  );
});
