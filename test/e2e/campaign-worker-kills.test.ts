import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// Workers as processes, killed while a campaign is reviewed, and while one is paused for another version.
let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let project: TestProject;
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
    keep: 100_000,
  });
  api = await testApi(database, {
    POSTMARK_API_URL: sandbox.url,
    SEND_CHUNK: '5',
    PROVIDER_LOOKUP_LAG_SECONDS: '2',
    PROVIDER_TIMEOUT_SECONDS: '5',
  });
  const names = [
    'DATABASE_URL',
    'TEMPORAL_ADDRESS',
    'TEMPORAL_TASK_QUEUE',
    'POSTMARK_API_URL',
    'SEND_CHUNK',
    'PROVIDER_LOOKUP_LAG_SECONDS',
    'PROVIDER_TIMEOUT_SECONDS',
  ] as const;
  settings = Object.fromEntries(names.map((name) => [name, String(api.config[name])]));
  worker = await workerProcess(settings);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api.close();
  await sandbox.close();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const now = async (id: string) => (await call('GET', `/campaigns/${id}`)).body.data;
async function created(): Promise<string> {
  const { body } = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'Version 1',
    body: '<p>Dear {{firstName ?? friend}}, version 1.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  return body.data.id;
}
const report = async (id: string, n: string | number = 'latest') =>
  (await call('GET', `/campaigns/${id}/dry-runs/${n}`)).body.data;
const reviewed = (id: string) => expect.poll(async () => (await report(id)).state, { interval: 200 }).toBe('DONE');
async function messages(): Promise<{ to: { email: string }[]; subject: string }[]> {
  const answer = (await (await fetch(`${sandbox.url}/api/messages?limit=1000`)).json()) as {
    messages: { to: { email: string }[]; subject: string }[];
  };
  return answer.messages;
}

test('a dry run goes on in another worker after kill -9, and finds what an undisturbed one finds', async () => {
  const people = 600;
  await contacts(database.db, project.id, people);
  const id = await created();
  await worker.kill();
  expect((await call('POST', `/campaigns/${id}/dry-run`)).status).toBe(202);
  // While the row of a contact in the middle is written by somebody else, the run comes to it and no further.
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(
      `insert into dry_run_rows (dry_run_id, contact_id, left_out) select r.id, c.id, 'unsubscribed'
       from dry_runs r, (select id from contacts where project_id = $1 order by id offset $2 limit 1) c where r.campaign_id = $3`,
      [project.id, people / 2, id],
    );
    worker = await workerProcess(settings);
    await expect.poll(async () => (await report(id)).audience).toBeGreaterThan(people / 4);
    await worker.kill();
  } finally {
    await holder.end();
  }
  const killed = await report(id);
  expect(killed).toMatchObject({ state: 'RUNNING', fingerprint: null });
  expect(killed.audience).toBeLessThan(people);
  worker = await workerProcess(settings);
  await reviewed(id);
  const first = await report(id, 1);
  expect(first).toMatchObject({ audience: people, wouldSend: people, rendered: people, progress: 100 });
  const rows = await database.db.row(
    'select count(*)::int as rows from dry_run_rows r join dry_runs d on d.id = r.dry_run_id where d.campaign_id = $1',
    [id],
  );
  expect(rows).toEqual({ rows: people });
  expect((await call('POST', `/campaigns/${id}/dry-run`)).body.data.n).toBe(2);
  await reviewed(id);
  expect(await report(id)).toMatchObject({ n: 2, fingerprint: first.fingerprint });
  expect(await messages()).toEqual([]);
});

test('a campaign is revised over kill -9 of the worker while it is paused, and everybody gets exactly one version', async () => {
  const people = 200;
  await contacts(database.db, project.id, people);
  const id = await created();
  await database.db.count('update projects set send_rate = 5 where id = $1', [project.id]);
  expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
  await expect.poll(async () => (await messages()).length, { interval: 50 }).toBeGreaterThan(10);
  // Killed in the middle of its calls: what they carried is unconfirmed until another worker has looked it up.
  expect((await call('POST', `/campaigns/${id}/pause`)).status).toBe(200);
  await worker.kill();
  worker = await workerProcess(settings);
  const content = { subject: 'Version 2', body: '<p>Dear {{firstName ?? friend}}, version 2.</p>' };
  const revise = async () => (await call('POST', `/campaigns/${id}/revise`, content)).status;
  await expect.poll(revise, { interval: 500 }).toBe(200);
  const early = (await messages()).length;
  expect(early).toBeLessThan(people);
  await worker.kill();
  worker = await workerProcess(settings);
  expect((await messages()).length).toBe(early);
  await database.db.count('update projects set send_rate = null where id = $1', [project.id]);
  expect((await call('POST', `/campaigns/${id}/resume`)).status).toBe(200);
  await expect.poll(async () => (await now(id)).status, { interval: 200 }).toBe('SENT');
  const received = await messages();
  expect(received).toHaveLength(people);
  expect(new Set(received.map(({ to }) => to[0]?.email)).size).toBe(people);
  expect(received.filter(({ subject }) => subject === 'Version 1')).toHaveLength(early);
  const stats = (await call('GET', `/campaigns/${id}/stats`)).body.data;
  expect(stats.versions).toMatchObject([
    { version: 1, sentCount: early },
    { version: 2, sentCount: people - early },
  ]);
  expect((await call('GET', `/campaigns/${id}/audit`)).body.data).toMatchObject({ addsUp: true, handedOver: people });
});
