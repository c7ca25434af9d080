import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  chooseServerUser,
  findPostgres,
  findTemporalCli,
  freePorts,
  openLog,
  openTerminal,
  postgresUrl,
  type RunningProcess,
  startPostgres,
  startTemporal,
} from '@fernpost/local-stack';
import { Client } from 'pg';
import { entities } from '../../src/main/setup/database-settings.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { openStore, type Store } from '../../src/store/orm.ts';

/** Servers of a benchmark, with a migrated database of its own. */
export interface BenchServices extends AsyncDisposable {
  databaseUrl: string;
  temporalAddress: string;
}

/**
 * Starts Postgres, with the settings it is shipped with, and where asked for Temporal, as `npm start` does.
 * BENCH_DATABASE_URL and BENCH_TEMPORAL_ADDRESS name servers that run already. `keep` names a database that is made when it is
 * missing and stays afterwards, which makes sense on a server that runs already. `sharedMegabytes` is the cache of Postgres, where it is another.
 */
export async function benchServices({
  temporal,
  keep,
  sharedMegabytes,
}: {
  temporal: boolean;
  keep?: string | undefined;
  sharedMegabytes?: number | undefined;
}): Promise<BenchServices> {
  const terminal = openTerminal();
  const { signal } = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-bench-'));
  chmodSync(folder, 0o755);
  const running: RunningProcess[] = [];

  const startDatabase = async () => {
    const user = await chooseServerUser(folder, terminal.line);
    const options = {
      binaries: await findPostgres(user),
      user,
      place: join(folder, 'postgres'),
      port: (await freePorts(1))[0] ?? 0,
      password: randomBytes(12).toString('hex'),
      durable: true,
      ...(sharedMegabytes !== undefined && { sharedMegabytes }),
      log: openLog(join(folder, 'postgres.log')),
      terminal,
      signal,
      removeWhenOrphaned: folder,
    };
    running.push(await startPostgres(options));
    return postgresUrl(options, 'postgres');
  };
  const startServer = async () => {
    const fallbackCache = fileURLToPath(new URL('../../.cache', import.meta.url));
    const cli = await findTemporalCli({
      env: process.env,
      setting: process.env.TEMPORAL_CLI || null,
      fallbackCache,
      terminal,
      signal,
    });
    const port = (await freePorts(1))[0] ?? 0;
    const log = openLog(join(folder, 'temporal.log'));
    const databaseFile = join(folder, 'temporal.db');
    running.push(await startTemporal({ cli, port, uiPort: null, databaseFile, log, terminal, signal }));
    return `127.0.0.1:${port}`;
  };

  const admin = process.env.BENCH_DATABASE_URL ?? (await startDatabase());
  const temporalAddress = temporal ? (process.env.BENCH_TEMPORAL_ADDRESS ?? (await startServer())) : '127.0.0.1:9';
  const name = keep ?? `bench_${randomBytes(4).toString('hex')}`;
  if (!/^\w+$/.test(name)) throw new Error(`"${name}" cannot be the name of a database here`);
  const isThere = await query(admin, `select from pg_database where datname = '${name}'`);
  if (isThere === 0) await query(admin, `create database ${name}`);
  const databaseUrl = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  await migrateDatabase(databaseUrl);
  return {
    databaseUrl,
    temporalAddress,
    async [Symbol.asyncDispose]() {
      if (keep === undefined) await query(admin, `drop database if exists ${name} with (force)`).catch(() => undefined);
      await Promise.all(running.map((server) => server.stop(5_000)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the database of a benchmark with the entities of the service, for its functions need theirs. */
export function benchStore(url: string, poolSize: number): Promise<Store> {
  return openStore({ url, poolSize, applicationName: 'fernpost-bench' }, entities);
}

/** Runs a statement and answers how many rows it gave. */
async function query(url: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
