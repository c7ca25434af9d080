import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { headerPrefix, smtpUser } from '@fernpost/earlier-name';
import { createTransport } from 'nodemailer';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Config, readConfig } from '../../../src/lib/config/config.ts';
import { createComposer } from '../../../src/mail/engine/compose.ts';
import type { StoredRender } from '../../../src/mail/ledger/queries.ts';
import { ClientLog, listClients } from '../../../src/mail/smtp-in/clients.ts';
import { type RunningSmtp, type SmtpOverrides, startSmtp } from '../../../src/main/smtp/smtp-runtime.ts';
import type { CreateApiKey } from '../../../src/projects/api-key-schema.ts';
import { createApiKey } from '../../../src/projects/api-key-service.ts';
import { aProject, type TestProject } from '../../support/api.ts';
import { aCertificate } from '../../support/certificate.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';
import { RawSmtp } from '../../support/smtp-client.ts';
import { tcpProxy } from '../../support/tcp-proxy.ts';

let database: TestDatabase;
let project: TestProject;
let smtp: RunningSmtp;
let port: number;

const settingsOf = (changes: Record<string, string> = {}) => ({
  NODE_ENV: 'test',
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  TEMPORAL_TASK_QUEUE: 'test-smtp-in',
  RATE_LIMIT_PER_MINUTE: '0',
  DATABASE_POOL_SIZE: '5',
  ...changes,
});
const configOf = (changes?: Record<string, string>): Config => readConfig(settingsOf(changes));
/** Submission on a free port; nothing delivers what it accepts. */
const startIn = (changes: Record<string, string> = {}, overrides: SmtpOverrides = {}) =>
  startSmtp({ ...configOf(changes), SMTP_IN_PORT: 0 }, pino({ level: 'silent' }), {
    wake: () => undefined,
    ...overrides,
  });

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
  smtp = await startIn();
  port = smtp.ports.plain ?? 0;
});
afterAll(async () => {
  await smtp.close();
  await database.close();
});

const transport = (key = project.secretKey, user = 'fernpost', at = port) =>
  createTransport({ host: '127.0.0.1', port: at, ignoreTLS: true, auth: { user, pass: key } });
const letter = (changes: Record<string, unknown> = {}) => ({
  from: project.sender,
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Hi',
  ...changes,
});
const message = (fields: readonly string[], body = 'Hi', owner = project) =>
  [`From: ${owner.sender}`, 'Subject: Hello', ...fields, '', body].join('\r\n');
const idsIn = (reply: string) => reply.replace(/^.*Queued /s, '').split(' ');

interface Row {
  id: string;
  to_address: string;
  to_name: string | null;
  from_name: string;
  reply_to: string | null;
  status: string;
  headers: Record<string, string> | null;
  attachments: { filename: string; content: string; contentType: string; disposition: string; contentId?: string }[];
  render: StoredRender;
  tracking: boolean | null;
  message_class: 'TRANSACTIONAL' | 'MARKETING';
  contact_id: string;
}
const rowsOf = (ids: readonly string[]) =>
  database.db.rows<Row>('select * from emails where id = any($1::uuid[]) order by id', [ids]);
const scopedKey = (wanted: Pick<CreateApiKey, 'scopes' | 'recipients' | 'mcp'>) =>
  createApiKey(database.db, project.id, { name: 'smtp', ...wanted }, { userId: null, now: new Date() });
const mailsTo = async (address: string) =>
  (await database.db.rows<Row>('select * from emails where to_address = $1', [address])).length;
const written = async () => (await database.db.row<{ n: number }>('select count(*)::int as n from emails'))?.n ?? -1;

/** What the provider would get of a row. */
function composed(row: Row) {
  const compose = createComposer(configOf(), pino({ level: 'silent' }));
  const { render } = row;
  const message = compose({
    ...render,
    isLiteral: render.isLiteral ?? false,
    emailId: row.id,
    projectId: project.id,
    messageClass: row.message_class,
    sourceType: 'TRANSACTIONAL',
    project: { name: 'Acme', tracking: 'ENABLED', language: 'en', escapeContactData: false },
    from: project.sender,
    fromName: row.from_name,
    replyTo: row.reply_to,
    to: { address: row.to_address, name: row.to_name },
    contact: { id: row.contact_id, email: row.to_address, subscribed: render.subscribed, data: render.contact },
    headers: row.headers,
  });
  return { ...message, html: String(message.html), text: message.text === null ? null : String(message.text) };
}

