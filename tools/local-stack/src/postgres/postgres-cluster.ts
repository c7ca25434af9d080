import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../process/command.ts';
import { commandOf, identityOf, stopLeftover } from '../process/run-file.ts';
import { StartError } from '../terminal.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { asUser, type ServerUser } from './postgres-place.ts';

/** Name of the role that owns everything, and of the database, in a new data folder. */
export const postgresName = 'fernpost';

/** A program's environment for Postgres: nothing of ours that would change what it does. */
export const postgresEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Makes the data folder of a new Postgres unless there is one. It is made beside its place and renamed, so that one half made is never
 * taken for whole. Text is UTF-8 with the rules of Unicode on every machine, whatever its locale.
 * @returns whether it was made
 */
export async function makeCluster(
  binaries: PostgresBinaries,
  place: string,
  user: ServerUser,
  { name, password }: { name: string; password: string },
  options: { signal: AbortSignal; sync: boolean },
): Promise<boolean> {
  if (existsSync(place)) {
    requireSameMajor(binaries, place);
    return false;
  }
  const unfinished = `${place}.new`;
  const passwordFile = `${place}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700, recursive: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) {
    chownSync(unfinished, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  try {
    const made = await runCommand(
      join(binaries.bin, 'initdb'),
      [
        `--pgdata=${unfinished}`,
        `--username=${name}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        ...localeArguments(binaries.version),
        ...(options.sync ? [] : ['--no-sync']),
      ],
      { cwd: '/', env: postgresEnv, signal: options.signal, ...asUser(user) },
    );
    if (made.failure)
      throw new StartError(
        `Postgres could not make its data folder ${place} (initdb ${made.failure}):`,
        ...made.stderr.trim().split('\n').slice(-5),
        'Set DATA_DIR to a folder on a local disk, or set DATABASE_URL.',
      );
    renameSync(unfinished, place);
    return true;
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(unfinished, { recursive: true, force: true });
  }
}

// The provider `builtin`, the same on every machine, came with Postgres 17; before it, the C library's C.UTF-8 is the nearest.
function localeArguments(version: string): string[] {
  return Number.parseInt(version, 10) >= 17
    ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    : ['--locale=C.UTF-8'];
}

function requireSameMajor({ version }: PostgresBinaries, place: string): void {
  const path = join(place, 'PG_VERSION');
  const found = existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
  const major = version.split('.')[0];
  if (found === null)
    throw new StartError(`${place} is there and is no data of Postgres. Move it away, or set DATA_DIR.`);
  if (found !== major)
    throw new StartError(
      `The data in ${place} was written by Postgres ${found}, and this is ${version}.`,
      `Dump it with Postgres ${found} and restore it (docs/operations/upgrade.md, "Upgrading"), or set DATABASE_URL.`,
    );
}

/**
 * Stops a Postgres that still runs on this data because whoever started it was killed, and removes a lock file whose process number now
 * belongs to another program. All else about a crash Postgres repairs by itself.
 */
export async function clearStaleServer(place: string, say: (line: string) => void): Promise<void> {
  const path = join(place, 'postmaster.pid');
  if (!existsSync(path)) return;
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
  const identity = Number.isInteger(pid) && pid > 1 ? identityOf(pid) : null;
  if (identity === null) return;
  if (!/postgres/.test(commandOf(pid))) {
    rmSync(path, { force: true });
    return;
  }
  say(`Stopping the Postgres that an earlier run left behind (process ${pid})`);
  await stopLeftover('postgres', identity);
}
