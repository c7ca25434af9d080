import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { queueSystemMails, type SystemMailSettings } from '../system-mail/index.ts';
import type { AttemptLimit, AttemptScope } from './attempt-queries.ts';
import { newToken, type TokenPurpose } from './token-queries.ts';

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
