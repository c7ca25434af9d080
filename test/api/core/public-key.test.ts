import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { RATE_LIMIT_PER_MINUTE: '30' });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const change = (project: TestProject, body: object) =>
  api.call(project.secretKey, 'PATCH', `/users/@me/projects/${project.id}`, body);

async function hardened(requests: number): Promise<TestProject> {
  const project = await aProject(database);
  const body = { publicKeyMode: 'hardened', publicKeyRequestsPerMinute: requests };
  expect(await change(project, body)).toMatchObject({ status: 200, body });
  return project;
}

const track = (project: TestProject, headers = {}) =>
  api.call(project.publicKey, 'POST', '/v1/track', { event: 'seen', email: 'ada@example.org' }, headers);
const send = (project: TestProject, headers = {}) =>
  api.call(
    project.secretKey,
    'POST',
    '/v1/send',
    { to: 'ada@example.org', from: project.sender, subject: 'Hi', body: '<p>Hi</p>' },
    headers,
  );

async function statusesOf(calls: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = [];
  for (let each = 0; each < calls; each++) statuses.push((await call()).status);
  return statuses;
}

describe('the mode `contract`, which every project begins with', () => {
  test('shares the window and the idempotency keys of the project', async () => {
    const project = await aProject(database);
    const headers = { 'idempotency-key': 'receipt-1234' };
    const first = await track(project, headers);
    expect(first.headers.get('ratelimit-remaining')).toBe('29');
    const refused = await send(project, headers);
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'IDEMPOTENCY_KEY_REUSED', details: { originalRequest: 'POST /v1/track' } } },
    });
    expect(refused.headers.get('ratelimit-remaining')).toBe('28');
  });
});

describe('the mode `hardened`', () => {
  test('gives the public key a window of its own, which leaves that of the secret key alone', async () => {
    const project = await hardened(5);
    const statuses = await statusesOf(8, () => track(project));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const refused = await track(project);
    expect(refused.body.error.message).toContain('public key');
    expect(refused.headers.get('ratelimit-limit')).toBe('5');
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.details.retryAfter));
    const sent = await send(project);
    expect(sent.status).toBe(200);
    expect(sent.headers.get('ratelimit-limit')).toBe('30');
    // The change of the mode was the first request of the window.
    expect(sent.headers.get('ratelimit-remaining')).toBe('28');
  });

  test('is never above the limit of the project, and holds over two processes', async () => {
    const project = await hardened(1_000);
    await using second = await testApi(database, { RATE_LIMIT_PER_MINUTE: '30' });
    const event = { event: 'seen', email: 'ada@example.org' };
    const statuses = [];
    for (let round = 0; round < 20; round++)
      for (const each of [api, second])
        statuses.push((await each.call(project.publicKey, 'POST', '/v1/track', event)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect((await send(project)).status).toBe(200);
  });

  test('keeps idempotency keys apart by kind, in both directions, and no details cross', async () => {
    const project = await hardened(20);
    const headers = { 'idempotency-key': 'receipt-1234' };
    expect((await track(project, headers)).status).toBe(200);
    expect((await send(project, headers)).status).toBe(200);
    expect((await track(project, headers)).body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: 'receipt-1234', originalRequest: 'POST /v1/track' },
    });
    expect((await send(project, headers)).body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: 'receipt-1234', originalRequest: 'POST /v1/send' },
    });
    const replay = { 'idempotency-key': 'again', 'idempotency-mode': 'replay' };
    const first = await track(project, replay);
    const repeated = await track(project, replay);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(repeated.body).toEqual(first.body);
    const events = await database.db.row('select count(*)::int as count from events where project_id = $1', [
      project.id,
    ]);
    expect(events).toEqual({ count: 2 });
  });

  test('takes whole numbers of requests, and is shown by the project and its set-up state', async () => {
    const project = await aProject(database);
    for (const publicKeyRequestsPerMinute of [0, 1.5, '5', 1_000_001])
      expect((await change(project, { publicKeyRequestsPerMinute })).status).toBe(422);
    expect((await change(project, { publicKeyMode: 'open' })).status).toBe(422);
    const settings = { publicKeyMode: 'contract', publicKeyRequestsPerMinute: 600 };
    expect((await change(project, { name: 'Harbor' })).body).toMatchObject(settings);
    const path = `/projects/${project.id}/setup-state`;
    const advised = async () => (await api.call(project.secretKey, 'GET', path)).body.data.publicKeyMode;
    expect(await advised()).toBe('contract');
    await change(project, { publicKeyMode: 'hardened' });
    expect(await advised()).toBe('hardened');
  });
});
