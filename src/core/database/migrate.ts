import { type ConnectionRoute, DatabaseAddressError, requireSessions } from '@fernpost/postgres';
import { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { databaseFunctions, earlierFunctions } from '../../../migrations/functions.ts';
import { migrations } from '../../../migrations/index.ts';
import {
  forgetOtherFunctions,
  hasEarlierFunctions,
  refuseBesideCurrent,
  refuseBesideEarlier,
} from './earlier-release.ts';
import { FunctionError, installFunctions } from './functions.ts';
import { ormOptions } from './orm.ts';

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
 * Brings the database to the newest schema and functions. Processes that call it at the same time wait for one another; running it again changes
 * nothing. It waits for locks and statements as long as they take. `setting` names the address in messages, and `list` are the
 * migrations, in their order. Functions are left alone where migrations of this release are missing or those of a later one are known.
 * `force` goes on while processes of the release with the earlier name are connected.
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
  }: MigrateOptions & { list?: typeof migrations; functions?: ReturnType<typeof databaseFunctions> } = {},
): Promise<MigrationReport> {
  return underLock(url, setting, async (guard, route, version) => {
    if (!force) await refuseBesideEarlier(guard);
    const isRenamed = await hasEarlierFunctions(guard);
    const { executed, ...report } = await runMigrations(url, route, version, list);
    const isCurrent = report.unknown.length === 0 && migrations.every(({ name }) => executed.has(name));
    if (!isCurrent) return { ...report, functions: [] };
    if (isRenamed) await forgetOtherFunctions(guard, functions);
    return { ...report, functions: await installFunctions(guard, functions) };
  });
}

/**
 * Installs the functions as the release with the earlier name needs them, so that its processes can be started again. Those of this release
 * are not ready until `migrateDatabase` has run. Returns the names of the functions.
 * @throws ReleaseRunsError while processes of this release are connected, unless `force`; else as `migrateDatabase`
 */
export function returnToEarlierRelease(
  url: string,
  { setting = 'DATABASE_URL', force = false }: MigrateOptions = {},
): Promise<string[]> {
  return underLock(url, setting, async (guard) => {
    if (!force) await refuseBesideCurrent(guard);
    await forgetOtherFunctions(guard, earlierFunctions());
    return installFunctions(guard, earlierFunctions());
  });
}

interface MigrateOptions {
  setting?: string;
  force?: boolean;
}

async function underLock<Result>(
  url: string,
  setting: string,
  work: (guard: Client, route: ConnectionRoute, version: string) => Promise<Result>,
): Promise<Result> {
  const guard = new Client({
    connectionString: url,
    application_name: 'fernpost-migrate',
    connectionTimeoutMillis: 10_000,
  });
  await guard.connect();
  let version = '';
  try {
    const route = await requireSessions(url, setting);
    const { rows } = await guard.query<{ version: string }>("select current_setting('server_version') as version");
    version = rows[0]?.version.split(' ')[0] ?? '';
    if (Number.parseInt(version, 10) < oldestMajor)
      throw new DatabaseAddressError(`${setting} names a Postgres ${version}: ${oldestMajor} or later is needed`);
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    return await work(guard, route, version);
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    throw new MigrationError(
      error.file,
      version,
      error.cause,
      'The schema is migrated, and so are the functions before it.',
    );
  } finally {
    await guard.end();
  }
}

async function runMigrations(
  url: string,
  route: ConnectionRoute,
  version: string,
  list: typeof migrations,
): Promise<Omit<MigrationReport, 'functions'> & { executed: Set<string> }> {
  const settings = { url, poolSize: 2, applicationName: 'fernpost-migrate' };
  const orm = await MikroORM.init({
    ...ormOptions(settings, [], route),
    migrations: { migrationsList: list, snapshot: false, transactional: true, allOrNothing: true },
  });
  let current = 'the table of migrations';
  try {
    orm.migrator.on('migrating', ({ name }) => {
      current = name;
    });
    const done = await orm.migrator.up();
    const executed = (await orm.migrator.getExecuted()).map(({ name }) => name);
    const known = new Set(list.map(({ name }) => name));
    return {
      applied: done.map(({ name }) => name),
      unknown: executed.filter((name) => !known.has(name)),
      executed: new Set(executed),
    };
  } catch (error) {
    throw new MigrationError(current, version, error);
  } finally {
    await orm.close(true);
  }
}

// By SQLSTATE (PostgreSQL manual, appendix A).
function remedy(code: string, version: string): string {
  if (/^(42501|28)/.test(code))
    return 'Let the role of the address create tables and the extension pg_trgm (grant create on its schema and database), then run npm run migrate again.';
  if (code === '58P01' || code === '0A000')
    return 'Install the extensions that come with Postgres (postgresql-contrib), then run npm run migrate again.';
  if (code.startsWith('53'))
    return 'Free disk space, memory or connections of Postgres, then run npm run migrate again.';
  if (/^(40|55|57|08)/.test(code) || code.startsWith('E')) return 'Run npm run migrate again.';
  if (code === '25006') return 'DATABASE_URL must name the primary, not a standby.';
  return `Report it with this line; a Postgres newer than ${version}, up to 18, may take it.`;
}
