import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { networkOf } from '../../core/lib/network.ts';
import {
  type AttemptLimit,
  countAttempt,
  forgetAttempts,
  giveBackAttempt,
  isKnownNetwork,
  rememberNetwork,
  takeAttempt,
  tooManyAttempts,
} from './attempt-queries.ts';
import { User } from './entity.ts';
import { verifyPassword } from './passwords.ts';
import type { Credentials } from './schema.ts';

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
