import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { databaseFunctions, earlierFunctions, earlierOnly } from '../../migrations/functions.ts';
import { migrations } from '../../migrations/index.ts';
import { DatabaseAddressError, requireSessions } from './postgres/connection.ts';
import {
  forgetOtherFunctions,
  hasEarlierFunctions,
  ReleaseRunsError,
  refuseBesideCurrent,
  refuseBesideEarlier,
  refuseBesideRunning,
} from './readiness.ts';
import {
  FunctionError,
  inShortLocks,
  installFunctions,
  type ListedMigration,
  type MigrationPace,
  runMigration,
  usualPace,
} from './run-migrations.ts';

export interface MigrationReport {
  /** Names of the migrations that ran. */
  applied: string[];
  /** Names of functions that were installed because their text is new. */
  functions: string[];
  /** Names of migrations in the database that this release does not know. */
  unknown: string[];
}

/** A migration or a function that failed: which, on which Postgres, what was changed and what to do, in one line. */
export class MigrationError extends Error {
  constructor(name: string, version: string, cause: unknown, changed = 'Nothing was changed.') {
    const { message = String(cause), code } = cause as { message?: string; code?: string };
    const said = message.split('\n')[0];
    const state = code === undefined ? '' : ` (${code})`;
    super(`${name} failed on Postgres ${version}: ${said}${state}. ${changed} ${remedy(code ?? '', version)}`, {
      cause,
    });
    this.name = 'MigrationError';
  }
}

// Any number that no other program on this database takes as an advisory lock.
const migrationLock = 7_067_114;
const oldestMajor = 15;

/**
 * Brings the database to the newest schema and functions. Processes that call it at the same time wait for one another; running it again
 * changes nothing, and continues what was interrupted. Each migration commits by itself and runs beside traffic (`runMigration`). `setting`
 * names the address in messages, and `list` are the migrations, in their order. Functions are left alone where migrations of this release
 * are missing or those of a later one are known. `force` goes on while processes are connected that cannot work with the result.
 * @throws MigrationError for a migration that failed, ReleaseRunsError without `force`, DatabaseAddressError where no session can be had,
 * else what `pg` throws
 */
export async function migrateDatabase(
  url: string,
  {
    setting = 'DATABASE_URL',
    list = migrations,
    functions = databaseFunctions(),
    force = false,
    pace = {},
  }: MigrateOptions & { list?: readonly ListedMigration[]; functions?: ReturnType<typeof databaseFunctions> } = {},
): Promise<MigrationReport> {
  const how = { ...usualPace, ...pace };
  return underLock(url, setting, how, async (client, version) => {
    if (!force) await refuseBesideEarlier(client);
    const isRenamed = await hasEarlierFunctions(client);
    const { executed, ...report } = await runMigrations(client, version, list, how, force);
    await turnOffJit(client);
    const isCurrent = report.unknown.length === 0 && migrations.every(({ name }) => executed.has(name));
    if (!isCurrent) return { ...report, functions: [] };
    if (isRenamed) {
      await forgetOtherFunctions(client, functions);
      await inShortLocks(client, how, async () => {
        for (const name of earlierOnly()) await client.query(`drop function if exists ${name} cascade`);
        await client.query('alter table contacts drop column if exists subscription_before');
      });
    }
    return { ...report, functions: await installFunctions(client, functions, how) };
  });
}

/**
 * Installs the functions as the release with the earlier name needs them, so that its processes can be started again. Those of this release
 * are not ready until `migrateDatabase` has run. Returns the names of the functions.
 * @throws ReleaseRunsError while processes of this release are connected, unless `force`; else as `migrateDatabase`
 */
export function returnToEarlierRelease(
  url: string,
  { setting = 'DATABASE_URL', force = false, pace = {} }: MigrateOptions = {},
): Promise<string[]> {
  const how = { ...usualPace, ...pace };
  return underLock(url, setting, how, async (client) => {
    if (!force) await refuseBesideCurrent(client);
    await forgetOtherFunctions(client, earlierFunctions());
    return installFunctions(client, earlierFunctions(), how);
  });
}

interface MigrateOptions {
  setting?: string;
  force?: boolean;
  pace?: Partial<MigrationPace>;
}

