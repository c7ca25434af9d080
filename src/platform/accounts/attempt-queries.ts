import { removeSome } from '../../core/database/remove-some.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { sha256 } from '../../core/lib/seal.ts';
import { AttemptWindow } from './entity.ts';

/** What is counted: each kind of attempt has windows of its own. */
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

/** Counts an attempt. Answers null while the limit holds it, else the seconds until the window ends. */
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

const knownDays = 90;

/** Remembers for 90 days that an address has signed in from a network. */
export async function rememberNetwork(db: Database, email: string, network: string): Promise<void> {
  await db.count(sql`
    insert into attempt_windows (scope, subject, used, ends_at)
      values ('login-from', ${sha256(`${email} ${network}`)}, 1, now() + make_interval(days => ${knownDays}))
      on conflict (scope, subject) do update set ends_at = excluded.ends_at`);
}

/** Whether an address has signed in from a network within 90 days. */
export async function isKnownNetwork(db: Database, email: string, network: string): Promise<boolean> {
  const known = await db.row(sql`
    select 1 from attempt_windows
    where scope = 'login-from' and subject = ${sha256(`${email} ${network}`)} and ends_at > now()`);
  return known !== null;
}

/** Forgets the attempts of a subject. */
export async function forgetAttempts(db: Database, scope: AttemptScope, subject: string): Promise<void> {
  await db.em.nativeDelete(AttemptWindow, { scope, subject: sha256(subject) });
}

/** Takes back one attempt, where only failures count. */
export async function giveBackAttempt(db: Database, scope: AttemptScope, subject: string): Promise<void> {
  await db.count(sql`
    update attempt_windows set used = greatest(0, used - 1) where scope = ${scope} and subject = ${sha256(subject)}`);
}

/** Removes windows that are over; answers how many. */
export function removeOldAttempts(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'attempt_windows', sql`ends_at < clock_timestamp()`, limit);
}
