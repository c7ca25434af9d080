import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventData } from '../../../src/contacts/events/queries.ts';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { prepareContent } from '../../../src/templates/content/prepare.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { deliveryDeps } from '../../support/delivery-fixtures.ts';
import { FakeMailer, type FakeMailerOptions } from '../../support/mailer.ts';

let database: TestDatabase;
let api: TestApi;
let projects = 0;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { POSTMARK_WEBHOOK_USER: 'fernpost', POSTMARK_WEBHOOK_PASSWORD: 'correct horse' });
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
  await deliverPending(deps, run, { claims: 1, lingerMs: 0, longestMs: 600_000 });
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
  const authorization = `Basic ${Buffer.from('fernpost:correct horse').toString('base64')}`;
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
  expect(after.text).toBe('Hi Ada');
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
  expect((await get(project, '?to=nobody@example.com')).body).toEqual({
    data: [],
    cursor: null,
    hasMore: false,
    lookedBackTo: null,
  });
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

test('words of a subject find mail that was sent, that waits, and that a campaign has', async () => {
  const project = await aProject(database);
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const found = async (subject: string, more = `from=${since}`) => {
    const { status, body } = await get(project, `?${more}&subject=${encodeURIComponent(subject)}`);
    expect(status).toBe(200);
    return body.data.map((mail: { id: string }) => mail.id);
  };
  const [sent = ''] = await send(project, 'ada@example.com', {
    data: { name: 'Ünal' },
    subject: 'Order {{name}} 100% ready',
  });
  await deliver(project);
  const [waiting = ''] = await send(project, 'bo@example.com', { subject: 'Order {{number}} is late' });
  const [literal = ''] = await send(project, 'ada@example.com', { subject: 'No order_' });
  expect(await found('order')).toEqual([literal, waiting, sent]);
  expect(await found('  READY   ünal ')).toEqual([sent]);
  expect(await found('{{number}} late')).toEqual([waiting]);
  expect(await found('order missing')).toEqual([]);
  // Not patterns.
  expect(await found('100%')).toEqual([sent]);
  expect(await found('order_')).toEqual([literal]);
  expect(await found('order', 'to=ada@example.com')).toEqual([literal, sent]);
  expect(await found('order', `from=${since}&status=PENDING&source=TRANSACTIONAL`)).toEqual([literal, waiting]);
  // It narrows a list and does not replace its span.
  expect((await get(project, '?subject=order')).status).toBe(400);
  expect((await get(project, `?from=${since}&subject=${'a'.repeat(201)}`)).status).toBe(422);

  const campaign = await database.db.row<{ id: string }>(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type)
     values (uuidv7(), $1, 'Seasons', $2, 'x', 'a@b.c', 'ALL') returning id`,
    [project.id, 'Spring for {{firstName}}'],
  );
  await database.db.count(
    `update emails set campaign_id = $2, send_seq = 1, render = null, subject = null, source_type = 'CAMPAIGN' where id = $1`,
    [waiting, campaign?.id],
  );
  expect(await found('spring firstname')).toEqual([waiting]);
});

test('a search that no index answers looks at 5,000 mails a page, and says that there is more', async () => {
  const project = await aProject(database);
  const [id = ''] = await send(project, 'rare@example.com', { data: { name: 'rare' } });
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, status)
     select uuidv7(), e.project_id, e.contact_id, 'many@example.com', e."from", 'x', 'TRANSACTIONAL', 'TRANSACTIONAL', 'DELIVERED'
     from emails e, generate_series(1, 7500) where e.id = $1`,
    [id],
  );
  await database.db.count(`update emails set status = 'SENT' where id = $1`, [id]);
  await database.db.rows('analyze emails');
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  // The one that matches is older than the 5,000 that one page looks at: the page is empty and says that there is more.
  const first = (await get(project, `?from=${since}&status=SENT`)).body;
  expect(first).toMatchObject({ data: [], hasMore: true, lookedBackTo: expect.stringMatching(/^\d{4}-.*Z$/) });
  const { createdAt } = (await get(project, `/${id}`)).body;
  expect(first.lookedBackTo >= createdAt).toBe(true);
  const second = (await get(project, `?from=${since}&status=SENT&cursor=${first.cursor}`)).body;
  expect(second.data.map((mail: { id: string }) => mail.id)).toEqual([id]);
  expect(second).toMatchObject({ hasMore: false, lookedBackTo: null });
});

