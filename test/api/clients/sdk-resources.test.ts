import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { Fernpost } from '@fernpost/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let project: TestProject;
let fernpost: Fernpost;
const warnings: string[] = [];

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
  });
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', POSTMARK_API_URL: sandbox.url });
  project = await aProject(database);
  const options = { baseUrl: api.url, key: project.secretKey };
  fernpost = new Fernpost({ ...options, onWarning: (warning) => warnings.push(warning) });
});
afterAll(async () => {
  await api.close();
  await sandbox.close();
  await database.close();
});

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

test('the life of a segment', async () => {
  await fernpost.contacts.upsert({ email: 'ada@segments.example', subscribed: true });
  const { id } = await fernpost.segments.create({ name: 'Testers', type: 'STATIC' });
  await fernpost.segments.addMembers(id, { emails: ['ada@segments.example'] });
  expect((await fernpost.segments.listContacts(id)).data.map(({ email }) => email)).toEqual(['ada@segments.example']);
  await fernpost.segments.removeMembers(id, { emails: ['ada@segments.example'] });
  expect(await fernpost.segments.listContacts(id).all()).toEqual([]);
  const { etag } = await fernpost.segments.get(id).withResponse();
  const ifMatch = etag ?? '';
  expect((await fernpost.segments.update(id, { name: 'Beta' }, { ifMatch })).name).toBe('Beta');
  await expect(fernpost.segments.update(id, { name: 'Late' }, { ifMatch })).rejects.toMatchObject({
    status: 412,
    code: 'PRECONDITION_FAILED',
  });
  expect((await fernpost.segments.list()).data.map(({ name }) => name)).toEqual(['Beta']);
  await fernpost.segments.delete(id);
  expect((await fernpost.segments.list()).data).toEqual([]);
});

test('events are recorded, listed by name and of a contact, and deleted', async () => {
  const email = 'ada@events.example';
  await fernpost.events.record({ email, event: 'purchase', data: { total: 42 } });
  expect((await fernpost.events.listNames()).data).toContain('purchase');
  const [event] = (await fernpost.events.list({ eventName: 'purchase' })).data;
  expect(event).toMatchObject({ name: 'purchase', contact: { email } });
  const [contact] = await fernpost.contacts.list({ search: email }).all();
  expect(await fernpost.contacts.listEvents(contact?.id ?? '').all()).toMatchObject([{ name: 'purchase' }]);
  await fernpost.events.delete('purchase');
  expect((await fernpost.events.list({ eventName: 'purchase' })).data).toEqual([]);
});

test('the life of a suppression rule', async () => {
  const rule = { name: 'Blocked', kind: 'DOMAIN' as const, pattern: 'blocked.example' };
  const { id } = await fernpost.suppressions.create(rule);
  await fernpost.suppressions.update(id, { ...rule, enabled: false });
  expect(await fernpost.suppressions.list().all()).toMatchObject([{ id, enabled: false }]);
  await fernpost.suppressions.delete(id);
  expect((await fernpost.suppressions.list()).data).toEqual([]);
  expect((await fernpost.suppressions.listEmails()).data).toEqual([]);
});

test('a bare refusal has a code too', async () => {
  const bare = await api.call(project.secretKey, 'POST', '/contacts', { email: '' });
  expect([bare.status, bare.body]).toEqual([400, { error: 'Email is required' }]);
  await expect(fernpost.contacts.upsert({ email: '' })).rejects.toMatchObject({
    status: 400,
    code: 'BAD_REQUEST',
    message: 'Email is required',
    requestId: expect.any(String),
  });
});

test('domains and keys of the project that the key belongs to', async () => {
  const domain = await fernpost.domains.create('news.acme.test');
  expect((await fernpost.domains.list()).data.map(({ domain }) => domain)).toContain('news.acme.test');
  await fernpost.domains.delete(domain.id);
  expect((await fernpost.domains.list().all()).map(({ id }) => id)).not.toContain(domain.id);
  expect((await fernpost.keys.list()).data).toEqual([]);
});

test('the control group', async () => {
  const { id } = await fernpost.contacts.upsert({ email: 'held.out@example.com' });
  expect(await fernpost.holdout.set({ percent: 100 })).toEqual({ percent: 100, until: null, active: true });
  expect(await fernpost.contacts.getHoldout(id)).toEqual({ heldOut: true, until: null });
  await fernpost.holdout.end();
  expect(await fernpost.holdout.get()).toEqual({ percent: 0, until: null, active: false });
});

