import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolderName } from '@fernpost/earlier-name';
import { expect, test } from 'vitest';
import { StartError } from '../src/start-error.ts';
import { devServerArguments, devServerFlags, temporalCliVersion } from '../src/temporal/dev-server.ts';
import { findTemporalCli, usualWays } from '../src/temporal/temporal-cli.ts';
import { cacheFolder } from '../src/temporal/temporal-search.ts';
import { fakeTerminal, script, temporaryFolder } from './fakes.ts';

const goodVersion = 'echo "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"';
const goodHelp = `echo "${devServerFlags.join(' ')}"`;

function cli(path: string, version = goodVersion, help = goodHelp): string {
  return script(path, `if [ "$1" = --version ]; then ${version}; else ${help}; fi`);
}

function searchIn(folder: string, setting: string | null = null) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  return {
    env: { PATH: join(folder, 'bin'), HOME: folder },
    setting,
    fallbackCache: join(folder, 'cache'),
    terminal: fakeTerminal(),
    signal: new AbortController().signal,
  };
}

const kept = (folder: string) =>
  join(folder, '.cache/fernpost', `temporal-cli-${temporalCliVersion}-${process.platform}-${process.arch}`);

/** The usual ways, with those that reach out replaced by what they are to answer. */
function ways(answers: Record<string, string | ((cached: string) => { path: string })>) {
  return usualWays.map((way) => {
    const answer = Object.entries(answers).find(([name]) => way.name.startsWith(name))?.[1];
    if (answer === undefined) return way;
    return {
      ...way,
      get: async (_: unknown, cached: string) => (typeof answer === 'string' ? answer : answer(cached)),
    };
  });
}
const noneElsewhere = { download: 'no network', build: 'Go is not installed' };

test('TEMPORAL_CLI is used before anything on the PATH, and the line says so', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path, cli(join(folder.path, 'mine')));
  cli(join(folder.path, 'bin/temporal'));
  const found = await findTemporalCli(search, ways(noneElsewhere));
  expect(found.path).toBe(join(folder.path, 'mine'));
  expect(found.description).toContain('1.5.1');
  expect(found.description).toContain('TEMPORAL_CLI');
});

test('a TEMPORAL_CLI that does not work stops the start, even with another on the PATH', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path, join(folder.path, 'nowhere'));
  cli(join(folder.path, 'bin/temporal'));
  await expect(findTemporalCli(search, ways(noneElsewhere))).rejects.toThrow(
    /^TEMPORAL_CLI .*nowhere: there is no such program/,
  );
});

test('the PATH comes before the cache, and the cache before a download', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  mkdirSync(join(folder.path, '.cache/fernpost'), { recursive: true });
  cli(kept(folder.path));
  const download = ways({ download: (cached) => ({ path: cli(`${cached}-downloaded`) }), build: 'not reached' });
  expect((await findTemporalCli(search, download)).path).toBe(kept(folder.path));
  cli(join(folder.path, 'bin/temporal'));
  expect((await findTemporalCli(search, download)).path).toBe(join(folder.path, 'bin/temporal'));
});

test('a cache of the earlier name is used where there is no other', async () => {
  using folder = temporaryFolder();
  const { env, fallbackCache } = searchIn(folder.path);
  const [current, earlier] = ['fernpost', cacheFolderName].map((name) => join(folder.path, '.cache', name)) as [
    string,
    string,
  ];
  expect(cacheFolder(env, fallbackCache)).toBe(current);
  rmSync(current, { recursive: true });
  mkdirSync(earlier);
  expect(cacheFolder(env, fallbackCache)).toBe(earlier);
  mkdirSync(current);
  expect(cacheFolder(env, fallbackCache)).toBe(current);
});

test('a failed download falls back to the build, whose program is kept for the next start', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const built = await findTemporalCli(
    search,
    ways({ download: 'no network', build: (cached) => ({ path: cli(cached) }) }),
  );
  expect(built.description).toContain('built from packages/local-stack/go.mod');
  const again = await findTemporalCli(search, ways({ download: 'not reached', build: 'not reached' }));
  expect(again.path).toBe(kept(folder.path));
});

test.each([
  ['is too old', 'echo "temporal version 1.0.0 (Server 1.24.2, UI 2.28.0)"', goodHelp, 'its server 1.24 is too old'],
  [
    'lacks a flag',
    goodVersion,
    `echo "${devServerFlags.filter((flag) => flag !== '--sqlite-pragma').join(' ')}"`,
    'it lacks --sqlite-pragma',
  ],
  [
    'is another program',
    'echo "temporal: a clock"',
    goodHelp,
    'it does not tell the version of a Temporal CLI but "temporal: a clock"',
  ],
  ['fails', 'exit 3', goodHelp, 'ended with status 3'],
])('a program on the PATH that %s is passed over', async (_what, version, help, reason) => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  cli(join(folder.path, 'bin/temporal'), version, help);
  const found = await findTemporalCli(search, ways({ download: 'no', build: (cached) => ({ path: cli(cached) }) }));
  expect(found.path).toBe(kept(folder.path));
  rmSync(kept(folder.path));
  await expect(findTemporalCli(search, ways(noneElsewhere))).rejects.toThrow(`PATH: ${reason}`);
});

test('when no way works the error names every way, why it failed, and what to do', async () => {
  using folder = temporaryFolder();
  const failure = await findTemporalCli(searchIn(folder.path), ways(noneElsewhere)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  const text = String(failure);
  for (const said of [
    'TEMPORAL_ADDRESS, TEMPORAL_CLI: not set',
    'PATH: no temporal in it',
    'cache: there is no ',
    'download by the Temporal SDK: no network',
    'build of the Go module in packages/local-stack/: Go is not installed',
    'install the Temporal CLI',
    'install Go 1.25',
    'set TEMPORAL_ADDRESS',
  ])
    expect(text).toContain(said);
});

test('a build asks Go for the pinned package and keeps nothing when it fails', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const asked = join(folder.path, 'asked');
  script(
    join(folder.path, 'bin/go'),
    `echo "$@" >> ${asked}\ncase $1 in env) echo go1.26.0 ;; list) echo one; echo two ;; build) echo "disk full" >&2; exit 1 ;; esac`,
  );
  const onlyBuild = usualWays.filter((way) => way.name.startsWith('build'));
  await expect(findTemporalCli(search, onlyBuild)).rejects.toThrow(
    'build of the Go module in packages/local-stack/: the build failed: disk full',
  );
  expect(readFileSync(asked, 'utf8')).toMatch(
    /^build .*-mod=readonly .*-o \S+ github\.com\/temporalio\/cli\/cmd\/temporal$/m,
  );
  expect(existsSync(kept(folder.path))).toBe(false);
});

test('the development server keeps its data in the file with the settings that make it fast, on the loopback address only', () => {
  const line = devServerArguments({ port: 7233, uiPort: 8233, databaseFile: '/data/temporal.db' }).join(' ');
  for (const part of [
    '--ip 127.0.0.1 --port 7233 --ui-port 8233',
    '--db-filename /data/temporal.db --sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=NORMAL',
    '--dynamic-config-value history.transferProcessorMaxPollRPS=500',
    '--dynamic-config-value history.timerProcessorMaxPollRPS=500',
  ])
    expect(line).toContain(part);
});
