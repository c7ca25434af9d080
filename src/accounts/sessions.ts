import { randomUUID } from 'node:crypto';
import { sessionCookie as earlierSessionCookie } from '@fernpost/earlier-name';
import { jwtVerify, SignJWT } from 'jose';
import { getDomain } from 'tldts';
import type { Config } from '../lib/config/config.ts';
import { type Role, sessionCookie } from '../lib/enums.ts';
import { newId } from '../lib/ids.ts';
import { sha256 } from '../lib/seal.ts';
import { removePast } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import { User, UserSession } from './entity.ts';
import type { SessionBody } from './schema.ts';

/** How long a session lasts, in seconds; it does not slide. */
export const sessionSeconds = 7 * 24 * 3600;

// Sessions that began under the earlier name go on in their cookie.
const sessionCookies = [sessionCookie, earlierSessionCookie];

/** Whose session it is; `sv` is the version of the user's sessions that it belongs to. */
interface SessionClaims {
  id: string;
  sv: number;
}

/** Where the service stands, as far as cookies care. */
type CookiePlace = Pick<Config, 'API_URI' | 'DASHBOARD_URI' | 'NODE_ENV'>;

/** Signs a session (JWT, HS256; docs/contract/platform.md#1-1). */
export function signSession(claims: SessionClaims, secret: string, now: Date): Promise<string> {
  const issued = Math.floor(now.getTime() / 1000);
  return (
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      // Two sessions of one second must not be one: signing out of one of them would end both.
      .setJti(randomUUID())
      .setIssuedAt(issued)
      .setExpirationTime(issued + sessionSeconds)
      .sign(new TextEncoder().encode(secret))
  );
}

/**
 * Returns the hash by which a session is stored once somebody has signed out of it. The signature is left out: base64url has
 * spare bits, so that one signature can be written in several ways.
 */
export function sessionHash(token: string): Buffer {
  return sha256(token.slice(0, token.lastIndexOf('.')));
}

/**
 * The claims of a session that we signed with one of these secrets and whose time is not over; null otherwise. Whether somebody has
 * signed out of it is for the database to say.
 */
export async function readSession(
  token: string,
  secrets: string | readonly string[],
  now: Date,
): Promise<SessionClaims | null> {
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const session = await readSignedWith(token, secret, now);
    if (session !== null) return session;
  }
  return null;
}

async function readSignedWith(token: string, secret: string, now: Date): Promise<SessionClaims | null> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      requiredClaims: ['id', 'iat', 'exp', 'sv'],
      currentDate: now,
    });
    const { id, sv } = payload as { id: unknown; sv: unknown };
    return typeof id === 'string' && Number.isSafeInteger(sv) ? { id, sv: sv as number } : null;
  } catch {
    return null;
  }
}

/** The `Set-Cookie` that begins a session. */
export function sessionHeader(token: string, place: CookiePlace, now: Date): string {
  return cookie(sessionCookie, token, place, new Date(now.getTime() + sessionSeconds * 1000));
}

/** The `Set-Cookie` headers that end it in the browser. */
export function endedSessionHeaders(place: CookiePlace): string[] {
  return sessionCookies.map((name) => cookie(name, '', place, new Date(0)));
}

/** The tokens of sessions in a `Cookie` header, the one that counts first. */
export function sessionTokens(header: string): string[] {
  return sessionCookies.flatMap((name) => readCookie(header, name) || []);
}

