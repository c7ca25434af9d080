import { randomBytes } from 'node:crypto';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSesMailer, type SesOptions } from '../../../src/domains/providers/ses/ses.ts';
import { createSesDomains } from '../../../src/domains/providers/ses/ses-domains.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { takeReport } from '../../../src/feedback/reports/report.ts';
import { receivePostmark } from '../../../src/feedback/reports/webhooks.ts';
import { instantOf, newId, uuid7 } from '../../../src/lib/ids.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createJournal } from '../../../src/mail/providers/journal.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, aProject, plainly, queueMail, queueMany } from '../../support/delivery-fixtures.ts';
import { type SesServer, sesError, sesServer } from '../../support/ses-server.ts';
import { aMessage, kinds } from '../../unit/mail-providers/messages.ts';

const silent = { info: () => undefined, warn: () => undefined };
let store: TestDatabase;
let ses: SesServer;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(async () => {
  await store?.close();
});
beforeEach(async () => {
  ses = await sesServer();
});
afterEach(async () => {
  await ses?.close();
});

const access = () => ({
  region: 'eu-west-1',
  credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
  endpoint: ses.url,
});
const mailerAt = (changes: Partial<SesOptions> = {}) =>
  createSesMailer({
    ...access(),
    configurationSet: 'fernpost',
    configurationSetWithoutTracking: 'fernpost-plain',
    connections: 10,
    reported: true,
    journal: createJournal(store.db, silent),
    log: silent,
    ...changes,
  });

test('a message becomes MIME with our ids as tags, in the configuration set that its tracking asks for', async () => {
  const message = aMessage({
    from: { address: 'hello@birdwatch.test', name: 'Bird "Watch"\r\nBcc: x@example.com' },
    to: { address: 'jo@example.com', name: 'Jörg Müller' },
    replyTo: 'reply@birdwatch.test',
    subject: 'Ein Reiher – schau',
    html: '<p>Grüße <a data-pm-no-track href="https://acme.test/unsubscribe">x</a><img src="cid:logo"></p>',
    text: 'Grüße',
    headers: [
      { name: 'List-Unsubscribe', value: `<https://acme.test/unsubscribe/${'x'.repeat(200)}>` },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
      { name: 'Content-Type', value: 'text/evil' },
    ],
    attachments: [
      { filename: 'logo.png', content: 'iVBORw0K', contentType: 'image/png', contentId: 'logo' },
      { filename: 'notes.pdf', content: 'JVBERi0x', contentType: 'application/pdf', contentId: null },
    ],
    tag: 'CAMPAIGN',
  });
  const plain = aMessage({ tracking: false });
  const verdicts = await mailerAt().send('run/1/1.1', [message, plain]);
  expect(verdicts).toMatchObject([
    { kind: 'accepted', messageId: `0102-${message.emailId}`, at: expect.stringMatching(/Z$/) },
    { kind: 'accepted', messageId: `0102-${plain.emailId}` },
  ]);
  const taken = ses.taken.find(({ tags }) => tags.eid === message.emailId);
  expect(taken).toMatchObject({
    from: 'hello@birdwatch.test',
    to: ['jo@example.com'],
    configurationSet: 'fernpost',
    tags: { eid: message.emailId, pid: message.projectId, source: 'CAMPAIGN' },
  });
  expect(ses.taken.find(({ tags }) => tags.eid === plain.emailId)?.configurationSet).toBe('fernpost-plain');
  const parsed = await PostalMime.parse(taken?.mime ?? '');
  const header = (name: string) => parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);
  expect(parsed).toMatchObject({
    from: { address: 'hello@birdwatch.test', name: 'Bird "Watch" Bcc: x@example.com' },
    to: [{ address: 'jo@example.com', name: 'Jörg Müller' }],
    replyTo: [{ address: 'reply@birdwatch.test' }],
    subject: 'Ein Reiher – schau',
    messageId: `<${message.emailId}@birdwatch.test>`,
  });
  expect(header('bcc')).toEqual([]);
  expect(header('x-fernpost-email')).toEqual([message.emailId]);
  expect(header('x-fernpost-project')).toEqual([message.projectId]);
  expect(header('list-unsubscribe')[0]).toContain('x'.repeat(200));
  expect(header('content-type')[0]).toMatch(/^multipart\/mixed/);
  expect(parsed.html).toContain('<a ses:no-track href="https://acme.test/unsubscribe">');
  expect(parsed.text?.trim()).toBe('Grüße');
  expect(parsed.attachments.map(({ filename, disposition, contentId }) => [filename, disposition, contentId])).toEqual([
    ['logo.png', 'inline', '<logo>'],
    ['notes.pdf', 'attachment', undefined],
  ]);
});