describe('what a client hands over', () => {
  test('nodemailer: HTML, text, files and headers arrive as sent, and nothing is taken for Liquid', async () => {
    const html =
      '<!doctype html><html><body><p>Hi {{ name }} {% if %} \u2603</p><img src="cid:logo@acme"></body></html>';
    const sent = await transport().sendMail(
      letter({
        to: '"Ada Lovelace" <ada@example.com>',
        replyTo: 'Help <help@acme.test>',
        subject: 'Code {{ code }}',
        html,
        text: 'Hi {{ name }}\n.\n..leading dots',
        headers: {
          'X-Entity-Ref-ID': '4711',
          'X-Fernpost-Track': 'false',
          'X-Fernpost-Tag': ['kind=login', 'app=shop'],
        },
        attachments: [
          { filename: 'terms.pdf', content: Buffer.from([0, 1, 2, 255]) },
          { filename: 'logo.png', content: Buffer.from('png'), cid: 'logo@acme' },
        ],
      }),
    );
    expect(sent.response).toMatch(/^250 2\.0\.0 Queued [0-9a-f-]{36}$/);
    const [row] = await rowsOf(idsIn(sent.response));
    if (!row) throw new Error('no row');
    expect(row).toMatchObject({
      to_address: 'ada@example.com',
      to_name: 'Ada Lovelace',
      reply_to: 'help@acme.test',
      status: 'PENDING',
      tracking: false,
    });
    expect(row.headers).toMatchObject({ 'X-Entity-Ref-ID': '4711' });
    expect(Object.keys(row.headers ?? {}).filter((name) => /fernpost/i.test(name))).toEqual([]);
    expect(row.attachments).toMatchObject([
      { filename: 'logo.png', disposition: 'inline', contentId: 'logo@acme' },
      { filename: 'terms.pdf', content: 'AAEC/w==', contentType: 'application/pdf', disposition: 'attachment' },
    ]);
    const out = composed(row);
    expect(out.subject).toBe('Code {{ code }}');
    expect(out.html.trim()).toBe(html);
    expect(out.text?.trim()).toBe('Hi {{ name }}\n.\n..leading dots');
    const tags = await database.db.rows('select name, value from email_tags where email_id = $1 order by name', [
      row.id,
    ]);
    expect(tags).toEqual([
      { name: 'app', value: 'shop' },
      { name: 'kind', value: 'login' },
    ]);
  });

  test('a message with only a text is sent without HTML, one with only HTML gets a text part', async () => {
    const [plain] = await rowsOf(idsIn((await transport().sendMail(letter({ text: 'Backup <done>' }))).response));
    const [rich] = await rowsOf(
      idsIn((await transport().sendMail(letter({ text: undefined, html: '<p>Hello <b>you</b></p>' }))).response),
    );
    if (!plain || !rich) throw new Error('no row');
    expect(composed(plain)).toMatchObject({ html: '', text: expect.stringMatching(/^Backup <done>\s*$/) });
    expect(composed(rich).html.trim()).toBe('<p>Hello <b>you</b></p>');
    expect(composed(rich).text?.trim()).toBe('Hello you');
  });

  test('connections, messages and refusals are counted, by the code of the reply', async () => {
    const figure = async (name: string, code?: number) => {
      const metric = await smtp.metrics.getSingleMetric(name)?.get();
      return metric?.values.find(({ labels }) => code === undefined || labels.code === code)?.value ?? 0;
    };
    const [messages, refusals] = ['fernpost_smtp_messages_accepted_total', 'fernpost_smtp_refusals_total'];
    const before = [await figure(messages), await figure(refusals, 535), await figure(refusals, 553)];
    await using client = await RawSmtp.signedIn(port, project.secretKey);
    expect(await figure('fernpost_smtp_connections')).toBeGreaterThan(0);
    expect(await client.mail(project.sender, 'counted@example.com', message([]))).toMatch(/^250/);
    await client.say(`MAIL FROM:<${project.sender}>`);
    expect(await client.say('RCPT TO:<nobody@localhost>')).toMatch(/^553/);
    await expect(transport('wrong').sendMail(letter())).rejects.toMatchObject({ responseCode: 535 });
    const after = [await figure(messages), await figure(refusals, 535), await figure(refusals, 553)];
    expect(after).toEqual(before.map((count) => count + 1));
  });

  test('the envelope decides: one email for each recipient, whatever To and Cc say, and at most 50 at once', async () => {
    const to = ['env-1@example.com', 'ENV-2@example.com'];
    const sent = await transport().sendMail({
      envelope: { from: 'bounces@elsewhere.test', to },
      ...letter({ to: 'somebody-else@example.com', cc: 'third@example.com' }),
    });
    const rows = await rowsOf(idsIn(sent.response));
    expect(rows.map((row) => row.to_address).sort()).toEqual(['env-1@example.com', 'env-2@example.com']);
    expect(await mailsTo('somebody-else@example.com')).toBe(0);

    await using client = await RawSmtp.signedIn(port, project.secretKey);
    await client.say(`MAIL FROM:<${project.sender}>`);
    const replies: string[] = [];
    for (let n = 0; n < 51; n++) replies.push(await client.say(`RCPT TO:<many-${n}@example.com>`));
    expect(replies.filter((reply) => reply.startsWith('250'))).toHaveLength(50);
    expect(replies[50]).toMatch(/^452 /);
  });

  test('marketing mail goes to subscribers only, with a footer and List-Unsubscribe', async () => {
    const headers = { 'X-Fernpost-Type': 'MARKETING' };
    await expect(transport().sendMail(letter({ to: 'stranger@example.com', headers }))).rejects.toMatchObject({
      responseCode: 550,
      response: expect.stringContaining('5.7.1'),
    });
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed, data)
         values (uuidv7(), $1, 'fan@example.com', true, '{}')`,
      [project.id],
    );
    const sent = await transport().sendMail(
      letter({ to: 'fan@example.com', headers, html: '<html><body>News {{ x }}</body></html>', text: 'News {{ x }}' }),
    );
    const [row] = await rowsOf(idsIn(sent.response));
    if (!row) throw new Error('no row');
    const out = composed(row);
    expect(out.html).toContain('News {{ x }}');
    expect(out.html).toMatch(/\/unsubscribe\/.*<\/body>/s);
    expect(out.text).toMatch(/^News \{\{ x \}\}\s[\s\S]*\/unsubscribe\//);
    expect(out.headers.map(({ name }) => name)).toContain('List-Unsubscribe');
  });

  test('a mail that a rule suppresses is answered 250 and kept', async () => {
    const owner = await aProject(database);
    await database.db.count(
      `insert into suppression_rules (id, project_id, name, kind, pattern)
         values (uuidv7(), $1, 'Us', 'ADDRESS', 'caught@example.com')`,
      [owner.id],
    );
    const sent = await transport(owner.secretKey).sendMail(letter({ from: owner.sender, to: 'caught@example.com' }));
    expect(sent.response).toMatch(/^250 2\.0\.0 Queued/);
    expect(await rowsOf(idsIn(sent.response))).toMatchObject([{ status: 'SUPPRESSED' }]);
  });

  test('marketing mail to the control group is answered 250 and kept', async () => {
    const owner = await aProject(database);
    await aContact(database.db, owner.id, 'held.out@example.com');
    await database.db.count(
      `update projects set holdout = '{"key": "k", "percent": 100, "until": null}' where id = $1`,
      [owner.id],
    );
    const send = async (headers: Record<string, string>) =>
      transport(owner.secretKey).sendMail(letter({ from: owner.sender, to: 'held.out@example.com', headers }));
    const [news, receipt] = [await send({ 'X-Fernpost-Type': 'MARKETING' }), await send({})];
    expect(news.response).toMatch(/^250 2\.0\.0 Queued/);
    expect(await rowsOf(idsIn(news.response))).toMatchObject([{ status: 'SUPPRESSED' }]);
    expect(await rowsOf(idsIn(receipt.response))).toMatchObject([{ status: 'PENDING' }]);
  });

  test('a message can be scheduled', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await transport().sendMail(letter({ headers: { 'X-Fernpost-Scheduled-For': at } }));
    const rows = await database.db.rows<{ scheduled_for: string }>(
      'select scheduled_for from emails where id = $1',
      idsIn(sent.response),
    );
    expect(rows.map((row) => new Date(row.scheduled_for).toISOString())).toEqual([at]);
  });

  test('curl sends too', async () => {
    const mail = message(['Message-ID: <curl@acme.test>']);
    const curl = promisify(execFile)('curl', [
      ...['--silent', '--show-error', '--max-time', '20', '--url', `smtp://127.0.0.1:${port}`],
      ...['--user', `fernpost:${project.secretKey}`, '--mail-from', project.sender, '--mail-rcpt', 'curl@example.com'],
      ...['--upload-file', '-'],
    ]);
    curl.child.stdin?.end(mail);
    await curl;
    expect(await mailsTo('curl@example.com')).toBe(1);
  });

  test('the headers of Fernpost: what makes no sense is refused with 550 5.5.4', async () => {
    const before = await written();
    for (const headers of [
      { 'X-Fernpost-Scheduled-For': '2199-01-01T00:00:00Z' },
      { 'X-Fernpost-Scheduled-For': 'tomorrow' },
      { 'X-Fernpost-Track': 'perhaps' },
      { 'X-Fernpost-Type': 'NEWS' },
      { 'X-Fernpost-Data': 'no json' },
      { 'X-Fernpost-Tag': 'kind' },
      { 'X-Fernpost-Tags': 'kind=news' },
      { 'X-Fernpost-Template': '0199d2a4-0000-7000-8000-000000000000' },
    ])
      await expect(transport().sendMail(letter({ headers })), JSON.stringify(headers)).rejects.toMatchObject({
        responseCode: 550,
        response: expect.stringContaining('5.5.4'),
      });
    expect(await written()).toBe(before);
  });
});

