import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contactKeys, sessionCookie } from '@fernpost/earlier-name';
import { verifyWebhook } from '@fernpost/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { earlierRelease } from '../support/earlier-release.ts';
import { aPlace, type Place, startIn } from '../support/npm-start.ts';
import { startReceiver } from '../support/receiver.ts';

// A running stack of the release with the earlier name is upgraded, goes back, and is upgraded again, always in the middle of a campaign.
// UPGRADE_FROM names the folder of that release; FULL_TESTS=1 takes it from the history of the repository.
const recipients = 1_500;
const perSecond = 40;
const settings = {
  SEND_RATE_PER_PROJECT: String(perSecond),
  SEND_CHUNK: '20',
  PROVIDER_LOOKUP_LAG_SECONDS: '3',
  PROVIDER_TIMEOUT_SECONDS: '10',
};
const address = (n: number) => `person-${n}@harbourmail.test`;

interface Message {
  id: string;
  to: { email: string }[];
  subject: string;
  text: string;
}

/** A client of the stack in a place, whichever release runs there. */
function clientOf(place: Place) {
  const { secretKey, sender, projectId, login } = JSON.parse(
    readFileSync(join(place.dataDir, 'first-project.json'), 'utf8'),
  ) as Record<string, string> & { login: { email: string; password: string } };
  const request = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${place.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers of two releases.
    return { status: answer.status, headers: answer.headers, body: (text === '' ? null : JSON.parse(text)) as any };
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, path, body);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const messages = async () => {
    const all: Message[] = [];
    for (;;) {
      const last = all.at(-1);
      const url = `${place.sandboxUrl}/api/messages?limit=1000&bodies=1${last ? `&before=${last.id}` : ''}`;
      const page = ((await (await fetch(url)).json()) as { messages: Message[] }).messages;
      all.push(...page);
      if (page.length < 1000) return all;
    }
  };
  const sentOf = async (subject: string) =>
    (await messages()).filter((message) => message.subject === subject).map(({ to }) => to[0]?.email ?? '');
  return { request, call, messages, sentOf, sender: sender ?? '', projectId, login };
}
type Client = ReturnType<typeof clientOf>;

const until = (ask: () => Promise<boolean>) => expect.poll(ask, { timeout: 600_000, interval: 250 }).toBe(true);

async function importPeople({ call }: Client): Promise<void> {
  const form = new FormData();
  const rows = Array.from({ length: recipients }, (_, n) => address(n));
  form.append('file', new Blob([`email\n${rows.join('\n')}\n`], { type: 'text/csv' }), 'people.csv');
  const { jobId } = await call('POST', '/contacts/import', form);
  await until(async () => (await call('GET', `/contacts/import/${jobId}`)).state === 'completed');
}

/** Begins a campaign to everybody and waits until some of it has left. */
async function halfSent({ call, sentOf, sender }: Client, subject: string, body: string): Promise<string> {
  const fields = { name: subject, subject, body, from: sender, audienceType: 'ALL', type: 'MARKETING' };
  const { data } = await call('POST', '/campaigns', fields);
  await call('POST', `/campaigns/${data.id}/send`, {});
  await until(async () => (await sentOf(subject)).length > recipients / 10);
  expect((await sentOf(subject)).length).toBeLessThan(recipients);
  return data.id;
}

/** A workflow with a delay, a mail, a wait for an event and another mail. */
async function aWorkflow({ call, sender }: Client, hook: string): Promise<void> {
  const template = (name: string) =>
    call('POST', '/templates', { name, subject: name, body: '<p>Hi</p>', from: sender, type: 'TRANSACTIONAL' });
  const { id } = await call('POST', '/workflows', { name: 'Onboarding', eventName: 'signup' });
  let [{ id: last }] = (await call('GET', `/workflows/${id}`)).steps;
  const next = async (type: string, config: object, waitOutcome: string | null = null) => {
    const fields = { type, name: type, position: { x: 0, y: 0 }, config, autoConnect: false };
    const step = await call('POST', `/workflows/${id}/steps`, fields);
    await call('POST', `/workflows/${id}/transitions`, { fromStepId: last, toStepId: step.id, waitOutcome });
    last = step.id;
  };
  await next('DELAY', { amount: 0.5, unit: 'minutes' });
  await next('SEND_EMAIL', { templateId: (await template('After the delay')).id });
  await next('WAIT_FOR_EVENT', { eventName: 'paid', timeout: 3600 });
  await next('SEND_EMAIL', { templateId: (await template('After the event')).id }, 'EVENT');
  await next('WEBHOOK', { url: hook });
  await call('PATCH', `/workflows/${id}`, { enabled: true });
}

