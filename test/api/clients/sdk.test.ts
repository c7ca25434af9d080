import { Fernpost, FernpostError, operationTable, verifyWebhook } from '@fernpost/sdk';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

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

const client = (more: { fetch?: typeof fetch; key?: string; retries?: number } = {}) =>
  new Fernpost({ baseUrl: api.url, key: project.secretKey, ...more });
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

test('reaches every operation by its name', async () => {
  const nobody = '00000000-0000-7000-8000-000000000000';
  // An operation may need an id, a body or a file that this call lacks; its own refusal shows that the path is right.
  const refusals: Record<string, unknown> = {};
  for (const id of Object.keys(operationTable) as (keyof typeof operationTable)[]) {
    const key = id === 'trackEvent' ? project.publicKey : project.secretKey;
    const path = new Proxy({}, { get: () => nobody });
    const body = operationTable[id][0] === 'GET' ? {} : { body: {} };
    const fernpost = client({ key, retries: 0 }) as { call(id: string, input: object): Promise<unknown> };
    const refusal = await fernpost.call(id, { path, ...body }).catch((error: unknown) => error);
    if (!(refusal instanceof Error)) continue;
    const known = refusal instanceof FernpostError && refusal.status < 500 && refusal.status !== 401;
    if (!known || refusal.message.includes('No such route') || refusal.status === 405) refusals[id] = refusal;
  }
  expect(refusals).toEqual({});
});

test('goes through pages that have numbers', async () => {
  for (const name of ['one', 'two', 'three'])
    await client().templates.create({
      name,
      subject: 'Hi',
      body: '<p>Hi</p>',
      type: 'MARKETING',
      from: project.sender,
    });
  const found = await all(client().templates.list({ pageSize: 1 }));
  expect(found.map(({ name }) => name).sort()).toEqual(['one', 'three', 'two']);
  const [first] = found;
  expect((await client().templates.update(first?.id ?? '', { name: 'four' })).name).toBe('four');
  await client().templates.delete(first?.id ?? '');
  await expect(client().templates.get(first?.id ?? '')).rejects.toMatchObject({ status: 404 });
});

test('moves, releases and cancels mail that waits', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const [sent] = await client().send({ ...mail(), scheduledFor: soon });
  const later = new Date(Date.now() + 7_200_000).toISOString();
  expect((await client().emails.reschedule(sent?.email ?? '', later)).scheduledFor).toBe(later);
  expect((await client().emails.cancel(sent?.email ?? '')).status).toBe('CANCELLED');
});

test('repeats a send whose answer was lost with the same key, and the mail is there once', async () => {
  const { lossy, keys } = losingAnswers(1);
  const to = 'once@kunde.example';
  const [sent] = await client({ fetch: lossy }).send({ ...mail(), to });
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect((await all(client().emails.list({ to }))).map(({ id }) => id)).toEqual([sent?.email]);
});

test('answers a send with a key of the app the same after a restart, and refuses the key for another mail', async () => {
  const own = { idempotencyKey: 'receipt-A-17' };
  const sent = await client().send(mail(), own);
  expect(await client().send(mail(), own)).toEqual(sent);
  await expect(client().send({ ...mail(), subject: 'Another' }, own)).rejects.toMatchObject({ status: 409 });
  await expect(client().send(mail(), { ...own, headers: { 'Idempotency-Mode': '' } })).rejects.toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
});

test('resends once, although the answer was lost, and sends a batch', async () => {
  const batch = await client().sendBatch({ emails: [mail(), mail()] });
  const [id = '', other] = batch.flatMap((item) => (item.ok ? item.emails.map(({ email }) => email) : []));
  expect(other).not.toBe(id);
  await database.db.count(`delete from email_queue where email_id = $1`, [id]);
  await database.db.count(`update emails set status = 'FAILED', reason = '{"code": "rejected"}' where id = $1`, [id]);
  const { lossy, keys } = losingAnswers(2);
  const resent = await client({ fetch: lossy }).emails.resend(id);
  expect([resent.resendOf, new Set(keys).size, keys.length]).toEqual([id, 1, 3]);
  expect((await client().emails.get(id)).resends).toEqual([resent.id]);
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
  expect((await client().webhookEndpoints.list()).data).toEqual([]);
});

test('tells a refusal with its code, its fields and the id of the request', async () => {
  const refusal = await client()
    .send({ ...mail(), to: 'nobody' })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(FernpostError);
  expect(refusal).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', fields: [{ field: 'to' }] });
  expect((refusal as FernpostError).requestId).toMatch(/^[0-9a-f-]{36}$/);
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