describe('who may send', () => {
  test('nobody without signing in, whatever the commands', async () => {
    const before = await written();
    await using client = await RawSmtp.open(port);
    expect(await client.say('MAIL FROM:<a@b.test>')).toMatch(/^503/);
    await client.say('EHLO client.test');
    for (const line of [`MAIL FROM:<${project.sender}>`, 'RCPT TO:<victim@example.com>', 'DATA'])
      expect(await client.say(line), line).toMatch(/^(530|503)/);
    for (const line of ['XCLIENT ADDR=127.0.0.1', 'XFORWARD ADDR=127.0.0.1', 'STARTTLS', 'WIZ'])
      expect(await client.say(line), line).toMatch(/^(5\d\d|421)/);
    expect(await written()).toBe(before);
  });

  test('only with a secret key, as "fernpost" or the id of its project, and only from its own domains', async () => {
    const other = await aProject(database);
    await transport(project.secretKey, project.id).sendMail(letter());
    for (const [key, user] of [
      [project.publicKey, 'fernpost'],
      [project.secretKey, other.id],
      [project.secretKey, 'root'],
      [`${project.secretKey}0`, 'fernpost'],
    ])
      await expect(transport(key, user).sendMail(letter()), user).rejects.toMatchObject({ responseCode: 535 });
    const before = await written();
    for (const from of [other.sender, 'ceo@bank.example', `x@sub.${project.domain}`])
      await expect(transport().sendMail(letter({ from })), from).rejects.toMatchObject({
        responseCode: 550,
        response: expect.stringContaining('5.7.1 Sender domain is not verified'),
      });
    // The envelope's sender is nobody's claim to a domain.
    const spoof = { envelope: { from: project.sender, to: 'ada@example.com' }, ...letter({ from: other.sender }) };
    await expect(transport().sendMail(spoof)).rejects.toMatchObject({ responseCode: 550 });
    expect(await written()).toBe(before);
  });

  test('a key with scopes needs emails:send, and its limits hold', async () => {
    const { key: mayNot } = await scopedKey({ scopes: ['emails:read'] });
    await expect(transport(mayNot).sendMail(letter())).rejects.toMatchObject({ responseCode: 535 });
    const { key } = await scopedKey({
      scopes: ['emails:send'],
      recipients: { domains: ['staff.test'], addresses: [] },
    });
    const staff = await transport(key).sendMail(letter({ to: 'ann@staff.test' }));
    const others = await transport(key).sendMail(letter({ to: 'ann@example.com' }));
    expect(await rowsOf(idsIn(staff.response))).toMatchObject([{ status: 'PENDING' }]);
    expect(await rowsOf(idsIn(others.response))).toMatchObject([{ status: 'SUPPRESSED' }]);
  });

  test('a key whose mail needs a human sends none by itself', async () => {
    const before = await written();
    const careful = (mcp: CreateApiKey['mcp']) => scopedKey({ scopes: ['emails:send'], mcp });
    const always = await careful({ mode: 'act', mostRecipients: 50, needsHuman: 'always' });
    const planner = await careful({ mode: 'plan', mostRecipients: 50, needsHuman: 'never' });
    const few = await careful({ mode: 'act', mostRecipients: 1, needsHuman: 'above' });
    const both = letter({ to: ['ann@example.com', 'bob@example.com'] });
    for (const [{ key }, mail] of [
      [always, letter()],
      [planner, letter()],
      [few, both],
    ] as const)
      await expect(transport(key).sendMail(mail)).rejects.toMatchObject({
        responseCode: 550,
        response: expect.stringContaining('This key is for AI assistants'),
      });
    expect(await written()).toBe(before);
    const sent = await transport(few.key).sendMail(letter());
    expect(await rowsOf(idsIn(sent.response))).toMatchObject([{ status: 'PENDING' }]);
  });

  test('failures count for the network, and a key that was right before goes on', async () => {
    await using limited = await startIn({ LOGIN_RATE_LIMIT_PER_IP: '3' });
    const at = limited.ports.plain ?? 0;
    await database.db.count(`delete from attempt_windows where scope = 'smtp-ip'`);
    await transport(project.secretKey, 'fernpost', at).sendMail(letter());
    for (let n = 0; n < 3; n++)
      await expect(transport('sk_wrong', 'fernpost', at).sendMail(letter())).rejects.toMatchObject({
        responseCode: 535,
      });
    await expect(transport('sk_wrong', 'fernpost', at).sendMail(letter())).rejects.toMatchObject({ responseCode: 454 });
    const late = await aProject(database);
    await expect(transport(late.secretKey, 'fernpost', at).sendMail(letter())).rejects.toMatchObject({
      responseCode: 454,
    });
    await transport(project.secretKey, 'fernpost', at).sendMail(letter());
    await database.db.count(`delete from attempt_windows where scope = 'smtp-ip'`);
  });

  test('programs that were set up under the earlier name go on', async () => {
    const headers = { [`${headerPrefix}Tag`]: 'kind=login', [`${headerPrefix}Track`]: 'false' };
    const sent = await transport(project.secretKey, smtpUser).sendMail(letter({ headers }));
    const [row] = await rowsOf(idsIn(sent.response));
    expect(JSON.stringify(row).toLowerCase()).not.toContain(headerPrefix);
    expect(await database.db.rows('select name, value from email_tags where email_id = $1', [row?.id])).toEqual([
      { name: 'kind', value: 'login' },
    ]);
  });

  test('with a certificate: STARTTLS, and TLS from the first byte', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fernpost-smtp-'));
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const { privateKey, pem } = aCertificate();
    writeFileSync(certFile, pem);
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const config = configOf({ SMTP_IN_TLS_CERT: certFile, SMTP_IN_TLS_KEY: keyFile });
    expect(config).toMatchObject({ SMTP_IN_PORT: 587, SMTP_IN_TLS_PORT: 465 });
    await using secured = await startSmtp(
      { ...config, SMTP_IN_PORT: 0, SMTP_IN_TLS_PORT: 0 },
      pino({ level: 'silent' }),
      { wake: () => undefined },
    );
    const auth = { user: 'fernpost', pass: project.secretKey };
    const tls = { rejectUnauthorized: false };
    const common = { host: '127.0.0.1', auth, tls };
    const upgraded = createTransport({ ...common, port: secured.ports.plain ?? 0, requireTLS: true });
    const secure = createTransport({ ...common, port: secured.ports.tls ?? 0, secure: true });
    expect((await upgraded.sendMail(letter())).response).toMatch(/^250/);
    expect((await secure.sendMail(letter())).response).toMatch(/^250/);
    rmSync(folder, { recursive: true });
  });
});

