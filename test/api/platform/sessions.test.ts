import { sessionCookie as earlierSessionCookie } from '@fernpost/earlier-name';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeEndedSessions } from '../../../src/accounts/sessions.ts';
import { readConfig } from '../../../src/lib/config/config.ts';
import { sessionCookie } from '../../../src/lib/enums.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, cookieOf, joins, type Person, sessionOf } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let member: Person;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  member = await aPerson(database.db, api.config, { name: 'oskar.lind', signsIn: true });
  await joins(database.db, project.id, member, 'MEMBER');
});

afterAll(async () => {
  await api?.close();
  await database?.close();
});

const login = (email: string, password: string) => api.call(null, 'POST', '/auth/login', { email, password });
const asMember = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.call(null, method, path, body, { ...member.session, 'X-Project-Id': project.id, ...headers });

describe('signing in', () => {
  test('the right password sets a cookie that lasts seven days and opens the account', async () => {
    const answer = await login(member.email.toUpperCase(), member.password);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: { id: member.id, email: member.email } });
    const cookie = answer.headers.getSetCookie()[0] ?? '';
    expect(cookie).toMatch(/^fernpost_session=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Expires=.+; HttpOnly; SameSite=Lax$/);
    const expires = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '');
    expect(Math.abs(expires - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
    const me = await api.call(null, 'GET', '/users/@me', undefined, cookieOf(answer.headers) ?? {});
    expect(me).toMatchObject({ status: 200, body: { id: member.id, email: member.email } });
  });

  test('a wrong password, an unknown address and an account of another kind are answered alike', async () => {
    const github = await aPerson(database.db, api.config, { type: 'GITHUB_OAUTH', signsIn: true });
    const answers = [
      await login(member.email, 'not the password'),
      await login('nobody@harbourmail.test', 'not the password'),
      await login(github.email, github.password),
    ];
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401);
      expect(body.error).toMatchObject({ code: 'INVALID_CREDENTIALS', message: answers[0]?.body.error.message });
      expect(headers.getSetCookie()).toEqual([]);
    }
  });

  test('five failures lock an address, known or not, on every process and for the right password too', async () => {
    const other = await testApi(database);
    try {
      const guessed = await aPerson(database.db, api.config, { name: 'ines.faro', signsIn: true });
      for (const email of [guessed.email, 'nobody-either@harbourmail.test']) {
        // All at once: an attempt counts before its password is looked at.
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            (n % 2 === 0 ? api : other).call(null, 'POST', '/auth/login', { email, password: `guess number ${n}` }),
          ),
        );
        expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
        const refused = answers.filter(({ status }) => status === 429);
        expect(refused).toHaveLength(7);
        for (const { headers, body } of refused) {
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
          expect(body.error.code).toBe('RATE_LIMIT_EXCEEDED');
        }
      }
      expect((await login(guessed.email, guessed.password)).status).toBe(429);
    } finally {
      await other.close();
    }
  });

  test('success forgets the failures before it', async () => {
    const person = await aPerson(database.db, api.config, { name: 'tove.berg', signsIn: true });
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 4; n++) expect((await login(person.email, 'a wrong one')).status).toBe(401);
      expect((await login(person.email, person.password)).status).toBe(200);
    }
  });

  test('with a limit for networks only failures count', async () => {
    const strict = await testApi(database, { LOGIN_RATE_LIMIT_PER_IP: '3', TRUST_PROXY: '1' });
    try {
      const tryIt = (email: string, password: string) =>
        strict
          .call(null, 'POST', '/auth/login', { email, password }, { 'X-Forwarded-For': '198.51.100.23' })
          .then(({ status }) => status);
      for (let n = 0; n < 5; n++) expect(await tryIt(member.email, member.password)).toBe(200);
      for (let n = 0; n < 3; n++) expect(await tryIt(`stranger-${n}@harbourmail.test`, 'guessed')).toBe(401);
      expect(await tryIt('stranger-4@harbourmail.test', 'guessed')).toBe(429);
      expect(await tryIt(member.email, member.password)).toBe(429);
    } finally {
      await strict.close();
    }
  });

  test('a password that is too short is named, not called wrong', async () => {
    const answer = await login(member.email, 'short');
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toEqual([expect.objectContaining({ field: 'password', code: 'too_small' })]);
  });

  test('pages of other sites sign nobody out', async () => {
    const person = await aPerson(database.db, api.config, { name: 'ida.berg', signsIn: true });
    const session = cookieOf((await login(person.email, person.password)).headers) ?? {};
    const out = (site: string) =>
      api.call(null, 'GET', '/auth/logout', undefined, { ...session, 'Sec-Fetch-Site': site });
    expect(await out('cross-site')).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect((await api.call(null, 'GET', '/users/@me', undefined, session)).status).toBe(200);
    expect((await out('same-site')).status).toBe(200);
    expect((await api.call(null, 'GET', '/users/@me', undefined, session)).status).toBe(401);
  });

  test('an address that strangers have locked stays open for a network that signed in before', async () => {
    const behindProxy = await testApi(database, { TRUST_PROXY: '1' });
    try {
      const { email, password } = await aPerson(database.db, api.config, { name: 'vera.holm', signsIn: true });
      const from = async (address: string, given: string) =>
        (
          await behindProxy.call(
            null,
            'POST',
            '/auth/login',
            { email, password: given },
            { 'X-Forwarded-For': address },
          )
        ).status;
      expect(await from('192.0.2.1', password)).toBe(200);
      for (let n = 0; n < 5; n += 1) expect(await from('198.51.100.7', 'a wrong password')).toBe(401);
      expect(await from('198.51.100.7', password)).toBe(429);
      expect(await from('203.0.113.9', password)).toBe(429);
      expect(await from('192.0.2.1', 'a wrong password')).toBe(401);
      expect(await from('192.0.2.1', password)).toBe(200);
      // Its own failures lock it as those of anybody do.
      for (let n = 0; n < 5; n += 1) expect(await from('192.0.2.1', 'a wrong password')).toBe(401);
      expect(await from('192.0.2.1', password)).toBe(429);
    } finally {
      await behindProxy.close();
    }
  });

  test('signing out clears the cookie and answers true', async () => {
    const answer = await api.call(null, 'GET', '/auth/logout');
    expect(answer).toMatchObject({ status: 200, body: true });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^fernpost_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
  });

  test('signing out ends this session on every process, and no other one of the user', async () => {
    const other = await testApi(database);
    try {
      const person = await aPerson(database.db, api.config, { name: 'liv.moe', signsIn: true });
      const [kept, ended] = await Promise.all(
        [1, 2].map(async () => cookieOf((await login(person.email, person.password)).headers) ?? {}),
      );
      expect(kept).not.toEqual(ended);
      expect((await api.call(null, 'GET', '/auth/logout', undefined, ended)).body).toBe(true);
      for (const which of [api, other]) {
        const me = (session = {}) => which.call(null, 'GET', '/users/@me', undefined, session);
        expect(await me(ended)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
        expect((await me(kept)).status).toBe(200);
      }
      // The signature can be written in several ways, for base64url has spare bits.
      const [name = '', token = ''] = (ended?.Cookie ?? '').split('=');
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const last = alphabet.indexOf(token.at(-1) ?? '');
      const respelled = { Cookie: `${name}=${token.slice(0, -1)}${alphabet[last ^ 1]}` };
      expect((await api.call(null, 'GET', '/users/@me', undefined, respelled)).status).toBe(401);
      // Nothing is kept of what was never a session of ours.
      const before = await endedSessions();
      await api.call(null, 'GET', '/auth/logout', undefined, { Cookie: `${sessionCookie}=a.b.c` });
      expect(await endedSessions()).toBe(before);
    } finally {
      await other.close();
    }
  });

  test('a session of the earlier name goes on, and signing out ends it with the one of the current name', async () => {
    const person = await aPerson(database.db, api.config, { name: 'ida.ros', signsIn: true });
    const tokens = await Promise.all(
      [1, 2].map(
        async () => cookieOf((await login(person.email, person.password)).headers)?.Cookie?.split('=')[1] ?? '',
      ),
    );
    const me = (Cookie: string) => api.call(null, 'GET', '/users/@me', undefined, { Cookie });
    const [earlier, both] = [
      `${earlierSessionCookie}=${tokens[0]}`,
      `${earlierSessionCookie}=${tokens[0]}; ${sessionCookie}=${tokens[1]}`,
    ];
    expect([(await me(earlier)).status, (await me(both)).status]).toEqual([200, 200]);
    const { headers } = await api.call(null, 'GET', '/auth/logout', undefined, { Cookie: both });
    expect(headers.getSetCookie().map((line) => line.split(';')[0])).toEqual([
      `${sessionCookie}=`,
      `${earlierSessionCookie}=`,
    ]);
    for (const token of tokens) expect((await me(`${sessionCookie}=${token}`)).status).toBe(401);
  });

  test('a session that somebody signed out of is forgotten once it would have ended by itself', async () => {
    const person = await aPerson(database.db, api.config, { name: 'alma.hov' });
    await api.call(null, 'GET', '/auth/logout', undefined, person.session);
    const before = await endedSessions();
    await removeEndedSessions(database.db, 100);
    expect(await endedSessions()).toBe(before);
    await database.db.count(`update ended_sessions set expires_at = now() - interval '1 second'`);
    expect(await removeEndedSessions(database.db, 100)).toBe(before);
  });

  const endedSessions = async () =>
    (await database.db.row<{ n: number }>('select count(*)::int as n from ended_sessions'))?.n ?? 0;
});

