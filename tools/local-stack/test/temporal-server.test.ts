import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePorts } from '../src/ports.ts';
import { openLog } from '../src/process/log-file.ts';
import { findTemporalCli } from '../src/temporal/temporal-cli.ts';
import { startTemporal, tablesOf } from '../src/temporal/temporal-server.ts';
import { StartError } from '../src/terminal.ts';
import { fakeCli, fakeServer, fakeTerminal, temporaryFolder } from './fakes.ts';

/** Starts what a program runs on the folder's database, and stops it. Returns what the terminal shows. */
async function startOnce(folder: string, server = fakeServer()): Promise<string> {
  const terminal = fakeTerminal();
  const { signal } = new AbortController();
  const path = fakeCli(join(folder, 'temporal'), { server });
  const env = { PATH: '', HOME: folder };
  const cli = await findTemporalCli({ env, setting: path, fallbackCache: folder, terminal, signal });
  const [port = 0] = await freePorts(1);
  const log = openLog(join(folder, 'temporal.log'));
  const databaseFile = join(folder, 'temporal.db');
  const running = await startTemporal({ cli, port, uiPort: null, databaseFile, log, terminal, signal });
  await running.stop(5_000);
  return terminal.text();
}
const databases = (folder: string) => readdirSync(folder).filter((name) => /^temporal\.db(\.[\d-]+)?$/.test(name));
const [databaseName, aside] = ['temporal.db', expect.stringMatching(/^temporal\.db\.\d{8}-\d{6}$/)];

test('a database of the same version is used again, for its owner alone', async () => {
  using folder = temporaryFolder();
  await startOnce(folder.path);
  const { ino, mode } = statSync(join(folder.path, databaseName));
  expect(mode & 0o777).toBe(0o600);
  expect(await startOnce(folder.path)).toBe('');
  expect(statSync(join(folder.path, databaseName)).ino).toBe(ino);
});

test('a database of another version is set aside with one line, and the server starts with an empty one', async () => {
  using folder = temporaryFolder();
  await startOnce(folder.path);
  const before = tablesOf(join(folder.path, databaseName));
  const text = await startOnce(folder.path, fakeServer('newer'));
  expect(text.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^Temporal {2}\S+temporal\.db is of another version than this server: kept as temporal\.db\.\d{8}-\d{6}; all work continues from the database$/,
    ),
  ]);
  expect(databases(folder.path)).toEqual([databaseName, aside]);
  const [, kept = ''] = databases(folder.path);
  expect(tablesOf(join(folder.path, kept))).toBe(before);
  expect(tablesOf(join(folder.path, databaseName))).not.toBe(before);
});

// Says so and ends when there is a database that it did not make itself, as a server does that cannot read one.
const failsOnOld = `if [ -e ${'"$DB"'} ] && [ ! -e "$DB.unfinished" ]; then echo unreadable >&2; exit 1; fi`;
const databaseOf = 'DB=$(echo "$*" | sed "s/.*--db-filename \\([^ ]*\\).*/\\1/")';

test('a database on which the server does not start is tried and then set aside', async () => {
  using folder = temporaryFolder();
  await startOnce(folder.path);
  const text = await startOnce(folder.path, `${databaseOf}; ${failsOnOld}; ${fakeServer()}`);
  expect(text).toMatch(/temporal\.db cannot be read by this server: kept as temporal\.db\./);
  expect(databases(folder.path)).toEqual([databaseName, aside]);
});

test('a database stays where it is when the server does not start with an empty one either', async () => {
  using folder = temporaryFolder();
  await startOnce(folder.path);
  const { ino } = statSync(join(folder.path, databaseName));
  const always = `${databaseOf}; case "$DB" in *fernpost-temporal-*) ;; *) echo "no space left" >&2; exit 1 ;; esac; ${fakeServer()}`;
  const failure = await startOnce(folder.path, always).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  expect(String(failure)).toContain('no space left');
  expect(databases(folder.path)).toEqual([databaseName]);
  expect(statSync(join(folder.path, databaseName)).ino).toBe(ino);
  expect(existsSync(join(folder.path, `${databaseName}.unfinished`))).toBe(false);
});
