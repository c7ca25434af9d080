import { idHeaders } from '@fernpost/earlier-name';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { aCertificate } from '../../support/certificate.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aProject } from '../../support/delivery-fixtures.ts';
import { aSentMail, type MailChanges, type SentMail } from '../../support/sent-mail.ts';
import { certificateUrl, notificationOf, signedPost, snsCertificate, topic } from '../../support/sns.ts';

let store: TestDatabase;
let api: TestApi;
const expired = aCertificate(new Date(Date.now() - 3_000_000), new Date(Date.now() - 1_000_000));
const expiredUrl = 'https://sns.us-east-1.amazonaws.com/expired.pem';
let fetched: string[] = [];
let amazonFails = false;
beforeAll(async () => {
  store = await testDatabase();
  const getFromAmazon = async (url: URL) => {
    fetched.push(url.href);
    if (amazonFails) throw new Error('away');
    if (url.href === certificateUrl) return snsCertificate().pem;
    if (url.href === expiredUrl) return expired.pem;
    if (url.searchParams.has('Action')) return '<ConfirmSubscriptionResponse/>';
    throw new Error('answers 404');
  };
  api = await testApi(store, { SNS_TOPIC_ARNS: `arn:aws:sns:eu-west-1:1:other, ${topic}` }, { getFromAmazon });
});
afterAll(async () => {
  await api?.close();
  await store?.close();
});
beforeEach(() => {
  fetched = [];
  amazonFails = false;
});

const post = (body: string) =>
  api.call(null, 'POST', '/webhooks/sns', body, { 'Content-Type': 'text/plain; charset=UTF-8' });
const sentMail = (changes?: MailChanges) => aSentMail(store.db, changes);

const at = '2026-11-01T10:00:00.000Z';
/** The `mail` object as SES documents it, for a mail of ours. */
function mailOf(mail: SentMail, changes: object = {}) {
  return {
    timestamp: '2026-11-01T09:59:00.000Z',
    source: `Birdwatch <${mail.project.sender}>`,
    sourceArn: 'arn:aws:ses:eu-west-1:123456789012:identity/birdwatch.test',
    sendingAccountId: '123456789012',
    messageId: mail.messageId,
    destination: [mail.email],
    headersTruncated: false,
    headers: [{ name: 'From', value: mail.project.sender }],
    commonHeaders: { from: [mail.project.sender], to: [mail.email], messageId: mail.messageId, subject: 'A heron' },
    tags: {
      'ses:configuration-set': ['fernpost'],
      'ses:caller-identity': ['fernpost'],
      eid: [mail.id],
      pid: [mail.project.id],
    },
    ...changes,
  };
}
const events = {
  Send: { send: {} },
  Delivery: {
    delivery: { timestamp: at, processingTimeMillis: 546, recipients: [], smtpResponse: '250 ok', reportingMTA: 'mta' },
  },
  Open: { open: { ipAddress: '192.0.2.1', timestamp: at, userAgent: 'Mozilla/5.0' } },
  Click: {
    click: { ipAddress: '192.0.2.1', link: 'https://acme.test/a?b=1', linkTags: null, timestamp: at, userAgent: 'x' },
  },
  Permanent: {
    eventType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [
        { emailAddress: 'x@example.com', action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 unknown' },
      ],
      timestamp: at,
      feedbackId: '0100-1',
      reportingMTA: 'dsn; mta.example.com',
    },
  },
  Transient: {
    eventType: 'Bounce',
    bounce: { bounceType: 'Transient', bounceSubType: 'MailboxFull', bouncedRecipients: [], timestamp: at },
  },
  Undetermined: {
    eventType: 'Bounce',
    bounce: { bounceType: 'Undetermined', bounceSubType: 'Undetermined', bouncedRecipients: [], timestamp: at },
  },
  Complaint: {
    complaint: { complainedRecipients: [], timestamp: at, feedbackId: '0100-2', complaintFeedbackType: 'abuse' },
  },
  Reject: { reject: { reason: 'Bad content' } },
  'Rendering Failure': { failure: { errorMessage: 'Attribute "x" is not present', templateName: 'T' } },
  DeliveryDelay: {
    deliveryDelay: { timestamp: at, delayType: 'TransientCommunicationFailure', delayedRecipients: [] },
  },
  Subscription: {
    subscription: {
      contactList: 'List',
      timestamp: at,
      source: 'UnsubscribeHeader',
      newTopicPreferences: {
        unsubscribeAll: true,
        topicSubscriptionStatus: [{ topicName: 'T', subscriptionStatus: 'OptOut' }],
      },
      oldTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] },
    },
  },
};
type Kind = keyof typeof events;
const eventOf = (mail: SentMail, kind: Kind, changes: object = {}) => ({
  eventType: kind,
  mail: mailOf(mail, changes),
  ...events[kind],
});
async function tell(mail: SentMail, kind: Kind, version = '2') {
  const answer = await post(signedPost(notificationOf(eventOf(mail, kind)), version));
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
}
const rowOf = (mail: SentMail) =>
  store.db.row<Record<string, unknown>>(
    'select status, mail_reason_text(reason) as error, opens, clicks, message_id, delivered_at::text from emails where id = $1',
    [mail.id],
  );
