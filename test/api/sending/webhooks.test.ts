import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOldReceipts } from '../../../src/feedback/reports/notify.ts';
import { receivePostmark } from '../../../src/feedback/reports/webhooks.ts';
import { newId } from '../../../src/lib/ids.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { aProject as ownProject, type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, aProject } from '../../support/delivery-fixtures.ts';
import { aSentMail, type SentMail as Mail, type MailChanges } from '../../support/sent-mail.ts';

let store: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  store = await testDatabase();
  api = await testApi(store, {
    POSTMARK_WEBHOOK_USER: 'fernpost',
    POSTMARK_WEBHOOK_PASSWORD: 'correct horse',
    POSTMARK_WEBHOOK_TOKEN: 'battery-staple',
  });
});
afterAll(async () => {
  await api?.close();
  await store?.close();
});

const sentMail = (changes?: MailChanges) => aSentMail(store.db, changes);

let reports = 0;
function payload(mail: Mail, RecordType: string, more: object = {}): string {
  reports += 1;
  const at = '2026-11-01T10:00:00.000Z';
  return JSON.stringify({
    RecordType,
    ID: 1_000_000 + reports,
    MessageID: mail.messageId,
    MessageStream: 'outbound',
    Recipient: mail.email,
    Email: mail.email,
    DeliveredAt: at,
    BouncedAt: at,
    ReceivedAt: at,
    ChangedAt: at,
    Metadata: { eid: mail.id, pid: mail.project.id },
    ...more,
  });
}

const authorization = `Basic ${Buffer.from('fernpost:correct horse').toString('base64')}`;
const post = (
  body: string,
  headers: Record<string, string> = { Authorization: authorization },
  path = '/webhooks/postmark',
) => api.call(null, 'POST', path, body, headers);
async function report(mail: Mail, RecordType: string, more: object = {}) {
  const answer = await post(payload(mail, RecordType, more));
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer;
}

const rowOf = async (mail: Mail) =>
  store.db.row<Record<string, unknown>>(
    `select status, message_id, mail_reason_text(reason) as error, opens, clicks, delivered_at::text, opened_at::text, clicked_at::text, bounced_at::text,
       complained_at::text from emails where id = $1`,
    [mail.id],
  );
const subscribed = async (mail: Mail) =>
  (await store.db.row<{ subscribed: boolean }>('select subscribed from contacts where id = $1', [mail.contactId]))
    ?.subscribed;
const eventsOf = (mail: Mail) =>
  store.db.rows<{ name: string; email_id: string; contact_id: string; data: Record<string, unknown> | null }>(
    'select name, email_id, contact_id, data from events where project_id = $1 and contact_id = $2 order by id',
    [mail.project.id, mail.contactId],
  );
const at = '2026-11-01 10:00:00+00';
const base = (mail: Mail) => ({
  subject: 'A heron',
  from: mail.project.sender,
  fromName: 'Birdwatch',
  messageId: mail.messageId,
  emailId: mail.id,
  templateId: null,
  campaignId: mail.campaignId,
  sourceType: mail.campaignId === null ? 'TRANSACTIONAL' : 'CAMPAIGN',
});

test('a delivery, two opens and a click are written to the mail and told as events', async () => {
  const mail = await sentMail();
  await report(mail, 'Delivery');
  await report(mail, 'Open');
  await report(mail, 'Open', { ReceivedAt: '2026-11-01T11:00:00.000Z' });
  await report(mail, 'Click', { OriginalLink: 'https://acme.test/a?b=1' });
  expect(await rowOf(mail)).toEqual({
    status: 'CLICKED',
    message_id: mail.messageId,
    error: null,
    opens: 2,
    clicks: 1,
    delivered_at: at,
    opened_at: at,
    clicked_at: at,
    bounced_at: null,
    complained_at: null,
  });
  const iso = '2026-11-01T10:00:00.000Z';
  const told = [
    ['email.delivery', { deliveredAt: iso }],
    ['email.open', { openedAt: iso, opens: 1, isFirstOpen: true }],
    ['email.open', { openedAt: iso, opens: 2, isFirstOpen: false }],
    ['email.click', { link: 'https://acme.test/a?b=1', clickedAt: iso, clicks: 1, isFirstClick: true }],
  ] as const;
  expect(await eventsOf(mail)).toEqual(
    told.map(([name, data]) => ({
      name,
      email_id: mail.id,
      contact_id: mail.contactId,
      data: { ...base(mail), ...data },
    })),
  );
  expect(await subscribed(mail)).toBe(true);
});

