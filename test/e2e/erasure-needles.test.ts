import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type DumpableDatabase, dumpableDatabase } from '../support/dumpable-database.ts';
import { type Haystack, someNeedles } from '../support/needles.ts';
import { email, eventually, plantEverywhere } from '../support/planted.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type TemporalStore, temporalStore } from '../support/temporal-store.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// What is known of one person, in every place where a program can put it. None of it may be found anywhere afterwards.
const needles = someNeedles();
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
  'mcp_plans.input',
  'mcp_plans.result',
  'mcp_plans.samples',
  'mcp_plans.sentence',
  'segments.condition',
  'suppression_rules.name',
  'suppression_rules.pattern',
  'webhook_attempts.answer',
];

const folder = mkdtempSync(join(tmpdir(), 'fernpost-needles-'));
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

const count = async (query: string) =>
  (await database.db.row<{ n: number }>(`select count(*)::int as n from ${query}`))?.n ?? 0;

async function holdsAddress(place: string): Promise<boolean> {
  const [table, column] = place.split('.');
  return (await count(`"${table}" where "${column}"::text ~* 'ottilie\\.'`)) > 0;
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
  const id = await plantEverywhere({
    api,
    project,
    database,
    receiver,
    done,
    count,
    sandboxCount,
    needle: needles.make,
  });
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
