import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const ignored = (answer: { headers: Headers }) => answer.headers.get('x-ignored-fields');

describe('fields that nobody reads are named in X-Ignored-Fields', () => {
  test('with the name to use, and nothing is named where everything is read', async () => {
    const answer = await call('POST', '/contacts', {
      email: 'ada@example.com',
      first_name: 'Ada',
      properties: { plan: 'pro' },
      Subscribed: false,
    });
    expect(answer.status).toBe(201);
    expect(ignored(answer)).toBe('first_name;use=data.firstName, properties;use=data, Subscribed;use=subscribed');
    expect(
      ignored(await call('POST', '/contacts', { email: 'ada@example.com', data: { any: { thing: 1 } } })),
    ).toBeNull();
  });

  test('a resource can be sent back as it was read', async () => {
    const { body: contact } = await call('POST', '/contacts', { email: 'back@example.com' });
    const { body: read } = await call('GET', `/contacts/${contact.id}`);
    const answer = await call('PATCH', `/contacts/${contact.id}`, { ...read, data: { seen: true } });
    expect(answer.status).toBe(200);
    expect(ignored(answer)).toBeNull();
    const { body: template } = await call('POST', '/templates', {
      name: 'T',
      subject: 'S',
      body: '<p>B</p>',
      from: project.sender,
    });
    const edited = await call('PATCH', `/templates/${template.id}`, {
      ...template,
      document: undefined,
      fromname: 'X',
    });
    expect(edited.status).toBe(200);
    expect(ignored(edited)).toBe('fromname;use=fromName');
  });

  test('names within lists have their place, names that are no tokens are quoted, and only the first 20 are named', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, place) => [`k${place}`, 1]));
    const answer = await call('POST', '/contacts', { email: 'many@example.com', 'ключ "1"': 1, ...many });
    expect(answer.status).toBe(201);
    const named = ignored(answer)?.split(', ') ?? [];
    expect(named).toHaveLength(20);
    expect(named[0]).toBe('"%D0%BA%D0%BB%D1%8E%D1%87 %221%22"');
    const batch = await call('POST', '/v1/emails/batch', {
      emails: [{ to: 'a@example.com', from: project.sender, subject: 'S', body: 'B', tag: 'welcome', language: 'de' }],
    });
    expect(batch.status).toBe(200);
    expect(ignored(batch)).toBe('emails.0.tag;use=emails.0.tags, emails.0.language');
  });

  test('query parameters that are unknown, and values that the default replaces', async () => {
    expect(ignored(await call('GET', '/contacts?limit=abc&subscribed=yes&page=2&sort=email'))).toBe(
      'limit;in=query, subscribed;in=query, page;in=query',
    );
    expect(ignored(await call('GET', '/contacts?limit=50&sort=email&dir=asc&subscribed=true'))).toBeNull();
    expect(ignored(await call('GET', '/templates?pagesize=10'))).toBe('pagesize;use=pageSize;in=query');
  });

  test('browsers may read the header', async () => {
    const answer = await api.call(project.publicKey, 'POST', '/v1/track', {
      email: 'web@example.com',
      event: 'visit',
      userId: '1',
    });
    expect(answer.status).toBe(200);
    expect(ignored(answer)).toBe('userId;use=data.userId');
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Ignored-Fields');
  });
});

describe('unsubscribed: true', () => {
  test('is read as subscribed: false, unless subscribed is given too', async () => {
    const answer = await call('POST', '/contacts', { email: 'resend@example.com', unsubscribed: true });
    expect(answer.body.subscribed).toBe(false);
    expect(ignored(answer)).toBeNull();
    const both = await call('POST', '/contacts', { email: 'both@example.com', unsubscribed: true, subscribed: true });
    expect(both.body.subscribed).toBe(true);
    expect(ignored(both)).toBe('unsubscribed;use=subscribed');
    const no = await call('POST', '/contacts', { email: 'no@example.com', unsubscribed: false });
    expect(no.body.subscribed).toBe(true);
    expect(ignored(no)).toBe('unsubscribed;use=subscribed');
    const patched = await call('PATCH', `/contacts/${no.body.id}`, { unsubscribed: true });
    expect(patched.body.subscribed).toBe(false);
  });

  test('in mail of a batch too', async () => {
    const answer = await call('POST', '/v1/emails/batch', {
      emails: [{ to: 'batch@example.com', from: project.sender, subject: 'S', body: 'B', unsubscribed: true }],
    });
    expect(answer.status).toBe(200);
    expect(ignored(answer)).toBeNull();
  });
});

test('a contact is found by its address', async () => {
  const { body: contact } = await call('POST', '/contacts', { email: 'exact+1@example.com' });
  await call('POST', '/contacts', { email: 'not-exact+1@example.com' });
  const found = await call('GET', '/contacts?email=Exact%2B1@Example.com');
  expect(found.body).toMatchObject({ data: [{ id: contact.id }], hasMore: false, total: 1 });
  expect(ignored(found)).toBeNull();
  expect((await call('GET', '/contacts?email=exact')).body).toMatchObject({ data: [], total: 0 });
});

test('/api/v1 is an alias of /v1, with its CORS and its idempotency keys', async () => {
  const mail = { to: 'alias@example.com', from: project.sender, subject: 'S', body: 'B' };
  const keyed = { 'Idempotency-Key': 'alias-1' };
  const sent = await api.call(project.secretKey, 'POST', '/api/v1/send', mail, keyed);
  expect(sent.status).toBe(200);
  expect(sent.headers.get('access-control-allow-origin')).toBe('*');
  const again = await api.call(project.secretKey, 'POST', '/v1/send', mail, keyed);
  expect([again.status, again.body.error.details.originalRequest]).toEqual([409, 'POST /v1/send']);
  const tracked = { email: 'alias@example.com', event: 'signed_up' };
  expect((await api.call(project.publicKey, 'POST', '/api/v1/track', tracked)).status).toBe(200);
  expect((await api.call(project.secretKey, 'GET', '/api/contacts')).status).toBe(404);
});
