import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'vitest';
import { pause } from '../../src/lib/time.ts';
import type { TestApi, TestProject } from './api.ts';
import { automationHand } from './automations.ts';
import type { TestDatabase } from './database.ts';
import { aPerson, joins } from './people.ts';
import type { Receiver } from './receiver.ts';

/** The address of the person of whom everything is planted, and the one before. */
export const email = 'ottilie.zyx0ghost@needle-haystack.org';
const formerEmail = 'ottilie.qv7maiden@needle-haystack.org';
const everybody = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'equals', value: email }] }] };

/** A running service with a project, and what it talks to. */
export interface PlantedWorld {
  api: TestApi;
  project: TestProject;
  database: Pick<TestDatabase, 'db'>;
  receiver: Receiver;
  /** A request with a key of the project that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test names what it expects of an answer.
  done(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  /** Rows of a table, with a condition. */
  count(from: string): Promise<number>;
  /** How many messages the sandbox has for an address. */
  sandboxCount(to: string): Promise<number>;
  /** Makes the text of a place. */
  needle(place: string): string;
}

/** What is asked again until it is so. @throws after ten minutes */
export async function eventually<T>(what: string, check: () => Promise<T | null | false | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 3_000; attempt++) {
    const found = await check();
    if (found) return found;
    await pause(200);
  }
  throw new Error(`${what}: not seen within ten minutes`);
}

/** Puts what is known of one person wherever a program can put it, by every way in. Returns the ID of the contact. */
export async function plantEverywhere(world: PlantedWorld): Promise<string> {
  const id = await plantContact(world);
  await plantInAutomation(world);
  await plantInMail(world);
  await plantInSettings(world);
  await plantInPlans(world);
  await plantInCampaign(world);
  await eventually('mail at the sandbox', async () => world.sandboxCount(email).then((n) => n >= 3));
  await eventually('the webhook step', async () => world.receiver.requests.some(({ url }) => url === '/step'));
  await eventually('webhooks', async () => (await world.count(`webhook_attempts where answer like '%${email}%'`)) > 3);
  await eventually(
    'the waiting execution',
    async () => (await world.count(`automation_runs where status = 'WAITING'`)) > 0,
  );
  return id;
}

/** A contact with data, changes of it, an import and lists. */
async function plantContact(world: PlantedWorld): Promise<string> {
  const { id } = await world.done('POST', '/contacts', {
    email: formerEmail,
    data: {
      firstName: world.needle('first'),
      lastName: world.needle('last'),
      address: { street: world.needle('street') },
      tags: [world.needle('tag')],
      children: [{ name: world.needle('child') }],
      [world.needle('key-of-data')]: true,
    },
  });
  await world.done('PATCH', `/contacts/${id}`, {
    email,
    data: { firstName: world.needle('renamed'), phone: world.needle('phone') },
  });
  await world.done('PATCH', `/contacts/${id}`, { subscribed: false, reason: world.needle('left-because') });
  await world.done('PATCH', `/contacts/${id}`, { subscribed: true, reason: world.needle('back-because') });
  await importCsv(
    world,
    `email,company,${world.needle('csv-header')}\n${email},${world.needle('csv')},x\nnot ${email},x,x\n`,
  );
  await world.done('POST', '/segments', { name: 'One', type: 'DYNAMIC', condition: everybody, trackMembership: true });
  const list = await world.done('POST', '/segments', { name: 'List', type: 'STATIC' });
  await world.done('POST', `/segments/${list.id}/members`, { emails: [email] });
  return id;
}

