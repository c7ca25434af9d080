import type { Database } from '../../core/database/sql.ts';
import { conflict, forbidden, invalidField } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { networkOf } from '../../core/lib/network.ts';
import { noSoonerThan } from '../../core/lib/time.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import type { Verification } from '../verification/index.ts';
import { takeAttempt } from './attempt-queries.ts';
import {
  type AccountMailSettings,
  mailAllowance,
  queueTakenMail,
  queueVerificationMail,
  sameAnswerMs,
} from './mail-service.ts';
import { hashPassword } from './passwords.ts';
import { insertUser } from './queries.ts';
import type { Credentials } from './schema.ts';

/** What sign-up is done with. */
export interface SignUpDeps {
  db: Database;
  settings: AccountMailSettings & {
    SIGNUP_RATE_LIMIT_PER_IP: number;
    VERIFY_EMAIL_ON_SIGNUP: boolean;
    REQUIRE_EMAIL_VERIFICATION: boolean;
  };
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
 * Adds an account with a password (contract page 3, 1.4; page 0 has the statuses). Where addresses are confirmed by mail,
 * one that is taken is answered like a new one, by a user that does not exist, and its owner gets a mail; the session
 * of that user opens nothing, as that of a new account does until it is confirmed (see `src/platform/access/session.ts`).
 * @throws 409 CONFLICT for a taken address where mail confirms nothing; 422; 429
 */
export async function signUp(deps: SignUpDeps, { email, password }: Credentials): Promise<SignedUp> {
  const { db, settings } = deps;
  const perNetwork = settings.SIGNUP_RATE_LIMIT_PER_IP;
  if (perNetwork > 0)
    await takeAttempt(
      db,
      { scope: 'signup-ip', subject: networkOf(deps.ip), limit: perNetwork, seconds: 3600 },
      'Too many sign-ups from this network',
    );
  if (settings.VERIFY_EMAIL_ON_SIGNUP) await refuseUnusable(deps, email);
  // Before anything is known of the address, so that the time tells nothing of it.
  const passwordHash = await hashPassword(password);
  const confirms = settings.REQUIRE_EMAIL_VERIFICATION;
  const add = () => addOrTell(deps, email, passwordHash);
  return confirms ? noSoonerThan(sameAnswerMs, add) : add();
}

async function addOrTell(deps: SignUpDeps, email: string, passwordHash: string): Promise<SignedUp> {
  const { db, settings } = deps;
  const confirms = settings.REQUIRE_EMAIL_VERIFICATION;
  return db.transaction(async (sql) => {
    const user = await insertUser(sql, { email, passwordHash, type: 'PASSWORD', emailVerified: !confirms });
    if (user !== null) {
      if (confirms) await mailAllowance(sql, 'verify-mail', user.id);
      const tickets = confirms ? await queueVerificationMail(sql, settings, user, deps.language) : [];
      return { user, tickets };
    }
    if (!confirms) throw conflict('This address already has an account: sign in, or reset the password');
    const allowed = (await mailAllowance(sql, 'taken-mail', email)) === null;
    const tickets = allowed ? await queueTakenMail(sql, settings, email, deps.language) : [];
    return { user: { id: newId(), email, sessionVersion: 0 }, tickets };
  });
}

async function refuseUnusable(deps: SignUpDeps, email: string): Promise<void> {
  const found = await deps.verify(email);
  if (found.domainExists && found.hasMxRecords && !found.isDisposable && !found.isPlusAddressed) return;
  throw invalidField('email', 'cannot be used here: give a lasting address that receives mail', 'custom');
}
