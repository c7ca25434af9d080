import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findTemporalCli,
  freePorts,
  openLog,
  openTerminal,
  type RunningProcess,
  startTemporal,
} from '@fernpost/local-stack';

/** A Temporal server of one test, whose store can be lost and restored. */
export interface TemporalStore extends AsyncDisposable {
  /** host:port, the same after every start. */
  readonly address: string;
  /** Where its store is. */
  readonly databaseFile: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Takes a back-up of the stopped server's store. */
  backUp(): void;
  /** Puts the back-up in the place of the stopped server's store. */
  restore(): void;
  /** Removes the stopped server's store: it starts empty. */
  wipe(): void;
}

/** Starts a development server with a database file of its own. */
export async function temporalStore(): Promise<TemporalStore> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-store-'));
  const databaseFile = join(folder, 'temporal.db');
  const files = ['', '-wal', '-shm'].map((end) => databaseFile + end);
  const backUpOf = (file: string) => `${file}.back-up`;
  const terminal = openTerminal();
  const { signal } = new AbortController();
  const fallbackCache = fileURLToPath(new URL('../../.cache', import.meta.url));
  const setting = process.env.TEMPORAL_CLI || null;
  const cli = await findTemporalCli({ env: process.env, setting, fallbackCache, terminal, signal });
  const [port = 0] = await freePorts(1);
  const log = openLog(join(folder, 'temporal.log'));
  let running: RunningProcess | null = null;
  const store: TemporalStore = {
    address: `127.0.0.1:${port}`,
    databaseFile,
    async start() {
      running = await startTemporal({ cli, port, uiPort: null, databaseFile, log, terminal, signal });
    },
    async stop() {
      await running?.stop(10_000);
      running = null;
    },
    backUp() {
      for (const file of files) {
        rmSync(backUpOf(file), { force: true });
        if (existsSync(file)) cpSync(file, backUpOf(file));
      }
    },
    restore() {
      store.wipe();
      for (const file of files) if (existsSync(backUpOf(file))) cpSync(backUpOf(file), file);
    },
    wipe() {
      for (const file of files) rmSync(file, { force: true });
    },
    async [Symbol.asyncDispose]() {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await store.start();
  return store;
}
