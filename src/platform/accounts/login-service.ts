import type { Sql } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { networkOf } from '../../core/lib/network.ts';
import { forgetAttempts, giveBackAttempt, takeAttempt } from './attempt-queries.ts';
import { verifyPassword } from './passwords.ts';
import { type UserRow, userByEmail } from './queries.ts';
import type { Credentials } from './schema.ts';

/** The settings of sign-in. */
export interface LoginSettings {
  LOGIN_RATE_LIMIT_PER_EMAIL: number;
  LOGIN_RATE_LIMIT_PER_IP: number;
  LOGIN_RATE_LIMIT_WINDOW: number;
}

const tooMany = 'Too many attempts to sign in';

/**
 * The user with this address and password (contract page 3, 1.3 and 1.4). Every attempt is counted before the password
 * is looked at; success clears the count of the address, and only failures stay counted for the network. An attempt that
 * the address's own limit refuses is no guess and does not count for the network: a program that repeats one wrong
 * password must not keep a whole office out.
 * @throws 401 INVALID_CREDENTIALS, whatever was wrong; 429 RATE_LIMIT_EXCEEDED, also for the right password
 */
export async function checkCredentials(
  sql: Sql,
  settings: LoginSettings,
  { email, password }: Credentials,
  ip: string,
): Promise<UserRow> {
  const seconds = settings.LOGIN_RATE_LIMIT_WINDOW;
  const network = networkOf(ip);
  const perNetwork = settings.LOGIN_RATE_LIMIT_PER_IP;
  if (perNetwork > 0)
    await takeAttempt(sql, { scope: 'login-ip', subject: network, limit: perNetwork, seconds }, tooMany);
  const giveBack = () => (perNetwork > 0 ? giveBackAttempt(sql, 'login-ip', network) : undefined);
  try {
    await takeAttempt(
      sql,
      { scope: 'login', subject: email, limit: settings.LOGIN_RATE_LIMIT_PER_EMAIL, seconds },
      tooMany,
    );
  } catch (error) {
    await giveBack();
    throw error;
  }
  const user = await userByEmail(sql, email);
  const matches = await verifyPassword(user?.type === 'PASSWORD' ? user.passwordHash : null, password);
  if (user === null || !matches)
    throw new AppError(401, 'INVALID_CREDENTIALS', 'The email address or the password is wrong');
  await forgetAttempts(sql, 'login', email);
  await giveBack();
  return user;
}