/** An automation that waits with it, and events that are told to an endpoint. */
async function plantInAutomation(world: PlantedWorld): Promise<void> {
  const hand = automationHand(world.api, world.project);
  const flow = await hand.automation({ eventName: 'needle.flow' });
  const template = await hand.template();
  await hand.step(flow.id, 'SEND_EMAIL', {}, { templateId: template });
  await hand.step(flow.id, 'WEBHOOK', {
    url: `http://127.0.0.1:${world.receiver.port}/step`,
    method: 'POST',
    body: { who: '{{email}}' },
  });
  await hand.step(flow.id, 'WAIT_FOR_EVENT', { eventName: 'never', timeout: 86_400 });
  await hand.enable(flow.id);
  await world.done('POST', '/webhook-endpoints', {
    url: `http://127.0.0.1:${world.receiver.port}/out`,
    events: ['*'],
    description: 'All',
  });
  for (const name of ['needle.flow', 'needle.other'])
    await world.done('POST', '/v1/track', {
      email,
      event: name,
      data: { note: world.needle(`event-${name}`), plan: { persistent: true, value: world.needle(`kept-${name}`) } },
    });
}

/** Mail to it, and to somebody else about it. */
async function plantInMail(world: PlantedWorld): Promise<void> {
  const mail = {
    from: world.project.sender,
    subject: `For ${world.needle('subject')}`,
    body: `<p>${world.needle('body')} {{ secret }}</p>`,
    data: { secret: world.needle('variable') },
    headers: { 'X-Reference': world.needle('header') },
    tags: { who: world.needle('mail-tag') },
  };
  const replay = (key: string) => ({ 'Idempotency-Key': key, 'Idempotency-Mode': 'replay' });
  await world.done(
    'POST',
    '/v1/send',
    { ...mail, to: { email, name: world.needle('to-name') } },
    replay(`receipt-${email}`),
  );
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  await world.done('POST', '/v1/send', {
    from: world.project.sender,
    to: email,
    scheduledFor: tomorrow,
    subject: world.needle('scheduled-subject'),
    body: '<p>Hello</p>',
    attachments: [
      {
        filename: `${world.needle('attachment')}.txt`,
        content: Buffer.from(world.needle('attached')).toString('base64'),
        contentType: 'text/plain',
      },
    ],
  });
  await world.done('POST', '/v1/emails/batch', {
    emails: [
      { from: world.project.sender, to: email, subject: 'One of many', body: `<p>${world.needle('batch')}</p>` },
    ],
  });
  await world.done('POST', '/v1/send', {
    from: world.project.sender,
    to: 'shop@needle-owner.org',
    reply: email,
    subject: `New customer ${email}`,
    body: `<p>${email}</p>`,
  });
}

/** Rules, views, jobs and keys that name it. */
async function plantInSettings(world: PlantedWorld): Promise<void> {
  await world.done('POST', '/events/track', { name: 'customer.added', data: { invited: email } });
  await world.done('POST', '/suppressions', {
    name: `Rule for ${email}`,
    kind: 'ADDRESS',
    pattern: email,
    enabled: false,
  });
  await world.done('POST', '/contacts/views', { name: 'Mine', filter: { search: email } });
  const { jobId: bulk } = await world.done('POST', '/contacts/bulk-subscribe', {
    mode: 'query',
    filter: { search: email },
  });
  await eventually(
    'the bulk job',
    async () => (await world.done('GET', `/contacts/bulk/${bulk}`)).state === 'completed',
  );
  const admin = await aPerson(world.database.db, world.api.config, { name: 'ines.varga' });
  await joins(world.database.db, world.project.id, admin, 'ADMIN');
  const key = { name: 'Mailer', scopes: ['emails:send'], recipients: { addresses: [email] } };
  const made = await world.api.call(
    null,
    'POST',
    `/users/@me/projects/${world.project.id}/api-keys`,
    key,
    admin.session,
  );
  expect(made.status).toBe(201);
}

