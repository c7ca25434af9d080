import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOfSend } from '../../src/campaigns/lifecycle/begin.ts';
import { recoverableCampaigns, reviveCampaign } from '../../src/campaigns/lifecycle/recovery.ts';
import { setPaused } from '../../src/campaigns/state.ts';
import { isOpen } from '../../src/store/outbox/calls.ts';
import type { OutboxTicket } from '../../src/store/outbox/queries.ts';
import { createRecovery } from '../../src/store/outbox/recovery.ts';
import type { Command } from '../../temporal/commands.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  scheduled,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

// A Temporal store that is lost, or an execution that is terminated by hand, leaves rows that say what is to be done.
let db: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
let lanesAtWork = 0;
beforeAll(async () => {
  db = await testDatabase();
  mailer = new FakeMailer({ name: 'recovery' });
  const activities = campaignActivitiesFor(db.db, mailer);
  const sendLane: typeof activities.sendLane = async (...place) => {
    lanesAtWork += 1;
    try {
      return await activities.sendLane(...place);
    } finally {
      lanesAtWork -= 1;
    }
  };
  worker = await testWorker({ activities: { ...activities, sendLane }, queues: ['campaign'] });
});
afterAll(async () => {
  await worker.stop();
  await db.close();
});

async function birdwatch(people = 12) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, people);
  const campaign = await aCampaign(db.db, project);
  return { project, campaign };
}
const agesOf = (campaign: string, minutes: number) =>
  db.db.count(`update campaign_sends set updated_at = now() - $2 * interval '1 minute' where campaign_id = $1`, [
    campaign,
    minutes,
  ]);
const campaignAges = (campaign: string, minutes: number) =>
  db.db.count(`update campaigns set updated_at = now() - $2 * interval '1 minute' where id = $1`, [campaign, minutes]);

/** One pass of the reconciler; what it puts into the outbox is done at once. */
async function reconcile(): Promise<number> {
  const tickets: OutboxTicket[] = [];
  const recover = createRecovery(
    {
      db: db.db,
      isOpen: (id) => isOpen(worker.temporal, id),
      dispatchSoon: (...given) => void tickets.push(...given),
    },
    recoverableCampaigns,
  );
  const restarted = await recover();
  for (const { workflowId } of tickets) {
    const rows = await db.db.rows<{ id: string; payload: Command }>(
      'update outbox set done_at = now() where workflow_id = $1 and done_at is null returning id, payload',
      [workflowId],
    );
    for (const { payload } of rows) await worker.perform(payload);
  }
  return restarted;
}