async function underLock<Result>(
  url: string,
  setting: string,
  pace: MigrationPace,
  work: (client: Client, version: string) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: url,
    application_name: 'fernpost-migrate',
    connectionTimeoutMillis: 10_000,
  });
  // A connection that is lost fails the statement on it.
  client.on('error', () => undefined);
  await client.connect();
  let version = '';
  try {
    await requireSessions(url, setting);
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
    version = rows[0]?.version.split(' ')[0] ?? '';
    if (Number.parseInt(version, 10) < oldestMajor)
      throw new DatabaseAddressError(`${setting} names a Postgres ${version}: ${oldestMajor} or later is needed`);
    await client.query("set timezone to 'UTC'; set statement_timeout to 0");
    await waitForOthers(client, pace);
    return await work(client, version);
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    throw new MigrationError(
      error.file,
      version,
      error.cause,
      'The schema is migrated, and so are the functions before it.',
    );
  } finally {
    await client.end();
  }
}

// A statement that waits is a transaction, and building an index concurrently waits for those that are open: the two would wait for one
// another.
async function waitForOthers(client: Client, { say }: MigrationPace): Promise<void> {
  for (let waited = false; ; waited = true) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [migrationLock]);
    if (rows[0]?.mine) return;
    if (!waited) say('waiting for another npm run migrate');
    await sleep(200);
  }
}

async function runMigrations(
  client: Client,
  version: string,
  list: readonly ListedMigration[],
  pace: MigrationPace,
  force: boolean,
): Promise<Omit<MigrationReport, 'functions'> & { executed: Set<string> }> {
  let current = 'the table of migrations';
  const applied: string[] = [];
  try {
    // MikroORM's own, which earlier releases migrated by.
    await client.query(`
      create table if not exists mikro_orm_migrations (
        id serial primary key, name varchar(255) not null, executed_at timestamptz(6) not null default current_timestamp(6))`);
    const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by id');
    const executed = new Set(rows.map(({ name }) => name));
    const known = new Set(list.map(({ name }) => name));
    const unknown = [...executed].filter((name) => !known.has(name));
    const exclusive = list.find(({ name, isExclusive }) => isExclusive && !executed.has(name));
    if (exclusive && executed.size > 0 && !force) await refuseBesideRunning(client, exclusive.name);
    for (const migration of list.filter(({ name }) => !executed.has(name))) {
      current = migration.name;
      await runMigration(client, migration, pace);
      applied.push(current);
      executed.add(current);
      pace.say(`${current} applied`);
    }
    return { applied, unknown, executed };
  } catch (error) {
    if (error instanceof ReleaseRunsError) throw error;
    throw new MigrationError(current, version, error, await changedBefore(client, applied.length));
  }
}

async function changedBefore(client: Client, applied: number): Promise<string> {
  const { rows } = await client
    .query(`select from pg_class where oid = to_regclass('migration_progress')`)
    .catch(() => ({ rows: [] }));
  if (rows.length > 0) return 'Its steps so far are kept, and the next run continues behind them.';
  if (applied === 0) return 'Nothing was changed.';
  return `It changed nothing; the ${applied === 1 ? 'migration' : `${applied} migrations`} before it ${applied === 1 ? 'is' : 'are'} applied.`;
}

// Sessions that a pooler opens get no settings of ours. Only a role itself, or its owner, may set this; the API warns where it is on.
async function turnOffJit(client: Client): Promise<void> {
  const { rows } = await client.query<{ jit: string; statement: string }>(
    `select current_setting('jit') as jit,
       format('alter role %I in database %I set jit to off', current_user, current_database()) as statement`,
  );
  if (rows[0]?.jit === 'on') await client.query(rows[0].statement).catch(() => undefined);
}

// By SQLSTATE (PostgreSQL manual, appendix A).
function remedy(code: string, version: string): string {
  if (/^(42501|28)/.test(code))
    return 'Let the role of the address create tables and the extensions pg_trgm and btree_gin (grant create on its schema and database), then run npm run migrate again.';
  if (code === '58P01' || code === '0A000')
    return 'Install the extensions that come with Postgres (postgresql-contrib), then run npm run migrate again.';
  if (code.startsWith('53'))
    return 'Free disk space, memory or connections of Postgres, then run npm run migrate again.';
  if (/^(40|55|57|08)/.test(code) || code.startsWith('E')) return 'Run npm run migrate again.';
  if (code === '25006') return 'DATABASE_URL must name the primary, not a standby.';
  return `Report it with this line; a Postgres newer than ${version}, up to 18, may take it.`;
}
