import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cli as earlier } from '@fernpost/earlier-name';
import { Fernpost } from '@fernpost/sdk';
import type { Command } from 'commander';
import { UsageError } from './errors.ts';

/** What `fernpost login` keeps. */
export interface Login {
  url: string;
  key: string;
}

const defaultUrl = 'http://localhost:3000';

/** The file with the key: in the folder for settings of the user. */
export function settingsFile(folder = 'fernpost'): string {
  const base = process.env.XDG_CONFIG_HOME || process.env.APPDATA || join(homedir(), '.config');
  return join(base, folder, 'config.json');
}

/** Keeps the key where only the user can read it. */
export function saveLogin(login: Login): void {
  const file = settingsFile();
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  // The mode of a file that exists would stay.
  writeFileSync(`${file}.new`, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

function readLogin(): Partial<Login> {
  for (const file of [settingsFile(), settingsFile(earlier.folder)]) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Login;
    } catch {
      // Nobody has logged in there.
    }
  }
  return {};
}

/** Address and key for a command: its options, then the environment, then what `fernpost login` kept. */
export function loginOf(command: Command): { url: string; key: string | undefined } {
  const options = command.optsWithGlobals<{ url?: string; key?: string }>();
  const { FERNPOST_URL, FERNPOST_KEY, [earlier.url]: earlierUrl, [earlier.key]: earlierKey } = process.env;
  const kept = readLogin();
  const url = options.url || FERNPOST_URL || earlierUrl || kept.url || defaultUrl;
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is no address: it looks like https://mail.acme.com.`);
  return { url, key: options.key || FERNPOST_KEY || earlierKey || kept.key };
}

/** The client of a command. @throws UsageError without a key */
export function clientOf(command: Command): Fernpost {
  const { url, key } = loginOf(command);
  if (!key) throw new UsageError('No key: run "fernpost login", or set FERNPOST_KEY.');
  return new Fernpost({ baseUrl: url, key });
}