/** What holds in each release: keys, sessions and certificates of the first one, and the history of contacts in the trash. */
async function expectKept(client: Client, cookie: string, erasure: { id: string }): Promise<void> {
  const { request, call, projectId } = client;
  const signedIn = await request('GET', `/projects/${projectId}`, undefined, { authorization: '', cookie });
  expect(signedIn).toMatchObject({ status: 200 });
  expect(await call('GET', `/erasures/${erasure.id}`)).toEqual(erasure);
  expect(await call('GET', `/erasures/${erasure.id}/verify`)).toMatchObject({ valid: true, keyOfProject: true });
  const contact = await call('POST', '/contacts', { email: 'trash@harbourmail.test', subscribed: false, data: {} });
  await call('PATCH', `/contacts/${contact.id}`, { data: { seen: String(Math.random()) } });
  const history = async () => (await call('GET', `/contacts/${contact.id}/history?limit=100`)).data.length;
  const before = await history();
  await call('DELETE', `/contacts/${contact.id}?restorable=true`);
  await call('POST', `/contacts/${contact.id}/restore`);
  expect(await history()).toBeGreaterThan(before);
}

async function goBack(place: Place): Promise<void> {
  const program = fileURLToPath(new URL('../../src/main/migrate.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--for-earlier-release'], { env: place.env, stdio: 'inherit' });
  expect(await once(child, 'close')).toEqual([0, null]);
  // The Temporal CLI of the earlier release cannot read what a newer one has written: it begins anew, from the rows.
  for (const file of readdirSync(place.dataDir).filter((name) => name.startsWith('temporal.db')))
    renameSync(join(place.dataDir, file), join(place.dataDir, `later-${file}`));
}

