import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionCookie } from '../../src/accounts/sessions.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aPerson, cookieOf, joins, type Person, sessionOf } from '../support/people.ts';

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
    expect(cookie).toMatch(/^posthorn_session=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Expires=.+; HttpOnly; SameSite=Lax$/);
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
    const strict = await testApi(database, { LOGIN_RATE_LIMIT_PER_IP: '3' });
    try {
      const tryIt = (email: string, password: string) =>
        strict.call(null, 'POST', '/auth/login', { email, password }).then(({ status }) => status);
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

  test('signing out clears the cookie and answers true', async () => {
    const answer = await api.call(null, 'GET', '/auth/logout');
    expect(answer).toMatchObject({ status: 200, body: true });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^posthorn_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
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

  test('opens nothing below /v1, which is for keys', async () => {
    const session = await sessionOf(api.config, member.id);
    const answer = await api.call(null, 'POST', '/v1/send', {}, { ...session, 'X-Project-Id': project.id });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'MISSING_AUTH' } } });
  });
});
