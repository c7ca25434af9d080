import type { Database } from '../../core/database/sql.ts';
import { conflict, invalidField } from '../../core/lib/errors.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { queueSystemMails } from '../system-mail/index.ts';
import { forgetAttempts, takeAttempt } from './attempt-queries.ts';
import { User } from './entity.ts';
import type { AccountMailSettings } from './mail-service.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import type { ChangePassword } from './schema.ts';
import { endAllSessions } from './session-list.ts';
import { removeTokens } from './token-queries.ts';

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
