import type { Config } from '../lib/config/config.ts';
import { AppError, conflict, forbidden, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { networkOf } from '../lib/network.ts';
import { noSoonerThan } from '../lib/time.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import {
  type AccountMailSettings,
  mailLimit,
  queueTakenMail,
  queueTokenMail,
  sameAnswerMs,
} from './account-service.ts';
import { User } from './entity.ts';
import {
  type AttemptLimit,
  countAttempt,
  forgetAttempts,
  giveBackAttempt,
  insertUser,
  isKnownNetwork,
  rememberNetwork,
  takeAttempt,
  tooManyAttempts,
} from './queries.ts';
import type { Credentials } from './schema.ts';
import { hashPassword, verifyPassword } from './sign-in.ts';
import type { Verification } from './verification/addresses/verify.ts';

type LoginSettings = Pick<Config, 'LOGIN_RATE_LIMIT_PER_EMAIL' | 'LOGIN_RATE_LIMIT_PER_IP' | 'LOGIN_RATE_LIMIT_WINDOW'>;

const tooMany = 'Too many attempts to sign in';

/**
 * The user with this address and password (docs/contract/platform.md#1-3 and docs/contract/platform.md#1-4). Every attempt is
 * counted before the password is checked; success clears the count of the address, and only failures stay counted for the
 * network. An attempt that the address's own limit refuses is no guess and does not count for the network: a program that repeats
 * one wrong password must not keep a whole office out. An address that strangers have locked stays open for networks it has
 * signed in from.
 * @throws 401 INVALID_CREDENTIALS, whatever was wrong; 429 RATE_LIMIT_EXCEEDED, also for the right password
 */
export async function checkCredentials(
  db: Database,
  settings: LoginSettings,
  { email, password }: Credentials,
  ip: string,
): Promise<User> {
  const { LOGIN_RATE_LIMIT_WINDOW: seconds, LOGIN_RATE_LIMIT_PER_IP: perNetwork } = settings;
  const network = networkOf(ip);
  if (perNetwork > 0)
    await takeAttempt(db, { scope: 'login-ip', subject: network, limit: perNetwork, seconds }, tooMany);
  const giveBack = () => (perNetwork > 0 ? giveBackAttempt(db, 'login-ip', network) : undefined);
  const limit = settings.LOGIN_RATE_LIMIT_PER_EMAIL;
  const retryAfter = await refusedFor(db, email, network, { limit, seconds });
  if (retryAfter !== null) {
    await giveBack();
    throw tooManyAttempts(tooMany, retryAfter);
  }
  const user = await db.em.findOne(User, { email });
  const hash = user?.type === 'PASSWORD' ? user.passwordHash : null;
  if (!(await verifyPassword(hash ?? null, password)) || user === null)
    throw new AppError(401, 'INVALID_CREDENTIALS', 'The email address or the password is wrong');
  await forgetAttempts(db, 'login', email);
  await forgetAttempts(db, 'login-known', `${email} ${network}`);
  await rememberNetwork(db, email, network);
  await giveBack();
  return user;
}

// Strangers who lock an address do not lock out a network that it has signed in from: that has a window of its own beside the one
// of the address, and only its own failures fill both.
async function refusedFor(
  db: Database,
  email: string,
  network: string,
  limits: Pick<AttemptLimit, 'limit' | 'seconds'>,
): Promise<number | null> {
  const known = await isKnownNetwork(db, email, network);
  const byAnybody = await countAttempt(db, { scope: 'login', subject: email, ...limits });
  if (!known) return byAnybody;
  const fromHere = await countAttempt(db, { scope: 'login-known', subject: `${email} ${network}`, ...limits });
  return byAnybody === null ? null : fromHere;
}

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
interface SignedUp {
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
 * session of that user opens nothing, as that of a new account does until it is confirmed (see `src/projects/access/session.ts`).
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
