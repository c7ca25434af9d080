import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { audience, type Person } from '../support/audience.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// The whole service, used through its API alone: workers as processes that are killed, and a real receiver of webhooks.
let database: TestDatabase;
let sandbox: Sandbox;
let receiver: Receiver;
let api: TestApi;
let project: TestProject;
let worker: WorkerProcess;
let settings: Record<string, string>;
// One of so many of the audience: enough for every branch here, and a crowd where FULL_TESTS=1 asks for one.
const oneIn = Number(process.env.TEST_ONE_IN ?? 32);
const people = audience().filter((_, n) => n % oneIn === 0);

beforeAll(async () => {
  database = await testDatabase();
  receiver = await startReceiver();
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
  api = await testApi(database, {
    POSTMARK_API_URL: sandbox.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    PROVIDER_LOOKUP_LAG_SECONDS: '5',
    PROVIDER_TIMEOUT_SECONDS: '5',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  });
  settings = Object.fromEntries(
    [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TASK_QUEUE',
      'POSTMARK_API_URL',
      'PROVIDER_LOOKUP_LAG_SECONDS',
      'PROVIDER_TIMEOUT_SECONDS',
      'WEBHOOK_ALLOWED_HOSTS',
    ].map((name) => [name, String(api.config[name as keyof typeof api.config])]),
  );
  project = await aProject(database);
  worker = await workerProcess(settings);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api.close();
  await sandbox.close();
  await receiver[Symbol.asyncDispose]();
  await database.close();
});

