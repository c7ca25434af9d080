import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/lib/config/config.ts';
import { requestDatabase, workerDatabase } from '../../../src/main/setup/database-settings.ts';
import { openStore } from '../../../src/store/orm.ts';
import type { ConnectionSettings } from '../../../src/store/postgres/connection.ts';
import { databaseProblem } from '../../../src/store/readiness.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { tcpProxy } from '../../support/tcp-proxy.ts';

const metricsToken = 'figures-of-this-test-and-nobody-else';
let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());

describe('a request that has to wait', () => {
  test('for a lock is answered 503 with Retry-After once the limit is over', async () => {
    await using api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '1' });
    const contact = await aContact(api);
    await using held = await hold(contact);
    const answer = await rename(api, contact);
    expectUnavailable(answer, 'Another change holds what this request needs');
    await held.letGo();
    expect((await rename(api, contact)).status).toBe(200);
  });

  test('for a lock in a transaction of the ORM is answered the same', async () => {
    await using api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '1' });
    const made = await api.call(project.secretKey, 'POST', '/templates', {
      name: 'Held',
      subject: 'Held',
      body: '<p>Held</p>',
      from: project.sender,
      type: 'MARKETING',
    });
    expect(made.status).toBe(201);
    await using _ = await hold(made.body.id, 'templates');
    const answer = await api.call(project.secretKey, 'PATCH', `/templates/${made.body.id}`, { name: 'Free' });
    expectUnavailable(answer, 'Another change holds what this request needs');
  });

  test('for a lock holds up nobody whose request shares its statement', async () => {
    await using api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '1' });
    const name = Math.random().toString(36).slice(2);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    // A contact that somebody else is adding, which everybody in the same statement waits for.
    await client.query('begin');
    await client.query(`insert into contacts (id, project_id, email, subscribed) values (uuidv7(), $1, $2, true)`, [
      project.id,
      `0.${name}@kunde.example`,
    ]);
    const body = { from: project.sender, subject: 'Hi', body: '<p>Hi</p>' };
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const to = `${n % 6}.${name}@kunde.example`;
        const event = { email: to, event: 'came' };
        const { status } = await (n < 6
          ? api.call(project.publicKey, 'POST', '/v1/track', event)
          : api.call(project.secretKey, 'POST', '/v1/send', { ...body, to }));
        return status;
      }),
    );
    await client.end();
    expect(answers).toEqual([503, 200, 200, 200, 200, 200, 503, 200, 200, 200, 200, 200]);
  });

  test('for a statement is answered 503 with Retry-After once the limit is over', async () => {
    await using api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '0', DATABASE_STATEMENT_TIMEOUT: '1' });
    const contact = await aContact(api);
    await using _ = await hold(contact);
    expectUnavailable(await rename(api, contact), 'The database took too long over this request');
  });

  test('for a connection is answered 503, while readiness and figures are answered as ever', async () => {
    await using api = await testApi(database, {
      METRICS_TOKEN: metricsToken,
      DATABASE_POOL_SIZE: '2',
      DATABASE_POOL_TIMEOUT: '3',
      DATABASE_LOCK_TIMEOUT: '0',
    });
    // Both connections are open before their number is what is waited for.
    const [contact = ''] = await Promise.all([aContact(api), aContact(api)]);
    await using held = await hold(contact);
    const waiting = [rename(api, contact), rename(api, contact)];
    await expect.poll(() => api.app.db.pool.idleCount + api.app.db.pool.totalCount * 10).toBe(20);
    await expect.poll(waitsForLocks).toBe(2);

    const late = await api.call(project.secretKey, 'GET', '/contacts');
    expectUnavailable(late, 'Every connection to the database is in use');
    // A transaction of the ORM waits in the same queue.
    const template = { name: 'Late', subject: 'Late', body: '<p>Late</p>', from: project.sender, type: 'MARKETING' };
    expectUnavailable(
      await api.call(project.secretKey, 'POST', '/templates', template),
      'Every connection to the database is in use',
    );
    expect((await api.call(null, 'GET', '/health')).status).toBe(200);
    expect((await ready(api)).body).toMatchObject({ status: 'ok', checks: { postgres: 'ok' } });
    const figures = await api.call(metricsToken, 'GET', '/metrics');
    expect(figures.status).toBe(200);
    expect(figures.body).toContain('fernpost_queue_depth{queue="email_queue"}');
    expect(figures.body).toContain('fernpost_database_up 1');

    await held.letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await api.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
  });

  test('for a Postgres that went silent is answered 503 in the end', async () => {
    const url = new URL(database.url);
    await using wire = await tcpProxy(url.host);
    const through = Object.assign(new URL(database.url), { host: wire.address }).href;
    await using api = await testApi(database, { DATABASE_URL: through, DATABASE_STATEMENT_TIMEOUT: '1' });
    const contact = await aContact(api);
    wire.freeze();
    expectUnavailable(await rename(api, contact), 'The database cannot be reached');
    await wire.cut();
  });
});