describe('one pass of the reconciler', () => {
  test('starts a campaign again that nothing works on, and every recipient gets it once', async () => {
    const { project, campaign } = await birdwatch();
    const start = await started(db.db, project.id, campaign, 12);
    // Its start is lost with the store of Temporal.
    expect(await reconcile()).toBe(0);
    await agesOf(campaign, 10);
    await campaignAges(campaign, 10);
    expect(await reconcile()).toBe(1);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 12 });
    expect(mailer.sent.filter(({ projectId }) => projectId === project.id)).toHaveLength(12);
    await agesOf(campaign, 10);
    expect(await reconcile()).toBe(0);
  });

  test('goes on with one that was terminated in the middle, from its rows', async () => {
    const { project, campaign } = await birdwatch(40);
    const start = await started(db.db, project.id, campaign, 40);
    const handle = worker.client.workflow.getHandle(start.id);
    mailer.onTaken = async (_, messages) => {
      if (messages[0]?.projectId !== project.id) return;
      mailer.onTaken = () => undefined;
      await handle.terminate('by hand');
    };
    await worker.perform(start);
    await expect.poll(async () => (await handle.describe()).status.name).toBe('TERMINATED');
    // Its activities end by themselves, and what they hold then is theirs for a while.
    await expect.poll(() => lanesAtWork).toBe(0);
    await db.db.count(`update campaign_claims set taken_at = now() - interval '1 hour' where campaign_id = $1`, [
      campaign,
    ]);
    await expect
      .poll(async () => {
        await agesOf(campaign, 10);
        await campaignAges(campaign, 10);
        return reconcile();
      })
      .toBe(1);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 40 });
    const reached = mailer.sent.filter(({ projectId }) => projectId === project.id).map(({ to }) => to.address);
    expect(new Set(reached).size).toBe(40);
    expect(reached).toHaveLength(40);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 40, sent: 40 });
  });

  test('starts a scheduled campaign whose time is past, and leaves one alone that waits', async () => {
    const late = await birdwatch(3);
    const start = await scheduled(db.db, late.project.id, late.campaign, -120_000);
    const waiting = await birdwatch(3);
    const waits = await scheduled(db.db, waiting.project.id, waiting.campaign, 3_600_000);
    await worker.perform(waits);
    for (const { campaign } of [late, waiting]) {
      await agesOf(campaign, 10);
      await campaignAges(campaign, 10);
    }
    expect(await reconcile()).toBe(1);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 3 });
    expect(await campaignRow(db.db, waiting.campaign)).toMatchObject({ status: 'SCHEDULED' });
    await worker.client.workflow.getHandle(waits.id).terminate();
    await db.db.count(`update campaigns set status = 'DRAFT' where id = $1`, [waiting.campaign]);
  });

  test('wakes a scheduled campaign that sleeps beyond its time because a wake was lost', async () => {
    const { project, campaign } = await birdwatch(3);
    const start = await scheduled(db.db, project.id, campaign, 3_600_000);
    await worker.perform(start);
    await expect
      .poll(async () => (await worker.client.workflow.getHandle(start.id).query<{ phase: string }>('progress')).phase)
      .toBe('scheduled');
    await scheduled(db.db, project.id, campaign, -120_000);
    await agesOf(campaign, 10);
    expect(await reconcile()).toBe(1);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 3 });
  });

  test('passes over a paused send, and finds the one behind it that is stuck', async () => {
    const resting = await birdwatch(1);
    const first = await started(db.db, resting.project.id, resting.campaign, 1);
    await db.db.count('update campaigns set paused_at = now() where id = $1', [resting.campaign]);
    await worker.perform(first);
    await agesOf(resting.campaign, 30);
    await campaignAges(resting.campaign, 30);
    expect(await reconcile()).toBe(0);
    const stuck = await birdwatch(1);
    await started(db.db, stuck.project.id, stuck.campaign, 1);
    await agesOf(stuck.campaign, 10);
    await campaignAges(stuck.campaign, 10);
    expect(await reconcile()).toBe(1);
    expect(await setPaused(db.db, resting.campaign, 1, false)).toBe(true);
  });
});

describe('a signal that finds no execution', () => {
  test('starts the one of a campaign that is scheduled or under way, and none of one that is over', async () => {
    const { project, campaign } = await birdwatch(2);
    const start = await scheduled(db.db, project.id, campaign, 3_600_000);
    const revived = await reviveCampaign(db.db, start.id);
    expect(revived).toMatchObject({ id: start.id, searchAttributes: { State: 'SCHEDULED' } });
    expect(revived?.searchAttributes?.DueAt).toBe(start.searchAttributes?.DueAt);
    await db.db.count(`update campaigns set status = 'DRAFT' where id = $1`, [campaign]);
    expect(await reviveCampaign(db.db, start.id)).toBeNull();
    expect(await reviveCampaign(db.db, `campaign/${campaign}/7`)).toBeNull();
  });
});

test('what Temporal keeps of a campaign is short, however long its name', () => {
  const start = startOfSend(
    { id: 'a', projectId: 'b', name: 'x'.repeat(5_000_000), sendSeq: 1 },
    'y'.repeat(100_000),
    1,
  );
  expect(JSON.stringify(start).length).toBeLessThan(2000);
});
