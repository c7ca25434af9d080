import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOldSessions } from '../../../src/accounts/sessions.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { lettersTo } from '../../support/letters.ts';
import { aPerson, cookieOf, type Person } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});

afterAll(async () => {
  await api?.close();
  await database?.close();
});

type Headers = Record<string, string>;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0';

async function signIn({ email, password }: Person, userAgent = firefox): Promise<Headers> {
  const answer = await api.call(null, 'POST', '/auth/login', { email, password }, { 'User-Agent': userAgent });
  return cookieOf(answer.headers) ?? {};
}
const somebody = () => aPerson(database.db, api.config, { signsIn: true });
const get = (path: string, session: Headers) => api.call(null, 'GET', path, undefined, session);
const sessionsOf = async (session: Headers) => (await get('/users/@me/sessions', session)).body.data;
const isOpen = async (session: Headers) => (await get('/users/@me', session)).status === 200;
const change = (session: Headers, currentPassword: string, newPassword: string) =>
  api.call(null, 'POST', '/users/@me/password', { currentPassword, newPassword }, session);

test('lists where somebody is signed in, and ends one session', async () => {
  const person = await somebody();
  const [desk, phone] = [await signIn(person), await signIn(person, 'a phone')];
  const listed = await sessionsOf(desk);
  expect(listed).toEqual([
    expect.objectContaining({ userAgent: 'a phone', current: false }),
    expect.objectContaining({ userAgent: firefox, current: true, ip: expect.stringMatching(/127\.0\.0\.1|::1/) }),
  ]);
  const stranger = await somebody();
  const path = `/users/@me/sessions/${listed[0].id}`;
  expect((await api.call(null, 'DELETE', path, undefined, await signIn(stranger))).status).toBe(404);
  expect(await isOpen(phone)).toBe(true);
  expect((await api.call(null, 'DELETE', path, undefined, desk)).status).toBe(204);
  expect((await api.call(null, 'DELETE', path, undefined, desk)).status).toBe(404);
  expect((await api.call(null, 'DELETE', '/users/@me/sessions/nonsense', undefined, desk)).status).toBe(404);
  expect([await isOpen(phone), await isOpen(desk)]).toEqual([false, true]);
  await get('/auth/logout', desk);
  expect(await sessionsOf(await signIn(person))).toHaveLength(1);
});

test('signs out everywhere else and goes on here', async () => {
  const person = await somebody();
  const [desk, phone] = [await signIn(person), await signIn(person)];
  const answer = await api.call(null, 'DELETE', '/users/@me/sessions', undefined, desk);
  expect(answer.status).toBe(200);
  const here = cookieOf(answer.headers) ?? {};
  expect([await isOpen(phone), await isOpen(desk), await isOpen(here)]).toEqual([false, false, true]);
  expect(await sessionsOf(here)).toEqual([expect.objectContaining({ current: true })]);
});

test('changes the password for who knows it, signs out elsewhere and tells the owner', async () => {
  const person = await somebody();
  const [desk, phone] = [await signIn(person), await signIn(person)];
  const wrong = await change(desk, 'not the password', 'a long walk by the sea');
  expect(wrong).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'currentPassword' }] } } });
  expect((await change(desk, person.password, 'short')).body.error.errors[0].field).toBe('newPassword');
  expect(await isOpen(phone)).toBe(true);
  const changed = await change(desk, person.password, 'a long walk by the sea');
  expect(changed.status).toBe(200);
  expect([await isOpen(phone), await isOpen(cookieOf(changed.headers) ?? {})]).toEqual([false, true]);
  expect(await signIn(person)).toEqual({});
  expect(await signIn({ ...person, password: 'a long walk by the sea' })).not.toEqual({});
  const letters = await lettersTo(database.db, api.config, person.email);
  expect(letters.map(({ kind }) => kind)).toEqual(['password-changed']);
});

test('a stolen session guesses no faster than a stranger', async () => {
  const person = await somebody();
  const desk = await signIn(person);
  const guesses = await Promise.all(
    Array.from({ length: 8 }, (_, n) => change(desk, `guess number ${n}`, 'a long walk by the sea')),
  );
  expect(guesses.map(({ status }) => status).sort()).toEqual([422, 422, 422, 422, 422, 429, 429, 429]);
  expect((await change(desk, person.password, 'a long walk by the sea')).status).toBe(429);
});

test('an account of another provider has no password to change, and says how it signs in', async () => {
  const person = await aPerson(database.db, api.config, { type: 'GITHUB_OAUTH' });
  expect((await get('/users/@me/account', person.session)).body).toMatchObject({
    email: person.email,
    type: 'GITHUB_OAUTH',
    emailVerified: true,
  });
  expect((await change(person.session, 'whatever', 'a long walk by the sea')).status).toBe(409);
});

test('sessions whose time is over are neither listed nor kept', async () => {
  const person = await somebody();
  const desk = await signIn(person);
  await signIn(person);
  await database.db.count(
    `update user_sessions set expires_at = now() - interval '1 second' where user_id = $1 and session_hash <>
       (select session_hash from user_sessions where user_id = $1 order by created_at limit 1)`,
    [person.id],
  );
  expect(await sessionsOf(desk)).toHaveLength(1);
  expect(await removeOldSessions(database.db, 1000)).toBe(1);
});