test.each([
  [400, 'MessageRejected', 'Email address is not verified.', { kind: 'rejected', code: 400, inactive: false }],
  [400, 'BadRequestException', 'Local address contains control', { kind: 'rejected', code: 400 }],
  [400, 'MailFromDomainNotVerifiedException', 'no', { kind: 'rejected', code: 400 }],
  [400, 'AccountSuspendedException', 'suspended', { kind: 'retry', scope: 'account' }],
  [400, 'SendingPausedException', 'paused', { kind: 'retry', scope: 'account' }],
  [404, 'NotFoundException', 'Configuration set <fernpost> does not exist', { kind: 'retry', scope: 'account' }],
  [403, 'InvalidClientTokenId', 'The security token is invalid', { kind: 'retry', scope: 'account' }],
  [429, 'TooManyRequestsException', 'Daily message quota exceeded.', { kind: 'retry', scope: 'account' }],
  [503, 'ServiceUnavailable', 'later', { kind: 'retry', scope: 'call' }],
  [500, 'InternalFailure', 'oops', { kind: 'unknown' }],
])('an answer %s %s is its verdict, and the call is not repeated', async (status, name, text, expected) => {
  ses.fault = (response) => sesError(response, status, name, text);
  const [verdict] = await mailerAt().send(newId(), [aMessage()]);
  expect(verdict).toMatchObject(expected);
  expect(ses.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('what says something of the whole account stops the rest of the call, which counts as no attempt', async () => {
  ses.fault = (response) => sesError(response, 400, 'SendingPausedException', 'paused');
  const verdicts = await mailerAt({ connections: 1 }).send(newId(), [aMessage(), aMessage(), aMessage()]);
  expect(verdicts.map((verdict) => verdict.kind === 'retry' && (verdict.untried ?? false))).toEqual([
    false,
    true,
    true,
  ]);
  expect(ses.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a throttled message is offered again, more slowly, until it is taken', async () => {
  let refusals = 3;
  ses.fault = (response) => {
    refusals -= 1;
    return refusals < 0
      ? undefined
      : sesError(response, 429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
  };
  const messages = [aMessage(), aMessage(), aMessage(), aMessage()];
  expect(kinds(await mailerAt().send(newId(), messages))).toEqual(Array(4).fill('accepted'));
  expect(ses.taken.map(({ tags }) => tags.eid).toSorted()).toEqual(messages.map(({ emailId }) => emailId).toSorted());
});

test('the account is asked once how fast it may send, and one that may not be asked sends all the same', async () => {
  const asked = () => ses.calls.filter(({ path }) => path === '/v2/email/account').length;
  const mailer = mailerAt();
  await mailer.send(newId(), [aMessage(), aMessage()]);
  await expect.poll(asked).toBe(1);
  await mailer.send(newId(), [aMessage()]);
  expect(asked()).toBe(1);
  ses.maxSendRate = null;
  expect(kinds(await mailerAt().send(newId(), [aMessage()]))).toEqual(['accepted']);
});

test('without a server, or with one that never answers, nothing is taken for sent', async () => {
  const mailer = mailerAt();
  const url = ses.url;
  await ses.close();
  expect((await mailer.send(newId(), [aMessage()]))[0]).toMatchObject({ kind: 'retry', scope: 'call' });
  ses = await sesServer();
  expect(ses.url).not.toBe(url);
  ses.fault = () => 'handled';
  expect(kinds(await mailerAt({ timeoutMs: 200 }).send(newId(), [aMessage()]))).toEqual(['unknown']);
});

test('a message that is too large is refused before it leaves', async () => {
  const file = {
    filename: 'a.bin',
    content: 'A'.repeat(42 * 1024 * 1024),
    contentType: 'application/x',
    contentId: null,
  };
  const [verdict] = await mailerAt().send(newId(), [aMessage({ attachments: [file] })]);
  expect(verdict).toMatchObject({ kind: 'rejected', code: 413, reason: expect.stringContaining('40 MB') });
  expect(ses.calls).toEqual([]);
});

test('what was taken, refused and lost under a claim is known afterwards, and what was begun is never sent again', async () => {
  const [taken, lost, refused, never] = [aMessage(), aMessage(), aMessage(), aMessage()];
  ses.fault = (response, { tags }) => {
    if (tags.eid === lost.emailId) return 'drop';
    return tags.eid === refused.emailId ? sesError(response, 400, 'MessageRejected', 'no') : undefined;
  };
  const claim = `run/${newId()}/1.1`;
  const mailer = mailerAt();
  expect(kinds(await mailer.send(claim, [taken, lost, refused]))).toEqual(['accepted', 'unknown', 'rejected']);
  expect([...(await mailer.accepted(claim)).keys()]).toEqual([taken.emailId]);
  expect([...((await mailer.unconfirmed?.unsure(claim)) ?? [])]).toEqual([lost.emailId]);
  ses.fault = () => undefined;
  const again = await mailerAt().send(claim, [taken, lost, never]);
  expect(again).toMatchObject([
    { kind: 'accepted', messageId: `0102-${taken.emailId}` },
    { kind: 'unknown' },
    { kind: 'accepted', messageId: `0102-${never.emailId}` },
  ]);
  expect(ses.taken.map(({ tags }) => tags.eid)).toEqual([taken.emailId, lost.emailId, never.emailId]);
});

const run = (projectId: string, attempt = 1) => ({
  projectId,
  prefix: `${newId()}/1/`,
  attempt,
  stop: new AbortController().signal,
});
const pace = { claims: 2, lingerMs: 0, longestMs: 600_000 };
const depsWith = (mailer: ReturnType<typeof mailerAt>, lagMs = 0) => ({
  db: store.db,
  mailer,
  compose: plainly,
  log: silent,
  rate: 0,
  lagMs,
});
const rowOf = (id: string) =>
  store.db.row<Record<string, unknown>>(
    'select status, mail_reason_text(reason) as error, message_id, sent_at is not null as sent, provider from emails where id = $1',
    [id],
  );
const namesOf = async (id: string) =>
  (
    await store.db.rows<{ name: string }>('select name from events where email_id = $1 order by created_at, id', [id])
  ).map(({ name }) => name);

test('queued mail goes out, each message once, whatever SES answers', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 120);
  let calls = 0;
  ses.fault = (response) => {
    calls += 1;
    return calls % 40 === 0
      ? sesError(response, 429, 'TooManyRequestsException', 'Maximum sending rate exceeded.')
      : undefined;
  };
  const report = await deliverPending(depsWith(mailerAt()), run(project.id), pace);
  expect(report).toMatchObject({ delivered: 120, failed: 0 });
  expect(ses.taken.flatMap(({ to }) => to).toSorted()).toEqual(addresses.toSorted());
});

test('a dropped answer: the mail waits for a report of SES, which proves it; it is never sent twice', async () => {
  const project = await aProject(store.db);
  const contactId = await aContact(store.db, project.id, 'bob@example.com');
  const id = await queueMail(store.db, project, contactId, 'bob@example.com');
  ses.fault = () => 'drop';
  const deps = depsWith(mailerAt());
  const first = await deliverPending(deps, run(project.id), pace);
  expect(first).toMatchObject({ delivered: 0, failed: 0 });
  expect(first.waitMs).toBeGreaterThan(0);
  ses.fault = () => undefined;
  const notification = {
    key: newId(),
    emailId: id,
    projectId: project.id,
    messageId: `0102-${id}`,
    recipient: 'bob@example.com',
    at: new Date().toISOString(),
    effect: { kind: 'sent' } as const,
  };
  const webhook = {
    db: store.db,
    clock: systemClock,
    billing: { freeTier: null, publicDailyEmails: null },
    erasedAddresses: { suppressed: async () => new Set<string>() },
    log: silent,
    patienceMs: 10,
  };
  expect(await takeReport(webhook, 'sns', notification)).toMatchObject({ status: 200 });
  await store.db.count('update email_queue set due_at = now() - make_interval(secs => 1) where email_id = $1', [id]);
  expect(await deliverPending(deps, run(project.id), pace)).toMatchObject({ delivered: 1, waitMs: null });
  expect(await rowOf(id)).toMatchObject({ status: 'SENT', sent: true, message_id: `0102-${id}`, provider: 'ses' });
  expect(await namesOf(id)).toEqual(['email.sent']);
  expect(ses.taken).toHaveLength(1);
});

test('a dropped answer without any report ends as "submission unknown", and a later report corrects that', async () => {
  const project = await aProject(store.db);
  const contactId = await aContact(store.db, project.id, 'bob@example.com');
  const id = await queueMail(store.db, project, contactId, 'bob@example.com');
  ses.fault = () => 'drop';
  await deliverPending(depsWith(mailerAt({ reported: false })), run(project.id), pace);
  expect(await rowOf(id)).toMatchObject({ status: 'FAILED', error: 'submission unknown', sent: false });
  expect(ses.taken).toHaveLength(1);
  const delivery = JSON.stringify({
    RecordType: 'Delivery',
    MessageID: `0102-${id}`,
    Recipient: 'bob@example.com',
    DeliveredAt: new Date().toISOString(),
    Metadata: { eid: id, pid: project.id },
  });
  await receivePostmark(
    {
      db: store.db,
      clock: systemClock,
      billing: { freeTier: null, publicDailyEmails: null },
      erasedAddresses: { suppressed: async () => new Set<string>() },
      log: silent,
    },
    delivery,
  );
  expect(await rowOf(id)).toMatchObject({ status: 'DELIVERED', error: null, sent: true });
  // What was told at the time stays told; the report follows it.
  expect(await namesOf(id)).toEqual(['email.failed', 'email.sent', 'email.delivery']);
});

test('an event has an ID of its own time, however old its mail is', async () => {
  const project = await aProject(store.db);
  const contactId = await aContact(store.db, project.id, 'bob@example.com');
  const queue = () => {
    const id = uuid7(Date.now() - 40 * 86_400_000, 0, randomBytes(8));
    return queueMail(store.db, project, contactId, 'bob@example.com', { id });
  };
  const began = Date.now();
  const sent = await queue();
  await deliverPending(depsWith(mailerAt()), run(project.id), pace);
  const lost = await queue();
  ses.fault = () => 'drop';
  await deliverPending(depsWith(mailerAt({ reported: false })), run(project.id), pace);
  const report = {
    key: newId(),
    emailId: lost,
    projectId: project.id,
    messageId: `0102-${lost}`,
    recipient: 'bob@example.com',
    at: new Date(began - 39 * 86_400_000).toISOString(),
    effect: { kind: 'delivery' } as const,
  };
  await applyNotification(store.db.session(), 'test', { emailId: lost, projectId: project.id }, report, true);
  expect(await namesOf(sent)).toEqual(['email.sent']);
  expect(await namesOf(lost)).toEqual(['email.failed', 'email.sent', 'email.delivery']);
  const rows = await store.db.rows<{ id: string }>('select id from events where project_id = $1', [project.id]);
  expect(rows.map(({ id }) => instantOf(id).getTime()).every((at) => at >= began)).toBe(true);
});

test('after a crash, what had not left is sent, what was taken is SENT, and what was on the wire is not sent again', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 3);
  const ids = (
    await store.db.rows<{ id: string }>(
      'select email_id as id from email_queue where project_id = $1 order by email_id',
      [project.id],
    )
  ).map(({ id }) => id);
  const [taken = '', wire = '', never = ''] = ids;
  // What a process leaves that dies in the middle of a claim.
  const dead = run(project.id, 2);
  const claim = `${dead.prefix}1.1`;
  await store.db.count('update email_queue set claim_id = $2, claimed_at = now() where project_id = $1', [
    project.id,
    claim,
  ]);
  const journal = createJournal(store.db, silent);
  await Promise.all([journal.begin(claim, taken), journal.begin(claim, wire)]);
  await journal.took(claim, taken, `0102-${taken}`, new Date().toISOString());

  const deps = depsWith(mailerAt({ reported: false }));
  await deliverPending(deps, dead, pace);
  expect(await rowOf(taken)).toMatchObject({ status: 'SENT', message_id: `0102-${taken}` });
  expect(await rowOf(wire)).toMatchObject({ status: 'FAILED', error: 'submission unknown' });
  // As long as the process may only stand still, it could hand the rest over itself.
  expect(await rowOf(never)).toMatchObject({ status: 'PENDING' });
  await store.db.count('update email_queue set due_at = now() - make_interval(secs => 1) where email_id = $1', [never]);
  await deliverPending(deps, run(project.id), pace);
  expect(await rowOf(never)).toMatchObject({ status: 'SENT' });
  expect(ses.taken.map(({ tags }) => tags.eid)).toEqual([never]);
});

test('a sender domain is an identity of SES with its three DKIM records', async () => {
  const domains = createSesDomains(access(), 'bounces');
  for (const attempt of [1, 2]) {
    const made = await domains.create('birdwatch.test');
    expect([attempt, made.state, made.tokens]).toEqual([attempt, 'Pending', ['aaa', 'bbb', 'ccc']]);
  }
  const records = (await domains.check('birdwatch.test')).records;
  expect(records.map(({ purpose, type, name, value, priority }) => [purpose, type, name, value, priority])).toEqual([
    ...['aaa', 'bbb', 'ccc'].map((token) => [
      'DKIM',
      'CNAME',
      `${token}._domainkey.birdwatch.test`,
      `${token}.dkim.amazonses.com`,
      null,
    ]),
    ['RETURN_PATH', 'MX', 'bounces.birdwatch.test', 'feedback-smtp.eu-west-1.amazonses.com', 10],
    ['SPF', 'TXT', 'bounces.birdwatch.test', 'v=spf1 include:amazonses.com ~all', null],
    ['INBOUND_MX', 'MX', 'birdwatch.test', 'inbound-smtp.eu-west-1.amazonaws.com', 10],
  ]);
  ses.identities.set('birdwatch.test', { dkim: 'SUCCESS', mailFrom: 'SUCCESS' });
  expect(await domains.check('birdwatch.test')).toMatchObject({ state: 'Success' });
  // SES gives up after three days; a check then begins anew.
  ses.identities.set('birdwatch.test', { dkim: 'FAILED', mailFrom: 'FAILED' });
  expect(await domains.check('birdwatch.test')).toMatchObject({ state: 'Pending' });
  await domains.remove('birdwatch.test');
  await domains.remove('birdwatch.test');
  expect(ses.identities.size).toBe(0);
});
