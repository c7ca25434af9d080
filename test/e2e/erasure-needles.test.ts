import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSandbox, type Sandbox } from '@posthorn/mail-sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../../src/core/lib/time.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { automationHand } from '../support/automations.ts';
import { type DumpableDatabase, dumpableDatabase } from '../support/dumpable-database.ts';
import { type Haystack, someNeedles } from '../support/needles.ts';
import { aPerson, joins } from '../support/people.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type TemporalStore, temporalStore } from '../support/temporal-store.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// What is known of one person, in every place where a program can put it. None of it may be found anywhere afterwards.
const email = 'ottilie.zyx0ghost@needle-haystack.org';
const formerEmail = 'ottilie.qv7maiden@needle-haystack.org';
const needles = someNeedles();
const needle = needles.make;
// Without their domain they are found in URLs as well, where `@` is `%40`.
needles.add('address', 'ottilie.zyx0ghost');
needles.add('former address', 'ottilie.qv7maiden');

// Where else the address is the needle.
const placesOfAddress = [
  'api_keys.recipients',
  'audit_log.after',
  'automation_step_runs.output',
  'campaign_links.link',
  'campaigns.audience_condition',
  'contact_history.email_after',
  'contact_history.email_before',
  'contact_views.filter',
  'contacts.email',
  'emails.body',
  'emails.reply_to',
  'emails.subject',
  'emails.to_address',
  'events.data',
  'idempotency_keys.key',
  'job_errors.email',
  'jobs.spec',
  'segments.condition',
  'suppression_rules.name',
  'suppression_rules.pattern',
  'webhook_attempts.answer',
];

const folder = mkdtempSync(join(tmpdir(), 'posthorn-needles-'));
let temporal: TemporalStore;
let database: DumpableDatabase;
let sandbox: Sandbox;
let receiver: Receiver;
let api: TestApi;
let worker: WorkerProcess;
let project: TestProject;
const apiLog: string[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([dumpableDatabase(), temporalStore()]);
  await temporal.start();
  // Receivers repeat what they were sent, in the answer.
  receiver = await startReceiver((request, response) => void response.end(request.body));
  sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: join(folder, 'sandbox'),
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
  });
  const settings = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_SETUP: 'true',
    MAIL_PROVIDER: 'sandbox',
    POSTMARK_API_URL: sandbox.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    PROVIDER_LOOKUP_LAG_SECONDS: '0',
    LOG_LEVEL: 'debug',
  };
  api = await testApi(database, settings, { logTo: { write: (line) => void apiLog.push(line) } });
  worker = await workerProcess({
    ...settings,
    DATABASE_URL: database.url,
    TEMPORAL_TASK_QUEUE: api.config.TEMPORAL_TASK_QUEUE,
    JWT_SECRET: api.config.JWT_SECRET,
  });
  project = await aProject(database);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.close();
  await sandbox?.close();
  await receiver?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

