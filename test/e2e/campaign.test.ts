import { readFileSync } from 'node:fs';
import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';
import { type TcpProxy, tcpProxy } from '../support/tcp-proxy.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// The whole service: the API, the sandbox over HTTP, and workers as processes that can be killed.
let database: TestDatabase;
let sandbox: Sandbox;
let temporal: TcpProxy;
let api: TestApi;
let project: TestProject;
let worker: WorkerProcess;
let settings: Record<string, string>;
// All of the audience, or every fourth of it in calls that are smaller by as much.
const oneIn = inFull(1, 4);
const people = audience().filter((_, n) => n % oneIn === 0);
const template = (name: string) => readFileSync(new URL(`../data/templates/${name}.html`, import.meta.url), 'utf8');

beforeAll(async () => {
  database = await testDatabase();
  sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
    keep: 100_000,
  });
  temporal = await tcpProxy(inject('temporalAddress'));
  api = await testApi(database, {
    POSTMARK_API_URL: sandbox.url,
    TEMPORAL_ADDRESS: temporal.address,
    SEND_CHUNK: String(Math.ceil(50 / oneIn)),
    PROVIDER_LOOKUP_LAG_SECONDS: '5',
    PROVIDER_TIMEOUT_SECONDS: '5',
    SEND_RATE_PER_PROJECT: '400',
  });
  settings = Object.fromEntries(
    [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TASK_QUEUE',
      'POSTMARK_API_URL',
      'SEND_CHUNK',
      'PROVIDER_LOOKUP_LAG_SECONDS',
      'PROVIDER_TIMEOUT_SECONDS',
      'SEND_RATE_PER_PROJECT',
    ].map((name) => [name, String(api.config[name as keyof typeof api.config])]),
  );
  project = await aProject(database);
  worker = await workerProcess(settings);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api.close();
  await temporal[Symbol.asyncDispose]();
  await sandbox.close();
  await database.close();
});

interface Message {
  id: string;
  to: { email: string }[];
  subject: string;
  html: string;
  text: string;
}

const sandboxCall = async (path: string, init?: RequestInit) => (await fetch(`${sandbox.url}${path}`, init)).json();
async function messages(): Promise<Message[]> {
  const all: Message[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await sandboxCall(`/api/messages?limit=1000&bodies=1${last ? `&before=${last.id}` : ''}`);
    all.push(...(page as { messages: Message[] }).messages);
    if ((page as { messages: Message[] }).messages.length < 1000) return all;
  }
}
const clearSandbox = () => fetch(`${sandbox.url}/api/messages`, { method: 'DELETE' });

async function createCampaign(subject: string, body: string): Promise<string> {
  const created = await api.call(project.secretKey, 'POST', '/campaigns', {
    name: subject,
    subject,
    body,
    from: project.sender,
    audienceType: 'ALL',
    type: 'MARKETING',
  });
  expect(created.status).toBe(201);
  return created.body.data.id;
}
const campaign = async (id: string) => (await api.call(project.secretKey, 'GET', `/campaigns/${id}`)).body.data;
const untilSent = (id: string) => expect.poll(async () => (await campaign(id)).status, { interval: 500 }).toBe('SENT');

/** The balance sheet: everyone once, with their own name, and counters that say so. */
async function expectEveryoneOnce(id: string): Promise<void> {
  const received = await messages();
  expect(received.map((message) => message.to[0]?.email).sort()).toEqual(people.map((person) => person.email).sort());
  const byAddress = new Map(received.map((message) => [message.to[0]?.email, message]));
  for (const person of people) {
    const message = byAddress.get(person.email);
    expect(message?.subject).toBe(`News for ${person.firstName}`.trim());
    expect(message?.text).toContain(`Hello ${person.firstName}`.trim());
  }
  expect((await campaign(id)).totalRecipients).toBe(people.length);
  const stats = (await api.call(project.secretKey, 'GET', `/campaigns/${id}/stats`)).body.data;
  expect(stats).toMatchObject({ totalRecipients: people.length, sentCount: people.length });
  const rows = await database.db.rows<{ status: string; n: number }>(
    'select status, count(*)::int as n from emails where campaign_id = $1 group by status',
    [id],
  );
  expect(rows).toEqual([{ status: 'SENT', n: people.length }]);
  const events = await database.db.row<{ n: number }>(
    `select count(*)::int as n from events e join emails m on m.id = e.email_id where m.campaign_id = $1 and e.name = 'email.sent'`,
    [id],
  );
  expect(events?.n).toBe(people.length);
}