test('an export is a CSV file of the mail that a list has, without formulas, and in the audit log', async () => {
  const project = await aProject(database);
  const exported = async (body: object, key = project.secretKey) => {
    const response = await fetch(`${api.url}/emails/export`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, type: response.headers.get('content-type'), text, lines: text.split('\r\n') };
  };
  const addresses = Array.from({ length: 1_050 }, (_, n) => `p${n}@example.com`);
  for (let at = 0; at < addresses.length; at += 50)
    await send(project, addresses.slice(at, at + 50), { subject: 'All' });
  const [id = ''] = await send(project, 'ada@example.com', {
    subject: '=HYPERLINK("https://evil.test")',
    tags: { order: 'A-17' },
  });
  await deliver(project);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const all = await exported({ from: since });
  expect(all).toMatchObject({ status: 200, type: 'text/csv; charset=utf-8; header=present' });
  expect(all.lines).toHaveLength(1_053);
  expect(all.lines[0]).toBe(
    'id,to,from,subject,status,error,source,campaignId,templateId,opens,clicks,scheduledFor,createdAt,sentAt',
  );
  expect(all.lines[1]).toMatch(
    new RegExp(
      `^${id},ada@example.com,${project.sender},"'=HYPERLINK\\(""https://evil.test""\\)",SENT,,TRANSACTIONAL,,,0,0,,`,
    ),
  );
  const ids = all.lines.slice(1, -1).map((line) => line.split(',')[0]);
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect(new Set(ids).size).toBe(1_051);
  for (const filters of [{ tag: 'order:A-17' }, { to: 'ada@example.com' }, { from: since, subject: 'hyperlink' }])
    expect((await exported(filters)).lines.slice(1, -1).map((line) => line.split(',')[0])).toEqual([id]);
  const { contact } = (await get(project, `/${id}`)).body;
  await exported({ to: 'ada@example.com', status: 'SENT' });
  expect(
    await database.db.row(`select action, after from audit_log where project_id = $1 order by position desc limit 1`, [
      project.id,
    ]),
  ).toEqual({ action: 'emails.exported', after: { contactId: contact.id, status: 'SENT' } });
  expect((await exported({})).status).toBe(400);
  expect((await exported({ from: '2020-01-01T00:00:00Z' })).status).toBe(400);
  expect((await exported({ to: 'nobody@example.com' })).lines).toEqual([all.lines[0], '']);
  const other = await aProject(database);
  expect((await exported({ from: since }, other.secretKey)).lines).toHaveLength(2);
});

test('tags are kept with a mail, told in its events, and lead to it', async () => {
  const project = await aProject(database);
  const tags = { order: 'A:17', 'kind-of_2': 'receipt' };
  const [tagged = '', twin = ''] = await send(project, ['tia@example.com', 'tom@example.com'], { tags });
  const [other = ''] = await send(project, 'tia@example.com', { tags: { order: 'A:18' } });
  const [plain = ''] = await send(project, 'tia@example.com');
  const stranger = await aProject(database);
  await send(stranger, 'tia@example.com', { tags });
  expect((await get(project, `/${tagged}`)).body.tags).toEqual(tags);
  expect((await get(project, `/${plain}`)).body.tags).toEqual({});
  const ids = async (query: string) => (await get(project, query)).body.data.map(({ id }: { id: string }) => id);
  expect(await ids('?tag=order:A:17')).toEqual([twin, tagged]);
  expect(await ids('?tag=order:A:17&to=tia@example.com')).toEqual([tagged]);
  expect(await ids('?tag=order:A:18&status=PENDING')).toEqual([other]);
  expect(await ids('?tag=order:none')).toEqual([]);
  expect((await get(project, '?tag=order')).body.error).toMatchObject({ code: 'BAD_REQUEST' });
  const first = await get(project, '?tag=order:A:17&limit=1');
  expect(first.body).toMatchObject({ data: [{ id: twin }], hasMore: true });
  expect(await ids(`?tag=order:A:17&limit=1&cursor=${first.body.cursor}`)).toEqual([tagged]);

  const mailer = await deliver(project);
  const messageId = mailer.taken.find(({ message }) => message.emailId === tagged)?.messageId ?? '';
  await report({ id: tagged, messageId, to: 'tia@example.com' }, 'Delivery');
  const events = await database.db.rows<{ name: string; tags: unknown; id: string }>(
    `select name, ${eventData('e')} -> 'tags' as tags, email_id as id from events e where email_id = any($1::uuid[]) order by created_at, id`,
    [[tagged, plain]],
  );
  expect(events.filter(({ id }) => id === tagged).map(({ name, tags: told }) => [name, told])).toEqual([
    ['email.sent', tags],
    ['email.delivery', tags],
  ]);
  expect(events.filter(({ id }) => id === plain).map(({ tags: told }) => told)).toEqual([null]);
  const { timeline } = (await get(project, `/${tagged}`)).body;
  expect(
    timeline.map(({ type, detail }: { type: string; detail: object | null }) => [type, 'tags' in (detail ?? {})]),
  ).toEqual([
    ['accepted', false],
    ['sent', false],
    ['delivery', false],
  ]);

  // Earlier releases stored the data with the event: it stays what it was then.
  const earlier = { subject: 'Then', emailId: tagged, sentAt: '2026-03-02T09:15:00.000Z', tags };
  const sent = `select ${eventData('e')} as data from events e where email_id = $1 and name = 'email.sent'`;
  const now = await database.db.row<{ data: object }>(sent, [tagged]);
  expect(now?.data).toMatchObject({ emailId: tagged, messageId, sourceType: 'TRANSACTIONAL', campaignId: null, tags });
  await database.db.count(`update events set data = $2 where email_id = $1 and name = 'email.sent'`, [
    tagged,
    JSON.stringify(earlier),
  ]);
  expect(await database.db.row(sent, [tagged])).toEqual({ data: earlier });
  expect((await get(project, `/${tagged}`)).body.timeline[1]).toMatchObject({
    type: 'sent',
    detail: { sentAt: earlier.sentAt },
  });
});