/** A `Set-Cookie` with the attributes of docs/contract/platform.md#1-1. */
export function cookie(name: string, value: string, place: CookiePlace, expires: Date): string {
  const https = place.API_URI.startsWith('https:');
  const secure = https && place.NODE_ENV !== 'development';
  const sameSite = !https || siteOf(place.API_URI) === siteOf(place.DASHBOARD_URI) ? 'Lax' : 'None';
  return `${name}=${value}; Path=/; Expires=${expires.toUTCString()}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
}

// The registrable domain by the Public Suffix List, private suffixes included: two tenants of one host are two sites.
function siteOf(url: string): string {
  const { hostname } = new URL(url);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

/** The value of a cookie in a `Cookie` header, or null. */
export function readCookie(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/** A signed-in user, with what they are in the project that the request is about. */
export interface SessionUser extends Pick<User, 'id' | 'email' | 'type' | 'emailVerified' | 'sessionVersion'> {
  /** Null without a project, and for somebody who is no member of it. */
  role: Role | null;
}

/** A session as the database knows it: whether somebody has signed out of it, and its user; null for a session of nobody. */
export interface SessionState {
  ended: boolean;
  user: SessionUser | null;
}

/** Reads whether a session is still open, and its user with their role in the project, when one is named. */
export async function sessionState(
  db: Database,
  session: { id: string; hash: Buffer },
  projectId: string | null,
): Promise<SessionState> {
  // Three primary keys, read for each request of a session and never cached: a membership that is taken away, a password
  // that is reset, and a sign-out count from the next request on in every process.
  const row = await db.row<Nullable<SessionUser> & { ended: boolean }>(sql`
      select u.id, u.email, u.type, u.email_verified as "emailVerified", u.session_version as "sessionVersion", m.role,
          s.ended
        from (select exists (select from ended_sessions where session_hash = ${session.hash}) as ended) s
        left join users u on u.id = ${session.id} left join memberships m on m.user_id = u.id and m.project_id = ${projectId}`);
  if (row === null) return { ended: false, user: null };
  const { ended, ...user } = row;
  return { ended, user: user.id === null ? null : (user as SessionUser) };
}

type Nullable<T> = { [Name in keyof T]: T[Name] | null };

/** Ends a session before its time; it is kept for as long as a session lasts. `hash` is of `sessionHash`. */
export async function endSession(db: Database, hash: Uint8Array): Promise<void> {
  await db.count(sql`
      with listed as (delete from user_sessions where session_hash = ${hash})
      insert into ended_sessions (session_hash, expires_at)
        values (${hash}, now() + make_interval(secs => ${sessionSeconds})) on conflict do nothing`);
}

/** Removes the record of sign-outs whose sessions would have expired; returns how many. */
export function removeEndedSessions(db: Database, limit: number): Promise<number> {
  return removePast(db, 'ended_sessions', 'expires_at', limit);
}

/** Where a session was begun. */
interface SessionOrigin {
  ip: string;
  /** The header `User-Agent`. */
  userAgent: string;
}

/**
 * Lists a session for its user; one of nobody is not listed (see `sign-up-service.ts`).
 * `hash` is of `sessionHash`, `expires` the end of the session.
 */
export async function listSession(
  db: Database,
  user: { id: string; sessionVersion: number },
  hash: Buffer,
  { ip, userAgent }: SessionOrigin,
  expires: Date,
): Promise<void> {
  // One statement whether or not the user exists, so that the time does not tell.
  await db.count(sql`
    insert into user_sessions (id, user_id, session_hash, session_version, user_agent, ip, expires_at)
      select ${newId()}, id, ${hash}, ${user.sessionVersion}, ${userAgent.slice(0, 500)}, ${ip}, ${expires.toISOString()}::timestamptz
        from users where id = ${user.id}`);
}

/** The open sessions of a user, the latest first, at most 100. `current` is the hash of the one that asks. */
export async function openSessions(db: Database, userId: string, current: Buffer): Promise<SessionBody[]> {
  const { sessionVersion } = await db.em.findOneOrFail(User, userId);
  const open = { userId, sessionVersion, expiresAt: { $gt: new Date() } };
  const sessions = await db.em.find(UserSession, open, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 100 });
  return sessions.map(({ id, userAgent, ip, sessionHash: hash, createdAt, expiresAt }) => ({
    id,
    userAgent,
    ip,
    current: current.equals(hash),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }));
}

/** Ends one session of a user before its time; false when they have no such session. */
export async function endListedSession(db: Database, userId: string, id: string): Promise<boolean> {
  const session = await db.em.findOne(UserSession, { id, userId });
  if (session === null) return false;
  await endSession(db, session.sessionHash);
  return true;
}

/** Ends every session of a user, also those that are not listed. Returns the version that new sessions need. */
export async function endAllSessions(tx: Database, userId: string): Promise<number> {
  const user = await tx.row<{ sessionVersion: number }>(sql`
    update users set session_version = session_version + 1, updated_at = now() where id = ${userId}
      returning session_version as "sessionVersion"`);
  if (user === null) throw new Error('The user of a session is gone');
  await tx.em.nativeDelete(UserSession, { userId });
  return user.sessionVersion;
}

/** Removes expired sessions from the lists of their users; returns how many. */
export function removeOldSessions(db: Database, limit: number): Promise<number> {
  return removePast(db, 'user_sessions', 'expires_at', limit);
}