const toldOf = async (mail: SentMail) =>
  (
    await store.db.rows<{ name: string }>('select name from events where contact_id = $1 order by id', [mail.contactId])
  ).map(({ name }) => name);
const subscribed = async (mail: SentMail) =>
  (await store.db.row<{ subscribed: boolean }>('select subscribed from contacts where id = $1', [mail.contactId]))
    ?.subscribed;

test.each<[Kind, string, string | null, string[], boolean]>([
  ['Send', 'SENT', null, [], true],
  ['Delivery', 'DELIVERED', null, ['email.delivery'], true],
  ['Open', 'OPENED', null, ['email.open'], true],
  ['Click', 'CLICKED', null, ['email.click'], true],
  ['Permanent', 'BOUNCED', 'smtp; 550 5.1.1 unknown', ['contact.unsubscribed', 'email.bounce'], false],
  ['Transient', 'SENT', null, ['email.bounce'], true],
  ['Undetermined', 'SENT', null, ['email.bounce'], true],
  ['Complaint', 'COMPLAINED', null, ['contact.unsubscribed', 'email.complaint'], false],
  ['Reject', 'FAILED', 'Amazon SES rejected the message: Bad content', ['email.failed'], true],
  [
    'Rendering Failure',
    'FAILED',
    'Amazon SES could not render the message: Attribute "x" is not present',
    ['email.failed'],
    true,
  ],
  ['DeliveryDelay', 'SENT', null, [], true],
  ['Subscription', 'SENT', null, ['contact.unsubscribed'], false],
])('%s of SES makes the mail %s', async (kind, status, error, told, staysSubscribed) => {
  for (const version of ['1', '2']) {
    const mail = await sentMail();
    await tell(mail, kind, version);
    expect(await rowOf(mail)).toMatchObject({ status, error, message_id: mail.messageId });
    expect(await toldOf(mail)).toEqual(told);
    expect(await subscribed(mail)).toBe(staysSubscribed);
  }
});

test('what Postgres cannot store is left out of an event of SES', async () => {
  const mail = await sentMail();
  const bounce = { bounceType: 'Permanent', bouncedRecipients: [{ diagnosticCode: '5\0.1.1 \ud83e unknown' }] };
  const named = mailOf(mail, { messageId: `\0${mail.messageId}`, tags: {} });
  const answer = await post(signedPost(notificationOf({ eventType: 'Bounce', mail: named, bounce })));
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(await rowOf(mail)).toMatchObject({ status: 'BOUNCED', error: '5.1.1 \ufffd unknown' });
});

test('the times and links of SES are those of its events', async () => {
  const mail = await sentMail();
  await tell(mail, 'Delivery');
  await tell(mail, 'Click');
  expect(await rowOf(mail)).toMatchObject({ delivered_at: '2026-11-01 10:00:00+00', clicks: 1 });
  const [, click] = await store.db.rows<{ data: object }>('select data from events where contact_id = $1 order by id', [
    mail.contactId,
  ]);
  expect(click?.data).toMatchObject({ link: 'https://acme.test/a?b=1', clickedAt: at, isFirstClick: true });
});

