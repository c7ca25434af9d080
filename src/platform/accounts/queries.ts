import { type Database, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import type { User } from './entity.ts';

/** Kinds of accounts; an account keeps its kind. */
export type AccountType = User['type'];

interface NewUser extends Pick<User, 'email' | 'type' | 'emailVerified'> {
  passwordHash: string | null;
  /** Whether they signed up without an operator, on a service whose mail reaches people. */
  selfRegistered: boolean;
}

/** Adds a user; null when the address is taken, whoever took it a moment before. */
export async function insertUser(
  db: Database,
  user: NewUser,
): Promise<Pick<User, 'id' | 'email' | 'type' | 'sessionVersion'> | null> {
  const { email, passwordHash, type, emailVerified, selfRegistered } = user;
  const id = newId();
  const added = await db.count(sql`
    insert into users (id, email, password_hash, type, email_verified, self_registered)
      values (${id}, ${email}, ${passwordHash}, ${type}, ${emailVerified}, ${selfRegistered}) on conflict (email) do nothing`);
  return added === 0 ? null : { id, email, type, sessionVersion: 0 };
}
