import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../process/command.ts';
import { StartError } from '../terminal.ts';

/** The system user that Postgres runs as when we are root; null stands for our own. */
export type ServerUser = { name: string; uid: number; gid: number } | null;

const userName = 'postgres';

/**
 * Chooses the user for Postgres, which refuses to run as root: the owner of data that is already there, else `postgres`, which is made
 * where it is missing.
 */
export async function chooseServerUser(dataFolder: string, say: (line: string) => void): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const found = await lookUp(userName);
  if (found) return found;
  const made = await runCommand('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/bin/false',
    userName,
  ]);
  const user = await lookUp(userName);
  if (user) {
    say(`Made the system user "${userName}": Postgres refuses to run as root`);
    return user;
  }
  throw new StartError(
    `Postgres refuses to run as root, and the system user "${userName}" could not be made (useradd: ${made.failure}).`,
    `Make that user, run npm start as an ordinary user, or set DATABASE_URL.`,
  );
}

async function lookUp(name: string): Promise<ServerUser> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => runCommand('id', [flag, name])));
  if (!uid || !gid || uid.failure || gid.failure) return null;
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** The part of spawn options that makes a program run as this user. */
export function asUser(user: ServerUser): { uid?: number; gid?: number } {
  return user === null ? {} : { uid: user.uid, gid: user.gid };
}

/** Whether the user can enter a folder, every folder above it included. */
async function canEnter(user: ServerUser, folder: string): Promise<boolean> {
  const result = await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { cwd: '/', ...asUser(user) });
  return result.failure === null;
}

// Homes of root are closed to others, and Postgres runs as another user then. Temporary folders would lose the data at the next boot.
const usualPlaces = ['/var/lib/fernpost', '/opt/fernpost'];

/** A folder outside of every home that the user can enter, or null where none can be made. Only root needs one. */
export async function openPlace(user: ServerUser, places = usualPlaces): Promise<string | null> {
  for (const place of places) {
    try {
      mkdirSync(place, { recursive: true });
      chmodSync(place, 0o755);
    } catch {
      continue;
    }
    if (await canEnter(user, place)) return place;
  }
  return null;
}

/**
 * Where the data really goes: the wanted folder; or, where its user cannot get to that, an open place to which the wanted folder becomes
 * a symbolic link.
 * @throws StartError when there is no such place
 */
export async function placeForData(
  wanted: string,
  user: ServerUser,
  say: (line: string) => void,
  places = usualPlaces,
): Promise<string> {
  if (existsSync(wanted)) {
    const place = realpathSync(wanted);
    if (await canEnter(user, place)) return place;
    throw new StartError(
      `The user "${user?.name ?? 'running this'}" of Postgres cannot enter its data in ${place}.`,
      'Open the folders above it (chmod o+x), set DATA_DIR to a folder it can enter, or set DATABASE_URL.',
    );
  }
  // A link to a place that is gone.
  if (lstatSync(wanted, { throwIfNoEntry: false })) rmSync(wanted);
  if (user === null || (await canEnter(user, dirname(wanted)))) return wanted;
  const open = await openPlace(user, places);
  if (open === null)
    throw new StartError(
      `The user "${user.name}" of Postgres cannot enter ${dirname(wanted)}, and none of ${places.join(', ')} can be made.`,
      'Set DATA_DIR to a folder that user can enter, run npm start as an ordinary user, or set DATABASE_URL.',
    );
  const folder = mkdtempSync(join(open, 'data-'));
  chownSync(folder, user.uid, user.gid);
  const place = join(folder, 'postgres');
  symlinkSync(place, wanted);
  say(`Postgres keeps its data in ${place}: its user "${user.name}" cannot enter ${dirname(wanted)}`);
  return place;
}
