import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followQuietHours } from '../../src/campaigns/delivery/held.ts';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { cancelSend, lockCampaignSend } from '../../src/campaigns/state.ts';
import { QuietHours } from '../../src/projects/schema.ts';
import { aCampaign, campaignActivitiesFor, campaignRow, ledgerOf, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const zones = ['UTC', 'Atlantic/Reykjavik', 'Asia/Tokyo'] as const;
const hourMs = 3_600_000;

/** A campaign to ten contacts in each of three zones, of which two are in quiet hours for an hour. */
async function aNight(name: string) {
  const project = await aProject(db.db);
  const time = (instant: number) => new Date(instant).toISOString().slice(11, 16);
  const hours = v.parse(QuietHours, { from: time(Date.now() - hourMs), to: time(Date.now() + hourMs) });
  await db.db.count('update projects set quiet_hours = $2 where id = $1', [project.id, JSON.stringify(hours)]);
  for (const zone of zones)
    for (let n = 0; n < 10; n += 1)
      await aContact(db.db, project.id, `${zone.split('/').at(-1)?.toLowerCase()}-${n}@example.com`, {
        data: { timezone: zone },
      });
  const id = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ name: `night-${name}` });
  const activities = campaignActivitiesFor(db.db, mailer, { chunk: 4 });
  return { project, id, mailer, activities, start: await started(db.db, project.id, id, 30) };
}

/** Lets the quiet hours of a zone end in so many milliseconds. */
const ends = (id: string, zone: (typeof zones)[number], inMs: number) =>
  db.db.count(
    `update campaign_held_contacts h set due_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
     from contacts c where h.campaign_id = $1 and c.id = h.contact_id and c.data ->> 'timezone' = $2`,
    [id, zone, inMs],
  );
const waiting = (id: string) => db.db.count('select from campaign_held_contacts where campaign_id = $1', [id]);
const isOf = (zone: string) => (to: string) => to.startsWith(zone);

test('reaches three zones one after the other, each contact once, although workers are killed and an answer is lost', async () => {
  const { project, id, mailer, activities, start } = await aNight('zones');
  const first = await testWorker({ activities, queues: ['campaign'] });
  await first.perform(start);
  const handle = first.client.workflow.getHandle(start.id);
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('held');
  expect(await handle.query('progress')).toMatchObject({
    detail: expect.stringMatching(/^On hold until \S+Z for 20 contacts \(quiet hours\)$/),
  });
  expect([mailer.recipients.length, mailer.recipients.every(isOf('tokyo'))]).toEqual([10, true]);
  await first.stop();

  // The hours of one zone end while no worker is there; the answer to the first call of the next is lost.
  await db.db.count('update projects set quiet_hours = null where id = $1', [project.id]);
  await ends(id, 'Atlantic/Reykjavik', 0);
  await ends(id, 'UTC', 600_000);
  mailer.options.dropAnswers = 1;
  const second = await testWorker({ activities, queues: ['campaign'], queuePrefix: first.queuePrefix });
  await second.perform(wakeCampaign(id, 1));
  await expect.poll(async () => (await campaignRow(db.db, id)).sent).toBe(20);
  expect(mailer.recipients.filter(isOf('reykjavik'))).toHaveLength(10);
  expect(mailer.recipients.some(isOf('utc'))).toBe(false);
  // The timer that is set now fires by itself.
  await ends(id, 'UTC', 6000);
  await second.perform(wakeCampaign(id, 1));
  await expect
    .poll(async () => (await second.client.workflow.getHandle(start.id).query<{ phase: string }>('progress')).phase)
    .toBe('held');
  expect(mailer.recipients.some(isOf('utc'))).toBe(false);
  await second.stop();

  await using third = await testWorker({ activities, queues: ['campaign'], queuePrefix: first.queuePrefix });
  expect(await third.result(start.id)).toMatchObject({
    status: 'SENT',
    recipients: 30,
    sent: 30,
    skipped: 0,
    failed: 0,
  });
  expect(new Set(mailer.recipients).size).toBe(30);
  expect(mailer.recipients).toHaveLength(30);
  expect(await ledgerOf(db.db, id)).toEqual({ SENT: 30 });
  expect(await waiting(id)).toBe(0);
});

test('is canceled at once while contacts are held, who then get nothing', async () => {
  const { id, mailer, activities, start } = await aNight('canceled');
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  const handle = worker.client.workflow.getHandle(start.id);
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('held');
  await db.db.transaction(async (tx) => {
    await lockCampaignSend(tx, id, 1);
    await cancelSend(tx, id, 1);
  });
  await worker.perform(wakeCampaign(id, 1));
  expect(await worker.result(start.id)).toMatchObject({ status: 'CANCELLED', recipients: 30, sent: 10, skipped: 20 });
  expect(mailer.recipients.every(isOf('tokyo'))).toBe(true);
  expect(await ledgerOf(db.db, id)).toEqual({ SENT: 10, 'FAILED: Campaign cancelled': 20 });
  expect(await waiting(id)).toBe(0);
});

test('waits no longer than ten minutes once the hours are switched off, and is sent then', async () => {
  const { project, id, mailer, activities, start } = await aNight('off');
  await using worker = await testWorker({ activities, queues: ['campaign'] });
  await worker.perform(start);
  const handle = worker.client.workflow.getHandle(start.id);
  const until = async () => {
    const { phase, detail = '' } = await handle.query<{ phase: string; detail?: string }>('progress');
    return phase === 'held' ? Date.parse(/until (\S+)/.exec(detail)?.[1] ?? '') - Date.now() : null;
  };
  await expect.poll(until).toBeGreaterThan(hourMs / 2);
  await db.db.count('update projects set quiet_hours = null, quiet_changed_at = now() where id = $1', [project.id]);
  const woken: string[] = [];
  const outbox = {
    dispatchSoon: (...given: { workflowId: string }[]) => void woken.push(...given.map((one) => one.workflowId)),
  };
  expect(await followQuietHours({ db: db.db, outbox, stop: new AbortController().signal })).toBe(1);
  expect(woken).toEqual([start.id]);
  await worker.perform(wakeCampaign(id, 1));
  await expect.poll(until).toBeLessThan(600_000);
  for (const zone of zones) await ends(id, zone, 0);
  await worker.perform(wakeCampaign(id, 1));
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 30 });
  expect(new Set(mailer.recipients).size).toBe(30);
});