const done = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const key = path === '/v1/track' ? project.publicKey : project.secretKey;
  const answer = await api.call(key, method, path, body, headers);
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}\n${apiLog.at(-2)}`);
  return answer.body;
};

async function eventually<T>(what: string, check: () => Promise<T | null | false | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const found = await check();
    if (found) return found;
    await pause(200);
  }
  throw new Error(`${what}: not seen within two minutes`);
}

const count = async (query: string) =>
  (await database.db.row<{ n: number }>(`select count(*)::int as n from ${query}`))?.n ?? 0;

async function holdsAddress(place: string): Promise<boolean> {
  const [table, column] = place.split('.');
  return (await count(`"${table}" where "${column}"::text ~* 'ottilie\\.'`)) > 0;
}

async function importCsv(text: string): Promise<{ failureCount: number; errors: unknown[] }> {
  const form = new FormData();
  form.append('file', new Blob([text], { type: 'text/csv' }), 'list.csv');
  const answer = await fetch(`${api.url}/contacts/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${project.secretKey}` },
    body: form,
  });
  const { jobId } = (await answer.json()) as { jobId: string };
  return eventually('the import', async () => {
    const { state, result } = await done('GET', `/contacts/import/${jobId}`);
    return state === 'completed' && result;
  });
}

async function plantEverywhere(): Promise<string> {
  const { id } = await done('POST', '/contacts', {
    email: formerEmail,
    data: {
      firstName: needle('first'),
      lastName: needle('last'),
      address: { street: needle('street') },
      tags: [needle('tag')],
      children: [{ name: needle('child') }],
      [needle('key-of-data')]: true,
    },
  });
  await done('PATCH', `/contacts/${id}`, { email, data: { firstName: needle('renamed'), phone: needle('phone') } });
  await done('PATCH', `/contacts/${id}`, { subscribed: false, reason: needle('left-because') });
  await done('PATCH', `/contacts/${id}`, { subscribed: true, reason: needle('back-because') });
  await importCsv(`email,company,${needle('csv-header')}\n${email},${needle('csv')},x\nnot ${email},x,x\n`);
  const everybody = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'equals', value: email }] }] };
  await done('POST', '/segments', { name: 'One', type: 'DYNAMIC', condition: everybody, trackMembership: true });
  const list = await done('POST', '/segments', { name: 'List', type: 'STATIC' });
  await done('POST', `/segments/${list.id}/members`, { emails: [email] });
  const hand = automationHand(api, project);
  const flow = await hand.automation({ eventName: 'needle.flow' });
  const template = await hand.template();
  await hand.step(flow.id, 'SEND_EMAIL', {}, { templateId: template });
  await hand.step(flow.id, 'WEBHOOK', {
    url: `http://127.0.0.1:${receiver.port}/step`,
    method: 'POST',
    body: { who: '{{email}}' },
  });
  await hand.step(flow.id, 'WAIT_FOR_EVENT', { eventName: 'never', timeout: 86_400 });
  await hand.enable(flow.id);
  await done('POST', '/webhook-endpoints', {
    url: `http://127.0.0.1:${receiver.port}/out`,
    events: ['*'],
    description: 'All',
  });
  for (const name of ['needle.flow', 'needle.other'])
    await done('POST', '/v1/track', {
      email,
      event: name,
      data: { note: needle(`event-${name}`), plan: { persistent: true, value: needle(`kept-${name}`) } },
    });
  const mail = {
    from: project.sender,
    subject: `For ${needle('subject')}`,
    body: `<p>${needle('body')} {{ secret }}</p>`,
    data: { secret: needle('variable') },
    headers: { 'X-Reference': needle('header') },
    tags: { who: needle('mail-tag') },
  };
  const replay = (key: string) => ({ 'Idempotency-Key': key, 'Idempotency-Mode': 'replay' });
  await done('POST', '/v1/send', { ...mail, to: { email, name: needle('to-name') } }, replay(`receipt-${email}`));
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  await done('POST', '/v1/send', {
    from: project.sender,
    to: email,
    scheduledFor: tomorrow,
    subject: needle('scheduled-subject'),
    body: '<p>Hello</p>',
    attachments: [
      {
        filename: `${needle('attachment')}.txt`,
        content: Buffer.from(needle('attached')).toString('base64'),
        contentType: 'text/plain',
      },
    ],
  });
  await done('POST', '/v1/emails/batch', {
    emails: [{ from: project.sender, to: email, subject: 'One of many', body: `<p>${needle('batch')}</p>` }],
  });
  await done('POST', '/v1/send', {
    from: project.sender,
    to: 'shop@needle-owner.org',
    reply: email,
    subject: `New customer ${email}`,
    body: `<p>${email}</p>`,
  });
  await done('POST', '/events/track', { name: 'customer.added', data: { invited: email } });
  await done('POST', '/suppressions', { name: `Rule for ${email}`, kind: 'ADDRESS', pattern: email, enabled: false });
  await done('POST', '/contacts/views', { name: 'Mine', filter: { search: email } });
  const { jobId: bulk } = await done('POST', '/contacts/bulk-subscribe', { mode: 'query', filter: { search: email } });
  await eventually('the bulk job', async () => (await done('GET', `/contacts/bulk/${bulk}`)).state === 'completed');
  const admin = await aPerson(database.db, api.config, { name: 'ines.varga' });
  await joins(database.db, project.id, admin, 'ADMIN');
  const key = { name: 'Mailer', scopes: ['emails:send'], recipients: { addresses: [email] } };
  const made = await api.call(null, 'POST', `/users/@me/projects/${project.id}/api-keys`, key, admin.session);
  expect(made.status).toBe(201);
  const { data: campaign } = await done('POST', '/campaigns', {
    name: 'Spring',
    subject: 'Hello {{ firstName }}',
    body: '<p>Hello {{ lastName }}</p>',
    from: project.sender,
    type: 'MARKETING',
    audienceType: 'FILTERED',
    audienceCondition: everybody,
  });
  await done('POST', `/campaigns/${campaign.id}/send`, {});
  await eventually('the campaign', async () => (await done('GET', `/campaigns/${campaign.id}`)).data.status === 'SENT');
  const mails = await done('GET', `/v1/emails?to=${email}`);
  const { messageId } = await done(
    'GET',
    `/v1/emails/${mails.data.find((mail: { campaignId: string }) => mail.campaignId === campaign.id).id}`,
  );
  await reported({
    RecordType: 'Click',
    MessageID: messageId,
    Recipient: email,
    OriginalLink: `https://shop.example/hi?name=${needle('link')}&mail=${encodeURIComponent(email)}`,
    ReceivedAt: new Date().toISOString(),
  });
  await reported({
    RecordType: 'Bounce',
    ID: 4_242,
    Type: 'HardBounce',
    MessageID: messageId,
    Email: email,
    Description: needle('bounce'),
    Details: `smtp;450 ${needle('bounce-details')} <${email}>`,
    BouncedAt: new Date().toISOString(),
    Inactive: true,
  });
  await reported({
    MessageStream: 'inbound',
    From: email,
    FromName: 'x',
    FromFull: { Email: email, Name: 'x', MailboxHash: '' },
    To: `help@${project.domain}`,
    ToFull: [{ Email: `help@${project.domain}`, Name: '', MailboxHash: '' }],
    OriginalRecipient: `help@${project.domain}`,
    Subject: needle('inbound-subject'),
    MessageID: '73e6d360-66eb-11e1-8e72-a8904824019b',
    Date: new Date().toUTCString(),
    TextBody: needle('inbound-body'),
    HtmlBody: '',
    Headers: [],
    Attachments: [],
  });
  await eventually('mail at the sandbox', async () => sandboxCount(email).then((n) => n >= 3));
  await eventually('the webhook step', async () => receiver.requests.some(({ url }) => url === '/step'));
  await eventually('webhooks', async () => (await count(`webhook_attempts where answer like '%${email}%'`)) > 3);
  await eventually('the waiting execution', async () => (await count(`automation_runs where status = 'WAITING'`)) > 0);
  return id;
}

