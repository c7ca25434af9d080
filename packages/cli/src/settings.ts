import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Posthorn } from '@posthorn/sdk';
import type { Command } from 'commander';
import { UsageError } from './errors.ts';

/** What `posthorn login` keeps. */
export interface Login {
  url: string;
  key: string;
}

const defaultUrl = 'http://localhost:3000';

/** The file with the key: in the folder for settings of the user. */
export function settingsFile(): string {
  const base = process.env.XDG_CONFIG_HOME || process.env.APPDATA || join(homedir(), '.config');
  return join(base, 'posthorn', 'config.json');
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
  try {
    return JSON.parse(readFileSync(settingsFile(), 'utf8')) as Login;
  } catch {
    return {};
  }
}

/** Address and key for a command: its options, then the environment, then what `posthorn login` kept. */
export function loginOf(command: Command): { url: string; key: string | undefined } {
  const options = command.optsWithGlobals<{ url?: string; key?: string }>();
  const { POSTHORN_URL, POSTHORN_KEY } = process.env;
  const kept = readLogin();
  const url = options.url || POSTHORN_URL || kept.url || defaultUrl;
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is no address: it looks like https://mail.acme.com.`);
  return { url, key: options.key || POSTHORN_KEY || kept.key };
}

/** The client of a command. @throws UsageError without a key */
export function clientOf(command: Command): Posthorn {
  const { url, key } = loginOf(command);
  if (!key) throw new UsageError('No key: run "posthorn login", or set POSTHORN_KEY.');
  return new Posthorn({ baseUrl: url, key });
}
