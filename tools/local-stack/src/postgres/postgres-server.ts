import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { launch, type RunningProcess } from '../process/launch.ts';
import type { LogFile } from '../process/log-file.ts';
import { continueUnlessStopped, reasonOf, StartError, type Terminal } from '../terminal.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { clearStaleServer, makeCluster, postgresEnv, postgresName } from './postgres-cluster.ts';
import { asUser, type ServerUser } from './postgres-place.ts';

/** How our own Postgres is to run. */
export interface PostgresOptions {
  binaries: PostgresBinaries;
  user: ServerUser;
  /** Its data folder, which its user can enter. */
  place: string;
  port: number;
  password: string;
  /** The role that owns everything and the database, where those of new data folders are not meant. */
  name?: string;
  /** False gives up every promise about power failures, for tests. */
  durable: boolean;
  /** Megabytes of its cache (`shared_buffers`); an eighth of the machine's memory, at most 256, when absent. */
  sharedMegabytes?: number;
  log: LogFile;
  terminal: Terminal;
  signal: AbortSignal;
  /** A folder to remove with everything in it, should this process be killed. */
  removeWhenOrphaned?: string;
}

/** The address of our own Postgres and of the database in it. */
export function postgresUrl(
  { port, password, name = postgresName }: Pick<PostgresOptions, 'port' | 'password' | 'name'>,
  database = name,
): string {
  return `postgres://${name}:${password}@127.0.0.1:${port}/${database}`;
}

/** Starts our own Postgres, making its data folder and its database where they are missing, and waits until it answers. */
export async function startPostgres(options: PostgresOptions): Promise<RunningProcess> {
  const { binaries, place, user, password, name = postgresName, signal, terminal } = options;
  const making = terminal.progress('Postgres makes its data folder');
  try {
    await makeCluster(binaries, place, user, { name, password }, { signal, sync: options.durable });
  } finally {
    making.end();
  }
  await clearStaleServer(place, terminal.line);
  for (let attempt = 1; ; attempt++) {
    continueUnlessStopped(signal);
    const running = await launchServer(options);
    try {
      await untilReady(running, options);
      await makeDatabase(options);
      return running;
    } catch (error) {
      await running.stop(5_000);
      // The last processes of a killed server may still hold its memory for a moment.
      const held = options.log.tail(20).some((line) => line.includes('pre-existing shared memory block'));
      if (!held || attempt === 10) throw error;
      await sleep(500);
    }
  }
}

function launchServer({
  binaries,
  place,
  user,
  log,
  removeWhenOrphaned,
  ...options
}: PostgresOptions): Promise<RunningProcess> {
  return launch({
    command: join(binaries.bin, 'postgres'),
    args: [
      '-D',
      place,
      ...Object.entries(serverSettings(options)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: postgresEnv,
    cwd: '/',
    ...asUser(user),
    log,
    // SIGINT ends connections and shuts down cleanly; SIGTERM would wait for the last client.
    stopSignal: 'SIGINT',
    orphanGraceSeconds: 8,
    ...(removeWhenOrphaned === undefined ? {} : { remove: removeWhenOrphaned }),
  });
}

function serverSettings({
  port,
  durable,
  sharedMegabytes = Math.max(64, Math.min(256, Math.floor(totalmem() / 2 ** 20 / 8))),
}: Pick<PostgresOptions, 'port' | 'durable' | 'sharedMegabytes'>): Record<string, string | number> {
  return {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: `${sharedMegabytes}MB`,
    effective_cache_size: `${sharedMegabytes * 3}MB`,
    wal_buffers: '4MB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    // Statements here are short; compiling one costs more than it saves, and memory for each connection that did.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and their details hold addresses of people; a log must not.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '512MB' }),
  };
}

async function untilReady(running: RunningProcess, options: PostgresOptions): Promise<void> {
  const waiting = options.terminal.progress('Postgres starts');
  const giveUpAt = Date.now() + 120_000;
  try {
    for (;;) {
      continueUnlessStopped(options.signal);
      if (running.hasExited()) throw didNotStart(await running.exited, options.log);
      const failure = await tryToConnect(postgresUrl(options, 'postgres'));
      if (failure === null) return;
      if (failure.code === '28P01')
        throw new StartError(
          'Postgres does not accept the password kept in DATA_DIR/secrets.json: that file belongs to other data.',
          'Restore it, remove DATA_DIR to begin anew without its data, or set DATABASE_URL.',
        );
      // 57P03: it repairs what a crash left, and takes as long as that takes.
      const repairing = failure.code === '57P03';
      if (repairing) waiting.update('it repairs what a crash left');
      else if (Date.now() > giveUpAt) throw didNotStart(failure.message, options.log);
      await sleep(50);
    }
  } finally {
    waiting.end();
  }
}

function didNotStart(how: string, log: LogFile): StartError {
  return new StartError(
    `Postgres did not start (${how}). Its last lines, from ${log.path}:`,
    ...log.tail(8).map((line) => `  ${line}`),
    'Set POSTGRES_PORT or DATA_DIR if those are in the way, or DATABASE_URL to use another Postgres.',
  );
}

async function tryToConnect(url: string): Promise<{ code: string; message: string } | null> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return { code, message: reasonOf(error) };
  } finally {
    await client.end().catch(() => {});
  }
}

async function makeDatabase(options: PostgresOptions): Promise<void> {
  const { name = postgresName } = options;
  const client = new Client({ connectionString: postgresUrl(options, 'postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
}

/**
 * Makes sure that a Postgres of others answers and is new enough.
 * @throws StartError that names DATABASE_URL and never its password
 */
export async function requirePostgres(url: string): Promise<string> {
  const { host, pathname } = new URL(url);
  const shown = `${host}${pathname}`;
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    const version = rows[0]?.server_version.split(' ')[0] ?? '';
    if (Number.parseInt(version, 10) >= 15) return `${version} at ${shown}`;
    throw new StartError(`DATABASE_URL names a Postgres ${version} at ${shown}; 15 or later is needed.`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `DATABASE_URL does not work: ${shown}: ${reasonOf(error)}.`,
      'Start that Postgres, correct DATABASE_URL, or unset it to let npm start run its own.',
    );
  } finally {
    await client.end().catch(() => {});
  }
}
