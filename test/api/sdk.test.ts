import { Posthorn, PosthornError, verifyWebhook } from '@posthorn/sdk';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const client = (more: { fetch?: typeof fetch; key?: string } = {}) =>
  new Posthorn({ baseUrl: api.url, key: project.secretKey, ...more });
const mail = () => ({ to: 'ada@kunde.example', from: project.sender, subject: 'Hello', body: '<p>Hello</p>' });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A `fetch` whose answers to the first `lost` requests get lost after the service has done its work. */
function losingAnswers(lost: number) {
  const keys: (string | null)[] = [];
  const lossy: typeof fetch = async (url, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    const response = await fetch(url, init);
    if (keys.length <= lost) throw new TypeError('the answer was lost');
    return response;
  };
  return { lossy, keys };
}

test('sends a mail and looks it up', async () => {
  const [sent] = await client().send(mail());
  const email = await client().emails.get(sent?.email ?? '');
  expect([email.to, email.status]).toEqual(['ada@kunde.example', 'PENDING']);
  const listed = await all(client().emails.list({ to: 'ada@kunde.example' }));
  expect(listed.map(({ id }) => id)).toContain(sent?.email);
});

test('repeats a send whose answer was lost with the same key, and the mail is there once', async () => {
  const { lossy, keys } = losingAnswers(1);
  const to = 'once@kunde.example';
  // The service has the mail and says so with 409, which is no reason to send again.
  await expect(client({ fetch: lossy }).send({ ...mail(), to })).rejects.toMatchObject({ status: 409 });
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(await all(client().emails.list({ to }))).toHaveLength(1);
});

test('does not repeat a write that carries no key', async () => {
  const { lossy, keys } = losingAnswers(1);
  await expect(client({ fetch: lossy }).contacts.upsert({ email: 'grace@kunde.example' })).rejects.toThrow('lost');
  expect(keys).toEqual([null]);
});

test('goes through every page of contacts', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await client().contacts.upsert({ email: `${name}@pages.example`, subscribed: true });
  const found = client().contacts.list({ search: 'pages.example', limit: 2 });
  expect((await all(found)).map(({ email }) => email[0]).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('tracks, works with campaigns and webhook endpoints', async () => {
  const tracked = await client({ key: project.publicKey }).track({ email: 'ada@kunde.example', event: 'signup' });
  expect((await client().contacts.get(tracked.contact)).email).toBe('ada@kunde.example');
  const campaign = await client().campaigns.create({ ...mail(), name: 'News', audienceType: 'ALL' });
  expect((await client().campaigns.get(campaign.id)).name).toBe('News');
  const names = (await all(client().campaigns.list({ status: 'DRAFT' }))).map(({ name }) => name);
  expect(names).toEqual(['News']);
  const endpoint = await client().webhookEndpoints.create({ url: 'http://127.0.0.1:9/hook', events: ['*'] });
  expect(endpoint.secret).toMatch(/^whsec_/);
  await client().webhookEndpoints.delete(endpoint.id);
  expect(await client().webhookEndpoints.list()).toEqual([]);
});

test('tells a refusal with its code, its fields and the id of the request', async () => {
  const refusal = await client()
    .send({ ...mail(), to: 'nobody' })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(PosthornError);
  expect(refusal).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', fields: [{ field: 'to' }] });
  expect((refusal as PosthornError).requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test('verifies a webhook, and refuses one that was changed', () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const [at, body] = [
    new Date(),
    JSON.stringify({ type: 'email.bounce', timestamp: '2026-11-22T00:00:00Z', data: {} }),
  ];
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
  expect(verifyWebhook(body, new Headers(headers), secret).type).toBe('email.bounce');
  expect(() => verifyWebhook(body.replace('bounce', 'open'), headers, secret)).toThrow();
});
