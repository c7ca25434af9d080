import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { cacheFolderName } from '@fernpost/earlier-name';
import type { Terminal } from '../terminal.ts';

/** Where to search for a `temporal` program. */
export interface TemporalSearch {
  env: NodeJS.ProcessEnv;
  /** The value of TEMPORAL_CLI. */
  setting: string | null;
  /** A folder for what is downloaded or built, used when the home folder cannot be written. */
  fallbackCache: string;
  terminal: Terminal;
  signal: AbortSignal;
}

// Of the server's processor time Go's garbage collection takes 13 of 100 with Go's own 100, and 2.5 with 400; but then the idle server, of
// whose memory 40 MB is live, lets it grow to 200 MB before it collects.
const collectAt = '200';

/** The environment for the program, without the TEMPORAL_ variables: some of ours mean something else to it. */
export function temporalEnv(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return { GOGC: collectAt, ...Object.fromEntries(inherited) };
}

/** The first executable file of this name on the PATH, or null. */
export function findProgram(name: string, env: NodeJS.ProcessEnv, more: readonly string[] = []): string | null {
  for (const folder of [...(env.PATH ?? '').split(delimiter), ...more]) {
    if (folder === '') continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** The folder for what is downloaded or built: that of the user's caches, or the fallback where it cannot be written. */
export function cacheFolder(env: NodeJS.ProcessEnv, fallback: string): string {
  const home = env.HOME || homedir();
  const caches = env.XDG_CACHE_HOME || join(home, '.cache');
  const [current, earlier] = [join(caches, 'fernpost'), join(caches, cacheFolderName)];
  const own = existsSync(earlier) && !existsSync(current) ? earlier : current;
  for (const folder of [own, fallback]) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // A user without a home, or with one that is read-only.
    }
  }
  return fallback;
}
