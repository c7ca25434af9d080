import { randomBytes } from 'node:crypto';
import { raw } from '@mikro-orm/core';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { sha256 } from '../lib/seal.ts';
import { hourMs } from '../lib/time.ts';
import { removePast } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import { AccountToken, AttemptWindow, type User } from './entity.ts';

/** A kind of attempt, with windows of its own. */
export type AttemptScope =
  | 'login'
  | 'login-ip'
  | 'login-known'
  | 'login-from'
  | 'signup-ip'
  | 'verify-mail'
  | 'reset-mail'
  | 'taken-mail'
  | 'invitation'
  | 'invitation-mail'
  | 'smtp-ip'
  | 'explain'
  | 'export';

/** How many attempts a window holds and how long it lasts. */
export interface AttemptLimit {
  scope: AttemptScope;
  /** An address, a network address or a user id; stored hashed. */
  subject: string;
  limit: number;
  seconds: number;
}

/** Counts an attempt. Returns null within the limit, else the seconds until the window ends. */
export async function countAttempt(
  db: Database,
  { scope, subject, limit, seconds }: AttemptLimit,
): Promise<number | null> {
  // Counting comes before whatever is attempted, so that many at once cannot slip through. The window is fixed: attempts
  // beyond the limit do not make it longer.
  const row = await db.row<{ used: number; retryAfter: number }>(sql`
      insert into attempt_windows as w (scope, subject, used, ends_at)
        values (${scope}, ${sha256(subject)}, 1, clock_timestamp() + make_interval(secs => ${seconds}))
        on conflict (scope, subject) do update set
          used = case when w.ends_at <= clock_timestamp() then 1 else least(w.used, ${limit}) + 1 end,
          ends_at = case when w.ends_at <= clock_timestamp() then excluded.ends_at else w.ends_at end
        returning used, greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as "retryAfter"`);
  return row !== null && row.used > limit ? row.retryAfter : null;
}

/** Counts an attempt. @throws 429 RATE_LIMIT_EXCEEDED when the window is full */
export async function takeAttempt(db: Database, attempt: AttemptLimit, message: string): Promise<void> {
  const retryAfter = await countAttempt(db, attempt);
  if (retryAfter !== null) throw tooManyAttempts(message, retryAfter);
}

/** 429 for an attempt beyond its limit. */
export function tooManyAttempts(message: string, retryAfter: number): AppError {
  return new AppError(429, 'RATE_LIMIT_EXCEEDED', message, {
    details: { retryAfter },
    suggestion: `Wait ${retryAfter} s.`,
    headers: { 'Retry-After': String(retryAfter) },
  });
}

const knownMs = 90 * 24 * hourMs;

/** Remembers for 90 days that an address has signed in from a network. */
export async function rememberNetwork(db: Database, email: string, network: string): Promise<void> {
  const endsAt = new Date(Date.now() + knownMs);
  await db.em.upsert(AttemptWindow, { scope: 'login-from', subject: sha256(`${email} ${network}`), used: 1, endsAt });
}

/** Reports whether an address has signed in from a network within 90 days. */
export async function isKnownNetwork(db: Database, email: string, network: string): Promise<boolean> {
  const subject = sha256(`${email} ${network}`);
  return (await db.em.count(AttemptWindow, { scope: 'login-from', subject, endsAt: { $gt: new Date() } })) > 0;
}

/** Forgets the attempts of a subject. */
export async function forgetAttempts(db: Database, scope: AttemptScope, subject: string): Promise<void> {
  await db.em.nativeDelete(AttemptWindow, { scope, subject: sha256(subject) });
}

/** Takes back one attempt, where only failures count. */
export async function giveBackAttempt(db: Database, scope: AttemptScope, subject: string): Promise<void> {
  const used = raw('greatest(0, used - 1)');
  await db.em.nativeUpdate(AttemptWindow, { scope, subject: sha256(subject) }, { used });
}

/** Removes windows that are over; returns how many. */
export function removeOldAttempts(db: Database, limit: number): Promise<number> {
  return removePast(db, 'attempt_windows', 'ends_at', limit);
}

/** The action that a token permits. */
export type TokenPurpose = AccountToken['purpose'];

/** Makes a token for a user that works once within an hour, and revokes earlier ones. Only its hash is stored. */
export async function newToken(tx: Database, userId: string, purpose: TokenPurpose): Promise<string> {
  // Whoever reads an old mail later finds a dead link.
  await removeTokens(tx, userId, purpose);
  const token = randomBytes(32).toString('hex');
  const expiresAt = new Date(Date.now() + hourMs);
  await tx.em.insert(AccountToken, { tokenHash: sha256(token), userId, purpose, expiresAt });
  return token;
}

/** Uses a token up. Returns the ID of its user, or null for a token that is unknown, used or expired. */
export async function takeToken(db: Database, token: string, purpose: TokenPurpose): Promise<string | null> {
  const given = { tokenHash: sha256(token), purpose };
  const known = await db.em.findOne(AccountToken, given);
  // Of two that use it at once one deletes it.
  if (known === null || (await db.em.nativeDelete(AccountToken, given)) === 0) return null;
  return known.expiresAt > new Date() ? known.userId : null;
}

/** Reports whether a token could be used up now. */
export async function isTokenUsable(db: Database, token: string, purpose: TokenPurpose): Promise<boolean> {
  const usable = { tokenHash: sha256(token), purpose, expiresAt: { $gt: new Date() } };
  return (await db.em.count(AccountToken, usable)) > 0;
}

/** Revokes all tokens of a user for this purpose. */
export async function removeTokens(db: Database, userId: string, purpose: TokenPurpose): Promise<void> {
  await db.em.nativeDelete(AccountToken, { userId, purpose });
}

/** Removes expired tokens; returns how many. */
export function removeOldTokens(db: Database, limit: number): Promise<number> {
  return removePast(db, 'account_tokens', 'expires_at', limit);
}

/** Kinds of accounts; an account keeps its kind. */
export type AccountType = User['type'];

interface NewUser extends Pick<User, 'email' | 'type' | 'emailVerified'> {
  passwordHash: string | null;
  /** True for somebody who signed up without an operator, on a service whose mail reaches people. */
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