describe('bytes on the wire', () => {
  test('pipelined commands, stuffed dots, eight bits and SMTPUTF8, a byte at a time', async () => {
    await using client = await RawSmtp.signedIn(port, project.secretKey);
    client.socket.setNoDelay(true);
    const lines = [
      `MAIL FROM:<${project.sender}> BODY=8BITMIME SMTPUTF8`,
      'RCPT TO:<bytes@example.com>',
      'DATA',
      ...[
        'Message-ID: <bytes@acme.test>',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
      ],
      ...[`From: J\u00fcrgen <${project.sender}>`, 'Subject: Gr\u00fc\u00dfe', ''],
      ...['..', '..dots', 'a.b', 'Gr\u00fc\u00dfe \ud83d\udc26', '.', 'QUIT', ''],
    ];
    for (const byte of Buffer.from(lines.join('\r\n'))) client.write(Buffer.of(byte));
    const replies = [await client.reply(), await client.reply(), await client.reply(), await client.reply()];
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '354', '250']);
    expect(await client.reply()).toMatch(/^221/);
    const [row] = await rowsOf(idsIn(replies[3] ?? ''));
    if (!row) throw new Error('no row');
    expect(row.from_name).toBe('J\u00fcrgen');
    expect(composed(row)).toMatchObject({ subject: 'Gr\u00fc\u00dfe' });
    expect(composed(row).text?.trimEnd()).toBe('.\n.dots\na.b\nGr\u00fc\u00dfe \ud83d\udc26');
  });

  test('10 MB are taken, more than the provider takes is answered 552', async () => {
    const content = Buffer.alloc(7 * 1024 * 1024, 'x');
    const sent = await transport().sendMail(
      letter({ to: 'large@example.com', attachments: [{ filename: 'a.pdf', content }] }),
    );
    const [row] = await rowsOf(idsIn(sent.response));
    expect(row?.attachments[0]?.content).toHaveLength(Math.ceil(content.length / 3) * 4);
    const tooMuch = Buffer.alloc(11 * 1024 * 1024, 'x');
    await expect(
      transport().sendMail(
        letter({ to: 'larger@example.com', attachments: [{ filename: 'a.pdf', content: tooMuch }] }),
      ),
    ).rejects.toMatchObject({ responseCode: 552, response: expect.stringContaining('5.3.4') });
    await using client = await RawSmtp.signedIn(port, project.secretKey);
    expect(await client.say(`MAIL FROM:<${project.sender}> SIZE=99999999`)).toMatch(/^552/);
    expect(await mailsTo('larger@example.com')).toBe(0);
  });

  test('a recipient that is no address is refused alone', async () => {
    await using client = await RawSmtp.signedIn(port, project.secretKey);
    await client.say(`MAIL FROM:<${project.sender}> SMTPUTF8`);
    expect(await client.say('RCPT TO:<nobody@localhost>')).toMatch(/^553 5\.1\.3/);
    expect(await client.say('RCPT TO:<j\u00fcrgen@example.com>')).toMatch(/^553 5\.6\.7/);
    expect(await client.say('RCPT TO:<ok@b\u00fccher.example>')).toMatch(/^250/);
  });
});

