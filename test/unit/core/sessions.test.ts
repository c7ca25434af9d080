import { sessionCookie } from '@fernpost/earlier-name';
import { describe, expect, test } from 'vitest';
import {
  endedSessionHeaders,
  readCookie,
  readSession,
  sessionHeader,
  sessionTokens,
  signSession,
} from '../../../src/accounts/sessions.ts';
import type { Config } from '../../../src/lib/config/config.ts';
import { roleIncludes, roles } from '../../../src/lib/enums.ts';
import { networkOf } from '../../../src/lib/network.ts';

const secret = 'a secret of at least thirty-two bytes';
const now = new Date('2026-03-01T09:30:00Z');
const day = 86_400_000;

describe('a session', () => {
  test('is read back until seven days are over, and not with another secret', async () => {
    const token = await signSession({ id: 'u1', sv: 3 }, secret, now);
    expect(await readSession(token, secret, now)).toEqual({ id: 'u1', sv: 3 });
    expect(await readSession(token, secret, new Date(now.getTime() + 7 * day - 1000))).toEqual({ id: 'u1', sv: 3 });
    expect(await readSession(token, secret, new Date(now.getTime() + 7 * day + 1000))).toBeNull();
    expect(await readSession(token, `${secret}!`, now)).toBeNull();
    expect(await readSession(`${token}x`, secret, now)).toBeNull();
  });

  // docs/contract/platform.md#1-1.
  test.each<[string, string, Config['NODE_ENV'], string]>([
    ['http://localhost:3000', 'http://localhost:3000', 'development', '; HttpOnly; SameSite=Lax'],
    ['http://api.acme.test', 'http://other.test', 'production', '; HttpOnly; SameSite=Lax'],
    ['https://api.acme.com', 'https://app.acme.com', 'production', '; HttpOnly; SameSite=Lax; Secure'],
    ['https://api.acme.com', 'https://app.acme.com', 'development', '; HttpOnly; SameSite=Lax'],
    ['https://api.acme.com', 'https://app.beacon.com', 'production', '; HttpOnly; SameSite=None; Secure'],
    // Two customers of one host are two sites.
    ['https://one.github.io', 'https://two.github.io', 'production', '; HttpOnly; SameSite=None; Secure'],
  ])('of %s with the dashboard at %s in %s ends with %s', (API_URI, DASHBOARD_URI, NODE_ENV, ending) => {
    const header = sessionHeader('token', { API_URI, DASHBOARD_URI, NODE_ENV }, now);
    expect(header).toBe(`fernpost_session=token; Path=/; Expires=Sun, 08 Mar 2026 09:30:00 GMT${ending}`);
    expect(endedSessionHeaders({ API_URI, DASHBOARD_URI, NODE_ENV })[0]).toBe(
      `fernpost_session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT${ending}`,
    );
  });

  test('is found among other cookies by its whole name', () => {
    expect(readCookie('a=1; fernpost_session=x=y; b=2', 'fernpost_session')).toBe('x=y');
    expect(readCookie('my_fernpost_session=1; fernpost_sessions=2', 'fernpost_session')).toBeNull();
    expect(readCookie('', 'fernpost_session')).toBeNull();
  });

  test('that began under the earlier name goes on, and both end together', () => {
    expect(sessionTokens(`${sessionCookie}=old`)).toEqual(['old']);
    expect(sessionTokens(`${sessionCookie}=old; fernpost_session=new`)).toEqual(['new', 'old']);
    expect(sessionTokens(`${sessionCookie}=; a=1`)).toEqual([]);
    const place = { API_URI: 'http://localhost', DASHBOARD_URI: 'http://localhost', NODE_ENV: 'production' } as const;
    expect(endedSessionHeaders(place).map((header) => header.split('=')[0])).toEqual([
      'fernpost_session',
      sessionCookie,
    ]);
  });
});

test('roles include those below them', () => {
  expect(roles.map((role) => roles.filter((least) => roleIncludes(role, least)).length)).toEqual([1, 2, 3]);
});

test('a caller counts as their IPv4 address, or as the /64 of their IPv6 address', () => {
  expect(networkOf('203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('2001:db8:1:2:aaaa::1')).toBe(networkOf('2001:db8:1:2:bbbb::2'));
  expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
});
