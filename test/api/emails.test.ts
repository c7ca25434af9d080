import { afterAll, beforeAll, expect, test } from 'vitest';
import { composeQueued, createComposer } from '../../src/sending/engine/compose.ts';
import { deliverPending } from '../../src/sending/engine/pending.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { deliveryDeps } from '../support/delivery-fixtures.ts';
import { FakeMailer, type FakeMailerOptions } from '../support/mailer.ts';

let database: TestDatabase;
let api: TestApi;
let projects = 0;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { POSTMARK_WEBHOOK_USER: 'posthorn', POSTMARK_WEBHOOK_PASSWORD: 'correct horse' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const get = (project: TestProject, path: string) => api.call(project.secretKey, 'GET', `/v1/emails${path}`);

async function send(project: TestProject, to: string | string[], more: object = {}): Promise<string[]> {
  const body = { to, from: project.sender, subject: 'Hello {{name}}', body: '<p>Hi {{name}}</p>', ...more };
  const { status, body: answer } = await api.call(project.secretKey, 'POST', '/v1/send', body);
  expect(status).toBe(200);
  return answer.data.emails.map(({ email }: { email: string }) => email);
}

async function deliver(project: TestProject, options: FakeMailerOptions = {}): Promise<FakeMailer> {
  const mailer = new FakeMailer({ name: `emails-${projects++}`, ...options });
  const run = { projectId: project.id, prefix: `${mailer.name}/1/`, attempt: 1, stop: new AbortController().signal };
  const composer = createComposer(api.config, { warn: () => undefined });
  const deps = deliveryDeps(database.db, mailer, { compose: (mail) => composeQueued(composer, mail) });
  await deliverPending(deps, run, { lanes: 1, lingerMs: 0, longestMs: 10_000 });
  return mailer;
}

async function report(mail: { id: string; messageId: string; to: string }, RecordType: string, more: object = {}) {
  const body = {
    RecordType,
    ID: 1,
    MessageID: mail.messageId,
    Recipient: mail.to,
    Email: mail.to,
    Metadata: { eid: mail.id },
  };
  const at = '2026-11-01T10:00:00.000Z';
  const instants = { DeliveredAt: at, BouncedAt: at, ReceivedAt: at };
  const authorization = `Basic ${Buffer.from('posthorn:correct horse').toString('base64')}`;
  const answer = await api.call(
    null,
    'POST',
    '/webhooks/postmark',
    { ...body, ...instants, ...more },
    { authorization },
  );
  expect(answer.status).toBe(200);
}

test('a mail is looked up by the id that sending answered, before and after it left', async () => {
  const project = await aProject(database);
  const to = 'ada@example.com';
  const [id = ''] = await send(project, to, { data: { name: 'Ada' } });
  const before = await get(project, `/${id}`);
  expect(before.status).toBe(200);
  expect(before.body).toMatchObject({
    id,
    to,
    from: project.sender,
    subject: 'Hello Ada',
    status: 'PENDING',
    source: 'TRANSACTIONAL',
    attempts: 0,
    sentAt: null,
    timeline: [{ type: 'accepted', detail: null }],
  });
  expect(before.body).not.toHaveProperty('body');
  const mailer = await deliver(project);
  const messageId = mailer.taken[0]?.messageId ?? '';
  await report({ id, messageId, to }, 'Delivery');
  await report({ id, messageId, to }, 'Click', { OriginalLink: 'https://acme.test/offer' });
  const after = (await get(project, `/${id}?include=body`)).body;
  expect(after).toMatchObject({ status: 'CLICKED', messageId, attempts: null, clicks: 1, error: null });
  expect(after.body).toContain('Hi Ada');
  expect(after.timeline.map(({ type }: { type: string }) => type)).toEqual(['accepted', 'sent', 'delivery', 'click']);
  expect(after.timeline.at(-1).detail).toMatchObject({ link: 'https://acme.test/offer', isFirstClick: true });
  // What every event of a mail repeats is not part of its timeline.
  expect(after.timeline.at(-1).detail).not.toHaveProperty('subject');
  expect((await get(project, `/${id}?include=all`)).status).toBe(422);
  // The dashboard has the same without /v1.
  expect((await api.call(project.secretKey, 'GET', `/emails/${id}`)).body.timeline).toEqual(after.timeline);
});

test('a refused mail says why, in the record and in its timeline', async () => {
  const project = await aProject(database);
  const [id = ''] = await send(project, 'inactive@example.com', { data: { name: 'X' } });
  await deliver(project, { rejects: { 'inactive@example.com': 300 } });
  const { body } = await get(project, `/${id}`);
  expect(body).toMatchObject({ status: 'FAILED', error: expect.stringContaining('Refused by the provider (300)') });
  expect(body.timeline.at(-1)).toMatchObject({ type: 'failed' });
});

test('a list is of one person or of a span, by status and source, page by page', async () => {
  const project = await aProject(database);
  const addresses = Array.from({ length: 25 }, (_, n) => `p${n}@example.com`);
  const ids = await send(project, addresses, { data: { name: 'all' } });
  await send(project, 'p3@example.com', { data: { name: 'again' } });
  await deliver(project, { rejects: { 'p7@example.com': 300 } });
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const subjects = (answer: { body: { data: { subject: string }[] } }) =>
    answer.body.data.map(({ subject }) => subject);

  expect((await get(project, '')).status).toBe(400);
  expect((await get(project, '?from=2020-01-01T00:00:00Z')).status).toBe(400);
  expect((await get(project, '?from=soon')).status).toBe(400);
  expect(subjects(await get(project, '?to=P3@example.com'))).toEqual(['Hello again', 'Hello all']);
  expect((await get(project, '?to=nobody@example.com')).body).toEqual({ data: [], cursor: null, hasMore: false });
  const failed = (await get(project, `?from=${since}&status=FAILED`)).body.data;
  expect(failed.map(({ id }: { id: string }) => id)).toEqual([ids[7]]);
  expect((await get(project, `?from=${since}&source=CAMPAIGN`)).body.data).toEqual([]);
  const [{ contact }] = failed;
  expect((await get(project, `?contactId=${contact.id}`)).body.data).toHaveLength(1);
  expect((await get(project, `?contactId=${contact.id}&to=p3@example.com`)).body.data).toEqual([]);

  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await get(project, `?from=${since}&limit=10&cursor=${cursor}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    expect(body.hasMore).toBe(body.cursor !== null);
    cursor = body.cursor ?? '';
  } while (cursor !== '');
  expect(seen).toHaveLength(26);
  expect(new Set(seen).size).toBe(26);
  expect(seen).toEqual(seen.toSorted().toReversed());
  expect((await get(project, `?from=${since}&cursor=${encodeURIComponent('bm8')}`)).status).toBe(400);

  const other = await aProject(database);
  expect((await get(other, `?contactId=${contact.id}`)).body.data).toEqual([]);
  expect((await get(other, `/${ids[0]}`)).status).toBe(404);
});

test('a search for what is rare looks at 20,000 mails a page, and says that there is more', async () => {
  const project = await aProject(database);
  const [id = ''] = await send(project, 'rare@example.com', { data: { name: 'rare' } });
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, status)
     select uuidv7(), e.project_id, e.contact_id, 'many@example.com', e."from", 'x', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SENT'
     from emails e, generate_series(1, 30000) where e.id = $1`,
    [id],
  );
  await database.db.rows('analyze emails');
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  // The one that matches is older than the 20,000 that one page looks at: the page is empty and says that there is more.
  const first = (await get(project, `?from=${since}&status=PENDING`)).body;
  expect(first).toMatchObject({ data: [], hasMore: true });
  const second = (await get(project, `?from=${since}&status=PENDING&cursor=${first.cursor}`)).body;
  expect(second.data.map((mail: { id: string }) => mail.id)).toEqual([id]);
});