test('a notification of an identity, without tags, finds its mail by our headers or by the id of SES', async () => {
  const byHeader = await sentMail({ sent: false });
  const headers = [
    { name: 'x-fernpost-email', value: byHeader.id },
    { name: 'X-Fernpost-Project', value: byHeader.project.id },
  ];
  const asNotification = (mail: SentMail, changes: object) => {
    const { eventType, ...rest } = eventOf(mail, 'Delivery', { tags: undefined, ...changes });
    return signedPost(notificationOf({ ...rest, notificationType: eventType }));
  };
  expect(await post(asNotification(byHeader, { headers }))).toMatchObject({ status: 200 });
  expect(await rowOf(byHeader)).toMatchObject({ status: 'DELIVERED' });
  const byEarlierHeader = await sentMail({ sent: false });
  const earlierHeaders = [
    { name: idHeaders.email, value: byEarlierHeader.id },
    { name: idHeaders.project, value: byEarlierHeader.project.id },
  ];
  expect(await post(asNotification(byEarlierHeader, { headers: earlierHeaders }))).toMatchObject({ status: 200 });
  expect(await rowOf(byEarlierHeader)).toMatchObject({ status: 'DELIVERED' });
  const byId = await sentMail();
  expect(await post(asNotification(byId, { headers: undefined }))).toMatchObject({ status: 200 });
  expect(await rowOf(byId)).toMatchObject({ status: 'DELIVERED' });
});

test('a message counts once by its id, however often and however late it comes', async () => {
  const mail = await sentMail();
  const body = signedPost(notificationOf(eventOf(mail, 'Open')));
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(body)));
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(answers.filter((answer) => answer.body.duplicate === true)).toHaveLength(5);
  expect(await post(body)).toMatchObject({ status: 200, body: { success: true, duplicate: true } });
  await tell(mail, 'Open');
  expect(await rowOf(mail)).toMatchObject({ opens: 2 });
  const old = notificationOf(eventOf(mail, 'Open'), { Timestamp: new Date(Date.now() - 25 * 3_600_000).toISOString() });
  expect(await post(signedPost(old))).toMatchObject({ status: 200, body: { success: true } });
  expect(await rowOf(mail)).toMatchObject({ opens: 2 });
});

test('out of order, a status only climbs; a rejection by SES stays whatever Send says', async () => {
  const mail = await sentMail();
  for (const kind of ['Complaint', 'Permanent', 'Click', 'Delivery', 'Reject', 'Send'] as const) await tell(mail, kind);
  expect(await rowOf(mail)).toMatchObject({ status: 'COMPLAINED' });
  const rejected = await sentMail();
  for (const kind of ['Reject', 'Send'] as const) await tell(rejected, kind);
  expect(await rowOf(rejected)).toMatchObject({ status: 'FAILED' });
});

test('Send proves a mail that had been given up: SENT, with its one email.sent', async () => {
  const mail = await sentMail({ status: 'FAILED', sent: false });
  await tell(mail, 'Send');
  await tell(mail, 'Send');
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT', message_id: mail.messageId, error: null });
  expect(await toldOf(mail)).toEqual(['email.sent']);
});

test('a mail that is not known yet is asked for again, and dropped when the event is a day old', async () => {
  const mail = await sentMail();
  const unknown = { tags: {}, messageId: newId(), destination: ['nobody@example.com'] };
  const fresh = { ...eventOf(mail, 'Delivery', unknown), delivery: { timestamp: new Date().toISOString() } };
  expect(await post(signedPost(notificationOf(fresh)))).toMatchObject({ status: 503 });
  expect(await post(signedPost(notificationOf(eventOf(mail, 'Delivery', unknown))))).toMatchObject({
    status: 200,
    body: { success: true },
  });
});

const refused = { status: 403, body: { success: false, message: 'Invalid SNS signature' } };