/** Posts a webhook of the provider. */
async function reported(body: object): Promise<void> {
  const { POSTMARK_WEBHOOK_USER: user, POSTMARK_WEBHOOK_PASSWORD: password } = api.config;
  const answer = await fetch(`${api.url}/webhooks/postmark`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    },
    body: JSON.stringify(body),
  });
  expect(await answer.json()).toMatchObject({ success: true });
}

async function sandboxCount(to: string): Promise<number> {
  const answer = await fetch(`${sandbox.url}/api/messages?to=${encodeURIComponent(to)}`);
  return ((await answer.json()) as { total: number }).total;
}

function filesIn(path: string): [string, string][] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file, readFileSync(file).toString('latin1')];
    });
}

test('after an erase no needle is in the database, the sandbox, the store of Temporal or the logs', async () => {
  const id = await plantEverywhere();
  expect(needles.places.length + placesOfAddress.length).toBeGreaterThanOrEqual(40);
  const before = new Set(needles.found([['dump', await database.dump()]]));
  expect(
    needles.places.filter((place) => !before.has(`dump: ${place}`)),
    'needles that were never stored',
  ).toEqual([]);
  const held = await Promise.all(placesOfAddress.map(async (place) => [place, await holdsAddress(place)] as const));
  expect(
    held.flatMap(([place, holds]) => (holds ? [] : [place])),
    'where the address was never stored',
  ).toEqual([]);

  const asked = await done('POST', `/contacts/${id}/erase`, { reference: 'DSR-41' });
  expect(asked).toMatchObject({ status: 'RUNNING', reference: 'DSR-41', keepSuppressed: true });
  const erasure = await eventually('the certificate', async () => {
    const body = await done('GET', `/erasures/${asked.id}`);
    return body.status === 'DONE' && body;
  });
  const { json, signature, publicKey } = erasure.certificate;
  expect(verify(null, Buffer.from(json), createPublicKey(publicKey), Buffer.from(signature, 'base64'))).toBe(true);
  expect(JSON.parse(json)).toMatchObject({ final: true, subject: erasure.subject, mentions: erasure.mentions });
  expect(erasure.ledgersChanged).toHaveLength(1);
  expect(await done('GET', `/erasures/${asked.id}/verify`)).toEqual({
    valid: true,
    signed: true,
    keyOfProject: true,
    left: [],
  });
  expect(await sandboxCount(email)).toBe(0);

  const dump = await database.dump();
  // A dump that lacks the rows would have no needles either.
  expect(dump).toContain(erasure.subject);
  await Promise.all([worker.stop(), temporal.stop()]);
  const store = filesIn(dirname(temporal.databaseFile));
  const haystacks: Haystack[] = [
    ['dump of the database', dump],
    ['log of Postgres', database.serverLog()],
    ...filesIn(join(folder, 'sandbox')),
    ...store,
    ['log of the worker', worker.log],
    ['log of the API', apiLog.join('')],
  ];
  expect(store.some(([file]) => file.endsWith('temporal.db'))).toBe(true);
  // The mail to the shop is somebody else's copy at the provider, and names the contact.
  const ofTheShop = ([place, text]: Haystack) => place.includes('sandbox') && text.includes('shop@needle-owner.org');
  expect(needles.found(haystacks.filter((haystack) => !ofTheShop(haystack)))).toEqual([]);
});