test('the life of a webhook endpoint', async () => {
  const { id, secret } = await fernpost.webhookEndpoints.create({
    url: 'http://127.0.0.1:9/hook',
    events: ['email.*'],
  });
  expect((await fernpost.webhookEndpoints.update(id, { events: ['contact.*'] })).events).toEqual(['contact.*']);
  const rotated = await fernpost.webhookEndpoints.rotateSecret(id, { overlapHours: 1 });
  expect([rotated.secret === secret, rotated.secret]).toEqual([false, expect.stringMatching(/^whsec_/)]);
  expect((await fernpost.webhookEndpoints.get(id)).url).toBe('http://127.0.0.1:9/hook');
  expect((await fernpost.webhookEndpoints.listDeliveries(id)).data).toEqual([]);
  await fernpost.webhookEndpoints.delete(id);
  await expect(fernpost.webhookEndpoints.get(id)).rejects.toMatchObject({ status: 404 });
});

test('the life of a campaign', async () => {
  const content = { subject: 'News', body: '<p>News</p>', from: project.sender };
  const { id } = await fernpost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' });
  expect((await fernpost.campaigns.update(id, { subject: 'More news' })).subject).toBe('More news');
  const copy = await fernpost.campaigns.duplicate(id);
  await fernpost.campaigns.delete(copy.id);
  expect((await fernpost.campaigns.schedule(id, inAnHour())).status).toBe('SCHEDULED');
  expect((await fernpost.campaigns.cancel(id)).status).toBe('DRAFT');
  expect(await fernpost.campaigns.stats(id)).toMatchObject({ sentCount: 0 });
  expect((await fernpost.campaigns.listRecipients(id)).data).toEqual([]);
  await expect(fernpost.campaigns.pause(id)).rejects.toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  expect((await fernpost.campaigns.archive(id)).archived).toBe(true);
  expect((await fernpost.campaigns.unarchive(id)).archived).toBe(false);
});

test('the life of a workflow', async () => {
  const { id } = await fernpost.workflows.create({ name: 'Onboarding', eventName: 'signed_up' });
  expect((await fernpost.workflows.update(id, { name: 'Welcome' })).name).toBe('Welcome');
  expect((await fernpost.workflows.list().all()).map(({ name }) => name)).toContain('Welcome');
  const { steps } = await fernpost.workflows.get(id);
  const trigger = steps[0];
  const graph = {
    steps: [
      {
        id: trigger?.id ?? '',
        type: 'TRIGGER',
        name: 'Start',
        position: { x: 0, y: 0 },
        config: trigger?.config ?? {},
      },
      { id: 'out', type: 'EXIT', name: 'Out', position: { x: 0, y: 99 }, config: {} },
    ],
    transitions: [{ fromStepId: trigger?.id ?? '', toStepId: 'out' }],
  };
  await fernpost.workflows.replaceGraph(id, graph as Parameters<typeof fernpost.workflows.replaceGraph>[1]);
  expect((await fernpost.workflows.enable(id)).enabled).toBe(true);
  const contact = await fernpost.contacts.upsert({ email: 'ada@workflows.example' });
  const { id: executionId } = await fernpost.workflows.start(id, { contactId: contact.id });
  expect((await fernpost.workflows.getExecution(id, executionId)).contact).toMatchObject({ id: contact.id });
  expect((await fernpost.workflows.listExecutions(id)).data.map((one) => one.id)).toEqual([executionId]);
  await fernpost.workflows.cancelExecutions(id);
  expect(await fernpost.workflows.countContacts(id)).toBeDefined();
  expect((await fernpost.workflows.disable(id)).enabled).toBe(false);
  await fernpost.workflows.delete(id);
  await expect(fernpost.workflows.get(id)).rejects.toMatchObject({ status: 404, code: 'WORKFLOW_NOT_FOUND' });
});

test('warns of mail to nobody', async () => {
  warnings.length = 0;
  expect(await fernpost.send({ to: [], subject: 'Hi', body: 'Hi', from: project.sender })).toEqual([]);
  expect(warnings).toEqual(['sendEmail has no recipients: "to" is an empty list, and nothing was sent.']);
});
