import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// No worker runs here: what a canary does is tested with the workflow.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  await contacts(database.db, project.id, 30);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
async function created(): Promise<string> {
  const answer = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave',
    body: '<p>Look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  return answer.body.data.id;
}
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

test('a campaign is sent with a canary, which its answers show', async () => {
  const id = await created();
  const sent = await call('POST', `/campaigns/${id}/send`, {
    canary: { recipients: 10, hold: '90m', stopIf: { bounceRate: 2.5 } },
  });
  expect(sent.status).toBe(200);
  const canary = {
    state: 'WAITING',
    recipients: 10,
    hold: '90m',
    stopIf: { bounceRate: 2.5, complaintRate: null, unsubscribeRate: null },
    minDelivered: 3,
    heldUntil: null,
    releasedAt: null,
    endedAt: null,
    stopped: null,
    counts: { pending: 0, mailed: 0, delivered: 0, bounced: 0, complained: 0, unsubscribed: 0 },
  };
  expect(sent.body.data.canary).toEqual(canary);
  const { body } = await call('GET', `/campaigns/${id}`);
  expect(body.data).toMatchObject({
    canary,
    held: 'Canary: the first 10 recipients are being chosen',
    pauseReason: null,
  });
  expect((await call('GET', '/campaigns')).body.data[0].canary).toEqual(canary);
});

test('limits that are not given are the usual ones; a scheduled campaign keeps its canary until null takes it away', async () => {
  const id = await created();
  const first = await call('POST', `/campaigns/${id}/send`, { scheduledFor: inAnHour(), canary: { recipients: 20 } });
  expect(first.body.data.canary).toMatchObject({
    hold: '1h',
    stopIf: { bounceRate: 3, complaintRate: 0.1, unsubscribeRate: 2 },
    minDelivered: 6,
  });
  const moved = await call('POST', `/campaigns/${id}/send`, { scheduledFor: inAnHour() });
  expect(moved.body.data.canary).toMatchObject({ recipients: 20 });
  const without = await call('POST', `/campaigns/${id}/send`, { scheduledFor: inAnHour(), canary: null });
  expect(without.body.data.canary).toBeNull();
  expect(await database.db.row('select canary from campaign_sends where campaign_id = $1', [id])).toEqual({
    canary: false,
  });
});

test.each([
  [1, 1],
  [3, 1],
  [4, 2],
  [10, 3],
])('of a slice of %i at least %i must be delivered where nothing else is said', async (recipients, minDelivered) => {
  const { body } = await call('POST', `/campaigns/${await created()}/send`, { canary: { recipients } });
  expect(body.data.canary).toMatchObject({ recipients, minDelivered });
});

test.each([
  [{ recipients: 30 }, 400, 'less than the audience, which has 30 recipients'],
  [{ recipients: 10, minDelivered: 11 }, 400, '"canary.minDelivered" must be at most "canary.recipients"'],
  [{ recipients: 0 }, 422, 'canary.recipients'],
  [{ recipients: 10, hold: '5 minutes' }, 422, 'canary.hold'],
  [{ recipients: 10, hold: '73h' }, 422, 'at most 72h'],
  [{ recipients: 10, stopIf: { bounceRate: 101 } }, 422, 'from 0 to 100'],
  [{ recipients: 10, stopIf: { bounceRate: 0.125 } }, 422, 'two decimals'],
])('%j is refused with a sentence, and nothing is sent', async (canary, status, sentence) => {
  const id = await created();
  const answer = await call('POST', `/campaigns/${id}/send`, { canary });
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body).replaceAll('\\"', '"')).toContain(sentence);
  expect((await call('GET', `/campaigns/${id}`)).body.data.status).toBe('DRAFT');
});

test('the hold is ended by a person, once, and only where there is one', async () => {
  const id = await created();
  expect((await call('POST', `/campaigns/${id}/canary/continue`)).status).toBe(409);
  await call('POST', `/campaigns/${id}/send`, { canary: { recipients: 10 } });
  expect((await call('POST', `/campaigns/${id}/canary/continue`)).status).toBe(409);
  // What a worker would have written.
  await database.db.count(`update campaign_canaries set state = 'HOLDING', chosen = 10 where campaign_id = $1`, [id]);
  await call('POST', `/campaigns/${id}/pause`);
  expect((await call('POST', `/campaigns/${id}/canary/continue`)).body.error.message).toContain('resume it');
  await call('POST', `/campaigns/${id}/resume`);
  const ended = await call('POST', `/campaigns/${id}/canary/continue`);
  expect(ended.body).toMatchObject({ success: true, data: { canary: { releasedAt: expect.any(String) }, held: null } });
  const again = await call('POST', `/campaigns/${id}/canary/continue`);
  expect(again.body.data.canary.releasedAt).toBe(ended.body.data.canary.releasedAt);
});

test('a campaign that its canary paused says why, and continues when somebody resumes it', async () => {
  const id = await created();
  await call('POST', `/campaigns/${id}/send`, { canary: { recipients: 10 } });
  const stopped = { code: 'canary_bounce_rate', count: 2, of: 10, limit: 3 };
  await database.db.count(`update campaign_canaries set state = 'STOPPED', stopped = $2 where campaign_id = $1`, [
    id,
    JSON.stringify(stopped),
  ]);
  await database.db.count(`update campaigns set paused_at = now(), pause_reason = 'canary_bounce_rate' where id = $1`, [
    id,
  ]);
  expect((await call('GET', `/campaigns/${id}`)).body.data).toMatchObject({
    held: 'Paused by the canary: 2 of 10 bounced (20%), more than the limit of 3%',
    pauseReason: 'canary_bounce_rate',
    canary: { state: 'STOPPED', stopped },
  });
  const resumed = await call('POST', `/campaigns/${id}/resume`);
  expect(resumed.body.data).toMatchObject({
    pausedAt: null,
    pauseReason: null,
    held: null,
    canary: { state: 'SENDING' },
  });
});