test('forged messages are refused before anything is read or fetched that they name', async () => {
  const mail = await sentMail();
  const fields = notificationOf(eventOf(mail, 'Complaint'));
  const good = JSON.parse(signedPost(fields));
  const stranger = aCertificate();
  const forged: [string, object][] = [
    ['another message', { Message: JSON.stringify(eventOf(mail, 'Permanent')) }],
    ['another subject', { Subject: 'Hello' }],
    ['another instant', { Timestamp: new Date(Date.now() + 1000).toISOString() }],
    ['no signature', { Signature: undefined }],
    ['an empty signature', { Signature: '' }],
    ['the other version', { SignatureVersion: '1' }],
    ['an unknown version', { SignatureVersion: '3' }],
    ['the name of a method of objects', { SignatureVersion: 'constructor' }],
    ['the name of a method of objects as its type', { Type: 'constructor' }],
    ['a signature by a stranger', JSON.parse(signedPost(fields, '2', stranger))],
    ['a certificate that has run out', JSON.parse(signedPost({ ...fields, SigningCertURL: expiredUrl }, '2', expired))],
    [
      'a type that is not signed',
      { Type: 'SubscriptionConfirmation', SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=x' },
    ],
  ];
  for (const [what, changes] of forged)
    expect([what, await post(JSON.stringify({ ...good, ...changes }))]).toEqual([
      what,
      expect.objectContaining(refused),
    ]);
  expect(fetched.every((url) => url.endsWith('.pem'))).toBe(true);
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT' });
});

test.each([
  'http://sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com.evil.test/a.pem',
  'https://evil.test/sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com@evil.test/a.pem',
  'https://user@sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com:8443/a.pem',
  'https://sns.evil.eu-west-1.amazonaws.com/a.pem',
  'https://s3.eu-west-1.amazonaws.com/bucket/a.pem',
  'https://sns.eu-west-1.amazonaws.com./a.pem',
  'https://sns.eu-west-1.amazonaws.com/a.pem?x=.txt#.pem'.replace('a.pem', 'a'),
  'https://sns.eu-west-1.amazonaws.com/a.txt',
  'https://127.0.0.1/a.pem',
  'file:///a.pem',
  'a.pem',
])('a certificate from %s is never fetched', async (SigningCertURL) => {
  const mail = await sentMail();
  const body = signedPost({ ...notificationOf(eventOf(mail, 'Complaint')), SigningCertURL });
  expect(await post(body)).toMatchObject(refused);
  expect(fetched).toEqual([]);
});

test('what is larger than any message of SNS is not read to its end, whoever sent it', async () => {
  const mail = await sentMail();
  const padded = (characters: number) =>
    signedPost(notificationOf({ ...eventOf(mail, 'Complaint'), padding: 'x'.repeat(characters) }));
  // A few bytes too many, so that the client has sent all of them when it is refused.
  const tooLarge = padded(8 * 1024 * 1024 - padded(0).length + 10);
  expect(await post(tooLarge)).toMatchObject({ status: 413, body: { success: false } });
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT' });
});

test('a topic that is not allowed is refused, and without allowed topics everything is', async () => {
  const mail = await sentMail();
  for (const TopicArn of ['arn:aws:sns:eu-west-1:999999999999:mail-events', `${topic}2`, ''])
    expect(await post(signedPost(notificationOf(eventOf(mail, 'Complaint'), { TopicArn })))).toMatchObject(refused);
  await using closed = await testApi(store, {}, { getFromAmazon: async () => snsCertificate().pem });
  const body = signedPost(notificationOf(eventOf(mail, 'Complaint')));
  expect(await closed.call(null, 'POST', '/webhooks/sns', body)).toMatchObject(refused);
  expect(fetched).toEqual([]);
  expect(await rowOf(mail)).toMatchObject({ status: 'SENT' });
});

test('a certificate is fetched once for a day, and a failure is not kept', async () => {
  const mail = await sentMail();
  amazonFails = true;
  const open = () => signedPost(notificationOf(eventOf(mail, 'Open')));
  await using fresh = await testApi(
    store,
    { SNS_TOPIC_ARNS: topic },
    {
      getFromAmazon: async (url) => {
        fetched.push(url.href);
        if (amazonFails) throw new Error('away');
        return snsCertificate().pem;
      },
    },
  );
  expect(await fresh.call(null, 'POST', '/webhooks/sns', open())).toMatchObject(refused);
  amazonFails = false;
  fetched = [];
  await Promise.all([1, 2, 3].map(() => fresh.call(null, 'POST', '/webhooks/sns', open())));
  await fresh.call(null, 'POST', '/webhooks/sns', open());
  expect(fetched).toEqual([certificateUrl]);
  expect(await rowOf(mail)).toMatchObject({ opens: 4 });
});

const confirmation = (changes: Record<string, string> = {}) => ({
  Type: 'SubscriptionConfirmation',
  MessageId: newId(),
  Token: '2336412f37',
  TopicArn: topic,
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
  Timestamp: new Date().toISOString(),
  ...changes,
});

test('a subscription is confirmed by its URL at Amazon, and only there', async () => {
  for (const version of ['1', '2']) {
    fetched = [];
    expect(await post(signedPost(confirmation(), version))).toMatchObject({
      status: 200,
      body: { success: true, message: 'Subscription confirmed' },
    });
    expect(fetched.at(-1)).toBe(confirmation().SubscribeURL);
  }
  fetched = [];
  for (const SubscribeURL of [
    'https://evil.test/?Action=ConfirmSubscription',
    'http://sns.eu-west-1.amazonaws.com/',
    '',
  ])
    expect(await post(signedPost(confirmation({ SubscribeURL })))).toMatchObject({
      status: 400,
      body: { success: false, message: 'Invalid SubscribeURL' },
    });
  expect(fetched).toEqual([]);
  amazonFails = true;
  expect(await post(signedPost(confirmation()))).toMatchObject({ status: 502, body: { success: false } });
});

test('an unsubscription is noted and not undone; other types and messages without a mail get their answers', async () => {
  fetched = [];
  expect(await post(signedPost(confirmation({ Type: 'UnsubscribeConfirmation' })))).toMatchObject({ status: 200 });
  expect(fetched.filter((url) => url.includes('Action'))).toEqual([]);
  expect(await post(signedPost(notificationOf('{}', { Type: 'Future' })))).toMatchObject({
    status: 200,
    body: { success: false, message: 'Unknown message type' },
  });
  for (const event of [{}, { eventType: 'Delivery', mail: {} }, { notificationType: 'AmazonSnsSubscriptionSucceeded' }])
    expect(await post(signedPost(notificationOf(event)))).toMatchObject({
      status: 400,
      body: { success: false, error: 'No messageId found' },
    });
  const welcome = 'Successfully validated SNS topic for Amazon SES event publishing.';
  expect(await post(signedPost(notificationOf(welcome)))).toMatchObject({ status: 200, body: { success: true } });
  for (const nonsense of ['', 'hello', '[]', 'null']) expect(await post(nonsense)).toMatchObject({ status: 400 });
});

test('mail that SES received becomes a contact, a RECEIVED row and an event, with its text where it comes along', async () => {
  const project = await aProject(store.db);
  const mime = [
    'From: =?utf-8?q?J=C3=B6rg?= <joerg@reader.test>',
    `To: ${project.sender}`,
    'Subject: A heron',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Look up',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p onclick=3D"x()">Look =C3=BCp</p>',
    '--b--',
  ].join('\r\n');
  const received = (encoding: string, content: string | undefined, messageId = newId()) => ({
    notificationType: 'Received',
    receipt: {
      timestamp: at,
      processingTimeMillis: 222,
      recipients: [project.sender],
      spamVerdict: { status: 'PASS' },
      virusVerdict: { status: 'FAIL' },
      spfVerdict: { status: 'GRAY' },
      dkimVerdict: { status: 'PROCESSING_FAILED' },
      action: { type: 'SNS', topicArn: topic, encoding },
    },
    mail: {
      timestamp: at,
      source: 'bounces+1@mailer.reader.test',
      messageId,
      destination: [project.sender],
      headersTruncated: false,
      headers: [],
      commonHeaders: { from: ['Jörg <joerg@reader.test>'], to: [project.sender], subject: 'A heron' },
    },
    ...(content === undefined ? {} : { content }),
  });
  const base64 = received('BASE64', Buffer.from(mime).toString('base64'));
  for (const event of [base64, base64, received('UTF8', mime), received('', undefined)])
    expect(await post(signedPost(notificationOf(event)))).toMatchObject({ status: 200, body: { success: true } });
  const rows = await store.db.rows<{ status: string; email: string; body: string; data: object }>(
    `select e.status, c.email, e.body, v.data from emails e join contacts c on c.id = e.contact_id
     join events v on v.email_id = e.id where e.project_id = $1 order by e.id`,
    [project.id],
  );
  expect(rows.map(({ body }) => body)).toEqual(['<p>Look üp</p>', '<p>Look üp</p>', '']);
  expect(rows[0]).toMatchObject({ status: 'RECEIVED', email: 'bounces+1@mailer.reader.test' });
  expect(rows[0]?.data).toEqual({
    messageId: base64.mail.messageId,
    from: 'bounces+1@mailer.reader.test',
    fromHeader: 'Jörg <joerg@reader.test>',
    sender: { email: 'joerg@reader.test', name: 'Jörg' },
    to: project.sender,
    subject: 'A heron',
    timestamp: at,
    recipients: [project.sender],
    hasContent: true,
    body: '<p>Look üp</p>',
    spamVerdict: 'PASS',
    virusVerdict: 'FAIL',
    spfVerdict: 'GRAY',
    dkimVerdict: 'PROCESSING_FAILED',
    processingTimeMillis: 222,
  });
  expect(rows[2]?.data).toMatchObject({ hasContent: false });
});
