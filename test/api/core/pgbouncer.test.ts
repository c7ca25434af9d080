import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi } from '../../../src/main/api/api-runtime.ts';
import { poolerWarnings } from '../../../src/main/setup/database-settings.ts';
import { startWorker } from '../../../src/main/worker/worker-runtime.ts';
import { migrateDatabase } from '../../../src/store/migrate.ts';
import { openStore } from '../../../src/store/orm.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { pgBouncers, startPgBouncer } from '../../support/pgbouncer.ts';

const limits = { DATABASE_POOL_SIZE: '10' };
let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());

const programs = pgBouncers();

// Where no PgBouncer is installed there is nothing to try; CI installs one (.ci/run).
describe.skipIf(programs.length === 0).each(programs.length === 0 ? ['pgbouncer'] : programs)(
  'through %s in transaction mode',
  (program) => {
    test('the API works for many callers over few connections', async () => {
      await using pooler = await startPgBouncer(program, database.url);
      await using api = await testApi(database, {
        ...limits,
        DATABASE_URL: pooler.url(database.url),
        DIRECT_DATABASE_URL: database.url,
      });
      await expect.poll(async () => (await api.call(null, 'GET', '/ready')).body.checks.postgres).toBe('ok');
      const calls = Array.from({ length: 120 }, async (_, index) => {
        const email = `p${index % 40}.pooled@kunde.example`;
        const event = { email, event: 'pooled', data: { index } };
        expect((await api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);
        const mail = { to: email, from: project.sender, subject: 'Hello', body: '<p>Hello</p>' };
        expect((await api.call(project.secretKey, 'POST', '/v1/send', mail)).status).toBe(200);
        const made = await api.call(project.secretKey, 'POST', '/templates', {
          name: `Template ${index}`,
          subject: 'Hello',
          body: '<p>Hello</p>',
          from: project.sender,
          type: 'MARKETING',
        });
        expect(made.status).toBe(201);
        expect(made.body.createdAt).toMatch(/Z$/);
      });
      await Promise.all(calls);
      const found = await api.call(project.secretKey, 'GET', '/contacts?search=pooled');
      expect(found.body.total).toBe(40);
      // Changes are heard over the direct address.
      await expect.poll(() => api.app.directory !== undefined && listens()).toBe(true);
    });

    test('a worker delivers mail and a campaign', async () => {
      await using pooler = await startPgBouncer(program, database.url);
      const pooled = { DATABASE_URL: pooler.url(database.url), DIRECT_DATABASE_URL: database.url };
      const own = await aProject(database);
      await using api = await testApi(database, pooled);
      const mailer = new FakeMailer();
      await using worker = await startWorker(api.config, pino({ level: 'silent' }), { mailer });
      await worker.ready;
      const content = { from: own.sender, subject: 'Hello', body: '<p>Hello</p>' };
      for (const name of ['ada', 'bob', 'cleo'])
        await api.call(own.secretKey, 'POST', '/contacts', { email: `${name}.pooled@kunde.example`, subscribed: true });
      const mail = { ...content, to: 'dora.pooled@kunde.example' };
      expect((await api.call(own.secretKey, 'POST', '/v1/send', mail)).status).toBe(200);
      const campaign = await api.call(own.secretKey, 'POST', '/campaigns', {
        ...content,
        name: 'Pooled',
        audienceType: 'ALL',
      });
      expect(campaign.status).toBe(201);
      expect((await api.call(own.secretKey, 'POST', `/campaigns/${campaign.body.data.id}/send`, {})).status).toBe(200);
      const sent = () =>
        database.db.row<{ count: number }>(
          "select count(*)::int as count from emails where project_id = $1 and status = 'SENT'",
          [own.id],
        );
      // Three by the campaign and one by /v1/send, whose contact is not subscribed.
      await expect.poll(sent).toEqual({ count: 4 });
      expect(mailer.sent).toHaveLength(4);
    });

    test('statements are prepared where the pooler renames them, and only there', async () => {
      await using pooler = await startPgBouncer(program, database.url);
      await using store = await openStore(
        { url: pooler.url(database.url), poolSize: 4, applicationName: 'pooled' },
        [],
      );
      expect(store.route.pooled).toBe(true);
      const sums = await Promise.all(
        Array.from(
          { length: 40 },
          async (_, index) => (await store.db.row<{ sum: number }>(sql`select ${index}::int + 1 as sum`))?.sum,
        ),
      );
      expect(sums).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      const names = await store.db.rows<{ name: string }>('select name from pg_prepared_statements');
      expect(names.every(({ name }) => store.route.prepares && name.startsWith('PGBOUNCER_'))).toBe(true);
      expect(await store.db.row("select current_setting('TimeZone') as zone")).toEqual({ zone: 'UTC' });
    });

    test('migrations turn compiling off for the sessions of the pooler, and the API says where it is on', async () => {
      await using own = await testDatabase();
      const plain = new Client({ connectionString: own.url });
      await plain.connect();
      await plain.query(`do $$ begin execute format('alter database %I set jit to on', current_database()); end $$`);
      await plain.end();
      const warnings = async () => {
        await using pooler = await startPgBouncer(program, own.url);
        await using store = await openStore({ url: pooler.url(own.url), poolSize: 1, applicationName: 'pooled' }, []);
        return poolerWarnings(store, { url: own.url, poolSize: 1, applicationName: 'pooled' });
      };
      expect((await warnings()).join('')).toContain('compiles statements (jit)');
      await migrateDatabase(own.url);
      expect(await warnings()).toEqual([]);
    });

    test('limits come from connect_query, and the API says when there are none', async () => {
      const said: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
      const start = async (connectQuery?: string) => {
        await using pooler = await startPgBouncer(program, database.url, {}, connectQuery);
        await using model = await testApi(database);
        const config = {
          ...model.config,
          PORT: 0,
          DATABASE_URL: pooler.url(database.url),
          DIRECT_DATABASE_URL: database.url,
        };
        await using api = await startApi(config, log);
        await api.app.db.row('select pg_sleep(0.5)');
      };
      await start();
      expect(said.join('')).toContain('connect_query');
      said.length = 0;
      await expect(start("set statement_timeout to '100ms'; set lock_timeout to '50ms'")).rejects.toThrow(
        'canceling statement due to statement timeout',
      );
      expect(said.join('')).not.toContain('connect_query');
    });

    test('heavy reads keep their own limit without one of the pooler', async () => {
      await using pooler = await startPgBouncer(program, database.url);
      await using api = await testApi(database, {
        DATABASE_URL: pooler.url(database.url),
        DIRECT_DATABASE_URL: database.url,
        HEAVY_READ_TIMEOUT: '1',
      });
      const holder = new Client({ connectionString: database.url });
      await holder.connect();
      await holder.query('begin; lock table contacts in access exclusive mode');
      const condition = {
        logic: 'AND',
        groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
      };
      const { status, body } = await api.call(project.secretKey, 'POST', '/segments/preview', { condition, limit: 0 });
      await holder.end();
      expect([status, body.error.details]).toEqual([503, { limit: 'HEAVY_READ_TIMEOUT', seconds: 1, retryAfter: 1 }]);
    });

    test('without a direct address API and migrations refuse to start, and say why', async () => {
      await using pooler = await startPgBouncer(program, database.url);
      const through = pooler.url(database.url);
      const reason = /^DATABASE_URL leads through a pooler .* set DIRECT_DATABASE_URL to Postgres itself$/;
      await expect(testApi(database, { DATABASE_URL: through })).rejects.toThrow(reason);
      await expect(migrateDatabase(through)).rejects.toThrow(reason);
      await expect(testApi(database, { DATABASE_URL: database.url, DIRECT_DATABASE_URL: through })).rejects.toThrow(
        /^DIRECT_DATABASE_URL leads through a pooler/,
      );
    });

    test('a pooler that gives every client a session of its own serves notifications and migrations', async () => {
      await using pooler = await startPgBouncer(program, database.url, { pool_mode: 'session', default_pool_size: 20 });
      const through = pooler.url(database.url);
      expect(await migrateDatabase(through)).toEqual({ applied: [], functions: [], unknown: [] });
      await using api = await testApi(database, { DATABASE_URL: through });
      expect((await api.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
    });
  },
);

async function listens(): Promise<boolean> {
  const row = await database.db.row<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'fernpost-changes' and query like 'listen %'`,
  );
  return (row?.count ?? 0) > 0;
}
