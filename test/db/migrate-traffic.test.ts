import { Migration } from '@mikro-orm/migrations';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  // A request that waits for a lock is refused soon, as one that waits for a migration of minutes is outside of tests.
  api = await testApi(database, { DATABASE_LOCK_TIMEOUT: '3', READY_ON_NEWER_SCHEMA: 'true' });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  await database.db.rows(`
    drop index if exists emails_probe;
    alter table projects drop column if exists probe;
    alter table emails drop column if exists probe;
    delete from mikro_orm_migrations where name like 'Migration2999%';
    drop table if exists migration_progress`);
});

function migrationOf(...statements: string[]) {
  return class extends Migration {
    override up(): void {
      for (const statement of statements) this.addSql(statement);
    }
  };
}

/** The migrations of this release with others after them. */
const withNext = (...next: string[][]) => [
  ...migrations,
  ...next.map((statements, n) => ({ name: `Migration2999010100000${n}_next`, class: migrationOf(...statements) })),
];
// Every table is large, so that a few rows behave as a million do.
const pace = { largeBytes: 0, lockMs: 200, say: (line: string) => void said.push(line) };
let said: string[] = [];
beforeEach(() => {
  said = [];
});

const indexOn = 'on emails (project_id, created_at) where reason is null';

async function connected(): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function requestsSucceed(): Promise<void> {
  const mail = { to: 'ada@example.org', from: project.sender, subject: 'Hello', body: '<p>Hello</p>' };
  const answers = await Promise.all([
    api.call(project.secretKey, 'POST', '/v1/send', mail),
    api.call(project.publicKey, 'POST', '/v1/track', { email: 'ada@example.org', event: 'probe' }),
    api.call(project.secretKey, 'GET', `/v1/emails?from=${new Date(Date.now() - 86_400_000).toISOString()}`),
    api.call(project.secretKey, 'GET', '/contacts'),
    // Reads the project's row, and not a cache.
    database.db.transaction(async (tx) => {
      await tx.rows('set local lock_timeout to 3000');
      return tx.row('select count(*) from projects');
    }),
  ]);
  for (const answer of answers.slice(0, 4) as Answer[])
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
}

