import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CampaignActivityDeps } from '../../activities/campaign.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { campaignActivitiesFor, contacts, ledgerOf } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

// The API and a worker on one database: what stops a campaign on its way, and what is left then.
let db: TestDatabase;
let api: TestApi;
let mailer: FakeMailer;
let project: TestProject;
const queuePrefix = `stops-${process.pid}-${Date.now()}`;
const slowly = { lanes: 1, chunk: 5, pace: { claims: 1, longestMs: 5000 }, expansionPage: 100 };
let round = 0;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  round += 1;
  mailer = new FakeMailer({ name: `stops-${round}` });
  api = await testApi(db, { TEMPORAL_TASK_QUEUE: queuePrefix }, { mailer });
  project = await aProject(db);
  await contacts(db.db, project.id, 30);
  return () => api.close();
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const working = (changes: Partial<CampaignActivityDeps> = {}): Promise<TestWorker> =>
  testWorker({
    activities: campaignActivitiesFor(db.db, mailer, { ...slowly, ...changes }),
    queues: ['campaign'],
    queuePrefix,
  });
async function sentCampaign(): Promise<string> {
  const created = await call('POST', '/campaigns', {
    name: 'Spring count',
    subject: 'Hello {{firstName ?? friend}}',
    body: '<p>The herons are back.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = created.body.data;
  expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
  return id;
}
const campaign = async (id: string) => (await call('GET', `/campaigns/${id}`)).body.data;
const untilStatus = (id: string, status: string) =>
  expect.poll(async () => (await campaign(id)).status, { interval: 50 }).toBe(status);
const audit = async (id: string) => (await call('GET', `/campaigns/${id}/audit`)).body.data;
/** Once, while the first call of the provider is under way. */
function atFirstCall(work: () => Promise<unknown>): void {
  let done = false;
  mailer.onCall = async () => {
    if (done) return;
    done = true;
    await work();
  };
}
/** The balance sheet: rows, counters and what the provider has agree, and nobody has it twice. */
async function expectAddsUp(id: string, expected: { handedOver: number; skipped: number; failed: number }) {
  const { hash, ...counts } = await audit(id);
  expect(counts).toMatchObject({ ...expected, unknown: 0, pending: 0, addsUp: true });
  const file = await call('GET', `/campaigns/${id}/recipients?format=csv`);
  expect(hash).toBe(createHash('sha256').update(file.body).digest('hex'));
  expect(new Set(mailer.recipients).size).toBe(mailer.recipients.length);
}

describe('a campaign that is cancelled', () => {
  test('before its workflow begins is a draft, and can be sent anew: everyone gets it once', async () => {
    const id = await sentCampaign();
    const cancelled = await call('POST', `/campaigns/${id}/cancel`);
    expect(cancelled.body).toMatchObject({ revertPending: true, data: { status: 'CANCELLED' } });
    await using _ = await working();
    await untilStatus(id, 'DRAFT');
    expect(mailer.sent).toEqual([]);
    expect(await campaign(id)).toMatchObject({ sentAt: null, scheduledFor: null, sentCount: 0, totalRecipients: 30 });
    expect(await ledgerOf(db.db, id)).toEqual({});
    expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
    await untilStatus(id, 'SENT');
    expect(mailer.recipients).toHaveLength(30);
    await expectAddsUp(id, { handedOver: 30, skipped: 0, failed: 0 });
  });

  test('during its expansion is a draft without rows', async () => {
    await db.db.count(
      `insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), $1, 'guest-' || n || '@example.com', true from generate_series(1, 600) n`,
      [project.id],
    );
    // Held, so that nothing is handed over while the audience is being frozen.
    await db.db.count(
      `insert into provider_holds (provider, failures, reason, held_since, held_until)
       values ($1, 9, 'provider answers 503', now(), now() + interval '1 hour')`,
      [mailer.name],
    );
    await using _ = await working({ expansionPage: 2 });
    const id = await sentCampaign();
    await expect.poll(async () => Object.keys(await ledgerOf(db.db, id)).length, { interval: 5 }).toBe(1);
    const cancelled = await call('POST', `/campaigns/${id}/cancel`);
    expect(cancelled.body).toMatchObject({ revertPending: true, data: { status: 'CANCELLED' } });
    await untilStatus(id, 'DRAFT');
    expect(await ledgerOf(db.db, id)).toEqual({});
    expect(mailer.sent).toEqual([]);
  });

  test('during its first chunk stays cancelled: what was with the provider counts, the rest says why', async () => {
    await using _ = await working();
    let answer: { status: number; body: { data: { status: string } } } | null = null;
    atFirstCall(async () => {
      const [row] = await db.db.rows<{ id: string }>('select id from campaigns where project_id = $1', [project.id]);
      answer = await call('POST', `/campaigns/${row?.id}/cancel`);
    });
    const id = await sentCampaign();
    await expect.poll(() => answer).toMatchObject({ status: 200 });
    await expect.poll(async () => (await audit(id)).pending).toBe(0);
    await expect.poll(async () => (await audit(id)).addsUp).toBe(true);
    expect(await campaign(id)).toMatchObject({ status: 'CANCELLED', totalRecipients: 30, sentCount: 5 });
    expect(mailer.recipients).toHaveLength(5);
    expect(await ledgerOf(db.db, id)).toEqual({ SENT: 5, 'FAILED: Campaign cancelled': 25 });
    await expectAddsUp(id, { handedOver: 5, skipped: 25, failed: 0 });
    // Asked again, nothing changes.
    expect((await call('POST', `/campaigns/${id}/cancel`)).body).toMatchObject({
      revertPending: false,
      data: { status: 'CANCELLED' },
    });
  });

  test('by an operator in the Web UI is cancelled at once, not when its lanes have heard of it', async () => {
    await using worker = await working();
    const call = Promise.withResolvers<void>();
    atFirstCall(() => call.promise);
    const id = await sentCampaign();
    await expect.poll(() => mailer.calls.length).toBe(1);
    // The lane has a call of the provider in hand, and does not end before that does.
    await worker.client.workflow.getHandle(`campaign/${id}/1`).cancel();
    await untilStatus(id, 'CANCELLED');
    call.resolve();
    await expect.poll(async () => (await audit(id)).addsUp).toBe(true);
    expect(mailer.recipients).toHaveLength(5);
    await expectAddsUp(id, { handedOver: 5, skipped: 25, failed: 0 });
  });

  test('after it was sent answers 400 and stays sent', async () => {
    await using _ = await working();
    const id = await sentCampaign();
    await untilStatus(id, 'SENT');
    expect((await call('POST', `/campaigns/${id}/cancel`)).status).toBe(400);
    await expectAddsUp(id, { handedOver: 30, skipped: 0, failed: 0 });
  });
});

test('a campaign that is scheduled, moved, sent, paused and resumed by requests reaches everyone once', async () => {
  await using _ = await working();
  const created = await call('POST', '/campaigns', {
    name: 'Spring count',
    subject: 'Hello {{firstName ?? friend}}',
    body: '<p>The herons are back.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = created.body.data;
  const post = (action: string, body?: object) => call('POST', `/campaigns/${id}/${action}`, body);
  const at = (ms: number) => ({ scheduledFor: new Date(Date.now() + ms).toISOString() });
  expect((await post('send', at(3_600_000))).body.data.status).toBe('SCHEDULED');
  atFirstCall(() => post('pause'));
  const moved = at(2000);
  expect((await post('send', moved)).body.data).toMatchObject({ status: 'SCHEDULED', ...moved });
  expect(mailer.sent).toEqual([]);
  await expect.poll(async () => (await campaign(id)).sentCount).toBe(5);
  expect(Date.parse((await campaign(id)).sentAt)).toBeGreaterThanOrEqual(Date.parse(moved.scheduledFor));
  expect(await campaign(id)).toMatchObject({ status: 'SENDING', pausedAt: expect.any(String), sentCount: 5 });
  expect((await post('resume')).body.data.pausedAt).toBeNull();
  await untilStatus(id, 'SENT');
  expect(mailer.recipients).toHaveLength(30);
  await expectAddsUp(id, { handedOver: 30, skipped: 0, failed: 0 });
});

describe('a campaign on its way', () => {
  test.each([
    [
      'domain loses its verification',
      'update domains set verified = false where project_id = $1',
      'Sender domain is not verified',
    ],
    ['project is disabled', 'update projects set disabled = true where id = $1', 'Project is disabled'],
  ])('whose %s is over: the open rows say why', async (_, change, reason) => {
    await using _worker = await working();
    atFirstCall(() => db.db.count(change, [project.id]));
    const id = await sentCampaign();
    await untilStatus(id, 'SENT');
    expect(await ledgerOf(db.db, id)).toEqual({ SENT: 5, [`FAILED: ${reason}`]: 25 });
    await expectAddsUp(id, { handedOver: 5, skipped: 0, failed: 25 });
  });

  test('whose project is disabled ends at once under a hold of the provider, and leaves that as it was', async () => {
    await db.db.count(
      `insert into provider_holds (provider, failures, reason, held_since, held_until)
       values ($1, 9, 'provider answers 503', now(), now() + interval '1 hour')`,
      [mailer.name],
    );
    const id = await sentCampaign();
    await untilStatus(id, 'SENDING');
    await db.db.count('update projects set disabled = true, send_rate = 1 where id = $1', [project.id]);
    await using _ = await working();
    await untilStatus(id, 'SENT');
    expect(await ledgerOf(db.db, id)).toEqual({ 'FAILED: Project is disabled': 30 });
    expect(mailer.calls).toEqual([]);
    const hold = await db.db.row(
      "select held_until > now() + interval '50 minutes' as held from provider_holds where provider = $1",
      [mailer.name],
    );
    expect(hold).toEqual({ held: true });
    await expectAddsUp(id, { handedOver: 0, skipped: 0, failed: 30 });
  });

  test('that reaches the limit of the month goes to as many as it holds, and the others say so', async () => {
    const id = await sentCampaign();
    await db.db.count('update projects set billing_limit_campaigns = 12 where id = $1', [project.id]);
    await using _ = await working({ expansionPage: 8 });
    await untilStatus(id, 'SENT');
    expect(await ledgerOf(db.db, id)).toEqual({ SENT: 12, 'FAILED: Billing limit reached': 18 });
    await expectAddsUp(id, { handedOver: 12, skipped: 0, failed: 18 });
  });

  test('that the provider holds says so, with how many wait and when it is tried next', async () => {
    mailer.options.outages = 1000;
    await using worker = await working();
    const id = await sentCampaign();
    const sentence = /^held: provider answers 503 since \d\d:\d\d UTC, 30 waiting, next try \d\d:\d\d UTC$/;
    await expect.poll(async () => (await campaign(id)).held).toMatch(sentence);
    const handle = worker.client.workflow.getHandle(`campaign/${id}/1`);
    await expect.poll(async () => (await handle.query<{ detail: string }>('progress')).detail).toMatch(sentence);
    mailer.options.outages = 0;
    await untilStatus(id, 'SENT');
    expect((await campaign(id)).held).toBeNull();
    await expectAddsUp(id, { handedOver: 30, skipped: 0, failed: 0 });
  });
});

test('those whom a campaign missed get it by one call, and nobody gets it twice', async () => {
  await using _ = await working();
  atFirstCall(() => db.db.count('update projects set disabled = true where id = $1', [project.id]));
  const id = await sentCampaign();
  await untilStatus(id, 'SENT');
  expect(mailer.recipients).toHaveLength(5);
  await db.db.count('update projects set disabled = false where id = $1', [project.id]);
  const missed = (await call('GET', `/campaigns/${id}/recipients?verdict=failed&limit=100`)).body.data;
  // The API hears a moment later that the project may be written to again.
  const leave = () => call('PATCH', `/contacts/${missed[0].contactId}`, { subscribed: false });
  await expect.poll(async () => (await leave()).status).toBe(200);
  let resend: string | null = null;
  await expect
    .poll(async () => {
      const answer = await call('POST', `/campaigns/${id}/resend`);
      if (answer.status === 201) resend = answer.body.data.id;
      return answer.status;
    })
    .toBe(201);
  await untilStatus(resend ?? '', 'SENT');
  expect(await campaign(resend ?? '')).toMatchObject({ resendOf: id, totalRecipients: 24, sentCount: 24 });
  expect(mailer.recipients).toHaveLength(29);
  expect(mailer.recipients).not.toContain(missed[0].email);
  await expectAddsUp(resend ?? '', { handedOver: 24, skipped: 0, failed: 0 });
  // Nobody of the resend was missed, and the first one is made good once.
  expect((await call('POST', `/campaigns/${resend}/resend`)).status).toBe(400);
  expect((await call('POST', `/campaigns/${id}/resend`)).status).toBe(409);
});
