import { type Sql, statement } from '../../core/database/sql.ts';
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
const byEmail = statement('accounts.by_email', `select ${columns} from users where email = $1`);
const byId = statement('accounts.by_id', `select ${columns} from users where id = $1`);
const insert = statement(
  'accounts.insert',
  `insert into users (id, email, password_hash, type, email_verified) values ($1, $2, $3, $4, $5)
   on conflict (email) do nothing returning ${columns}`,
);
const markVerified = statement(
  'accounts.mark_verified',
  'update users set email_verified = true, updated_at = now() where id = $1 and not email_verified',
);
// Whoever opened the link in the mail has shown that the address is theirs. Every session from before ends.
const changePassword = statement(
  'accounts.change_password',
  `update users set password_hash = $2, email_verified = true, session_version = session_version + 1, updated_at = now()
   where id = $1 and type = 'PASSWORD'`,
);

/** The user with this address (trimmed, lower case), or null. */
export function userByEmail(sql: Sql, email: string): Promise<UserRow | null> {
  return sql.row<UserRow>(byEmail, [email]);
}

/** The user with this id, or null. */
export function userById(sql: Sql, id: string): Promise<UserRow | null> {
  return sql.row<UserRow>(byId, [id]);
}

/** Adds a user; null when the address is taken, whoever took it a moment before. */
export function insertUser(
  sql: Sql,
  user: { email: string; passwordHash: string | null; type: AccountType; emailVerified: boolean },
): Promise<UserRow | null> {
  return sql.row<UserRow>(insert, [newId(), user.email, user.passwordHash, user.type, user.emailVerified]);
}

/** Notes that the address is the user's own. */
export async function markEmailVerified(sql: Sql, userId: string): Promise<void> {
  await sql.count(markVerified, [userId]);
}

/** Sets a new password and ends every session. Answers false for accounts without a password. */
export async function setPassword(sql: Sql, userId: string, passwordHash: string): Promise<boolean> {
  return (await sql.count(changePassword, [userId, passwordHash])) > 0;
}
