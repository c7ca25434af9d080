import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../process/command.ts';
import { continueUnlessStopped, StartError } from '../start-error.ts';
import { devServerFlags, temporalCliVersion } from './dev-server.ts';
import { buildTemporal } from './temporal-build.ts';
import { downloadTemporal } from './temporal-download.ts';
import { cacheFolder, findProgram, type TemporalSearch, temporalEnv } from './temporal-search.ts';

/** A `temporal` program that can run the development server. */
export interface TemporalCli {
  path: string;
  /** What it is and where it came from, for the person at the terminal. */
  description: string;
}

/** One way to get a `temporal` program. */
export interface Way {
  name: string;
  /** How the program is described when this way brought it. */
  source: (path: string) => string;
  /** Answers the program, or why this way brought none. `cached` is the file in which a program that was fetched or built is kept. */
  get: (search: TemporalSearch, cached: string) => Promise<{ path: string } | string>;
}

/** The ways in the order in which they are tried. */
export const usualWays: readonly Way[] = [
  {
    name: 'PATH',
    source: (path) => `found at ${path}`,
    async get({ env }) {
      const path = findProgram('temporal', env);
      return path === null ? 'no temporal in it' : { path };
    },
  },
  {
    name: 'cache',
    source: (path) => `kept in ${fromHome(dirname(path))}`,
    get: async (_search, cached) => (existsSync(cached) ? { path: cached } : `there is no ${cached} yet`),
  },
  {
    name: 'download by the Temporal SDK',
    source: (path) => `downloaded, kept in ${fromHome(dirname(path))}`,
    get: (search, cached) => downloadTemporal(cached, search),
  },
  {
    name: 'build of the Go module in packages/local-stack/',
    source: (path) => `built from packages/local-stack/go.mod, kept in ${fromHome(dirname(path))}`,
    get: (search, cached) => buildTemporal(cached, search),
  },
];

/**
 * Finds a `temporal` program, or gets one: TEMPORAL_CLI, PATH, the cache, the download of the SDK, a build of the pinned Go module.
 * TEMPORAL_CLI is a decision: when it does not work, nothing else is tried.
 * @throws StartError naming every way that was tried and why it failed
 */
export async function findTemporalCli(search: TemporalSearch, ways = usualWays): Promise<TemporalCli> {
  const { env, setting, signal } = search;
  if (setting !== null) {
    const found = await inspect(setting, `named by TEMPORAL_CLI`, signal);
    if (typeof found !== 'string') return found;
    throw new StartError(`TEMPORAL_CLI ${setting}: ${found}.`, 'Correct it, or unset it to let another be found.');
  }
  const kept = `temporal-cli-${temporalCliVersion}-${process.platform}-${process.arch}`;
  const cached = join(cacheFolder(env, search.fallbackCache), kept);
  const tried: string[] = [];
  for (const { name, get, source } of ways) {
    continueUnlessStopped(signal);
    const got = await get(search, cached);
    const found = typeof got === 'string' ? got : await inspect(got.path, source(got.path), signal);
    if (typeof found !== 'string') return found;
    tried.push(`  ${name}: ${found}`);
  }
  throw new StartError(
    'There is no way to run Temporal on this machine. Tried:',
    '  TEMPORAL_ADDRESS, TEMPORAL_CLI: not set',
    ...tried,
    'Do one of these: install the Temporal CLI (https://docs.temporal.io/cli), so that "temporal" is on the PATH or named by',
    'TEMPORAL_CLI; install Go 1.25 or later (https://go.dev/dl), which builds it once; or set TEMPORAL_ADDRESS to a server that runs.',
  );
}

/** Asks a program what it is. Answers why it will not do, or the program. */
async function inspect(path: string, source: string, signal: AbortSignal): Promise<TemporalCli | string> {
  const ask = (...args: string[]) => runCommand(path, args, { limitMs: 20_000, signal, env: temporalEnv() });
  const [version, help] = await Promise.all([ask('--version'), ask('server', 'start-dev', '--help')]);
  if (version.failure) return version.failure;
  const told = /temporal version (\S+) \(Server (\d+)\.(\d+)[^,)]*/.exec(version.stdout);
  if (!told)
    return `it does not tell the version of a Temporal CLI but "${version.stdout.trim().split('\n')[0] ?? ''}"`;
  const [, cli, major, minor] = told;
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 25))
    return `its server ${major}.${minor} is too old: 1.25 or later is needed`;
  const missing = devServerFlags.filter((flag) => !help.stdout.includes(flag));
  if (missing.length > 0) return `it lacks ${missing.join(', ')}: version ${temporalCliVersion} has them`;
  return { path, description: `CLI ${cli} with server ${major}.${minor}, ${source}` };
}

function fromHome(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
