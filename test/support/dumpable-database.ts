import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  chooseServerUser,
  freePorts,
  openLog,
  openTerminal,
  postgresIn,
  postgresUrl,
  startPostgres,
} from '@fernpost/local-stack';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { type TestDatabase, testDatabase } from './database.ts';

/** The folder of programs of an installed Postgres, `pg_dump` among them, which the npm package does not bring. */
export const installedPostgres =
  process.env.TEST_DUMP_BIN ?? process.env.TEST_POSTGRES_BIN ?? '/usr/lib/postgresql/15/bin';

/** A database on a server of its own, which came with a `pg_dump` of its version. */
export interface DumpableDatabase extends TestDatabase {
  /** What `pg_dump` writes: the schema and every row, as SQL. Binary columns follow as the text they hold. */
  dump(): Promise<string>;
  /** The log of the server so far. */
  serverLog(): string;
}

/**
 * Starts the installed Postgres: that of TEST_DUMP_BIN or TEST_POSTGRES_BIN, or Debian's for 15.
 * @throws StartError naming what to install
 */
export async function dumpableDatabase(): Promise<DumpableDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-dumpable-'));
  // As root, Postgres runs as another user, which has to get in.
  chmodSync(folder, 0o755);
  const terminal = openTerminal();
  const logFile = join(folder, 'postgres.log');
  const user = await chooseServerUser(folder, terminal.line);
  const options = {
    binaries: await postgresIn(installedPostgres, user),
    user,
    place: join(folder, 'postgres'),
    port: (await freePorts(1))[0] ?? 0,
    password: randomBytes(12).toString('hex'),
    durable: false,
    log: openLog(logFile),
    terminal,
    signal: new AbortController().signal,
    removeWhenOrphaned: folder,
  };
  const server = await startPostgres(options);
  const stop = async () => {
    await server.stop(5_000);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await migrateDatabase(postgresUrl(options));
    const database = await testDatabase(
      10,
      new URL(postgresUrl(options)).pathname.slice(1),
      postgresUrl(options, 'postgres'),
    );
    const close = async () => {
      await database.close();
      await stop();
    };
    return {
      ...database,
      dump: () => dumpOf(join(installedPostgres, 'pg_dump'), database.url, join(folder, 'dump.sql')),
      serverLog: () => readFileSync(logFile, 'utf8'),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function dumpOf(program: string, url: string, file: string): Promise<string> {
  await promisify(execFile)(program, ['--file', file, url]);
  const text = readFileSync(file, 'utf8');
  const binary = [...text.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) =>
    Buffer.from(hex, 'hex').toString('latin1'),
  );
  return [text, ...binary].join('\n');
}