describe('password spraying', () => {
  // As behind one proxy, which says where a request comes from.
  const from = (which: TestApi, network: string, email: string, password: string) =>
    which.call(null, 'POST', '/auth/login', { email, password }, { 'X-Forwarded-For': network });
  const sprayed = async (which: TestApi, network: (n: number) => string, count: number) => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n++)
      statuses.push((await from(which, network(n), `sprayed-${n}@harbourmail.test`, 'Winter2026!')).status);
    return statuses;
  };

  test('is limited without any setting: one network, many addresses', () => {
    expect(readConfig({}).LOGIN_RATE_LIMIT_PER_IP).toBe(100);
  });

  test('is limited for each network, the /64 of an IPv6 address being one, and a port does not make another', async () => {
    const proxied = await testApi(database, { TRUST_PROXY: '1', LOGIN_RATE_LIMIT_PER_IP: '4' });
    try {
      const guessed = (count: number) => Array.from({ length: count }, () => 401);
      for (const network of [
        (n: number) => `203.0.113.9:${4000 + n}`,
        (n: number) => `2001:db8:77:1:${(n + 10).toString(16)}::1`,
      ])
        expect(await sprayed(proxied, network, 6)).toEqual([...guessed(4), 429, 429]);
      // Other networks and what a client says of itself: the last entry is the proxy's.
      expect((await from(proxied, '2001:db8:77:2::1', member.email, member.password)).status).toBe(200);
      expect((await from(proxied, '198.51.100.1, 203.0.113.9', member.email, member.password)).status).toBe(429);
    } finally {
      await proxied.close();
    }
  });

  test('does not keep an office out because one of its programs repeats a wrong password', async () => {
    const proxied = await testApi(database, { TRUST_PROXY: '1', LOGIN_RATE_LIMIT_PER_IP: '8' });
    try {
      const stuck = await aPerson(database.db, api.config, { name: 'old.script' });
      const statuses: number[] = [];
      for (let n = 0; n < 20; n++)
        statuses.push((await from(proxied, '192.0.2.44', stuck.email, 'a stale password')).status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(5);
      expect((await from(proxied, '192.0.2.44', member.email, member.password)).status).toBe(200);
    } finally {
      await proxied.close();
    }
  });
});