test('limits are those of requests in the API, and of workers only what a frozen one leaves behind', async () => {
  const config = readConfig({ DATABASE_URL: database.url });
  const limitsOf = async (settings: ConnectionSettings) => {
    await using store = await openStore(settings, []);
    return store.db.row(
      `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
         current_setting('idle_in_transaction_session_timeout') as idle`,
    );
  };
  expect(await limitsOf(requestDatabase(config))).toEqual({ statement: '30s', lock: '10s', idle: '30s' });
  expect(await limitsOf(workerDatabase(config))).toEqual({ statement: '0', lock: '30s', idle: '10min' });
});

describe('readiness', () => {
  test('says what is wrong with a Postgres that is away, and figures of the process are given nonetheless', async () => {
    await using wire = await tcpProxy(new URL(database.url).host);
    const through = Object.assign(new URL(database.url), { host: wire.address }).href;
    await using api = await testApi(database, { DATABASE_URL: through, METRICS_TOKEN: metricsToken });
    await wire.cut();
    const answer = await ready(api);
    expect([answer.status, answer.body.status]).toEqual([503, 'unavailable']);
    expectUnavailable(await api.call(project.secretKey, 'GET', '/contacts'), 'The database cannot be reached');
    const figures = await api.call(metricsToken, 'GET', '/metrics');
    expect(figures.status).toBe(200);
    expect(figures.body).toContain('fernpost_http_requests_total{');
    expect(figures.body).toContain('fernpost_database_up 0');
    expect(figures.body).not.toContain('fernpost_queue_depth{');
    await wire.mend();
    await expect.poll(async () => (await ready(api)).status).toBe(200);
  });

  test('is refused on a schema that is too new or too old, on none, and on a server that takes no writes', async () => {
    await using own = await testDatabase();
    await using api = await testApi(own);
    await using lenient = await testApi(own, { READY_ON_NEWER_SCHEMA: 'true' });
    const readiness = async (of: TestApi) => {
      const { status, body } = await ready(of);
      return [status, body.checks.postgres];
    };
    const becomes = (of: TestApi, expected: unknown[]) => expect.poll(() => readiness(of)).toEqual(expected);
    const name = new URL(own.url).pathname.slice(1);
    await becomes(api, [200, 'ok']);

    await own.db.rows("insert into mikro_orm_migrations (name) values ('Migration29990101000000_later')");
    await becomes(api, [
      503,
      'the schema is newer than this release: Migration29990101000000_later is unknown here. Deploy the release that made it',
    ]);
    await becomes(lenient, [200, 'ok']);
    await own.db.rows("delete from mikro_orm_migrations where name like 'Migration2999%'");

    const [last] = await own.db.rows<{ name: string }>(
      'delete from mikro_orm_migrations where id = (select max(id) from mikro_orm_migrations) returning name',
    );
    await becomes(lenient, [
      503,
      `the schema is older than this release: ${last?.name} is not applied. Run npm run migrate`,
    ]);
    await own.db.rows('insert into mikro_orm_migrations (name) values ($1)', [last?.name]);

    await own.db.rows(`alter database ${name} set default_transaction_read_only = on`);
    await own.db.rows(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'fernpost-ready'",
      [name],
    );
    await becomes(api, [503, 'the server is read-only: DATABASE_URL must name the primary, not a standby']);
    await own.db.rows(`begin read write; alter database ${name} reset default_transaction_read_only; commit`);

    await own.db.rows('drop table mikro_orm_migrations');
    await becomes(lenient, [503, 'the database has no schema: run npm run migrate']);
    await expect(databaseProblem(own.db, false)).resolves.toContain('no schema');
  });

  test('a database that is not there is never created', async () => {
    const missing = Object.assign(new URL(database.url), { pathname: '/fernpost_nowhere' }).href;
    await expect(testApi(database, { DATABASE_URL: missing })).rejects.toThrow('"fernpost_nowhere" does not exist');
    expect(await database.db.rows("select from pg_database where datname = 'fernpost_nowhere'")).toEqual([]);
  });
});

/** What `/ready` says once a busy machine has let Postgres answer in time. */
async function ready(api: TestApi) {
  for (;;) {
    const answer = await api.call(null, 'GET', '/ready');
    if (answer.body.checks.postgres !== 'no answer within a second') return answer;
  }
}

async function aContact(api: TestApi): Promise<string> {
  const email = `waits-${Math.random().toString(36).slice(2)}@kunde.example`;
  const { body } = await api.call(project.secretKey, 'POST', '/contacts', { email });
  return body.id;
}

function rename(api: TestApi, contact: string) {
  return api.call(project.secretKey, 'PATCH', `/contacts/${contact}`, { data: { name: 'Ada' } });
}

/** Locks a row until it is let go of, as a change that does not end would. */
async function hold(id: string, table: 'contacts' | 'templates' = 'contacts') {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`select from ${table} where id = $1 for update`, [id]);
  const letGo = async () => void (await client.query('rollback'));
  return { letGo, [Symbol.asyncDispose]: () => client.end() };
}

async function waitsForLocks(): Promise<number> {
  const row = await database.db.row<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'fernpost-api' and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

function expectUnavailable(answer: Awaited<ReturnType<TestApi['call']>>, message: string): void {
  expect(answer.body).toMatchObject({ success: false, error: { code: 'DATABASE_ERROR', message, statusCode: 503 } });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}
