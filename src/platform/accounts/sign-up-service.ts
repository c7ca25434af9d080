import type { Verification } from '@fernpost/address-verification';
import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { conflict, forbidden, invalidField } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { networkOf } from '../../core/lib/network.ts';
import { noSoonerThan } from '../../core/lib/time.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { countAttempt, takeAttempt } from './attempt-queries.ts';
import { type AccountMailSettings, mailLimit, queueTakenMail, queueTokenMail, sameAnswerMs } from './mail-service.ts';
import { hashPassword } from './passwords.ts';
import { insertUser } from './queries.ts';
import type { Credentials } from './schema.ts';

interface SignUpDeps {
  db: Database;
  settings: AccountMailSettings &
    Pick<Config, 'SIGNUP_RATE_LIMIT_PER_IP' | 'VERIFY_EMAIL_ON_SIGNUP' | 'REQUIRE_EMAIL_VERIFICATION' | 'mailLeaves'>;
  /** Asks the DNS about an address. */
  verify(email: string): Promise<Verification>;
  ip: string;
  language: string;
}

/** Who signed up, and the mail to send after the commit. */
export interface SignedUp {
  user: { id: string; email: string; sessionVersion: number };
  tickets: OutboxTicket[];
}

/** 403 where nobody may sign up. */
export function refuseSignUps(settings: { DISABLE_SIGNUPS: boolean }): void {
  if (settings.DISABLE_SIGNUPS)
    throw forbidden('Sign-ups are disabled on this service', { reason: 'signups-disabled' });
}

/**
 * Adds an account with a password (docs/contract/platform.md#1-4, docs/contract/operations.md#sign-in). Where addresses are
 * confirmed by mail, one that is taken is answered like a new one, by a user that does not exist, and its owner gets a mail; the
 * session of that user opens nothing, as that of a new account does until it is confirmed (see `src/platform/access/session.ts`).
 * @throws 409 CONFLICT for a taken address where mail confirms nothing; 422; 429
 */
export async function signUp(deps: SignUpDeps, { email, password }: Credentials): Promise<SignedUp> {
  const { db, settings } = deps;
  const { SIGNUP_RATE_LIMIT_PER_IP: limit, REQUIRE_EMAIL_VERIFICATION: confirms } = settings;
  const attempt = { scope: 'signup-ip', subject: networkOf(deps.ip), limit, seconds: 3600 } as const;
  if (limit > 0) await takeAttempt(db, attempt, 'Too many sign-ups from this network');
  if (settings.VERIFY_EMAIL_ON_SIGNUP) await refuseUnusable(deps, email);
  // Before anything is known of the address, so that the time tells nothing of it.
  const passwordHash = await hashPassword(password);
  const add = () => addOrTell(deps, email, passwordHash);
  return confirms ? noSoonerThan(sameAnswerMs, add) : add();
}

async function addOrTell(deps: SignUpDeps, email: string, passwordHash: string): Promise<SignedUp> {
  const { db, settings } = deps;
  const confirms = settings.REQUIRE_EMAIL_VERIFICATION;
  return db.transaction(async (tx) => {
    const user = await insertUser(tx, {
      email,
      passwordHash,
      type: 'PASSWORD',
      emailVerified: !confirms,
      selfRegistered: settings.mailLeaves,
    });
    if (user !== null) {
      if (!confirms) return { user, tickets: [] };
      await countAttempt(tx, mailLimit('verify-mail', user.id));
      return { user, tickets: await queueTokenMail(tx, settings, 'VERIFY_EMAIL', user, deps.language) };
    }
    if (!confirms) throw conflict('This address already has an account: sign in, or reset the password');
    const allowed = (await countAttempt(tx, mailLimit('taken-mail', email))) === null;
    const tickets = allowed ? await queueTakenMail(tx, settings, email, deps.language) : [];
    return { user: { id: newId(), email, sessionVersion: 0 }, tickets };
  });
}

async function refuseUnusable(deps: SignUpDeps, email: string): Promise<void> {
  const found = await deps.verify(email);
  if (found.domainExists && found.hasMxRecords && !found.isDisposable && !found.isPlusAddressed) return;
  throw invalidField('email', 'cannot be used here: give a lasting address that receives mail', 'custom');
}