describe('a session', () => {
  test('names its project by X-Project-Id', async () => {
    expect((await asMember('GET', '/contacts')).status).toBe(200);
    const unnamed = await api.call(null, 'GET', '/contacts', undefined, member.session);
    expect(unnamed).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
    const other = await aProject(database, 'Other');
    for (const id of [other.id, '0197b2f0-0000-7000-8000-000000000000', 'none']) {
      const foreign = await asMember('GET', '/contacts', undefined, { 'X-Project-Id': id });
      expect(foreign).toMatchObject({ status: 403, body: { error: { code: 'PROJECT_ACCESS_DENIED' } } });
    }
  });

  test('ends for a member who was removed with the next request, on every process', async () => {
    const other = await testApi(database);
    try {
      const leaving = await aPerson(database.db, api.config);
      await joins(database.db, project.id, leaving, 'ADMIN');
      const asks = (which: TestApi) =>
        which
          .call(null, 'GET', '/contacts', undefined, { ...leaving.session, 'X-Project-Id': project.id })
          .then(({ status }) => status);
      expect([await asks(api), await asks(other)]).toEqual([200, 200]);
      await database.db.count('delete from memberships where user_id = $1', [leaving.id]);
      expect([await asks(api), await asks(other)]).toEqual([403, 403]);
    } finally {
      await other.close();
    }
  });

  test('is refused when it is forged, old, of another version, unsigned or of nobody', async () => {
    const secret = new TextEncoder().encode(api.config.JWT_SECRET);
    const token = (claims: object, issued: number, key: Uint8Array = secret) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt(issued)
        .setExpirationTime(issued + 3600)
        .sign(key);
    const now = Math.floor(Date.now() / 1000);
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ id: member.id, sv: 0, iat: now, exp: now + 99 }))}.`;
    const bad = [
      await token({ id: member.id, sv: 0 }, now, new TextEncoder().encode('another secret of thirty-two bytes')),
      await token({ id: member.id, sv: 0 }, now - 7200),
      await token({ id: member.id, sv: 1 }, now),
      await token({ id: member.id }, now),
      await token({ id: 'no uuid', sv: 0 }, now),
      await token({ id: '0197b2f0-0000-7000-8000-000000000000', sv: 0 }, now),
      unsigned,
      'nonsense',
    ];
    for (const value of bad) {
      const answer = await api.call(null, 'GET', '/users/@me', undefined, { Cookie: `${sessionCookie}=${value}` });
      expect(answer, value).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
    }
  });

  test('is not looked at when there is a key, not even a wrong one', async () => {
    const answer = await api.call('sk_wrong', 'GET', '/contacts', undefined, {
      ...member.session,
      'X-Project-Id': project.id,
    });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'INVALID_API_KEY' } } });
    expect((await api.call(project.secretKey, 'GET', '/users/@me', undefined, member.session)).status).toBe(401);
  });

  test('may not be used by pages of other sites to write', async () => {
    const write = (headers: Record<string, string>) =>
      asMember('POST', '/contacts', { email: 'ruth.vance@example.org' }, headers).then(({ status }) => status);
    expect(await write({ Origin: 'https://evil.example' })).toBe(403);
    expect(await write({ Origin: 'null' })).toBe(403);
    expect(await write({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await write({ Origin: api.config.DASHBOARD_URI })).toBe(201);
    expect(await write({})).toBe(200);
    expect((await asMember('GET', '/contacts', undefined, { Origin: 'https://evil.example' })).status).toBe(200);
    const count = await database.db.row<{ n: number }>(
      'select count(*)::int as n from contacts where project_id = $1',
      [project.id],
    );
    expect(count?.n).toBe(1);
  });

  test('of an address that is not confirmed opens nothing where that is required', async () => {
    const strict = await testApi(database, { REQUIRE_EMAIL_VERIFICATION: 'true' });
    try {
      const fresh = await aPerson(database.db, api.config, { verified: false });
      await joins(database.db, project.id, fresh, 'ADMIN');
      const headers = { ...fresh.session, 'X-Project-Id': project.id };
      for (const path of ['/users/@me', '/contacts'])
        expect(await strict.call(null, 'GET', path, undefined, headers)).toMatchObject({
          status: 403,
          body: { error: { code: 'EMAIL_VERIFICATION_REQUIRED' } },
        });
      expect((await api.call(null, 'GET', '/contacts', undefined, headers)).status).toBe(200);
      expect((await strict.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
    } finally {
      await strict.close();
    }
  });

  test('reads a disabled project and does not write to it', async () => {
    const paused = await aProject(database, 'Paused');
    await joins(database.db, paused.id, member, 'ADMIN');
    await database.db.count('update projects set disabled = true where id = $1', [paused.id]);
    const headers = { 'X-Project-Id': paused.id };
    expect((await asMember('GET', '/contacts', undefined, headers)).status).toBe(200);
    expect(await asMember('POST', '/contacts', { email: 'ada.reyes@example.org' }, headers)).toMatchObject({
      status: 403,
      body: { error: { code: 'PROJECT_DISABLED' } },
    });
  });

  test('of a MEMBER may not add domains, one of an ADMIN may; the project may come from the request', async () => {
    const body = { domain: 'no domain at all', projectId: project.id };
    expect(await asMember('POST', '/domains', body)).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN' } },
    });
    const admin = await aPerson(database.db, api.config);
    await joins(database.db, project.id, admin, 'ADMIN');
    expect((await api.call(null, 'POST', '/domains', body, admin.session)).status).toBe(422);
    expect((await api.call(null, 'GET', `/domains/project/${project.id}`, undefined, member.session)).status).toBe(200);
    const stranger = await aPerson(database.db, api.config);
    const asStranger = await api.call(null, 'GET', `/domains/project/${project.id}`, undefined, stranger.session);
    expect(asStranger.status).toBe(403);
  });

  test('of a stranger learns nothing of domains and projects by asking for them', async () => {
    const stranger = await aPerson(database.db, api.config, { name: 'nosy.parker' });
    const domain = await database.db.row<{ id: string }>('select id from domains where project_id = $1', [project.id]);
    const nothing = '0197b2f0-0000-7000-8000-000000000000';
    const asked = async (method: string, path: string, body?: unknown) => {
      const { status, body: told } = await api.call(null, method, path, body, stranger.session);
      const { requestId: _, ...error } = told.error;
      return { status, error: JSON.stringify(error).replaceAll(project.id, nothing) };
    };
    for (const [method, path, real] of [
      ['GET', '/domains/:id/verify', domain?.id],
      ['DELETE', '/domains/:id', domain?.id],
      ['GET', '/domains/project/:id', project.id],
    ] as const) {
      const found = await asked(method, path.replace(':id', real ?? ''));
      expect(found, path).toEqual(await asked(method, path.replace(':id', nothing)));
    }
    expect(await asked('POST', '/domains', { domain: 'a.example', projectId: project.id })).toEqual(
      await asked('POST', '/domains', { domain: 'a.example', projectId: nothing }),
    );
    // Whoever belongs to the project still needs no header.
    const own = await api.call(null, 'GET', `/domains/${domain?.id}/verify`, undefined, member.session);
    expect(own.status).toBe(200);
  });

  test('opens nothing below /v1, which is for keys', async () => {
    const session = await sessionOf(api.config, member.id);
    const answer = await api.call(null, 'POST', '/v1/send', {}, { ...session, 'X-Project-Id': project.id });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'MISSING_AUTH' } } });
  });
});
