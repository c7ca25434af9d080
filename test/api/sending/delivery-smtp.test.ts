import { createVerify } from 'node:crypto';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newOwnKey } from '../../../src/domains/checks.ts';
import { createSmtpMailer, type SmtpOptions } from '../../../src/domains/providers/smtp/smtp.ts';
import { smtpAccess } from '../../../src/domains/providers/smtp/smtp-session.ts';
import { newId } from '../../../src/lib/ids.ts';
import { unseal } from '../../../src/lib/seal.ts';
import { createJournal } from '../../../src/mail/providers/journal.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, aProject, plainly, queueMail, queueMany } from '../../support/delivery-fixtures.ts';
import { SmtpRefusal, smtpServer, type TestSmtp } from '../../support/smtp.ts';
import { aMessage, kinds } from '../../unit/mail-providers/messages.ts';

const silent = { info: () => undefined, warn: () => undefined };
let store: TestDatabase;
let smtp: TestSmtp;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(async () => {
  await store?.close();
});
beforeEach(async () => {
  smtp = await smtpServer();
});
afterEach(async () => {
  await smtp?.close();
});

const mailerAt = (changes: Partial<SmtpOptions> = {}) =>
  createSmtpMailer({
    host: smtp.host,
    port: smtp.port,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
    connections: 5,
    maxMessageBytes: 25 * 1024 * 1024,
    keyOf: async () => null,
    journal: createJournal(store.db, silent),
    log: silent,
    ...changes,
  });

test('a message reaches the server as MIME under a Message-ID made of our id', async () => {
  const message = aMessage({
    to: { address: 'jo@example.com', name: 'Jörg, Müller' },
    html: '<p>Grüße\n.\nEnde</p>',
    headers: [{ name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' }],
  });
  expect(await mailerAt().send(newId(), [message])).toMatchObject([
    { kind: 'accepted', messageId: `${message.emailId}@birdwatch.test`, at: expect.stringMatching(/Z$/) },
  ]);
  const [taken] = smtp.taken;
  expect(taken).toMatchObject({ from: 'hello@birdwatch.test', to: ['jo@example.com'] });
  const parsed = await PostalMime.parse(taken?.mime ?? '');
  expect(parsed).toMatchObject({
    messageId: `<${message.emailId}@birdwatch.test>`,
    to: [{ address: 'jo@example.com', name: 'Jörg, Müller' }],
    subject: 'A heron',
  });
  expect(parsed.html?.trim()).toBe('<p>Grüße\n.\nEnde</p>');
  expect(parsed.headers.find(({ key }) => key === 'x-fernpost-email')?.value).toBe(message.emailId);
});

test('messages share a few sessions, and one that the server ended meanwhile is opened anew', async () => {
  const mailer = mailerAt({ connections: 2 });
  expect(
    kinds(
      await mailer.send(
        newId(),
        Array.from({ length: 20 }, () => aMessage()),
      ),
    ),
  ).toEqual(Array(20).fill('accepted'));
  expect(smtp.connections).toBe(2);
  smtp.cut();
  expect(kinds(await mailer.send(newId(), [aMessage()]))).toEqual(['accepted']);
  expect(smtp.taken).toHaveLength(21);
});

test.each([
  [421, 'closing', { kind: 'retry', scope: 'call' }],
  [450, '4.2.0 greylisted', { kind: 'retry', scope: 'message', afterMs: 60_000 }],
  [451, 'local error', { kind: 'retry', scope: 'message' }],
  [452, '4.2.2 mailbox full', { kind: 'retry', scope: 'message' }],
  [550, '5.1.1 no such user', { kind: 'rejected', code: 550, inactive: true }],
  [550, '5.7.1 relaying denied', { kind: 'rejected', code: 550, inactive: false }],
  [530, '5.7.0 authentication required', { kind: 'retry', scope: 'account' }],
])('%i %s to a recipient is that recipient’s verdict', async (code, text, expected) => {
  const bad = aMessage();
  smtp.onRecipient = (address) => {
    if (address === bad.to.address) throw new SmtpRefusal(code, text);
  };
  const mailer = mailerAt({ connections: 1 });
  expect((await mailer.send(newId(), [bad]))[0]).toMatchObject(expected);
  expect(kinds(await mailer.send(newId(), [aMessage()]))).toEqual(['accepted']);
});

test.each([
  [421, { kind: 'retry', scope: 'call' }],
  [451, { kind: 'retry', scope: 'message' }],
  [552, { kind: 'rejected', code: 552, inactive: false }],
  [554, { kind: 'rejected', code: 554, inactive: false }],
])('%i after the text of a message means that it was not taken', async (code, expected) => {
  smtp.onMessage = () => {
    throw new SmtpRefusal(code, 'no');
  };
  expect((await mailerAt().send(newId(), [aMessage()]))[0]).toMatchObject(expected);
});

test('a connection that is lost before the text began means not handed over; after it, that nobody knows', async () => {
  smtp.onRecipient = () => smtp.cut();
  expect((await mailerAt().send(newId(), [aMessage()]))[0]).toMatchObject({ kind: 'retry', scope: 'call' });
  smtp.onRecipient = () => undefined;
  smtp.onMessage = () => 'drop';
  const message = aMessage();
  const claim = newId();
  const mailer = mailerAt();
  expect(kinds(await mailer.send(claim, [message]))).toEqual(['unknown']);
  expect([...((await mailer.unconfirmed?.unsure(claim)) ?? [])]).toEqual([message.emailId]);
  expect(smtp.taken).toHaveLength(1);
  // The same claim, tried once more by whoever takes it over.
  smtp.onMessage = () => undefined;
  expect(kinds(await mailerAt().send(claim, [message]))).toEqual(['unknown']);
  expect(smtp.taken).toHaveLength(1);
});

test('a server that ends the connection in the middle of the text, or says nothing, leaves the outcome unknown', async () => {
  smtp.dropInText = true;
  const file = {
    filename: 'a.bin',
    content: 'A'.repeat(2_000_000),
    contentType: 'application/x-test',
    contentId: null,
  };
  expect(kinds(await mailerAt().send(newId(), [aMessage({ attachments: [file] })]))).toEqual(['unknown']);
  smtp.dropInText = false;
  await smtp.close();
  smtp = await smtpServer({
    onData: (stream) => {
      stream.resume();
    },
  });
  expect(kinds(await mailerAt({ silenceMs: 200 }).send(newId(), [aMessage()]))).toEqual(['unknown']);
});

test('nobody there, no TLS where it is demanded, or a wrong password: nothing is handed over', async () => {
  const url = { host: smtp.host, port: smtp.port };
  expect((await mailerAt({ requireTls: true }).send(newId(), [aMessage()]))[0]).toMatchObject({ kind: 'retry' });
  await smtp.close();
  expect((await mailerAt(url).send(newId(), [aMessage()]))[0]).toMatchObject({ kind: 'retry', scope: 'call' });
  smtp = await smtpServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'fernpost' && password === 'p@ss') done(null, { user: username });
      else done(new SmtpRefusal(535, '5.7.8 wrong password'));
    },
  });
  const wrong = await mailerAt({ user: 'fernpost', password: 'no' }).send(newId(), [aMessage(), aMessage()]);
  expect(wrong).toMatchObject([
    { kind: 'retry', scope: 'account' },
    { kind: 'retry', scope: 'account' },
  ]);
  expect(kinds(await mailerAt({ user: 'fernpost', password: 'p@ss' }).send(newId(), [aMessage()]))).toEqual([
    'accepted',
  ]);
});