describe('limits', () => {
  test('the rate window of the project, each recipient counting', async () => {
    const owner = await aProject(database);
    await using limited = await startIn({ RATE_LIMIT_PER_MINUTE: '2' });
    const at = limited.ports.plain ?? 0;
    const to = ['r1@example.com', 'r2@example.com'];
    await transport(owner.secretKey, 'fernpost', at).sendMail(letter({ from: owner.sender, to }));
    await expect(
      transport(owner.secretKey, 'fernpost', at).sendMail(letter({ from: owner.sender, to: 'r3@example.com' })),
    ).rejects.toMatchObject({ responseCode: 451, response: expect.stringContaining('4.7.0') });
    expect(await mailsTo('r3@example.com')).toBe(0);
  });

  test('without Postgres the client keeps the message', async () => {
    const { hostname, port: postgresPort } = new URL(database.url);
    await using proxy = await tcpProxy(`${hostname}:${postgresPort}`);
    const url = new URL(database.url);
    url.host = proxy.address;
    await using apart = await startIn({ DATABASE_URL: url.href, DATABASE_POOL_TIMEOUT: '2' });
    await using client = await RawSmtp.signedIn(apart.ports.plain ?? 0, project.secretKey);
    await proxy.cut();
    const mail = message(['Message-ID: <away@acme.test>']);
    expect(await client.mail(project.sender, 'away@example.com', mail)).toMatch(/^451 4\.3\.0/);
    await proxy.mend();
    await using again = await RawSmtp.signedIn(port, project.secretKey);
    expect(await again.mail(project.sender, 'away@example.com', mail)).toMatch(/^250/);
    expect(await mailsTo('away@example.com')).toBe(1);
  });

  test('connections beyond the limit are turned away, and their places can be taken again', async () => {
    await using small = await startIn({ SMTP_IN_CONNECTIONS: '20' });
    const at = small.ports.plain ?? 0;
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawSmtp.open(at)));
    expect(small.connections).toBe(20);
    const turnedAway = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(at, '127.0.0.1');
        socket.on('error', () => undefined);
        const [greeting] = (await once(socket, 'data')) as [Buffer];
        socket.destroy();
        return greeting.toString().slice(0, 3);
      }),
    );
    expect(new Set(turnedAway)).toEqual(new Set(['421']));
    for (const client of clients) await client[Symbol.asyncDispose]();
    await expect.poll(() => small.connections).toBe(0);
    expect((await transport(project.secretKey, 'fernpost', at).sendMail(letter())).response).toMatch(/^250/);
  });
});

