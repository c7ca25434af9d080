import { randomUUID } from 'node:crypto';
import { sessionCookie as earlierSessionCookie } from '@fernpost/earlier-name';
import { jwtVerify, SignJWT } from 'jose';
import { getDomain } from 'tldts';
import { sessionCookie } from '../lib/access.ts';
import type { Config } from '../lib/config/config.ts';
import { sha256 } from '../lib/seal.ts';

/** How long a session lasts, in seconds; it does not slide. */
export const sessionSeconds = 7 * 24 * 3600;

// Sessions that began under the earlier name go on in their cookie.
const sessionCookies = [sessionCookie, earlierSessionCookie];

/** Whose session it is; `sv` is the version of the user's sessions that it belongs to. */
export interface SessionClaims {
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
 * What a session is known by once somebody has signed out of it: a hash of what is signed. The signature is left out, for
 * base64url has spare bits, so that one signature can be written in several ways.
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
