import { type Database, sql } from '../../core/database/sql.ts';
import { badRequest } from '../../core/lib/errors.ts';
import { noSoonerThan } from '../../core/lib/time.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { countAttempt, forgetAttempts, takeAttempt } from './attempt-queries.ts';
import { User } from './entity.ts';
import { type AccountMailSettings, mailLimit, queueTokenMail, sameAnswerMs } from './mail-service.ts';
import { hashPassword } from './passwords.ts';
import { isTokenUsable, removeTokens, takeToken } from './token-queries.ts';

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
    const user = await tx.row<{ id: string; email: string }>(sql`
      update users set password_hash = ${passwordHash}, email_verified = true, session_version = session_version + 1,
          updated_at = now()
        where id = ${userId} and type = 'PASSWORD' returning id, email`);
    if (user === null) throw badToken();
    await removeTokens(tx, user.id, 'RESET_PASSWORD');
    await forgetAttempts(tx, 'login', user.email);
  });
}
