import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cli as earlier } from '@fernpost/earlier-name';
import { Fernpost } from '@fernpost/sdk';
import type { Command } from 'commander';
import { isJson, UsageError } from './terminal.ts';

/** A service and a key for it, as `fernpost login` keeps them. */
interface Login {
  url: string;
  key: string;
}

/** The stored settings of the user: logins by the names of their profiles, and which one is used when none is named. */
export interface Settings {
  current: string;
  profiles: Record<string, Login>;
}

/** The service that a command calls. */
export interface Target {
  url: string;
  key: string | undefined;
  profile: string;
}

const defaultUrl = 'http://localhost:3000';
const firstProfile = 'default';

/** The file with the keys: in the folder for settings of the user. */
export function settingsFile(folder = 'fernpost'): string {
  const base = process.env.XDG_CONFIG_HOME || process.env.APPDATA || join(homedir(), '.config');
  return join(base, folder, 'config.json');
}

/** Reads the stored settings; empty before the first login. */
export function readSettings(): Settings {
  for (const file of [settingsFile(), settingsFile(earlier.folder)]) {
    try {
      const kept = JSON.parse(readFileSync(file, 'utf8')) as Partial<Settings & Login>;
      const { url, key, profiles, current = firstProfile } = kept;
      // A file from before there were profiles has one login.
      return { current, profiles: profiles ?? (url && key ? { [firstProfile]: { url, key } } : {}) };
    } catch {
      // Nobody has logged in there.
    }
  }
  return { current: firstProfile, profiles: {} };
}

/** Keeps the keys where only the user can read them. */
export function writeSettings(settings: Settings): void {
  const file = settingsFile();
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  // The mode of a file that exists would stay.
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

interface GlobalOptions {
  url?: string;
  key?: string;
  keyFile?: string;
  profile?: string;
}

/** Address and key for a command: its options, then the environment, then the profile. A profile that `--profile` names comes before the environment. */
export function targetOf(command: Command): Target {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { FERNPOST_URL, FERNPOST_KEY, FERNPOST_KEY_FILE, FERNPOST_PROFILE } = process.env;
  const { [earlier.url]: earlierUrl, [earlier.key]: earlierKey } = process.env;
  const { current, profiles } = readSettings();
  const profile = options.profile || FERNPOST_PROFILE || current;
  const kept = profiles[profile];
  const isNamed = options.profile !== undefined;
  const url = options.url || (isNamed ? kept?.url : FERNPOST_URL || earlierUrl || kept?.url) || defaultUrl;
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not a valid URL. A valid one: https://mail.acme.com.`);
  const given = options.key || (options.keyFile && keyIn(options.keyFile));
  const ofEnvironment = FERNPOST_KEY || earlierKey || (FERNPOST_KEY_FILE && keyIn(FERNPOST_KEY_FILE));
  // A key is sent to the service that it was stored for, and to no other.
  const ofProfile = kept?.url === url ? kept.key : undefined;
  return { url, key: given || (isNamed ? ofProfile : ofEnvironment || ofProfile) || undefined, profile };
}

/** The same, where a command needs a key. @throws UsageError that names the ways to give one */
export function keyedTargetOf(command: Command): Target & { key: string } {
  const { url, key, profile } = targetOf(command);
  if (key !== undefined) return { url, key, profile };
  const { profiles } = readSettings();
  const { profile: named } = command.optsWithGlobals<GlobalOptions>();
  if (named !== undefined && profiles[named] === undefined)
    throw new UsageError(`There is no profile "${named}". Create it: fernpost login --profile ${named}`);
  throw new UsageError(`No key for ${url}: run "fernpost login", or set FERNPOST_KEY or FERNPOST_KEY_FILE.`);
}

/** The client of a command. @throws UsageError without a key */
export function clientOf(command: Command): Fernpost {
  const { url, key } = keyedTargetOf(command);
  const onWarning = (warning: string) =>
    console.error(isJson(command) ? JSON.stringify({ warning }) : `Warning: ${warning}`);
  return new Fernpost({ baseUrl: url, key, onWarning });
}

/** The key in a file; "-" reads standard input. */
function keyIn(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').trim();
  } catch {
    throw new UsageError(`The key file ${path} cannot be read.`);
  }
}