test('a status only climbs, while times and counters are always written', async () => {
  const mail = await sentMail();
  await report(mail, 'Click', { OriginalLink: 'https://acme.test' });
  await report(mail, 'Delivery');
  await report(mail, 'Open');
  expect(await rowOf(mail)).toMatchObject({ status: 'CLICKED', opens: 1, delivered_at: at, opened_at: at });
  await report(mail, 'SpamComplaint');
  await report(mail, 'Bounce', { Type: 'HardBounce' });
  expect(await rowOf(mail)).toMatchObject({ status: 'COMPLAINED', bounced_at: at, complained_at: at });
});

test('a mail given up as FAILED that proves delivered is corrected', async () => {
  const mail = await sentMail({ status: 'FAILED', sent: false });
  await report(mail, 'Delivery');
  expect(await rowOf(mail)).toMatchObject({ status: 'DELIVERED', message_id: mail.messageId, delivered_at: at });
  expect((await eventsOf(mail)).map(({ name }) => name)).toEqual(['email.sent', 'email.delivery']);
  const campaign = await sentMail({ status: 'FAILED', sent: false, campaign: true });
  await store.db.count('update campaigns set failed_count = 1 where id = $1', [campaign.campaignId]);
  await report(campaign, 'Bounce', { Type: 'SoftBounce' });
  await report(campaign, 'Delivery');
  expect(await rowOf(campaign)).toMatchObject({ status: 'DELIVERED' });
  expect(
    await store.db.row('select sent_count, failed_count, delivered_count from campaigns where id = $1', [
      campaign.campaignId,
    ]),
  ).toEqual({ sent_count: 1, failed_count: 0, delivered_count: 1 });
  expect((await eventsOf(campaign)).map(({ name }) => name)).toEqual(['email.sent', 'email.bounce', 'email.delivery']);
  const used = 'select settled, failed from usage_counters where project_id = $1 and category = $2';
  expect(await store.db.row(used, [campaign.project.id, 'CAMPAIGN'])).toEqual({ settled: 1, failed: 0 });
});

test('a permanent bounce: row, subscription, contact.unsubscribed, email.bounce, in this order', async () => {
  const mail = await sentMail();
  await report(mail, 'Bounce', {
    Type: 'HardBounce',
    Inactive: true,
    Description: 'Unknown user',
    Details: 'smtp;550 5.1.1',
  });
  expect(await rowOf(mail)).toMatchObject({
    status: 'BOUNCED',
    bounced_at: at,
    error: 'Unknown user — smtp;550 5.1.1',
  });
  expect(await subscribed(mail)).toBe(false);
  expect(await eventsOf(mail)).toEqual([
    { name: 'contact.unsubscribed', email_id: mail.id, contact_id: mail.contactId, data: { reason: 'bounce' } },
    {
      name: 'email.bounce',
      email_id: mail.id,
      contact_id: mail.contactId,
      data: { ...base(mail), bounceType: 'Permanent', bouncedAt: '2026-11-01T10:00:00.000Z' },
    },
  ]);
});

test.each([
  ['SoftBounce', 'Transient'],
  ['Unknown', 'Undetermined'],
])('a bounce of type %s changes neither mail nor contact and is told as %s', async (Type, bounceType) => {
  const mail = await sentMail({ status: 'DELIVERED' });
  await report(mail, 'Bounce', { Type, Inactive: false, Description: 'Mailbox full' });
  expect(await rowOf(mail)).toMatchObject({ status: 'DELIVERED', bounced_at: null, error: null });
  expect(await subscribed(mail)).toBe(true);
  const events = await eventsOf(mail);
  expect(events).toMatchObject([{ name: 'email.bounce', data: { ...base(mail), bounceType, transientBounce: true } }]);
  expect(events[0]?.data).not.toHaveProperty('bouncedAt');
});