describe('exactly once', () => {
  test('a repetition gets the first answer again; another message under the same Message-ID is another message', async () => {
    await using client = await RawSmtp.signedIn(port, project.secretKey);
    const fields = ['Message-ID: <once@acme.test>'];
    const first = await client.mail(project.sender, 'once@example.com', message(fields));
    const later = [
      ...fields,
      'Received: from relay.test; Sun, 22 Nov 2026 10:00:00 +0000',
      'Date: Sun, 22 Nov 2026 10:00:00 +0000',
    ];
    expect(await client.mail(project.sender, 'once@example.com', message(later))).toBe(first);
    expect(await client.mail(project.sender, 'once@example.com', message(fields, 'Another'))).not.toBe(first);
    expect(await mailsTo('once@example.com')).toBe(2);
  });

  test('a key of the client stands in the place of message and Message-ID, for one envelope', async () => {
    const headers = { 'X-Fernpost-Idempotency-Key': 'order-4711' };
    const first = await transport().sendMail(letter({ to: 'key-a@example.com', headers }));
    const again = await transport().sendMail(letter({ to: 'key-a@example.com', headers, text: 'Built again' }));
    await transport().sendMail(letter({ to: 'key-b@example.com', headers }));
    expect(again.response).toBe(first.response);
    expect([await mailsTo('key-a@example.com'), await mailsTo('key-b@example.com')]).toEqual([1, 1]);
  });

  test('20 copies at once are one mail, and get one answer', async () => {
    const mail = message(['Message-ID: <race@acme.test>']);
    const replies = await Promise.all(
      Array.from({ length: 20 }, async () => {
        await using client = await RawSmtp.signedIn(port, project.secretKey);
        return await client.mail(project.sender, 'race@example.com', mail);
      }),
    );
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toMatch(/^250/);
    expect(await mailsTo('race@example.com')).toBe(1);
  });

  test('50 connections lost between the commit and its answer, retried: each mail once', async () => {
    let victim: RawSmtp | null = null;
    await using frail = await startIn({}, { wake: () => victim?.socket.destroy() });
    const at = frail.ports.plain ?? 0;
    for (let n = 0; n < 50; n++) {
      const mail = message([`Message-ID: <lost-${n}@acme.test>`]);
      const lost = await RawSmtp.signedIn(at, project.secretKey);
      victim = lost;
      expect(await lost.mail(project.sender, `lost-${n}@example.com`, mail)).toBe('');
      victim = null;
      await using again = await RawSmtp.signedIn(at, project.secretKey);
      expect(await again.mail(project.sender, `lost-${n}@example.com`, mail)).toMatch(/^250 2\.0\.0 Queued/);
    }
    const row = await database.db.row<{ mails: number; addresses: number }>(
      `select count(*)::int as mails, count(distinct to_address)::int as addresses from emails where to_address like 'lost-%'`,
    );
    expect(row).toEqual({ mails: 50, addresses: 50 });
  });

  test('processes killed between the commit and its answer: each mail once', async () => {
    // Each dies at the same moment of the same work; what differs from one client to the next is in the test with fifty connections.
    for (let n = 0; n < 3; n++) {
      const mail = message([`Message-ID: <killed-${n}@acme.test>`]);
      await using mortal = await child('mortal');
      await using client = await RawSmtp.signedIn(mortal.port, project.secretKey);
      expect(await client.mail(project.sender, `killed-${n}@example.com`, mail)).toBe('');
      await mortal.ended;
      await using again = await RawSmtp.signedIn(port, project.secretKey);
      expect(await again.mail(project.sender, `killed-${n}@example.com`, mail)).toMatch(/^250/);
      expect(await mailsTo(`killed-${n}@example.com`)).toBe(1);
    }
  });

  test('a message that is being read when the process stops is finished, idle clients are sent away', async () => {
    const stopping = await startIn({ SHUTDOWN_GRACE_SECONDS: '20' });
    await using idle = await RawSmtp.signedIn(stopping.ports.plain ?? 0, project.secretKey);
    await using busy = await RawSmtp.signedIn(stopping.ports.plain ?? 0, project.secretKey);
    await busy.say(`MAIL FROM:<${project.sender}>`);
    await busy.say('RCPT TO:<stop@example.com>');
    await busy.say('DATA');
    const closed = stopping.close();
    expect(await idle.reply()).toMatch(/^421/);
    expect(await busy.say(`${message([])}\r\n.`)).toMatch(/^250/);
    await closed;
    expect(await mailsTo('stop@example.com')).toBe(1);
  });
});