const post = async (path: string, body: unknown, status = 201) => {
  const answer = await api.call(project.secretKey, 'POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body;
};
const get = async (path: string) => (await api.call(project.secretKey, 'GET', path)).body;

/** Does something for everybody, some at a time. */
async function forAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

async function killAndRestart(): Promise<void> {
  await worker.kill();
  worker = await workerProcess(settings);
}

/** What the flow demands of a person: who orders much is told to the shop, who orders little leaves, others are lost. */
type Fate = 'converted' | 'small order' | 'lost';
const fates: Fate[] = ['converted', 'small order', 'lost'];
const fateOf = new Map<string, Fate>(people.map((person, n) => [person.email, fates[n % 3] ?? 'lost']));
const buyers = people.filter(({ email }) => fateOf.get(email) !== 'lost');

async function onboarding(): Promise<string> {
  const template = await post('/templates', {
    name: 'Welcome',
    subject: 'Welcome, {{first name ?? there}}',
    body: '<p>You signed up by {{event.channel}}.</p>',
    from: project.sender,
    // What is queued for those who leave before it is delivered goes out all the same.
    type: 'TRANSACTIONAL',
  });
  const { id } = await post('/workflows', { name: 'Onboarding', eventName: 'user.signup' });
  const [trigger] = (await get(`/workflows/${id}`)).steps;
  const step = async (type: string, name: string, config: object) =>
    (await post(`/workflows/${id}/steps`, { type, name, position: { x: 0, y: 0 }, config, autoConnect: false })).id;
  const mail = await step('SEND_EMAIL', 'Welcome', { templateId: template.id });
  const delay = await step('DELAY', 'Let it sink in', { amount: 0.02, unit: 'minutes' });
  // Who orders has an hour, so that no machine is too slow for it; who never does is not waited for that long.
  const ready = await step('CONDITION', 'Ready to buy?', { field: 'data.ready', operator: 'equals', value: true });
  const wait = await step('WAIT_FOR_EVENT', 'First order', { eventName: 'order.paid', timeout: 3600 });
  const brief = await step('WAIT_FOR_EVENT', 'A last chance', { eventName: 'order.paid', timeout: 10 });
  const check = await step('CONDITION', 'Large order?', { field: 'event.total', operator: 'greaterThan', value: 100 });
  const hook = await step('WEBHOOK', 'Tell the shop', {
    url: `http://127.0.0.1:${receiver.port}/orders?who={{ email | url_encode }}`,
    body: { who: '{{email}}', total: '{{event.total}}', channel: '{{event.channel}}' },
  });
  const customer = await step('UPDATE_CONTACT', 'Customer', { updates: { stage: 'customer' } });
  const converted = await step('EXIT', 'Converted', { reason: 'converted' });
  const small = await step('EXIT', 'Small', { reason: 'small order' });
  const farewell = await step('UPDATE_CONTACT', 'Lost', {
    updates: { stage: 'lost' },
    subscriptionAction: 'unsubscribe',
  });
  const lost = await step('EXIT', 'Gone', { reason: 'lost' });
  const ways: [string, string, object?][] = [
    [trigger.id, mail],
    [mail, delay],
    [delay, ready],
    [ready, wait, { branch: 'yes' }],
    [ready, brief, { branch: 'no' }],
    [wait, check, { waitOutcome: 'EVENT' }],
    [wait, farewell, { waitOutcome: 'TIMEOUT' }],
    [brief, check, { waitOutcome: 'EVENT' }],
    [brief, farewell, { waitOutcome: 'TIMEOUT' }],
    [check, hook, { branch: 'yes' }],
    [check, small, { branch: 'no' }],
    [hook, customer],
    [customer, converted],
    [farewell, lost],
  ];
  for (const [fromStepId, toStepId, more = {}] of ways)
    await post(`/workflows/${id}/transitions`, { fromStepId, toStepId, ...more });
  const enabled = await api.call(project.secretKey, 'PATCH', `/workflows/${id}`, { enabled: true });
  expect(enabled.status, JSON.stringify(enabled.body)).toBe(200);
  return id;
}

interface Execution {
  id: string;
  status: string;
  exitReason: string | null;
  contact: { id: string; email: string };
  currentStep: { name: string } | null;
}

async function executions(workflow: string, query = ''): Promise<Execution[]> {
  const all: Execution[] = [];
  for (let page = 1; ; page++) {
    const answer = await get(`/workflows/${workflow}/executions?pageSize=100&page=${page}${query}`);
    all.push(...answer.executions);
    if (page >= answer.totalPages) return all;
  }
}

const trackOrder = (person: Person) =>
  api.call(project.publicKey, 'POST', '/v1/track', {
    email: person.email,
    event: 'order.paid',
    data: { total: fateOf.get(person.email) === 'converted' ? 620 : 20 },
  });

describe('an onboarding of a crowd', () => {
  let workflow: string;

  test('everybody who signs up comes in once, through kill -9 of the worker', async () => {
    workflow = await onboarding();
    await forAll(people, ({ email, data }) =>
      post('/contacts', { email, data: { ...data, ready: fateOf.get(email) !== 'lost' } }),
    );
    let signedUp = 0;
    const signingUp = forAll(people, async (person) => {
      const body = { email: person.email, event: 'user.signup', data: { channel: 'web' } };
      expect((await api.call(project.publicKey, 'POST', '/v1/track', body)).status).toBe(200);
      // A second sign-up changes nothing: nobody comes in twice.
      if (signedUp++ % 5 === 0) await api.call(project.publicKey, 'POST', '/v1/track', body);
    });
    await expect.poll(async () => (await executions(workflow)).length).toBeGreaterThan(people.length / 8);
    await killAndRestart();
    await signingUp;
    // Whoever waits orders as soon as that can be seen; the worker dies once more meanwhile.
    const waiting = new Set<string>();
    const byEmail = new Map(people.map((person) => [person.email, person]));
    let killed = false;
    await expect
      .poll(
        async () => {
          const some = (await executions(workflow, '&status=WAITING')).filter(
            ({ currentStep, contact }) => currentStep?.name === 'First order' && !waiting.has(contact.email),
          );
          await forAll(some, async ({ contact }) => {
            waiting.add(contact.email);
            const person = byEmail.get(contact.email);
            if (person !== undefined) await trackOrder(person);
          });
          if (!killed && waiting.size > buyers.length / 2) {
            killed = true;
            await killAndRestart();
          }
          return waiting.size;
        },
        { timeout: 600_000, interval: 300 },
      )
      .toBe(buyers.length);
    await expect.poll(async () => (await executions(workflow)).length).toBe(people.length);
  });

  test('every execution ends in the branch that its data demands', async () => {
    await expect
      .poll(async () => (await get(`/workflows/${workflow}/executions?status=EXITED`)).total, {
        timeout: 600_000,
        interval: 500,
      })
      .toBe(people.length);
    const ended = new Map((await executions(workflow)).map(({ contact, exitReason }) => [contact.email, exitReason]));
    expect(ended).toEqual(fateOf);
  });

  test('everybody has the welcome mail once', async () => {
    const mails = async () => {
      const page = await (await fetch(`${sandbox.url}/api/messages?limit=1000`)).json();
      return (page as { messages: { to: { email: string }[]; subject: string }[] }).messages;
    };
    await expect.poll(async () => (await mails()).length).toBe(people.length);
    const received = await mails();
    expect(received.map((mail) => mail.to[0]?.email).sort()).toEqual(people.map(({ email }) => email).sort());
    for (const { email, firstName } of people)
      expect(received.find((mail) => mail.to[0]?.email === email)?.subject).toBe(`Welcome, ${firstName || 'there'}`);
  });

  test('the receiver can tell repeated deliveries by their id, and heard of every large order', () => {
    const byDelivery = new Map<string, Set<string>>();
    for (const { headers, url, body } of receiver.requests) {
      const id = String(headers['x-fernpost-delivery']);
      byDelivery.set(id, (byDelivery.get(id) ?? new Set()).add(`${url} ${body}`));
    }
    // What came under one id is one and the same request.
    for (const requests of byDelivery.values()) expect(requests.size).toBe(1);
    const heardOf = receiver.requests.map(({ body }) => JSON.parse(body) as { who: string; total: string });
    const large = people.map(({ email }) => email).filter((email) => fateOf.get(email) === 'converted');
    expect(byDelivery.size).toBe(large.length);
    expect(new Set(heardOf.map(({ who }) => who))).toEqual(new Set(large));
    expect(new Set(heardOf.map(({ total }) => total))).toEqual(new Set(['620']));
  });

  test('updates are counted once', async () => {
    const stages = { converted: 'customer', 'small order': undefined, lost: 'lost' } as const;
    const all = await executions(workflow);
    await forAll(all, async ({ contact }) => {
      const { data, subscribed } = await get(`/contacts/${contact.id}`);
      const fate = fateOf.get(contact.email) ?? 'lost';
      expect(data.stage).toBe(stages[fate]);
      expect(subscribed).toBe(fate !== 'lost');
    });
    const [stat] = (await get('/events/stats')).filter(({ name }: { name: string }) => name === 'contact.unsubscribed');
    expect(stat.count).toBe([...fateOf.values()].filter((fate) => fate === 'lost').length);
  });

  test('one execution tells its whole story', async () => {
    const execution = (await executions(workflow)).find(({ exitReason }) => exitReason === 'converted');
    const story = await get(`/workflows/${workflow}/executions/${execution?.id}`);
    expect(story.stepExecutions.map((one: { step: { name: string } }) => one.step.name)).toEqual([
      expect.stringContaining('Trigger'),
      'Welcome',
      'Let it sink in',
      'Ready to buy?',
      'First order',
      'Large order?',
      'Tell the shop',
      'Customer',
      'Converted',
    ]);
    for (const one of story.stepExecutions) {
      expect(one).toMatchObject({ status: 'COMPLETED', error: null });
      expect(Date.parse(one.completedAt)).toBeGreaterThanOrEqual(Date.parse(one.startedAt));
    }
    expect(story.stepExecutions[6].output).toMatchObject({ statusCode: 200, success: true, response: { ok: true } });
  });
});
