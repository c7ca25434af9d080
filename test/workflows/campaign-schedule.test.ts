import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { openSend, unscheduleSend } from '../../src/campaigns/state.ts';
import { pause } from '../../src/lib/time.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  scheduled,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let db: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
beforeAll(async () => {
  db = await testDatabase();
  mailer = new FakeMailer({ name: 'schedule' });
  worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
});
afterAll(async () => {
  await worker.stop();
  await db.close();
});

const takenOf = (project: TestProject) => mailer.taken.filter(({ message }) => message.projectId === project.id);
const hour = 3_600_000;
/** Far enough off for the next calls to come before it, also on a busy machine. */
const soon = 10_000;
const moment = 2_000;
const wake = (id: string) => worker.perform(wakeCampaign(id, 1));
const stateOf = async (workflowId: string) => {
  const { searchAttributes } = await worker.client.workflow.getHandle(workflowId).describe();
  return { state: searchAttributes.State?.[0], due: searchAttributes.DueAt?.[0] as Date | undefined };
};
const phaseOf = (workflowId: string) =>
  worker.client.workflow.getHandle(workflowId).query<{ phase: string }>('progress');

async function birdwatch(people = 9) {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, people);
  return { project, campaign: await aCampaign(db.db, project) };
}

describe('mail of a scheduled campaign goes out exactly at its last time, or never', () => {
  test('at its time, not before', async () => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, moment);
    await worker.perform(start);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 9 });
    const due = Date.parse(String((start.searchAttributes as { DueAt: string }).DueAt));
    const sentAt = await db.db.row<{ at: number }>(
      'select (1000 * extract(epoch from sent_at))::float8 as at from campaigns where id = $1',
      [campaign],
    );
    expect(sentAt?.at).toBeGreaterThanOrEqual(due);
    expect(takenOf(project)).toHaveLength(9);
  });

  test('moved to an earlier time it goes out then', async () => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, hour);
    await worker.perform(start);
    await expect.poll(async () => (await phaseOf(start.id)).phase).toBe('scheduled');
    await scheduled(db.db, project.id, campaign, 500);
    await wake(campaign);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 9 });
    expect(takenOf(project)).toHaveLength(9);
  });

  test('moved to a later time the old one no longer counts, and sent now it goes out at once', async () => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, soon);
    await worker.perform(start);
    const later = await scheduled(db.db, project.id, campaign, hour);
    await wake(campaign);
    // Beyond the old time.
    await pause(soon + 300);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SCHEDULED' });
    expect(takenOf(project)).toEqual([]);
    await expect
      .poll(async () => (await stateOf(start.id)).due?.toISOString())
      .toBe((later.searchAttributes as { DueAt: string }).DueAt);
    await openSend(db.db, campaign, 9, null);
    await wake(campaign);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 9 });
    expect(takenOf(project)).toHaveLength(9);
    expect((await stateOf(start.id)).state).toBe('SENT');
  });

  test('cancelled it never goes out, and its execution ends', async () => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, soon);
    await worker.perform(start);
    expect(await unscheduleSend(db.db, campaign, 1)).toBe(true);
    await wake(campaign);
    expect(await worker.result(start.id)).toMatchObject({ status: 'DRAFT' });
    await pause(soon);
    expect(takenOf(project)).toEqual([]);
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'DRAFT' });
  });

  test('cancelled in the Web UI it is a draft', async () => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, hour);
    await worker.perform(start);
    await expect.poll(async () => (await phaseOf(start.id)).phase).toBe('scheduled');
    await worker.client.workflow.getHandle(start.id).cancel();
    await expect(worker.result(start.id)).rejects.toThrow();
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'DRAFT' });
  });
});

describe('when its time has come', () => {
  const noteOf = (campaign: string) =>
    db.db.row<{ status: string; note: string | null; scheduled: string | null }>(
      'select status, audit_note as note, scheduled_for::text as scheduled from campaigns where id = $1',
      [campaign],
    );

  test.each([
    ['project is disabled', 'update projects set disabled = true where id = $1', 'Project is disabled'],
    [
      'domain is no longer verified',
      'update domains set verified = false where project_id = $1',
      'Sender domain is not verified',
    ],
  ])('a campaign whose %s is a draft again, and the project is told why', async (_, change, reason) => {
    const { project, campaign } = await birdwatch();
    const start = await scheduled(db.db, project.id, campaign, 300);
    await db.db.count(change, [project.id]);
    await worker.perform(start);
    expect(await worker.result(start.id)).toMatchObject({ status: 'DRAFT' });
    expect(await noteOf(campaign)).toEqual({ status: 'DRAFT', note: reason, scheduled: null });
    const events = await db.db.rows<{ data: object }>(
      `select data from events where project_id = $1 and name = 'campaign.reverted'`,
      [project.id],
    );
    expect(events).toEqual([{ data: { campaignId: campaign, campaignName: 'Spring count', reason } }]);
    expect(takenOf(project)).toEqual([]);
  });

  test('an audience that has become empty ends it as SENT to nobody', async () => {
    const { project, campaign } = await birdwatch(3);
    const start = await scheduled(db.db, project.id, campaign, 300);
    await db.db.count('update contacts set subscribed = false where project_id = $1', [project.id]);
    await worker.perform(start);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', recipients: 0, sent: 0 });
    expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 0 });
  });

  test('it goes to whoever is there then: contacts that came after it was scheduled, but not after it began', async () => {
    const { project, campaign } = await birdwatch(3);
    const start = await scheduled(db.db, project.id, campaign, 1000);
    await worker.perform(start);
    await aContact(db.db, project.id, 'newcomer@example.com');
    let late = 0;
    mailer.onCall = async (_, messages) => {
      if (messages[0]?.projectId !== project.id) return;
      late += 1;
      await aContact(db.db, project.id, `late-${late}@example.com`);
    };
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 4 });
    mailer.onCall = () => undefined;
    const reached = takenOf(project).map(({ message }) => message.to.address);
    expect(reached).toContain('newcomer@example.com');
    expect(late).toBeGreaterThan(0);
    expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: 4 });
  });
});