test('a complaint unsubscribes with its reason; for an unsubscribed contact nothing flips', async () => {
  const mail = await sentMail();
  await report(mail, 'SpamComplaint');
  expect(await rowOf(mail)).toMatchObject({ status: 'COMPLAINED', complained_at: at });
  expect(await eventsOf(mail)).toMatchObject([
    { name: 'contact.unsubscribed', data: { reason: 'complaint' } },
    { name: 'email.complaint', data: { ...base(mail), complainedAt: '2026-11-01T10:00:00.000Z' } },
  ]);
  const gone = await sentMail({ subscribed: false });
  await report(gone, 'Bounce', { Type: 'HardBounce' });
  expect((await eventsOf(gone)).map(({ name }) => name)).toEqual(['email.bounce']);
});

test('an opt-out at the provider unsubscribes, attributed to the mail; one that follows a bounce tells no second bounce', async () => {
  const own = await sentMail({ campaign: true });
  await report(own, 'SubscriptionChange', {
    SuppressSending: true,
    SuppressionReason: 'ManualSuppression',
    Origin: 'Recipient',
  });
  expect(await eventsOf(own)).toEqual([
    { name: 'contact.unsubscribed', email_id: own.id, contact_id: own.contactId, data: null },
  ]);
  expect(await subscribed(own)).toBe(false);
  expect(await rowOf(own)).toMatchObject({ status: 'SENT' });

  const bounced = await sentMail({ campaign: true });
  await report(bounced, 'SubscriptionChange', {
    SuppressSending: true,
    SuppressionReason: 'HardBounce',
    Origin: 'Recipient',
  });
  await report(bounced, 'Bounce', { Type: 'HardBounce' });
  expect((await eventsOf(bounced)).map(({ name, data }) => [name, data?.reason])).toEqual([
    ['contact.unsubscribed', 'bounce'],
    ['email.bounce', undefined],
  ]);
  const counts = (mail: Mail) =>
    store.db.row('select unsubscribed_count, bounced_count from campaigns where id = $1', [mail.campaignId]);
  expect(await counts(own)).toEqual({ unsubscribed_count: 1, bounced_count: 0 });

  // Who comes back and leaves again has left the campaign once.
  await store.db.count('update contacts set subscribed = true where id = $1', [own.contactId]);
  await report(own, 'SubscriptionChange', {
    SuppressSending: true,
    SuppressionReason: 'ManualSuppression',
    Origin: 'Recipient',
    ChangedAt: '2026-11-02T10:00:00.000Z',
  });
  expect(await subscribed(own)).toBe(false);
  expect(await counts(own)).toEqual({ unsubscribed_count: 1, bounced_count: 0 });
  expect(await counts(bounced)).toEqual({ unsubscribed_count: 0, bounced_count: 1 });
});

test('campaign counters count mails, not reports', async () => {
  const mail = await sentMail({ campaign: true });
  await report(mail, 'Delivery');
  for (const hour of [1, 2, 3]) {
    const ReceivedAt = `2026-11-01T1${hour}:00:00.000Z`;
    await report(mail, 'Open', { ReceivedAt });
    await report(mail, 'Click', { ReceivedAt, OriginalLink: 'https://acme.test' });
  }
  await report(mail, 'SpamComplaint');
  expect(
    await store.db.row(
      `select delivered_count, opened_count, clicked_count, bounced_count, complained_count, unsubscribed_count
       from campaigns where id = $1`,
      [mail.campaignId],
    ),
  ).toEqual({
    delivered_count: 1,
    opened_count: 1,
    clicked_count: 1,
    bounced_count: 0,
    complained_count: 1,
    unsubscribed_count: 0,
  });
  expect(await rowOf(mail)).toMatchObject({ opens: 3, clicks: 3 });
});

test('a report of an earlier send of the campaign moves no counter of the current one', async () => {
  const mail = await sentMail({ campaign: true });
  await store.db.count('update campaigns set send_seq = 2 where id = $1', [mail.campaignId]);
  await report(mail, 'Delivery');
  expect(await rowOf(mail)).toMatchObject({ status: 'DELIVERED' });
  expect(await store.db.row('select delivered_count from campaigns where id = $1', [mail.campaignId])).toEqual({
    delivered_count: 0,
  });
});