test.each([
  ['a name with a colon', { 'a:b': 'x' }],
  ['a name of 65 characters', { ['n'.repeat(65)]: 'x' }],
  ['a value of 257 characters', { order: 'v'.repeat(257) }],
  ['an empty value', { order: '' }],
  ['a list', ['receipt']],
  ['eleven tags', Object.fromEntries(Array.from({ length: 11 }, (_, place) => [`t${place}`, 'x']))],
])('%s is refused as a tag', async (_, tags) => {
  const project = await aProject(database);
  const body = { to: 'ada@example.com', from: project.sender, subject: 'Hi', body: 'Hi', tags };
  const { status, body: answer } = await api.call(project.secretKey, 'POST', '/v1/send', body);
  expect(status).toBe(422);
  expect(answer.error.errors[0].field).toMatch(/^tags/);
});

test('the text part of a request is sent in place of the derived one, with its placeholders', async () => {
  const project = await aProject(database);
  const data = { name: 'Ada' };
  await send(project, 'ada@example.com', { data, text: 'Plain {{name}} & co\n{{unknown}}second line' });
  await send(project, 'bob@example.com', { data, text: null });
  const [{ id }] = (await get(project, '?to=ada@example.com')).body.data;
  expect((await get(project, `/${id}?include=body`)).body.text).toBe('Plain Ada & co\nsecond line');
  const { sent } = await deliver(project);
  expect(sent.map(({ to, text }) => [to.address, String(text)])).toEqual([
    ['ada@example.com', 'Plain Ada & co\nsecond line'],
    ['bob@example.com', 'Hi Ada'],
  ]);
});

test('own text of a marketing mail ends with its footer', () => {
  const prepared = prepareContent(
    {
      subject: 'Hi',
      body: '<p>Hi</p>',
      text: 'Own {{first}}',
      messageClass: 'MARKETING',
      projectName: 'Acme',
      language: 'en',
      escapeContactData: true,
    },
    { pagesUrl: 'https://pages.example', apiUrl: 'https://api.example', secret: 's'.repeat(32) },
  );
  const contact = { id: '019a0000-0000-7000-8000-000000000001', email: 'a@example.com', subscribed: true, data: {} };
  const { text } = prepared.renderFor({ emailId: null, contact, isCampaign: false, requestData: { first: '<b>' } });
  expect(text).toMatch(/^Own <b>\n\n[\s\S]*https:\/\/pages\.example\/unsubscribe/);
});

test('a report that was recorded before the hand-over it proves comes after it in the timeline', async () => {
  const project = await aProject(database);
  const to = 'early@example.com';
  const [id = ''] = await send(project, to);
  await deliver(project);
  const messageId = (await get(project, `/${id}`)).body.messageId;
  await report({ id, messageId, to }, 'Delivery');
  await database.db.count(
    `update events set created_at = created_at + interval '1 minute' where email_id = $1 and name = 'email.sent'`,
    [id],
  );
  const { timeline } = (await get(project, `/${id}`)).body;
  expect(timeline.map(({ type }: { type: string }) => type)).toEqual(['accepted', 'sent', 'delivery']);
});
