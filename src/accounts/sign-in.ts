import { randomBytes } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import type { App } from '../http/context.ts';
import { type Reply, reply } from '../http/route.ts';
import type { Database } from '../store/sql.ts';
import { listSession, sessionHash, sessionHeader, sessionSeconds, signSession } from './sessions.ts';

// The contract's parameters (docs/contract/platform.md#1-3), which are those of the OWASP password storage cheat sheet.
const options = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
let nobodys: Promise<string> | null = null;

/** Hashes a password with argon2id. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

/**
 * Whether the password is the one that was hashed. Without a hash (nobody has the address, or the account has no
 * password) the answer is no, after the same work, so that the time tells nothing.
 */
export async function verifyPassword(hashed: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword(randomBytes(32).toString('base64'));
  const matches = await verify(hashed ?? (await nobodys), password);
  return hashed !== null && matches;
}

/** The parts of a request that a new session is made from. */
interface SignInRequest {
  app: Pick<App, 'config' | 'clock'>;
  db: Database;
  ip: string;
  header(name: string): string;
}

/** The answer of a sign-in: who it is, and the session cookie. */
export async function signedIn(
  request: SignInRequest,
  user: { id: string; email: string; sessionVersion: number },
): Promise<Reply> {
  return reply(
    200,
    { success: true, data: { id: user.id, email: user.email } },
    { 'Set-Cookie': await newSession(request, user) },
  );
}

/** The `Set-Cookie` of a new session of this user. */
export async function newSession(
  { app, db, ip, header }: SignInRequest,
  user: { id: string; sessionVersion: number },
): Promise<string> {
  const now = app.clock();
  const token = await signSession({ id: user.id, sv: user.sessionVersion }, app.config.JWT_SECRET, now);
  const expires = new Date(now.getTime() + sessionSeconds * 1000);
  await listSession(db, user, sessionHash(token), { ip, userAgent: header('user-agent') }, expires);
  return sessionHeader(token, app.config, now);
}