test('a report that comes many times, at once and later, counts once', async () => {
  const mail = await sentMail({ campaign: true });
  const body = payload(mail, 'Open');
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(body)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(answers.filter(({ body: answer }) => answer.duplicate === true)).toHaveLength(7);
  expect(await post(body)).toMatchObject({ status: 200, body: { success: true, duplicate: true } });
  expect(await rowOf(mail)).toMatchObject({ opens: 1 });
  expect(await eventsOf(mail)).toHaveLength(1);
});

test('different reports at the same moment all count, and one of them is the first', async () => {
  const mail = await sentMail();
  const minutes = Array.from({ length: 8 }, (_, n) => `2026-11-01T10:0${n}:00.000Z`);
  await Promise.all(minutes.map((ReceivedAt) => report(mail, 'Open', { ReceivedAt })));
  expect(await rowOf(mail)).toMatchObject({ opens: 8 });
  const told = (await eventsOf(mail)).map(({ data }) => data);
  expect(told.map((data) => data?.opens).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(told.filter((data) => data?.isFirstOpen === true)).toHaveLength(1);
});

test('strangers get 401 and change nothing; the token in the path opens as the credentials do', async () => {
  const mail = await sentMail();
  const body = payload(mail, 'Delivery');
  const wrong: [Record<string, string>, string][] = [
    [{}, '/webhooks/postmark'],
    [{ Authorization: `Basic ${Buffer.from('fernpost:wrong').toString('base64')}` }, '/webhooks/postmark'],
    [{ Authorization: 'Bearer sk_x' }, '/webhooks/postmark'],
    [{}, '/webhooks/postmark/battery-stapl'],
  ];
  for (const [headers, path] of wrong) {
    expect(await post(body, headers, path)).toMatchObject({
      status: 401,
      body: { success: false, message: 'Unauthorized' },
    });
  }
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT' });
  expect(await post(body, {}, '/webhooks/postmark/battery-staple')).toMatchObject({
    status: 200,
    body: { success: true },
  });
  expect(await rowOf(mail)).toMatchObject({ status: 'DELIVERED' });
});

test('mail for nobody and unknown records are taken and left alone; what is no JSON object is refused', async () => {
  expect(
    await post(JSON.stringify({ FromFull: { Email: 'a@example.com' }, MailboxHash: '', MessageID: 'x' })),
  ).toMatchObject({
    status: 200,
    body: { success: true },
  });
  expect(await post('{"RecordType":"Future"}')).toMatchObject({ status: 200 });
  for (const nonsense of ['nonsense', '[]', 'null'])
    expect(await post(nonsense)).toMatchObject({ status: 400, body: { success: false } });
});

test('what no database can hold is no reason to ask the provider again: instants of other ages, keys of any length', async () => {
  const mail = await sentMail();
  for (const ReceivedAt of ['+200000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '0000-06-01T00:00:00Z', 'spring'])
    await report(mail, 'Open', { ReceivedAt });
  // Random, so that it cannot be made shorter.
  const MessageID = randomBytes(20_000).toString('base64url');
  const long = payload(mail, 'Delivery', { MessageID });
  expect(await post(long)).toMatchObject({ status: 200, body: { success: true } });
  expect(await post(long)).toMatchObject({ status: 200, body: { success: true, duplicate: true } });
  expect(await rowOf(mail)).toMatchObject({ status: 'OPENED', opens: 4 });
});

test('a report about an unknown mail, or of another project, is asked for again for a day and then dropped', async () => {
  const mail = await sentMail();
  const other = await aProject(store.db);
  const now = new Date().toISOString();
  const unknown = [
    { Metadata: { eid: newId(), pid: mail.project.id }, MessageID: 'nobody' },
    { Metadata: { eid: mail.id, pid: other.id }, MessageID: 'nobody' },
    { Metadata: {}, MessageID: 'nobody' },
  ];
  for (const more of unknown) {
    expect(await post(payload(mail, 'Delivery', { ...more, DeliveredAt: now }))).toMatchObject({
      status: 503,
      body: { success: false },
    });
    const late = new Date(Date.now() - 25 * 3_600_000).toISOString();
    expect(await post(payload(mail, 'Delivery', { ...more, DeliveredAt: late }))).toMatchObject({
      status: 200,
      body: { success: true },
    });
  }
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT' });
  expect(await eventsOf(mail)).toEqual([]);
});

test('a mail whose metadata was lost is found by the provider’s id and the recipient', async () => {
  const mail = await sentMail();
  await report(mail, 'Delivery', { Metadata: {} });
  expect(await rowOf(mail)).toMatchObject({ status: 'DELIVERED' });
});

test('a report that overtakes the record of its own hand-over waits for it, and proves it when it does not come', async () => {
  const overtaken = await sentMail({ sent: false });
  const deps = {
    db: store.db,
    clock: systemClock,
    billing: { freeTier: null, publicDailyEmails: null },
    erasedAddresses: { suppressed: async () => new Set<string>() },
    log: { warn: () => undefined },
  };
  const waiting = receivePostmark({ ...deps, patienceMs: 60_000 }, payload(overtaken, 'Delivery'));
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await rowOf(overtaken)).toMatchObject({ status: 'PENDING', delivered_at: null });
  await store.db.count(
    "update emails set status = 'SENT', sent_at = now(), message_id = $2, subject = 'Rendered' where id = $1",
    [overtaken.id, overtaken.messageId],
  );
  expect(await waiting).toEqual({ status: 200, body: { success: true } });
  expect((await eventsOf(overtaken))[0]?.data).toMatchObject({ subject: 'Rendered' });

  const doubtful = await sentMail({ sent: false });
  expect(await receivePostmark({ ...deps, patienceMs: 50 }, payload(doubtful, 'Delivery'))).toMatchObject({
    status: 200,
  });
  expect(await rowOf(doubtful)).toMatchObject({ status: 'DELIVERED', message_id: doubtful.messageId });
});

const inbound = (to: string[], more: object = {}) => ({
  FromName: 'Bob Heron',
  From: 'bob@reader.test',
  FromFull: { Email: 'Bob.Heron@Reader.test', Name: 'Bob Heron', MailboxHash: '' },
  ToFull: to.map((Email) => ({ Email, Name: '', MailboxHash: '' })),
  CcFull: [],
  BccFull: [],
  OriginalRecipient: '',
  Subject: 'A heron!\u0000',
  MessageID: newId(),
  MailboxHash: '',
  Date: 'Sun, 1 Nov 2026 11:00:00 +0100',
  TextBody: '',
  HtmlBody: '<p onclick="x()">Look up<script>x</script></p>',
  Headers: [{ Name: 'X-Spam-Status', Value: 'No' }],
  Attachments: [],
  ...more,
});
const receivedBy = (projectId: string) =>
  store.db.rows<Record<string, unknown>>(
    `select e.status, e.source_type, e."from", e.subject, e.body, e.message_id, e.provider, e.delivered_at::text, c.email, c.subscribed,
       v.name, v.data, v.contact_id = e.contact_id as linked
     from emails e join contacts c on c.id = e.contact_id join events v on v.email_id = e.id
     where e.project_id = $1 order by e.id`,
    [projectId],
  );

test('received mail becomes a contact, a RECEIVED row and one email.received event for each project it reaches', async () => {
  const project = await aProject(store.db);
  const second = await aProject(store.db);
  const body = inbound([
    project.sender,
    'elsewhere@example.com',
    second.sender,
    project.sender.replace('hello', 'sales'),
  ]);
  const answers = await Promise.all([1, 2, 3].map(() => post(JSON.stringify(body))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.filter((answer) => answer.body.duplicate === true)).toHaveLength(2);
  expect(answers.find((answer) => answer.body.duplicate !== true)?.body).toEqual({
    success: true,
    message: 'Inbound email processed',
  });
  for (const { id, sender } of [project, second]) {
    expect(await receivedBy(id)).toEqual([
      {
        status: 'RECEIVED',
        source_type: 'INBOUND',
        from: sender,
        subject: 'A heron!',
        body: '<p>Look up</p>',
        message_id: body.MessageID,
        provider: 'postmark',
        delivered_at: '2026-11-01 10:00:00+00',
        email: 'bob.heron@reader.test',
        subscribed: true,
        name: 'email.received',
        linked: true,
        data: {
          messageId: body.MessageID,
          from: 'Bob.Heron@Reader.test',
          fromHeader: 'Bob Heron <Bob.Heron@Reader.test>',
          sender: { email: 'bob.heron@reader.test', name: 'Bob Heron' },
          to: sender,
          subject: 'A heron!',
          timestamp: '2026-11-01T10:00:00.000Z',
          recipients: body.ToFull.map(({ Email }) => Email),
          hasContent: true,
          body: '<p>Look up</p>',
          spamVerdict: 'PASS',
        },
      },
    ]);
  }
});

test('a received mail says who sent it, as its header has it, and mail that is sent has no sender', async () => {
  const project = await ownProject(store);
  const reader = 'bob.heron@reader.test';
  await post(JSON.stringify(inbound([project.sender])));
  const mail = { to: reader, from: project.sender, subject: 'Re: A heron!', body: '<p>Where?</p>' };
  expect((await api.call(project.secretKey, 'POST', '/v1/send', mail)).status).toBe(200);
  const { data } = (await api.call(project.secretKey, 'GET', `/v1/emails?to=${reader}`)).body;
  expect(data).toMatchObject([{ sender: null }, { sender: { email: reader, name: 'Bob Heron' } }]);
  const one = async () => (await api.call(project.secretKey, 'GET', `/v1/emails/${data[1].id}`)).body;
  expect(await one()).toMatchObject({ status: 'RECEIVED', sender: { email: reader, name: 'Bob Heron' } });
  // Events are older than the field, or were emptied.
  await store.db.count('update events set data = null where email_id = $1', [data[1].id]);
  expect(await one()).toMatchObject({ sender: { email: reader, name: null } });
});

test('a sender who had unsubscribed stays unsubscribed, and a mail without a subject gets one', async () => {
  const project = await aProject(store.db);
  await aContact(store.db, project.id, 'bob.heron@reader.test', { subscribed: false });
  await post(JSON.stringify(inbound([project.sender], { Subject: '', HtmlBody: '', TextBody: 'a < b' })));
  expect(await receivedBy(project.id)).toMatchObject([
    { subject: '(No subject)', body: 'a &#60; b', subscribed: false },
  ]);
});

test('received mail is taken in whatever its sender wrote as its date', async () => {
  for (const date of ['Sat, 1 Jan 20000 00:00:00 +0000', '+275760-09-13T00:00:00Z', 'yesterday']) {
    const project = await aProject(store.db);
    expect(await post(JSON.stringify({ ...inbound([project.sender]), Date: date }))).toMatchObject({ status: 200 });
    expect(await receivedBy(project.id)).toMatchObject([{ status: 'RECEIVED' }]);
  }
});

test('mail for an unverified domain, over the cap for received mail, or from no address is taken silently', async () => {
  const capped = await aProject(store.db);
  await store.db.count('update projects set billing_limit_inbound = 1 where id = $1', [capped.id]);
  const unverified = await aProject(store.db);
  await store.db.count('update domains set verified = false where project_id = $1', [unverified.id]);
  const anonymous = await aProject(store.db);
  for (const body of [
    inbound([capped.sender]),
    inbound([capped.sender]),
    inbound([unverified.sender]),
    inbound([anonymous.sender], { FromFull: { Email: '', Name: 'MAILER-DAEMON' } }),
  ])
    expect(await post(JSON.stringify(body))).toMatchObject({ status: 200, body: { success: true } });
  expect(await receivedBy(capped.id)).toHaveLength(1);
  expect(await receivedBy(unverified.id)).toEqual([]);
  expect(await receivedBy(anonymous.id)).toEqual([]);
});

test('receipts are kept for a week', async () => {
  const mail = await sentMail();
  await report(mail, 'Open');
  await store.db.count(
    "update webhook_receipts set created_at = now() - interval '8 days' where key like 'open:' || $1 || '%'",
    [mail.messageId],
  );
  expect(await removeOldReceipts(store.db, 100)).toBe(1);
  expect(await removeOldReceipts(store.db, 100)).toBe(0);
});
