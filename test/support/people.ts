import { randomBytes } from 'node:crypto';
import { type AccountType, insertUser } from '../../src/accounts/queries.ts';
import { signSession } from '../../src/accounts/sessions.ts';
import { hashPassword } from '../../src/accounts/sign-in.ts';
import type { Config } from '../../src/lib/config/config.ts';
import { type Role, sessionCookie } from '../../src/lib/enums.ts';
import type { Database } from '../../src/store/sql.ts';

/** Somebody with an account, as a test needs them. */
export interface Person {
  id: string;
  email: string;
  password: string;
  /** Headers of a request with their session. */
  session: Record<string, string>;
}

/** What a test may want of a person. */
export interface PersonWishes {
  name?: string;
  type?: AccountType;
  verified?: boolean;
  /** Whether the password is hashed, which costs time; without it nobody can sign in with it. */
  signsIn?: boolean;
  /** Whether they signed up without an operator where mail leaves. */
  selfRegistered?: boolean;
}

/** Adds somebody with a session of their own. */
export async function aPerson(sql: Database, config: Config, wishes: PersonWishes = {}): Promise<Person> {
  const { name = 'mira.holt', type = 'PASSWORD', verified = true, signsIn = false, selfRegistered = false } = wishes;
  const email = `${name}-${randomBytes(3).toString('hex')}@harbourmail.test`;
  const password = `correct horse ${randomBytes(3).toString('hex')}`;
  const passwordHash = signsIn ? await hashPassword(password) : null;
  const user = await insertUser(sql, { email, passwordHash, type, emailVerified: verified, selfRegistered });
  if (user === null) throw new Error('The address is taken');
  return { id: user.id, email, password, session: await sessionOf(config, user.id) };
}

/** The header of a session of this user. */
export async function sessionOf(config: Config, userId: string, sv = 0): Promise<Record<string, string>> {
  return { Cookie: `${sessionCookie}=${await signSession({ id: userId, sv }, config.JWT_SECRET, new Date())}` };
}

/** Makes somebody a member of a project. */
export async function joins(sql: Database, projectId: string, person: { id: string }, role: Role): Promise<void> {
  await sql.count('insert into memberships (project_id, user_id, role) values ($1, $2, $3)', [
    projectId,
    person.id,
    role,
  ]);
}

/** The `Cookie` header of what an answer set, or null when it set none. */
export function cookieOf(headers: Headers): Record<string, string> | null {
  const set = headers.getSetCookie().find((line) => line.startsWith(`${sessionCookie}=`));
  const value = set?.slice(0, set.indexOf(';'));
  return value === undefined || value === `${sessionCookie}=` ? null : { Cookie: value };
}
