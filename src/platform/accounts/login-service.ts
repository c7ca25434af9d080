import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { networkOf } from '../../core/lib/network.ts';
import { forgetAttempts, giveBackAttempt, takeAttempt } from './attempt-queries.ts';
import { User } from './entity.ts';
import { verifyPassword } from './passwords.ts';
import type { Credentials } from './schema.ts';

type LoginSettings = Pick<Config, 'LOGIN_RATE_LIMIT_PER_EMAIL' | 'LOGIN_RATE_LIMIT_PER_IP' | 'LOGIN_RATE_LIMIT_WINDOW'>;

const tooMany = 'Too many attempts to sign in';

/**
 * The user with this address and password (contract page 3, 1.3 and 1.4). Every attempt is counted before the password
 * is checked; success clears the count of the address, and only failures stay counted for the network. An attempt that
 * the address's own limit refuses is no guess and does not count for the network: a program that repeats one wrong
 * password must not keep a whole office out.
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
  try {
    await takeAttempt(db, { scope: 'login', subject: email, limit, seconds }, tooMany);
  } catch (error) {
    await giveBack();
    throw error;
  }
  const user = await db.em.findOne(User, { email });
  const hash = user?.type === 'PASSWORD' ? user.passwordHash : null;
  if (!(await verifyPassword(hash ?? null, password)) || user === null)
    throw new AppError(401, 'INVALID_CREDENTIALS', 'The email address or the password is wrong');
  await forgetAttempts(db, 'login', email);
  await giveBack();
  return user;
}
