import { statSync } from 'node:fs';
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
export async function canEnter(user: ServerUser, folder: string): Promise<boolean> {
  const result = await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { cwd: '/', ...asUser(user) });
  return result.failure === null;
}
