import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { wakeCampaign } from '../../src/campaigns/lifecycle/begin.ts';
import { guardReputation } from '../../src/feedback/reputation/service.ts';
import { systemClock } from '../../src/lib/time.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { campaignActivitiesFor, contacts, ledgerOf } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { countMail } from '../support/mail-counts.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

// A canary and the reputation of a new project, which is disabled at 25 bounces a day, watch the same bounces.
let database: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  mailer = new FakeMailer({ name: 'canary-reputation' });
  worker = await testWorker({ activities: campaignActivitiesFor(database.db, mailer), queues: ['campaign'] });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  await contacts(database.db, project.id, 80);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const now = async (id: string) => (await call('GET', `/campaigns/${id}`)).body.data;
const recipients = () => mailer.sent.filter(({ projectId }) => projectId === project.id).map(({ to }) => to.address);

/** A campaign to 80 whose canary of 40 is held until reports are in. */
async function heldCampaign(bounceRate: number): Promise<string> {
  const made = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave',
    body: '<p>Look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = made.body.data;
  const canary = { recipients: 40, hold: '1h', stopIf: { bounceRate }, minDelivered: 0 };
  expect((await call('POST', `/campaigns/${id}/send`, { canary })).status).toBe(200);
  await expect.poll(async () => (await now(id)).canary.state).toBe('HOLDING');
  return id;
}

/** Reports of the provider, as they move the ledger; answers whether the project is disabled for them. */
async function bounces(id: string, count: number): Promise<boolean> {
  await database.db.count(
    `update emails set bounced_at = now() where id in (
       select id from emails where campaign_id = $1 and sent_at is not null and bounced_at is null order by id limit $2)`,
    [id, count],
  );
  await countMail(database.db, project.id);
  const guard = {
    db: database.db,
    clock: systemClock,
    outbox: { dispatchSoon: () => undefined },
    settings: { ...api.config, AUTO_PROJECT_DISABLE: true },
    log: pino({ level: 'silent' }),
  };
  return guardReputation(guard, project.id);
}

test('a canary that stops first leaves a paused campaign with its reason, which continues once the project may send', async () => {
  const id = await heldCampaign(10);
  expect(await bounces(id, 5)).toBe(false);
  await worker.perform(wakeCampaign(id, 1));
  await expect.poll(async () => (await now(id)).canary.state).toBe('STOPPED');
  expect(await bounces(id, 20)).toBe(true);
  await worker.perform(wakeCampaign(id, 1));
  const sentence = 'Paused by the canary: 5 of 40 bounced (12.5%), more than the limit of 10%';
  expect(await now(id)).toMatchObject({ status: 'SENDING', held: sentence, pauseReason: 'canary_bounce_rate' });
  const refused = await call('POST', `/campaigns/${id}/resume`);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
  expect(recipients()).toHaveLength(40);
  await database.db.count('update projects set disabled = false, disabled_reason = null where id = $1', [project.id]);
  // The API hears a moment later that the project may send again.
  await expect.poll(async () => (await call('POST', `/campaigns/${id}/resume`)).status).toBe(200);
  await expect.poll(async () => (await now(id)).status).toBe('SENT');
  expect(new Set(recipients()).size).toBe(80);
});

test('a project that is disabled first ends the hold, and everybody else has that reason', async () => {
  const id = await heldCampaign(90);
  expect(await bounces(id, 24)).toBe(false);
  await worker.perform(wakeCampaign(id, 1));
  expect((await now(id)).canary.state).toBe('HOLDING');
  expect(await bounces(id, 1)).toBe(true);
  await worker.perform(wakeCampaign(id, 1));
  await expect.poll(async () => (await now(id)).status).toBe('SENT');
  expect(await now(id)).toMatchObject({
    held: null,
    pauseReason: null,
    canary: { state: 'PASSED', stopped: null, counts: { mailed: 40, bounced: 25 } },
  });
  expect(recipients()).toHaveLength(40);
  expect(await ledgerOf(database.db, id)).toMatchObject({ 'FAILED: Project is disabled': 40 });
});