/** Waits until the migrator waits for a lock, and answers the number of its process. */
async function untilItWaits(): Promise<number> {
  let pid = 0;
  await expect
    .poll(async () => {
      const row = await database.db.row<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and application_name = 'fernpost-migrate' and wait_event_type = 'Lock'`,
      );
      pid = row?.pid ?? 0;
      return pid;
    })
    .toBeGreaterThan(0);
  return pid;
}

const indexState = () =>
  database.db.rows(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname like 'emails_probe%'`,
  );
const leftovers = () => database.db.row(`select to_regclass('migration_progress') as found`);

test('requests succeed while an index of a large table waits, because the migrations before it have committed', async () => {
  await using writer = await connected();
  await writer.query('begin; lock table emails in row exclusive mode');
  const running = migrateDatabase(database.url, {
    list: withNext(['alter table projects add column probe integer'], [`create index emails_probe ${indexOn}`]),
    pace,
  });
  await untilItWaits();
  await requestsSucceed();
  await writer.query('commit');
  expect((await running).applied).toHaveLength(2);
  expect(await indexState()).toEqual([{ name: 'emails_probe', valid: true }]);
  expect(said.join('\n')).toMatch(
    /_next: index emails_probe, [\d,]+ rows of emails: takes about \d+ s, beside requests/,
  );
  expect(await leftovers()).toEqual({ found: null });
});

test('a migration that was interrupted while it built an index builds it again, and repeats nothing before it', async () => {
  await using writer = await connected();
  await writer.query('begin; lock table emails in row exclusive mode');
  const list = withNext(['alter table projects add column probe integer', `create index emails_probe ${indexOn}`]);
  const running = migrateDatabase(database.url, { list, pace });
  const refused = expect(running).rejects.toThrow();
  await database.db.rows('select pg_terminate_backend($1)', [await untilItWaits()]);
  await refused;
  await writer.query('commit');
  expect(await indexState()).toEqual([{ name: 'emails_probe', valid: false }]);
  expect((await migrateDatabase(database.url, { list, pace })).applied).toHaveLength(1);
  expect(await indexState()).toEqual([{ name: 'emails_probe', valid: true }]);
  expect(await leftovers()).toEqual({ found: null });
});

test('an index that takes the name of another replaces it when it is built', async () => {
  await database.db.rows(`create index emails_probe on emails (project_id)`);
  await using writer = await connected();
  await writer.query('begin; lock table emails in row exclusive mode');
  const list = withNext([
    'drop index emails_probe',
    `create index emails_probe ${indexOn}`,
    'alter table projects add column probe integer',
  ]);
  const running = migrateDatabase(database.url, { list, pace });
  await untilItWaits();
  expect(await indexState()).toContainEqual({ name: 'emails_probe', valid: true });
  await writer.query('commit');
  await running;
  const row = await database.db.row<{ def: string }>(`select pg_get_indexdef('emails_probe'::regclass) as def`);
  expect(row?.def).toContain('(project_id, created_at) WHERE (reason IS NULL)');
  expect(await indexState()).toHaveLength(1);
});

test('a statement that needs a table for itself lets requests pass while it waits', async () => {
  await using reader = await connected();
  await reader.query('begin; select from projects');
  const running = migrateDatabase(database.url, {
    list: withNext(['alter table projects add column probe integer']),
    pace: { ...pace, lockMs: 100 },
  });
  await untilItWaits();
  await requestsSucceed();
  await requestsSucceed();
  await reader.query('commit');
  expect((await running).applied).toHaveLength(1);
  expect(said.filter((line) => line.includes('waits for a lock')).length).toBeLessThanOrEqual(1);
});

test('two that run side by side wait for one another, also while one builds an index', async () => {
  await using writer = await connected();
  await writer.query('begin; lock table emails in row exclusive mode');
  const list = withNext([`create index emails_probe ${indexOn}`]);
  const first = migrateDatabase(database.url, { list, pace });
  await untilItWaits();
  const second = migrateDatabase(database.url, { list, pace });
  await expect.poll(() => said).toContain('waiting for another npm run migrate');
  await writer.query('commit');
  const reports = await Promise.all([first, second]);
  expect(reports.map(({ applied }) => applied.length)).toEqual([1, 0]);
});

test('a check is added without a read of the whole table under its lock, and holds for old rows', async () => {
  const list = withNext([
    `alter table emails add column probe integer, add constraint emails_probe_check check (probe is null or probe > 0)`,
  ]);
  await migrateDatabase(database.url, { list, pace });
  expect(said.join('\n')).toContain('check emails_probe_check');
  expect(
    await database.db.row(`select convalidated as valid from pg_constraint where conname = 'emails_probe_check'`),
  ).toEqual({ valid: true });
});

// Enough that each statement is one of a large table to the runner. MIGRATE_MAILS is for larger machines; a mail may take a millisecond.
const mails = Number(process.env.MIGRATE_MAILS ?? inFull(1_000_000, 40_000));

test(`an upgrade beside traffic over ${mails} mails answers every request`, {
  timeout: Math.max(1_800_000, mails),
}, async () => {
  await requestsSucceed();
  await database.db.rows(
    `insert into emails (id, project_id, contact_id, to_address, source_type, message_class, status, sent_at, "from", subject, body, render)
     select uuidv7(), $1, (select id from contacts where project_id = $1 limit 1), 'ada@example.org', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SENT', now(), $2, 'Hello',
       '<p>Hello</p>', '{}' from generate_series(1, $3::int)`,
    [project.id, project.sender, mails],
  );
  await database.db.rows('analyze emails');
  let over = false;
  const slowest: number[] = [];
  const traffic = Array.from({ length: 4 }, async (_, lane) => {
    while (!over) {
      const began = performance.now();
      await requestsSucceed();
      slowest[lane] = Math.max(slowest[lane] ?? 0, performance.now() - began);
    }
  });
  const upgrade = migrateDatabase(database.url, {
    list: withNext(
      ['alter table projects add column probe integer'],
      [
        'alter table emails add column probe jsonb',
        `update emails set probe = '{"code": "provider"}' where probe is null`,
      ],
      [
        `create index emails_probe ${indexOn}`,
        'drop index emails_project',
        'create index emails_project on emails (project_id, source_type, id)',
      ],
      [`alter table emails add constraint emails_probe_check check (probe is null or probe <> '[]')`],
    ),
    pace: { ...pace, largeBytes: 100_000, lockMs: 1_000 },
  }).finally(() => {
    over = true;
  });
  await Promise.all([upgrade, ...traffic]);
  console.log(`${said.join('\n')}\nThe slowest requests beside it took ${slowest.map(Math.round).join(', ')} ms.`);
  expect((await upgrade).applied).toHaveLength(4);
});
