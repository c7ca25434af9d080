import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../terminal.ts';
import { canEnter, type ServerUser } from './postgres-user.ts';

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