test('what is larger than the server takes is refused, by our limit or by the one that it names', async () => {
  const file = (content: string) => ({
    filename: 'a.bin',
    content,
    contentType: 'application/x-test',
    contentId: null,
  });
  const large = aMessage({ attachments: [file('A'.repeat(2_000_000))] });
  expect((await mailerAt({ maxMessageBytes: 1024 * 1024 }).send(newId(), [large]))[0]).toMatchObject({
    kind: 'rejected',
    code: 413,
  });
  await smtp.close();
  smtp = await smtpServer({ size: 500_000 });
  expect((await mailerAt().send(newId(), [large]))[0]).toMatchObject({ kind: 'rejected', code: 552 });
});

test('mail from a domain with a key of our own is signed with it', async () => {
  const secret = 'x'.repeat(32);
  const key = await newOwnKey('birdwatch.test', secret, new Date());
  const keyOf = async (domain: string) =>
    domain === 'birdwatch.test'
      ? { domainName: domain, keySelector: key.selector, privateKey: unseal(key.keySealed, secret) }
      : null;
  const unsigned = aMessage({ from: { address: 'hello@other.test', name: null } });
  await mailerAt({ keyOf }).send(newId(), [aMessage(), unsigned]);
  const mimeOf = (from: string) => smtp.taken.find((message) => message.from === from)?.mime ?? '';
  expect(mimeOf('hello@other.test')).not.toMatch(/DKIM-Signature/i);
  const mime = mimeOf('hello@birdwatch.test');
  const signature = /^DKIM-Signature:((?:.|\r\n[ \t])*)/i.exec(mime)?.[1]?.replace(/\r\n[ \t]*/g, ' ') ?? '';
  const tag = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(signature)?.[1]?.replace(/\s/g, '') ?? '';
  expect([tag('d'), tag('s'), tag('a'), tag('c')]).toEqual([
    'birdwatch.test',
    key.selector,
    'rsa-sha256',
    'relaxed/relaxed',
  ]);
  // RFC 6376, 3.7, relaxed canonicalisation of the headers that are named.
  const headers = (mime.split('\r\n\r\n')[0] ?? '').replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const relaxed = (line: string) =>
    line
      .replace(/^([^:]*?)\s*:\s*/, (_, name: string) => `${name.toLowerCase()}:`)
      .replace(/[ \t]+/g, ' ')
      .trimEnd();
  const named = tag('h').toLowerCase().split(':');
  const lines = named.flatMap((name) =>
    headers.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map(relaxed),
  );
  const own = relaxed(headers.find((line) => /^dkim-signature/i.test(line)) ?? '').replace(/;\s*b=.*$/, '; b=');
  const text = [...lines, own].join('\r\n');
  const publicKey = `-----BEGIN PUBLIC KEY-----\n${/p=(.*)$/.exec(key.record.value)?.[1]}\n-----END PUBLIC KEY-----`;
  expect(createVerify('RSA-SHA256').update(text).verify(publicKey, tag('b'), 'base64')).toBe(true);
});