interface Child extends AsyncDisposable {
  port: number;
  ended: Promise<unknown>;
}

async function child(kind: string): Promise<Child> {
  const file = fileURLToPath(new URL('../../support/smtp-child.ts', import.meta.url));
  const running = spawn(process.execPath, [file, JSON.stringify(settingsOf()), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(running, 'exit');
  const [line] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
  return {
    port: Number(line.replace('port ', '')),
    ended,
    async [Symbol.asyncDispose]() {
      if (running.exitCode === null && running.signalCode === null) running.kill('SIGKILL');
      await ended;
    },
  };
}

test('whoever sets a program up sees what it did last: from where, with which key, and why it was refused', async () => {
  const own = await aProject(database);
  const mail = { from: own.sender, to: 'ada@kunde.example', subject: 'Hi', text: 'Hi' };
  const secret = transport(own.secretKey);
  await secret.sendMail(mail);
  const other = { ...mail, from: 'x@not-verified.example' };
  await expect(secret.sendMail(other)).rejects.toThrow('550');
  await expect(transport('sk_wrong', own.id).sendMail(mail)).rejects.toThrow('535');
  await expect(transport('sk_wrong', '0192f6a0-0000-7000-8000-000000000000').sendMail(mail)).rejects.toThrow('535');
  const told = () => listClients(database.db, own.id);
  await expect.poll(told).toHaveLength(2);
  await expect.poll(async () => (await told()).every(({ refusal }) => refusal !== null)).toBe(true);
  await expect.poll(async () => (await told()).filter(({ acceptedAt }) => acceptedAt !== null)).toHaveLength(1);
  const clients = (await told()).toSorted((one, two) => one.credential.localeCompare(two.credential));
  const ip = expect.stringMatching(/127\.0\.0\.1$/);
  const instant = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(clients).toEqual([
    {
      ...{ ip, credential: 'secret', key: null, lastAt: instant, acceptedAt: instant, refusedAt: instant },
      refusal: '550 5.7.1 Sender domain is not verified: not-verified.example',
    },
    {
      ...{ ip, credential: 'unknown', key: null, lastAt: instant, acceptedAt: null, refusedAt: instant },
      refusal: expect.stringMatching(/^535 5\.7\.8 /),
    },
  ]);
});

test('of the clients of a project the latest 50 are kept, strangers go first, and replies are kept without addresses', async () => {
  const { id } = await aProject(database);
  const log = new ClientLog(database.db, pino({ level: 'silent' }));
  const refused = { kind: 'refused', reply: '550 5.7.1 <ada@kunde.example> is unsubscribed' } as const;
  log.note({ projectId: id, credential: 'secret' }, '192.0.2.1', refused);
  await log.drain();
  for (let n = 0; n < 60; n++) {
    log.note({ projectId: id, credential: 'unknown' }, `198.51.100.${n}`, { kind: 'signed-in' });
    await log.drain();
  }
  const rows = await database.db.rows('select credential from smtp_clients where project_id = $1', [id]);
  expect(rows).toHaveLength(50);
  const [own] = (await listClients(database.db, id)).filter(({ credential }) => credential === 'secret');
  expect(own?.refusal).toBe('550 5.7.1 <…@…> is unsubscribed');
});
