import type { Sql } from '../../core/database/sql.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { queueSystemMails, type SystemMailSettings } from '../system-mail/index.ts';
import { type AttemptScope, countAttempt } from './attempt-queries.ts';
import { newToken, removeTokens, type TokenPurpose } from './token-queries.ts';

/** What mail to users is written with. */
export interface AccountMailSettings extends SystemMailSettings {
  DASHBOARD_URI: string;
}

/**
 * How long an answer takes at least, in milliseconds, that must not tell whether an address has an account: several times
 * what queueing a mail takes.
 */
export const sameAnswerMs = 150;

const mailsAnHour = 3;
const hour = 3600;

/** Whether one more mail of this kind may go out this hour; null means yes, a number how many seconds to wait. */
export function mailAllowance(sql: Sql, scope: AttemptScope, subject: string): Promise<number | null> {
  return countAttempt(sql, { scope, subject, limit: mailsAnHour, seconds: hour });
}

/** Queues the mail with the link that confirms an address. */
export function queueVerificationMail(
  sql: Sql,
  settings: AccountMailSettings,
  user: { id: string; email: string },
  language: string,
): Promise<OutboxTicket[]> {
  return queueTokenMail(sql, settings, user, language, 'VERIFY_EMAIL');
}

/** Queues the mail with the link that sets a new password. */
export function queueResetMail(
  sql: Sql,
  settings: AccountMailSettings,
  user: { id: string; email: string },
  language: string,
): Promise<OutboxTicket[]> {
  return queueTokenMail(sql, settings, user, language, 'RESET_PASSWORD');
}

/** Queues the mail that tells the owner of an address of an attempt to sign up with it. */
export function queueTakenMail(
  sql: Sql,
  settings: AccountMailSettings,
  email: string,
  language: string,
): Promise<OutboxTicket[]> {
  const link = `${settings.DASHBOARD_URI}/auth/login`;
  return queueSystemMails(sql, settings, [{ kind: 'address-taken', to: email, language, link }]);
}

// Only the newest link works: whoever reads an old mail later finds a dead one.
async function queueTokenMail(
  sql: Sql,
  settings: AccountMailSettings,
  user: { id: string; email: string },
  language: string,
  purpose: TokenPurpose,
): Promise<OutboxTicket[]> {
  await removeTokens(sql, user.id, purpose);
  const token = await newToken(sql, user.id, purpose);
  const [kind, page] =
    purpose === 'VERIFY_EMAIL'
      ? (['verify-address', 'verify-email'] as const)
      : (['reset-password', 'reset-password'] as const);
  const link = `${settings.DASHBOARD_URI}/auth/${page}?token=${token}`;
  return queueSystemMails(sql, settings, [{ kind, to: user.email, language, link }]);
}
