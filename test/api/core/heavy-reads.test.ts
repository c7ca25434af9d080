import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../../src/main/api/routes.ts';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const condition = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

let database: TestDatabase;
let project: TestProject;
let neighbor: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database, 'Heavy');
  neighbor = await aProject(database, 'Neighbor');
});

afterAll(() => database?.close());

/** Holds what a statement locks until it is let go. */
async function holding(statement: string): Promise<AsyncDisposable> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query(statement);
  return { [Symbol.asyncDispose]: () => client.end() };
}

async function waitsForLock(): Promise<number> {
  return database.db.count(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
}

const preview = (api: TestApi, { secretKey }: TestProject) =>
  api.call(secretKey, 'POST', '/segments/preview', { condition, limit: 1 });
const sends = (api: TestApi, { secretKey, sender }: TestProject) =>
  api.call(secretKey, 'POST', '/v1/send', { to: 'ada@example.com', from: sender, subject: 'Hi', body: '<p>Hi</p>' });

describe('heavy reads of a project', () => {
  test('leave the connections of all others alone, and what is too much is refused to this project only', async () => {
    await using api = await testApi(database, { DATABASE_POOL_SIZE: '2', HEAVY_READS_PER_PROJECT: '1' });
    const made = await api.call(project.secretKey, 'POST', '/segments', { name: 'Pro', condition });
    const refresh = () => api.call(project.secretKey, 'POST', `/segments/${made.body.id}/refresh`);
    let answers: Promise<Answer>[] = [];
    {
      await using _ = await holding(`select 1 from segments where id = '${made.body.id}' for update`);
      // One waits for the lock, fifty for their turn, two are too much.
      answers = Array.from({ length: 53 }, refresh);
      const early: number[] = [];
      for (const answer of answers) void answer.then(({ status }) => early.push(status));
      await expect.poll(() => early).toEqual([429, 429]);
      const refused = await preview(api, project);
      expect(refused.body.error).toMatchObject({
        code: 'RATE_LIMIT_EXCEEDED',
        details: { limit: 'HEAVY_READS_PER_PROJECT', atOnce: 1, retryAfter: expect.any(Number) },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await preview(api, neighbor)).status).toBe(200);
      expect((await sends(api, neighbor)).status).toBe(200);
      expect((await sends(api, project)).status).toBe(200);
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(51);
    expect((await preview(api, project)).status).toBe(200);
  });

  test('end after their limit, and say which it was', async () => {
    await using api = await testApi(database, { HEAVY_READ_TIMEOUT: '1' });
    await using _ = await holding('lock table contacts in access exclusive mode');
    const { status, body, headers } = await preview(api, project);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body.error).toMatchObject({
      code: 'DATABASE_ERROR',
      details: { limit: 'HEAVY_READ_TIMEOUT', seconds: 1, retryAfter: 1 },
    });
  });

  test('also refuse a file whose first page they cannot read, before it begins', async () => {
    await using api = await testApi(database, { HEAVY_READ_TIMEOUT: '1' });
    const call = (method: string, path: string, body?: object) => api.call(project.secretKey, method, path, body);
    const contact = await call('POST', '/contacts', { email: 'file@example.com' });
    const letter = { name: 'File', subject: 'File', body: '<p>File</p>', from: project.sender, audienceType: 'ALL' };
    const campaign = await call('POST', '/campaigns', letter);
    // Each with the table that its first page reads, and what is checked before does not.
    const files: [table: string, () => Promise<Answer>][] = [
      ['contacts', () => call('POST', '/contacts/export', { columns: ['email'] })],
      ['emails', () => call('POST', '/emails/export', { from: new Date(Date.now() - 86_400_000).toISOString() })],
      ['emails', () => call('GET', `/campaigns/${campaign.body.data.id}/recipients?format=csv`)],
      ['segment_memberships', () => call('GET', `/contacts/${contact.body.id}/export`)],
    ];
    for (const [table, file] of files) {
      const told = async () => {
        const { status, body } = await file();
        return [table, status, body.error?.details?.limit];
      };
      // On a busy machine a read may wait for its turn for longer than this second, which is another refusal.
      {
        await using _ = await holding(`lock table ${table} in access exclusive mode`);
        await expect.poll(told).toEqual([table, 503, 'HEAVY_READ_TIMEOUT']);
      }
      await expect.poll(told).toEqual([table, 200, undefined]);
    }
  });

  test('run in one process of Postgres each', async () => {
    await using api = await testApi(database);
    const reads = api.app.heavyReads.of(project.id);
    const setting = "select current_setting('max_parallel_workers_per_gather') as workers";
    expect(await reads.row(setting)).toEqual({ workers: '0' });
    expect(await reads.transaction((tx) => tx.row(setting))).toEqual({ workers: '0' });
  });

  test('wait for their turn for as long as a read may take', async () => {
    await using api = await testApi(database, { HEAVY_READ_TIMEOUT: '1', HEAVY_READS_PER_PROJECT: '1' });
    const made = await api.call(project.secretKey, 'POST', '/segments', { name: 'Pro', condition });
    let refreshed: Promise<Answer>;
    {
      await using _ = await holding(`select 1 from segments where id = '${made.body.id}' for update`);
      refreshed = api.call(project.secretKey, 'POST', `/segments/${made.body.id}/refresh`);
      await expect.poll(waitsForLock).toBe(1);
      expect((await preview(api, project)).status).toBe(429);
    }
    // What writes has the longer limit of every request.
    expect((await refreshed).status).toBe(200);
  });
});

describe('the table of routes', () => {
  const looksHeavy =
    /preview|export|analytics|explain|dry-run$|audience|\/audit$|verify$|\/stats$|\/search$|\/results$|compute|refresh/;
  // Previews of one address or text, records that are read by an id, and counts that are kept.
  const light = new Set([
    'GET /domains/:id/verify',
    'GET /campaigns/:id/stats',
    'POST /suppressions/preview',
    'POST /templates/preview',
    'POST /v1/verify',
  ]);

  test('declares heavy reads, each of a project and without an Idempotency-Key', () => {
    const nameOf = ({ method, path }: (typeof routes)[number]) => `${method} ${path}`;
    const expected = routes.filter((route) => looksHeavy.test(route.path) && !light.has(nameOf(route)));
    expect(expected.filter(({ heavy }) => !heavy).map(nameOf)).toEqual([]);
    const heavy = routes.filter((route) => route.heavy);
    expect(heavy.length).toBeGreaterThan(40);
    expect(heavy.filter(({ access, idempotent }) => idempotent || !/^(dashboard|project)$/.test(access))).toEqual([]);
  });
});
