import { DatabaseAddressError } from '@posthorn/postgres';
import { openTemporal, type TemporalSettings } from '../../temporal/connection.ts';
import { setUpTemporal, TemporalSetupError } from '../../temporal/setup.ts';
import { type Config, ConfigError, readConfigOrExit } from '../core/config/config.ts';
import { MigrationError, migrateDatabase } from '../core/database/migrate.ts';
import { newerSchema } from '../core/database/readiness.ts';
import { describeFailure, isTemporalUnreachable } from '../core/lib/grpc.ts';
import { pause } from '../core/lib/time.ts';
import { temporalSettings } from './temporal/temporal-settings.ts';

const waitMs = 60_000;

/** Brings Postgres to the newest schema, makes everything that Temporal needs, and prints what was done. Answers whether it worked. */
export async function migrate(config: Config, databaseOnly = false): Promise<boolean> {
  try {
    // Read first: a wrong setting must not be found only after the database has changed.
    const temporal = databaseOnly ? null : temporalSettings(config);
    await Promise.all([migratePostgres(config), temporal && prepareTemporal(config, temporal)]);
    return true;
  } catch (error) {
    for (const line of problem(config, error)) console.error(`posthorn: ${line}`);
    return false;
  }
}

async function migratePostgres(config: Config): Promise<void> {
  const setting = config.DIRECT_DATABASE_URL === null ? 'DATABASE_URL' : 'DIRECT_DATABASE_URL';
  const url = config[setting] ?? '';
  const migrate = () => migrateDatabase(url, { setting });
  const { applied, functions, unknown } = await whenUp('Postgres', new URL(url).host, migrate, isPostgresUnreachable);
  for (const name of applied) console.log(`Postgres: ${name} applied`);
  for (const name of functions) console.log(`Postgres: function ${name} installed`);
  const [later] = unknown.slice(-1);
  if (later !== undefined && !config.READY_ON_NEWER_SCHEMA) throw new DatabaseAddressError(newerSchema(later));
  if (later !== undefined) console.log(`Postgres: ${newerSchema(later)}`);
  else if (applied.length + functions.length === 0) console.log('Postgres: the schema is the newest');
}

async function prepareTemporal(config: Config, settings: TemporalSettings): Promise<void> {
  await using temporal = openTemporal(settings);
  const setUp = () => setUpTemporal(temporal, config.TEMPORAL_TASK_QUEUE);
  const lines = await whenUp('Temporal', temporal.settings.address, setUp, isTemporalUnreachable);
  for (const line of lines) console.log(`Temporal: ${line}`);
}

async function whenUp<T>(
  name: string,
  place: string,
  work: () => Promise<T>,
  isUnreachable: (error: unknown) => boolean,
): Promise<T> {
  const giveUpAt = Date.now() + waitMs;
  for (let waited = false; ; waited = true) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error) || Date.now() > giveUpAt) throw error;
      if (!waited) console.log(`${name}: waiting up to ${waitMs / 1000} s for ${place}`);
      await pause(500);
    }
  }
}

// Class 08 is "connection exception", 57P03 "the database system is starting up" (PostgreSQL manual, appendix A).
function isPostgresUnreachable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return false;
  return /^(08|57P03|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENOENT)/.test(code);
}

// Class 28 is "invalid authorization", 3D000 "no such database".
function isPostgresRefusal(error: unknown): boolean {
  return /^(28|3D)/.test(String((error as { code?: unknown }).code));
}

function problem(config: Config, error: unknown): string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof TemporalSetupError) return [error.message];
  if (error instanceof MigrationError || error instanceof DatabaseAddressError) return [`Postgres: ${error.message}`];
  if (isPostgresUnreachable(error) || isPostgresRefusal(error))
    return [`Postgres: ${(error as Error).message || (error as { code: string }).code} (DATABASE_URL)`];
  if (isTemporalUnreachable(error)) return [`Temporal: ${describeFailure(error, temporalSettings(config))}`];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

// `npm run migrate`; `-- --database` leaves Temporal alone.
if (import.meta.main) {
  const databaseOnly = process.argv.includes('--database');
  const config = readConfigOrExit(databaseOnly ? ['DATABASE_URL'] : ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
  if (!(await migrate(config, databaseOnly))) process.exitCode = 1;
}