/** A plan of a language model that was carried out, and one that was not. */
async function plantInPlans(world: PlantedWorld): Promise<void> {
  const admin = await aPerson(world.database.db, world.api.config, { name: 'mira.lund' });
  await joins(world.database.db, world.project.id, admin, 'ADMIN');
  const made = await world.api.call(
    null,
    'POST',
    `/users/@me/projects/${world.project.id}/api-keys`,
    { name: 'Model', scopes: ['emails:send'], mcp: { mode: 'act' } },
    admin.session,
  );
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { Authorization: `Bearer ${made.body.key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', world.api.url), { requestInit: { headers } }));
  const plan = async (place: string) => {
    const { structuredContent } = await client.callTool({
      name: 'plan_send_email',
      arguments: { to: [email], from: world.project.sender, subject: world.needle(place), body: '<p>Hello</p>' },
    });
    return (structuredContent as { planId: string }).planId;
  };
  await plan('planned-subject');
  const planId = await plan('planned-and-sent-subject');
  const committed = await client.callTool({ name: 'commit', arguments: { planId } });
  expect(committed.isError, JSON.stringify(committed.structuredContent)).toBeFalsy();
  await client.close();
}

/** A campaign that is reviewed and sent, and what the provider reports of it. */
async function plantInCampaign(world: PlantedWorld): Promise<void> {
  const { data: campaign } = await world.done('POST', '/campaigns', {
    name: 'Spring',
    subject: 'Hello {{ firstName }}',
    body: '<p>Hello {{ lastName }}</p>',
    from: world.project.sender,
    type: 'MARKETING',
    audienceType: 'FILTERED',
    audienceCondition: everybody,
  });
  const reviewing = `/campaigns/${campaign.id}/dry-run`;
  const { data: review } = await world.done('POST', reviewing, {});
  await eventually(
    'the review',
    async () => (await world.done('GET', `${reviewing}s/${review.n}`)).data.state === 'DONE',
  );
  await world.done('POST', `/campaigns/${campaign.id}/send`, {});
  await eventually(
    'the campaign',
    async () => (await world.done('GET', `/campaigns/${campaign.id}`)).data.status === 'SENT',
  );
  const mails = await world.done('GET', `/v1/emails?to=${email}`);
  const { messageId } = await world.done(
    'GET',
    `/v1/emails/${mails.data.find((mail: { campaignId: string }) => mail.campaignId === campaign.id).id}`,
  );
  await reported(world, {
    RecordType: 'Click',
    MessageID: messageId,
    Recipient: email,
    OriginalLink: `https://shop.example/hi?name=${world.needle('link')}&mail=${encodeURIComponent(email)}`,
    ReceivedAt: new Date().toISOString(),
  });
  await reported(world, {
    RecordType: 'Bounce',
    ID: 4_242,
    Type: 'HardBounce',
    MessageID: messageId,
    Email: email,
    Description: world.needle('bounce'),
    Details: `smtp;450 ${world.needle('bounce-details')} <${email}>`,
    BouncedAt: new Date().toISOString(),
    Inactive: true,
  });
  await reported(world, {
    MessageStream: 'inbound',
    From: email,
    FromName: 'x',
    FromFull: { Email: email, Name: 'x', MailboxHash: '' },
    To: `help@${world.project.domain}`,
    ToFull: [{ Email: `help@${world.project.domain}`, Name: '', MailboxHash: '' }],
    OriginalRecipient: `help@${world.project.domain}`,
    Subject: world.needle('inbound-subject'),
    MessageID: '73e6d360-66eb-11e1-8e72-a8904824019b',
    Date: new Date().toUTCString(),
    TextBody: world.needle('inbound-body'),
    HtmlBody: '',
    Headers: [],
    Attachments: [],
  });
}

async function importCsv(world: PlantedWorld, text: string): Promise<{ failureCount: number; errors: unknown[] }> {
  const form = new FormData();
  form.append('file', new Blob([text], { type: 'text/csv' }), 'list.csv');
  const answer = await fetch(`${world.api.url}/contacts/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${world.project.secretKey}` },
    body: form,
  });
  const { jobId } = (await answer.json()) as { jobId: string };
  return eventually('the import', async () => {
    const { state, result } = await world.done('GET', `/contacts/import/${jobId}`);
    return state === 'completed' && result;
  });
}

/** Posts a webhook of the provider. */
async function reported(world: PlantedWorld, body: object): Promise<void> {
  const { POSTMARK_WEBHOOK_USER: user, POSTMARK_WEBHOOK_PASSWORD: password } = world.api.config;
  const answer = await fetch(`${world.api.url}/webhooks/postmark`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    },
    body: JSON.stringify(body),
  });
  expect(await answer.json()).toMatchObject({ success: true });
}
