import { createPublicKey, verify } from 'node:crypto';
import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// An erasure whose worker is killed again and again by SIGKILL, each time at a lock that this test holds: so that the place is certain.
const address = 'ottilie@killed-needle.org';
const eventsOfContact = 1_300;
let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let worker: WorkerProcess;
let settings: Record<string, string>;

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
  settings = { MAIL_PROVIDER: 'sandbox', POSTMARK_API_URL: sandbox.url, PROVIDER_LOOKUP_LAG_SECONDS: '0' };
  api = await testApi(database, settings);
  const { TEMPORAL_TASK_QUEUE, JWT_SECRET } = api.config;
  const shared = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE,
    JWT_SECRET,
  };
  settings = { ...settings, ...shared };
  worker = await workerProcess(settings);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.close();
  await sandbox?.close();
  await database?.close();
});

const call = async (project: TestProject, method: string, path: string, body?: unknown, headers?: object) => {
  const answer = await api.call(project.secretKey, method, path, body, { ...headers });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Somebody with mail that has left and mail that waits, with events for several transactions, and named by a key and a rule. */
async function known(project: TestProject): Promise<string> {
  const { id } = await call(project, 'POST', '/contacts', { email: address, data: { firstName: 'Ottilie' } });
  await database.db.count(
    `insert into events (id, project_id, contact_id, name, data)
     select gen_random_uuid(), $1, $2, 'visit', jsonb_build_object('page', n) from generate_series(1, $3::int) as n`,
    [project.id, id, eventsOfContact],
  );
  const mail = { to: address, from: project.sender, subject: 'Hello Ottilie', body: '<p>Hello</p>' };
  const replay = { 'Idempotency-Key': `receipt-${address}`, 'Idempotency-Mode': 'replay' };
  await call(project, 'POST', '/v1/send', mail, replay);
  await expect.poll(async () => (await call(project, 'GET', `/v1/emails?to=${address}`)).data[0].status).toBe('SENT');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  await call(project, 'POST', '/v1/send', { ...mail, scheduledFor: tomorrow });
  await call(project, 'POST', '/suppressions', { name: 'Rule', kind: 'ADDRESS', pattern: address, enabled: false });
  return id;
}

const whenDone = async (project: TestProject, id: string) => {
  await expect
    .poll(async () => (await call(project, 'GET', `/erasures/${id}`)).status, { timeout: 600_000, interval: 250 })
    .toBe('DONE');
  return call(project, 'GET', `/erasures/${id}`);
};

/** Where a worker is to die. */
interface Moment {
  /** Takes the lock at which the worker waits; `$1` is the ID of the contact or of the erasure. */
  lock: string;
  id?: string;
  /** The statement that waits. */
  waiting: RegExp;
  /** How far the erasure is seen to be afterwards. */
  phase: string;
}

/** Starts a worker, lets it come to the lock, and kills it there. */
async function killedAt(erasureId: string, { lock, id, waiting, phase }: Moment): Promise<void> {
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(lock, id === undefined ? [] : [id]);
    worker = await workerProcess(settings);
    await expect
      .poll(async () => (await waitingStatements()).some((text) => waiting.test(text)), { timeout: 600_000 })
      .toBe(true);
    await worker.kill();
  } finally {
    await holder.end();
  }
  // What its connections were about to do ends with them.
  await expect.poll(connectionsOfWorkers).toBe(0);
  expect(await database.db.row('select phase from erasures where id = $1', [erasureId])).toEqual({ phase });
}

async function connectionsOfWorkers(): Promise<number> {
  const row = await database.db.row<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'fernpost-worker'`,
  );
  return row?.n ?? 0;
}

async function waitingStatements(): Promise<string[]> {
  const rows = await database.db.rows<{ query: string }>(
    `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.map(({ query }) => query);
}

/** Steps with the rows they took. History is left out: the fold that takes the deletion of a contact deletes it too, where it comes first. */
const stepsOf = (erasure: { steps: { what: string; rows: number }[] }) =>
  erasure.steps.filter(({ what }) => !what.startsWith('History')).map(({ what, rows }) => [what, rows] as const);

const countOf = async (from: string, id: string) =>
  (await database.db.row<{ n: number }>(`select count(*)::int as n from ${from}`, [id]))?.n;

test('an erasure whose worker is killed inside its steps and between them ends whole, and its certificate verifies', async () => {
  const [undisturbed, project] = [await aProject(database, 'Undisturbed'), await aProject(database, 'Killed')];
  const other = await call(undisturbed, 'POST', `/contacts/${await known(undisturbed)}/erase`, {});
  const expected = stepsOf(await whenDone(undisturbed, other.id));
  expect(Number(new Map(expected).get('Events: data emptied'))).toBeGreaterThanOrEqual(eventsOfContact);

  const contactId = await known(project);
  await worker.kill();
  const { id } = await call(project, 'POST', `/contacts/${contactId}/erase`, {});

  // Inside the first transaction, which has cancelled mail and comes to the contact: all of it is taken back.
  await killedAt(id, {
    lock: 'select from contacts where id = $1 for update',
    id: contactId,
    waiting: /delete from "?contacts/,
    phase: 'SETTLING',
  });
  expect(await countOf('contacts where id = $1', contactId)).toBe(1);
  expect(await countOf(`emails where contact_id = $1 and status = 'PENDING'`, contactId)).toBe(1);

  // Inside a step of several transactions.
  await killedAt(id, {
    lock: `select from events where id = (select max(id::text)::uuid from events where contact_id = $1 and name = 'visit') for update`,
    id: contactId,
    waiting: /update "?events/,
    phase: 'ROWS',
  });
  expect(await countOf('contacts where id = $1', contactId)).toBe(0);
  expect(await countOf('events where contact_id = $1 and data is not null', contactId)).toBeGreaterThan(0);

  // Between steps: what is before is committed, what comes next waits for the row that says so.
  await killedAt(id, {
    lock: 'select from erasures where id = $1 for update',
    id,
    waiting: /erasures/,
    phase: 'ROWS',
  });

  // While the certificate is made.
  await killedAt(id, {
    lock: 'lock table templates in access exclusive mode',
    waiting: /from "?templates/,
    phase: 'CERTIFYING',
  });

  worker = await workerProcess(settings);
  const erasure = await whenDone(project, id);
  // As if nobody had been killed: no row was forgotten, and none counted twice.
  expect(stepsOf(erasure)).toEqual(expected);
  expect(await countOf('contact_history where contact_id = $1', contactId)).toBe(0);
  const { json, signature, publicKey } = erasure.certificate;
  expect(verify(null, Buffer.from(json), createPublicKey(publicKey), Buffer.from(signature, 'base64'))).toBe(true);
  expect(JSON.parse(json)).toMatchObject({ final: true, subject: erasure.subject });
  expect(await call(project, 'GET', `/erasures/${id}/verify`)).toEqual({
    valid: true,
    signed: true,
    keyOfProject: true,
    left: [],
  });
  expect(await countOf('events where contact_id = $1 and data is not null', contactId)).toBe(0);
  expect(await countOf(`emails e where project_id = $1 and e::text ~* 'ottilie'`, project.id)).toBe(0);
  expect(await countOf(`idempotency_keys k where project_id = $1 and k::text ~* 'ottilie'`, project.id)).toBe(0);
});
