import { type Database, raw, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';

/** Kinds of accounts; an account keeps its kind. */
export type AccountType = 'PASSWORD' | 'GOOGLE_OAUTH' | 'GITHUB_OAUTH';

/** What signing in reads of a user. */
export interface UserRow {
  id: string;
  email: string;
  passwordHash: string | null;
  type: AccountType;
  emailVerified: boolean;
  sessionVersion: number;
}

const columns = `id, email, password_hash as "passwordHash", type, email_verified as "emailVerified",
  session_version as "sessionVersion"`;

/** The user with this address (trimmed, lower case), or null. */
export function userByEmail(db: Database, email: string): Promise<UserRow | null> {
  return db.row<UserRow>(sql`select ${raw(columns)} from users where email = ${email}`);
}

/** The user with this id, or null. */
export function userById(db: Database, id: string): Promise<UserRow | null> {
  return db.row<UserRow>(sql`select ${raw(columns)} from users where id = ${id}`);
}

/** Adds a user; null when the address is taken, whoever took it a moment before. */
export function insertUser(
  db: Database,
  user: { email: string; passwordHash: string | null; type: AccountType; emailVerified: boolean },
): Promise<UserRow | null> {
  return db.row<UserRow>(sql`
      insert into users (id, email, password_hash, type, email_verified) values (${newId()}, ${user.email}, ${user.passwordHash}, ${user.type}, ${user.emailVerified})
        on conflict (email) do nothing returning ${raw(columns)}`);
}

/** Notes that the address is the user's own. */
export async function markEmailVerified(db: Database, userId: string): Promise<void> {
  await db.count(
    sql`update users set email_verified = true, updated_at = now() where id = ${userId} and not email_verified`,
  );
}

/** Sets a new password and ends every session. Answers false for accounts without a password. */
export async function setPassword(db: Database, userId: string, passwordHash: string): Promise<boolean> {
  // Whoever opened the link in the mail has shown that the address is theirs. Every session from before ends.
  return (
    (await db.count(sql`
      update users set password_hash = ${passwordHash}, email_verified = true, session_version = session_version + 1, updated_at = now()
        where id = ${userId} and type = 'PASSWORD'`)) > 0
  );
}
