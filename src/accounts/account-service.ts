import type { Config } from '../lib/config/config.ts';
import { badRequest, conflict, invalidField } from '../lib/errors.ts';
import { noSoonerThan } from '../lib/time.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import { User } from './entity.ts';
import {
  type AttemptLimit,
  type AttemptScope,
  countAttempt,
  forgetAttempts,
  isTokenUsable,
  newToken,
  removeTokens,
  type TokenPurpose,
  takeAttempt,
  takeToken,
} from './queries.ts';
import type { ChangePassword } from './schema.ts';
import { endAllSessions } from './sessions.ts';
import { hashPassword, verifyPassword } from './sign-in.ts';
import { queueSystemMails, type SystemMailSettings } from './system-mail/service.ts';

interface PasswordDeps {
  db: Database;
  settings: AccountMailSettings & { LOGIN_RATE_LIMIT_PER_EMAIL: number; LOGIN_RATE_LIMIT_WINDOW: number };
  /** The `Accept-Language` of the request. */
  language: string;
}

/**
 * Sets a new password for somebody who knows the current one, ends every session, and tells them by mail. Answers the version that
 * new sessions need. Attempts count with those to sign in, so that a stolen session is no way to guess faster.
 * @throws 409 for an account without a password, 422 for a wrong one, 429
 */
export async function changePassword(
  { db, settings, language }: PasswordDeps,
  userId: string,
  { currentPassword, newPassword }: ChangePassword,
): Promise<{ sessionVersion: number; tickets: OutboxTicket[] }> {
  const user = await db.em.findOneOrFail(User, userId);
  if (user.type !== 'PASSWORD')
    throw conflict('This account signs in through another provider and has no password here');
  const { LOGIN_RATE_LIMIT_PER_EMAIL: limit, LOGIN_RATE_LIMIT_WINDOW: seconds } = settings;
  await takeAttempt(db, { scope: 'login', subject: user.email, limit, seconds }, 'Too many wrong passwords');
  if (!(await verifyPassword(user.passwordHash ?? null, currentPassword)))
    throw invalidField('currentPassword', 'is not your password', 'custom');
  const passwordHash = await hashPassword(newPassword);
  return db.transaction(async (tx) => {
    // A password that was changed in the meantime stays as it was set then.
    const asRead = { id: userId, passwordHash: user.passwordHash };
    const changed = await tx.em.nativeUpdate(User, asRead, { passwordHash });
    if (changed === 0) throw conflict('The password was changed by another request: sign in again');
    const sessionVersion = await endAllSessions(tx, userId);
    await removeTokens(tx, userId, 'RESET_PASSWORD');
    await forgetAttempts(tx, 'login', user.email);
    const link = `${settings.DASHBOARD_URI}/auth/forgot-password`;
    const tickets = await queueSystemMails(tx, settings, [
      { kind: 'password-changed', to: user.email, language, link },
    ]);
    return { sessionVersion, tickets };
  });
}

const badToken = () => badRequest('This link is unknown, already used or older than an hour: request a new one');

/** Confirms an address by the token of a mail. @throws 400 */
export async function verifyEmail(db: Database, token: string): Promise<void> {
  await db.transaction(async (tx) => {
    const id = await takeToken(tx, token, 'VERIFY_EMAIL');
    if (id === null) throw badToken();
    await tx.em.nativeUpdate(User, { id, emailVerified: false }, { emailVerified: true, updatedAt: new Date() });
  });
}

/**
 * Sends the link that confirms the address again; null when it is confirmed already. A session of nobody (see
 * `sign-up-service.ts`) is answered like one of a new account. @throws 429 after three mails an hour
 */
export async function requestVerification(
  db: Database,
  settings: AccountMailSettings,
  userId: string,
  language: string,
): Promise<OutboxTicket[] | null> {
  return db.transaction(async (tx) => {
    const user = await tx.em.findOne(User, userId);
    if (user?.emailVerified) return null;
    await takeAttempt(tx, mailLimit('verify-mail', userId), 'At most three emails an hour: check your spam folder');
    return user === null ? [] : queueTokenMail(tx, settings, 'VERIFY_EMAIL', user, language);
  });
}

/** Sends the link that sets a new password, if the address has an account with one; tells nobody whether it has. */
export async function requestPasswordReset(
  db: Database,
  settings: AccountMailSettings,
  email: string,
  language: string,
): Promise<OutboxTicket[]> {
  return noSoonerThan(sameAnswerMs, () =>
    db.transaction(async (tx) => {
      const allowed = (await countAttempt(tx, mailLimit('reset-mail', email))) === null;
      const user = await tx.em.findOne(User, { email });
      if (!allowed || user?.type !== 'PASSWORD') return [];
      return queueTokenMail(tx, settings, 'RESET_PASSWORD', user, language);
    }),
  );
}

/**
 * Sets a new password by the token of a mail: every session ends, the address counts as confirmed (whoever opened the link
 * has shown that it is theirs), and failed attempts to sign in are forgotten. @throws 400
 */
export async function resetPassword(db: Database, token: string, newPassword: string): Promise<void> {
  // Hashing takes memory and time, which nobody gets for a token that was never sent.
  if (!(await isTokenUsable(db, token, 'RESET_PASSWORD'))) throw badToken();
  const passwordHash = await hashPassword(newPassword);
  await db.transaction(async (tx) => {
    const userId = await takeToken(tx, token, 'RESET_PASSWORD');
    const user = userId === null ? null : await tx.em.findOne(User, { id: userId, type: 'PASSWORD' });
    if (user === null) throw badToken();
    await tx.em.nativeUpdate(User, { id: user.id }, { passwordHash, emailVerified: true });
    await endAllSessions(tx, user.id);
    await removeTokens(tx, user.id, 'RESET_PASSWORD');
    await forgetAttempts(tx, 'login', user.email);
  });
}

export type AccountMailSettings = SystemMailSettings & Pick<Config, 'DASHBOARD_URI'>;

/**
 * How long an answer takes at least, in milliseconds, that must not tell whether an address has an account: several times
 * what queueing a mail takes.
 */
export const sameAnswerMs = 150;

/** How many mails of a kind may go out to somebody: three an hour. */
export function mailLimit(scope: AttemptScope, subject: string): AttemptLimit {
  return { scope, subject, limit: 3, seconds: 3600 };
}

/** Queues the mail that tells the owner of an address of an attempt to sign up with it. */
export function queueTakenMail(
  tx: Database,
  settings: AccountMailSettings,
  email: string,
  language: string,
): Promise<OutboxTicket[]> {
  const link = `${settings.DASHBOARD_URI}/auth/login`;
  return queueSystemMails(tx, settings, [{ kind: 'address-taken', to: email, language, link }]);
}

const tokenMails = {
  VERIFY_EMAIL: { kind: 'verify-address', page: 'verify-email' },
  RESET_PASSWORD: { kind: 'reset-password', page: 'reset-password' },
} as const;

/** Queues the mail with the link that confirms an address, or that sets a new password. Only the newest link works. */
export async function queueTokenMail(
  tx: Database,
  settings: AccountMailSettings,
  purpose: TokenPurpose,
  user: { id: string; email: string },
  language: string,
): Promise<OutboxTicket[]> {
  const { kind, page } = tokenMails[purpose];
  const link = `${settings.DASHBOARD_URI}/auth/${page}?token=${await newToken(tx, user.id, purpose)}`;
  return queueSystemMails(tx, settings, [{ kind, to: user.email, language, link }]);
}