test('a stack of the release with the earlier name is upgraded, goes back and is upgraded again, in the middle of campaigns', async (context) => {
  const root = await earlierRelease();
  if (root === null)
    return context.skip(
      'the release with the earlier name is not here: set UPGRADE_FROM to its folder, or FULL_TESTS=1',
    );
  using place = await aPlace();
  await using receiver = await startReceiver();
  const hook = `http://127.0.0.1:${receiver.port}/hook`;
  const startEarlier = async () => {
    const run = startIn(place, { ...settings, READY_ON_NEWER_SCHEMA: 'true' }, { root });
    onTestFinished(() => run[Symbol.asyncDispose]());
    await run.untilReady();
    return run;
  };
  const startCurrent = async (more: Record<string, string> = {}) => {
    const run = startIn(place, { ...settings, ...more });
    onTestFinished(() => run[Symbol.asyncDispose]());
    await run.untilReady();
    return run;
  };
  const stop = async (run: Awaited<ReturnType<typeof startEarlier>>, signal: NodeJS.Signals) => {
    run.signalGroup(signal);
    await run.ended;
  };
  const enrolled: string[] = [];
  const enroll = async ({ call }: Client, ...emails: string[]) => {
    for (const email of emails) await call('POST', '/events/track', { event: 'signup', email });
    enrolled.push(...emails);
  };

  // The earlier release: everything that is to outlive it.
  const first = await startEarlier();
  const client = clientOf(place);
  const { call, request, sentOf, sender } = client;
  await importPeople(client);
  const signIn = await request('POST', '/auth/login', client.login);
  const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(cookie).toMatch(new RegExp(`^${sessionCookie}=`));
  const endpoint = await call('POST', '/webhook-endpoints', { url: hook, events: ['email.sent'] });
  const gone = await call('POST', '/contacts', { email: 'erased@harbourmail.test', subscribed: true, data: {} });
  const asked = await call('POST', `/contacts/${gone.id}/erase`, { reference: 'before the upgrade' });
  await until(async () => (await call('GET', `/erasures/${asked.id}`)).status === 'DONE');
  const erasure = await call('GET', `/erasures/${asked.id}`);
  await aWorkflow(client, hook);
  await enroll(client, address(1), address(2));
  await until(async () => (await sentOf('After the delay')).length === 2);
  await enroll(client, address(3), address(4));
  const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  for (const [n, seconds] of [40, 80, 120].entries()) {
    const mail = { to: address(n), from: sender, subject: `Scheduled ${n}`, body: '<p>Hi</p>' };
    await call('POST', '/v1/send', { ...mail, scheduledFor: later(seconds) });
  }
  const greeting = `<p>To {{ ${contactKeys.email} }}</p>`;
  const campaigns = [await halfSent(client, 'Begun before', greeting)];
  await expectKept(client, cookie, erasure);

  // Killed with messages on the wire; the new release settles them by their metadata.
  const figures: Record<string, number> = { 'sent before the upgrade': (await sentOf('Begun before')).length };
  await stop(first, 'SIGKILL');
  const second = await startCurrent();
  await expectKept(client, cookie, erasure);
  await enroll(client, address(5), address(6));
  campaigns.push(await halfSent(client, 'Begun after', greeting));
  figures['of the second when it goes back'] = (await sentOf('Begun after')).length;
  await stop(second, 'SIGINT');

  await goBack(place);
  const third = await startEarlier();
  await expectKept(client, cookie, erasure);
  await enroll(client, address(7), address(8));
  campaigns.push(await halfSent(client, 'Begun after going back', greeting));
  figures['of the third when it is upgraded again'] = (await sentOf('Begun after going back')).length;
  await stop(third, 'SIGINT');

  const last = await startCurrent({ SEND_RATE_PER_PROJECT: '1000' });
  await expectKept(client, cookie, erasure);
  for (const id of campaigns) await until(async () => (await call('GET', `/campaigns/${id}`)).data.status === 'SENT');
  await until(async () => (await sentOf('After the delay')).length === enrolled.length);
  for (const email of enrolled) await call('POST', '/events/track', { event: 'paid', email });
  await until(async () => (await sentOf('After the event')).length === enrolled.length);
  await until(async () => (await client.messages()).filter(({ subject }) => /^Scheduled/.test(subject)).length === 3);

  // The balance: everybody once.
  const everybody = [...Array.from({ length: recipients }, (_, n) => address(n))].sort();
  for (const subject of ['Begun before', 'Begun after', 'Begun after going back'])
    expect((await sentOf(subject)).sort(), subject).toEqual(everybody);
  expect((await sentOf('After the delay')).sort()).toEqual(enrolled.toSorted());
  expect((await sentOf('After the event')).sort()).toEqual(enrolled.toSorted());
  for (const n of [0, 1, 2]) expect(await sentOf(`Scheduled ${n}`)).toEqual([address(n)]);
  for (const { to, subject, text } of await client.messages())
    if (subject.startsWith('Begun')) expect(text).toContain(`To ${to[0]?.email}`);
  for (const id of campaigns) {
    const { data } = await call('GET', `/campaigns/${id}/stats`);
    expect(data).toMatchObject({ totalRecipients: recipients, sentCount: recipients });
  }
  // Webhooks are signed with the secret that the earlier release has sealed.
  await until(async () => receiver.requests.some(({ body }) => body.includes('After the event')));
  const signed = receiver.requests.filter(({ headers }) => headers['webhook-signature'] !== undefined);
  expect(signed.length).toBeGreaterThan(recipients);
  for (const { body, headers } of signed.slice(-5))
    expect(verifyWebhook(body, headers as Record<string, string>, endpoint.secret)).toBeDefined();
  figures.messages = (await client.messages()).length;
  console.log(figures);
  await stop(last, 'SIGINT');
});
