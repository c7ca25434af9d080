import type { Database } from '../../core/database/sql.ts';
import { AppError, badRequest } from '../../core/lib/errors.ts';
import { noSoonerThan } from '../../core/lib/time.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { forgetAttempts } from './attempt-queries.ts';
import {
  type AccountMailSettings,
  mailAllowance,
  queueResetMail,
  queueVerificationMail,
  sameAnswerMs,
} from './mail-service.ts';
import { hashPassword } from './passwords.ts';
import { markEmailVerified, setPassword, userByEmail, userById } from './queries.ts';
import { isTokenUsable, removeTokens, takeToken } from './token-queries.ts';

const badToken = () => badRequest('This link is unknown, already used or older than an hour: request a new one');

/** Confirms an address by the token of a mail. @throws 400 */
export async function verifyEmail(db: Database, token: string): Promise<void> {
  await db.transaction(async (sql) => {
    const userId = await takeToken(sql, token, 'VERIFY_EMAIL');
    if (userId === null) throw badToken();
    await markEmailVerified(sql, userId);
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
  return db.transaction(async (sql) => {
    const user = await userById(sql, userId);
    if (user?.emailVerified) return null;
    const retryAfter = await mailAllowance(sql, 'verify-mail', userId);
    if (retryAfter !== null)
      throw new AppError(429, 'RATE_LIMIT_EXCEEDED', 'At most three emails an hour: check your spam folder', {
        details: { retryAfter },
        suggestion: `Wait ${retryAfter} s.`,
        headers: { 'Retry-After': String(retryAfter) },
      });
    return user === null ? [] : queueVerificationMail(sql, settings, user, language);
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
    db.transaction(async (sql) => {
      const allowed = (await mailAllowance(sql, 'reset-mail', email)) === null;
      const user = await userByEmail(sql, email);
      if (!allowed || user?.type !== 'PASSWORD') return [];
      return queueResetMail(sql, settings, user, language);
    }),
  );
}

/**
 * Sets a new password by the token of a mail: every session ends, the address counts as confirmed, and failed attempts
 * to sign in are forgotten. @throws 400
 */
export async function resetPassword(db: Database, token: string, newPassword: string): Promise<void> {
  // Hashing takes memory and time, which nobody gets for a token that was never sent.
  if (!(await isTokenUsable(db, token, 'RESET_PASSWORD'))) throw badToken();
  const passwordHash = await hashPassword(newPassword);
  await db.transaction(async (sql) => {
    const userId = await takeToken(sql, token, 'RESET_PASSWORD');
    const user = userId === null ? null : await userById(sql, userId);
    if (user === null || !(await setPassword(sql, user.id, passwordHash))) throw badToken();
    await removeTokens(sql, user.id, 'RESET_PASSWORD');
    await forgetAttempts(sql, 'login', user.email);
  });
}
