import { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { migrations } from '../../../migrations/index.ts';
import { type ConnectionRoute, DatabaseAddressError, requireSessions } from './connection.ts';
import { ormOptions } from './orm.ts';

/** What `migrateDatabase` did. */
export interface MigrationReport {
  /** Names of the migrations that ran. */
  applied: string[];
  /** Names of migrations in the database that this release does not know. */
  unknown: string[];
}

/** A migration that failed: which, on which Postgres, and what to do, in one line. Nothing was changed. */
export class MigrationError extends Error {
  constructor(name: string, version: string, cause: unknown) {
    const { message = String(cause), code } = cause as { message?: string; code?: string };
    const said = message.split('\n')[0];
    const state = code === undefined ? '' : ` (${code})`;
    super(
      `${name} failed on Postgres ${version}: ${said}${state}. Nothing was changed. ${remedy(code ?? '', version)}`,
      {
        cause,
      },
    );
    this.name = 'MigrationError';
  }
}

// Any number that no other program on this database takes as an advisory lock.
const migrationLock = 7_067_114;
const oldestMajor = 15;

/**
 * Brings the database to the newest schema. Processes that call it at the same time wait for one another; running it again changes
 * nothing. It waits for locks and statements as long as they take. `setting` names the address in messages, and `list` are the
 * migrations, in their order.
 * @throws MigrationError for a migration that failed, DatabaseAddressError where no session can be had, else what `pg` throws
 */
export async function migrateDatabase(
  url: string,
  { setting = 'DATABASE_URL', list = migrations }: { setting?: string; list?: typeof migrations } = {},
): Promise<MigrationReport> {
  const guard = new Client({
    connectionString: url,
    application_name: 'posthorn-migrate',
    connectionTimeoutMillis: 10_000,
  });
  await guard.connect();
  try {
    const route = await requireSessions(url, setting);
    const { rows } = await guard.query<{ version: string }>("select current_setting('server_version') as version");
    const version = rows[0]?.version.split(' ')[0] ?? '';
    if (Number.parseInt(version, 10) < oldestMajor)
      throw new DatabaseAddressError(`${setting} names a Postgres ${version}: ${oldestMajor} or later is needed`);
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    return await runMigrations(url, route, version, list);
  } finally {
    await guard.end();
  }
}

async function runMigrations(
  url: string,
  route: ConnectionRoute,
  version: string,
  list: typeof migrations,
): Promise<MigrationReport> {
  const settings = { url, poolSize: 2, applicationName: 'posthorn-migrate' };
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
    const executed = await orm.migrator.getExecuted();
    const known = new Set(list.map(({ name }) => name));
    return {
      applied: done.map(({ name }) => name),
      unknown: executed.map(({ name }) => name).filter((name) => !known.has(name)),
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
  if (code.startsWith('53')) return 'Give Postgres room (disk, memory, connections), then run npm run migrate again.';
  if (/^(40|55|57|08)/.test(code) || code.startsWith('E')) return 'Run npm run migrate again.';
  if (code === '25006') return 'DATABASE_URL must name the primary, not a standby.';
  return `Report it with this line; a Postgres newer than ${version}, up to 18, may take it.`;
}