const newsletter = template('newsletter').replace(/<body([^>]*)>/i, '<body$1><h1>Hello {{first name}}</h1>');

describe('from an audience to its inbox', () => {
  test('every valid address of the audience becomes a contact through the API', async () => {
    expect(people.length).toBeGreaterThan(1_800 / oneIn);
    const queue = [...people];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let person = queue.pop(); person; person = queue.pop()) {
          const answer = await api.call(project.secretKey, 'POST', '/contacts', {
            email: person.email,
            data: person.data,
          });
          expect(answer.status).toBe(201);
        }
      }),
    );
    expect((await api.call(project.secretKey, 'GET', '/contacts')).body.total).toBe(people.length);
  });

  test('transactional templates reach one person with their own data', async () => {
    const [person] = people;
    if (!person) throw new Error('The audience is empty');
    for (const name of ['welcome', 'receipt']) {
      const saved = await api.call(project.secretKey, 'POST', '/templates', {
        name,
        subject: `${name} for {{first name}}`,
        body: template(name),
        from: project.sender,
        type: 'TRANSACTIONAL',
      });
      expect(saved.status).toBe(201);
      await api.call(project.secretKey, 'POST', '/v1/send', {
        to: person.email,
        template: saved.body.id,
        data: {
          name: person.firstName,
          product_name: 'Fernpost',
          receipt_details: [{ description: 'Postage & packing', amount: '4.20' }],
          total: '4.20',
        },
      });
    }
    await expect.poll(async () => (await messages()).length).toBe(2);
    const received = await messages();
    expect(received.map((message) => message.subject).sort()).toEqual([
      `receipt for ${person.firstName}`,
      `welcome for ${person.firstName}`,
    ]);
    const receipt = received.find((message) => message.subject.startsWith('receipt'));
    expect(receipt?.html).toContain('Postage & packing');
    expect(receipt?.text).toContain('4.20');
    await clearSandbox();
  });

  test('a campaign through kill -9 of the worker: nothing missing, nothing twice, counters that add up', async () => {
    const id = await createCampaign('News for {{first name}}', newsletter);
    // Slow enough for the worker to die in the middle, however long the test takes to notice.
    const rate = (messagesASecond: number | null) =>
      database.db.count('update projects set send_rate = $2 where id = $1', [project.id, messagesASecond]);
    await rate(20);
    expect((await api.call(project.secretKey, 'POST', `/campaigns/${id}/send`)).status).toBe(200);
    await expect.poll(async () => (await messages()).length, { interval: 100 }).toBeGreaterThan(100);
    await worker.kill();
    await rate(null);
    expect((await messages()).length).toBeLessThan(people.length);
    worker = await workerProcess(settings);
    await untilSent(id);
    await expectEveryoneOnce(id);
    await clearSandbox();
  });

  test('a campaign whose provider accepts and does not answer: nothing missing, nothing twice', async () => {
    const id = await createCampaign('News for {{first name}}', newsletter);
    const fault = await fetch(`${sandbox.url}/api/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'drop-answer', times: 5, path: '/email/batch' }),
    });
    expect(fault.ok).toBe(true);
    expect((await api.call(project.secretKey, 'POST', `/campaigns/${id}/send`)).status).toBe(200);
    await untilSent(id);
    await expectEveryoneOnce(id);
    await clearSandbox();
  });

  test('mail and a campaign that are asked for while Temporal is away go out when it is back', async () => {
    await temporal.cut();
    const answers = await Promise.all(
      people.slice(0, 20).map((person) =>
        api.call(project.secretKey, 'POST', '/v1/send', {
          to: person.email,
          from: project.sender,
          subject: 'Away',
          body: '<p>Hello</p>',
        }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    const id = await createCampaign('News for {{first name}}', newsletter);
    expect((await api.call(project.secretKey, 'POST', `/campaigns/${id}/send`)).body.data.status).toBe('SENDING');
    expect((await api.call(null, 'GET', '/ready')).status).toBe(503);
    expect(await messages()).toEqual([]);
    await temporal.mend();
    await untilSent(id);
    await expect.poll(async () => (await messages()).filter((message) => message.subject === 'Away').length).toBe(20);
    const received = await messages();
    expect(received).toHaveLength(people.length + 20);
    expect(new Set(received.map((message) => `${message.subject}/${message.to[0]?.email}`)).size).toBe(received.length);
  });
});
