import { resolve } from 'node:path';
import { openTemporal, type TemporalSettings } from '../../temporal/connection.ts';
import { setUpTemporal, TemporalSetupError } from '../../temporal/setup.ts';
import { type Config, ConfigError, readConfigOrExit } from '../lib/config/config.ts';
import { describeFailure, isTemporalUnreachable } from '../lib/network.ts';
import { pause } from '../lib/time.ts';
import { MigrationError, migrateDatabase, returnToEarlierRelease } from '../store/migrate.ts';
import { openStore } from '../store/orm.ts';
import { DatabaseAddressError, isLostConnection } from '../store/postgres/connection.ts';
import { newerSchema, ReleaseRunsError } from '../store/readiness.ts';
import { withOwnQueues } from './setup/outside.ts';
import { temporalSettings } from './temporal/temporal-server.ts';

const waitMs = 60_000;

interface MigrateOptions {
  /** Leaves Temporal alone. */
  databaseOnly?: boolean;
  /** Goes on while processes of a release are connected that cannot work with the result. */
  force?: boolean;
}

/** Brings Postgres to the newest schema, makes everything that Temporal needs, and prints what was done. Returns whether it worked. */
export function migrate(
  config: Config,
  { databaseOnly = false, force = false }: MigrateOptions = {},
): Promise<boolean> {
  return explained(config, async () => {
    // Read first: a wrong setting must not be found only after the database has changed.
    const temporal = databaseOnly ? null : temporalSettings(config);
    const queues = databaseOnly ? '' : await queuePrefixOf(config);
    await Promise.all([migratePostgres(config, force), temporal && prepareTemporal(queues, temporal)]);
  });
}

/** Puts the functions of the database back for the release with the earlier name, and prints what was done. Returns whether it worked. */
function goBack(config: Config, force: boolean): Promise<boolean> {
  const { setting, url } = directDatabase(config);
  const back = async (address: string) => {
    const functions = await returnToEarlierRelease(address, { setting, force });
    for (const name of functions) console.log(`Postgres: function ${name} installed for the earlier release`);
    console.log('Postgres: ready for the earlier release; npm run migrate makes it ready for this one again');
  };
  return explained(config, async () => {
    if (url !== '') return back(url);
    // Deployments need none of what it loads.
    const { withOwnPostgres } = await import('./start/servers.ts');
    return withOwnPostgres({ ...config, DATA_DIR: resolve(config.DATA_DIR) }, back);
  });
}

async function explained(config: Config, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    for (const line of problem(config, error)) console.error(`fernpost: ${line}`);
    return false;
  }
}

function directDatabase(config: Config): { setting: string; url: string } {
  const setting = config.DIRECT_DATABASE_URL === null ? 'DATABASE_URL' : 'DIRECT_DATABASE_URL';
  return { setting, url: config[setting] ?? '' };
}

async function queuePrefixOf(config: Config): Promise<string> {
  if (config.namesQueues) return config.TEMPORAL_TASK_QUEUE;
  const { url } = directDatabase(config);
  const settings = { url, poolSize: 1, applicationName: 'fernpost-migrate' };
  const read = async () => {
    await using store = await openStore(settings, []);
    return (await withOwnQueues(config, store.db)).TEMPORAL_TASK_QUEUE;
  };
  return whenUp('Postgres', new URL(url).host, read, isLostConnection);
}

async function migratePostgres(config: Config, force: boolean): Promise<void> {
  const { setting, url } = directDatabase(config);
  const say = (line: string) => console.log(`Postgres: ${line}`);
  const migrate = () => migrateDatabase(url, { setting, force, pace: { say } });
  const { applied, functions, unknown } = await whenUp('Postgres', new URL(url).host, migrate, isLostConnection);
  for (const name of functions) console.log(`Postgres: function ${name} installed`);
  const [later] = unknown.slice(-1);
  if (later !== undefined && !config.READY_ON_NEWER_SCHEMA) throw new DatabaseAddressError(newerSchema(later));
  if (later !== undefined) console.log(`Postgres: ${newerSchema(later)}`);
  else if (applied.length + functions.length === 0) console.log('Postgres: the schema is the newest');
}

async function prepareTemporal(queuePrefix: string, settings: TemporalSettings): Promise<void> {
  await using temporal = openTemporal(settings);
  const setUp = () => setUpTemporal(temporal, queuePrefix);
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

// Class 28 is "invalid authorization", 3D000 "no such database".
function isPostgresRefusal(error: unknown): boolean {
  return /^(28|3D)/.test(String((error as { code?: unknown }).code));
}

function problem(config: Config, error: unknown): string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof Error && error.name === 'StartError') return error.message.split('\n');
  if (error instanceof TemporalSetupError) return [error.message];
  if (error instanceof MigrationError || error instanceof ReleaseRunsError || error instanceof DatabaseAddressError)
    return [`Postgres: ${error.message}`];
  if (isLostConnection(error) || isPostgresRefusal(error))
    return [`Postgres: ${(error as Error).message || (error as { code: string }).code} (DATABASE_URL)`];
  if (isTemporalUnreachable(error)) return [`Temporal: ${describeFailure(error, temporalSettings(config))}`];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

// `npm run migrate`; `-- --database` leaves Temporal alone, `-- --for-earlier-release` is for going back (docs/operations/upgrade.md).
if (import.meta.main) {
  const [isBack = false, databaseOnly = false, force = false] = ['--for-earlier-release', '--database', '--force'].map(
    (flag) => process.argv.includes(flag),
  );
  const config = readConfigOrExit(isBack ? [] : databaseOnly ? ['DATABASE_URL'] : ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
  const hasWorked = isBack ? goBack(config, force) : migrate(config, { databaseOnly, force });
  if (!(await hasWorked)) process.exitCode = 1;
}