test('the URL of a server says where it is and how to log in', () => {
  expect(smtpAccess('smtp://mail.example.com', null)).toEqual({
    host: 'mail.example.com',
    port: 587,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
  });
  expect(smtpAccess('smtps://post%40horn:p%3Ass@[::1]:2465', null)).toEqual({
    host: '::1',
    port: 2465,
    secure: true,
    requireTls: true,
    user: 'post@horn',
    password: 'p:ss',
  });
  expect(smtpAccess('smtp://u:p@localhost:25', false)).toMatchObject({ requireTls: false, port: 25 });
});

const run = (projectId: string) => ({
  projectId,
  prefix: `${newId()}/1/`,
  attempt: 1,
  stop: new AbortController().signal,
});
const pace = { claims: 2, lingerMs: 0, longestMs: 600_000 };
const depsWith = (mailer: ReturnType<typeof mailerAt>) => ({
  db: store.db,
  mailer,
  compose: plainly,
  log: silent,
  rate: 0,
  lagMs: 0,
});

test('queued mail goes out by SMTP, each message once', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 130);
  expect(await deliverPending(depsWith(mailerAt()), run(project.id), pace)).toMatchObject({
    delivered: 130,
    failed: 0,
  });
  expect(smtp.taken.flatMap(({ to }) => to).toSorted()).toEqual(addresses.toSorted());
});

test('of messages that a server takes without answering none is sent twice: they end as "submission unknown"', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 12);
  smtp.onMessage = ({ to }) => (addresses.indexOf(to[0] ?? '') % 3 === 0 ? 'drop' : undefined);
  for (let round = 0; round < 5; round += 1) {
    await deliverPending(depsWith(mailerAt({ connections: 1 })), run(project.id), pace);
    await store.db.count('update provider_holds set held_until = null, failures = 0');
    await store.db.count('update email_queue set due_at = now() - make_interval(secs => 1) where project_id = $1', [
      project.id,
    ]);
  }
  const rows = await store.db.rows<{ status: string; error: string | null; count: number }>(
    'select status, mail_reason_text(reason) as error, count(*)::int from emails where project_id = $1 group by 1, 2 order by 1',
    [project.id],
  );
  expect(rows).toEqual([
    { status: 'FAILED', error: 'submission unknown', count: 4 },
    { status: 'SENT', error: null, count: 8 },
  ]);
  expect(smtp.taken.flatMap(({ to }) => to).toSorted()).toEqual(addresses.toSorted());
});

test('an address that the server does not know bounces: BOUNCED, and the contact is unsubscribed', async () => {
  const project = await aProject(store.db);
  const contactId = await aContact(store.db, project.id, 'gone@example.com');
  const id = await queueMail(store.db, project, contactId, 'gone@example.com');
  smtp.onRecipient = () => {
    throw new SmtpRefusal(550, '5.1.1 no such user');
  };
  await deliverPending(depsWith(mailerAt()), run(project.id), pace);
  expect(
    await store.db.row(
      'select e.status, c.subscribed from emails e join contacts c on c.id = e.contact_id where e.id = $1',
      [id],
    ),
  ).toEqual({ status: 'BOUNCED', subscribed: false });
});
