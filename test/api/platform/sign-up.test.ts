import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sameAnswerMs } from '../../../src/accounts/account-service.ts';
import type { Resolver } from '../../../src/accounts/verification/addresses/verify.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { lettersTo, type QueuedLetter, tokenOf } from '../../support/letters.ts';
import { aPerson, cookieOf } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
/** Where addresses are confirmed by mail. */
let strict: TestApi;

// Every domain exists; only harbourmail.test takes mail.
const resolver: Resolver = {
  hasRecord: async (name, type) => type !== 'MX' || name === 'harbourmail.test',
};

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { SIGNUP_RATE_LIMIT_PER_IP: '0' }, { resolver });
  strict = await testApi(
    database,
    {
      SIGNUP_RATE_LIMIT_PER_IP: '0',
      REQUIRE_EMAIL_VERIFICATION: 'true',
      VERIFY_EMAIL_ON_SIGNUP: 'true',
      DASHBOARD_URI: 'https://mail.harbour.test',
    },
    { resolver },
  );
});

afterAll(async () => {
  await Promise.all([api?.close(), strict?.close()]);
  await database?.close();
});

const password = 'a long walk by the sea';
const post = (which: TestApi, path: string, body?: unknown, headers?: Record<string, string>) =>
  which.call(null, 'POST', path, body, headers);
const letters = (email: string) => lettersTo(database.db, api.config, email);
const last = async (email: string) => (await letters(email)).at(-1) as QueuedLetter;
const usersWith = async (email: string) =>
  (await database.db.row<{ n: number }>('select count(*)::int as n from users where email = $1', [email]))?.n;

describe('signing up', () => {
  test('makes an account, signs in and stores the password as argon2id and the address in lower case', async () => {
    const answer = await post(api, '/auth/signup', { email: ' Nora.Quist@Harbourmail.test ', password });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, data: { email: 'nora.quist@harbourmail.test' } });
    const me = await api.call(null, 'GET', '/users/@me', undefined, cookieOf(answer.headers) ?? {});
    expect(me.body).toEqual(answer.body.data);
    const row = await database.db.row<{ hash: string }>('select password_hash as hash from users where id = $1', [
      answer.body.data.id,
    ]);
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await letters('nora.quist@harbourmail.test')).toEqual([]);
  });

  test('with a weak password or something that is no address is refused with the field', async () => {
    for (const [body, field, code] of [
      [{ email: 'lena@harbourmail.test', password: 'short' }, 'password', 'too_small'],
      [{ email: 'lena@harbourmail.test', password: 'x'.repeat(1025) }, 'password', 'too_big'],
      [{ email: 'lena@harbourmail', password }, 'email', 'invalid_string'],
      [{ email: 'lena@harbourmail.test' }, 'password', 'invalid_type'],
    ] as const) {
      const answer = await post(api, '/auth/signup', body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.errors).toEqual([expect.objectContaining({ field, code })]);
    }
    expect(await usersWith('lena@harbourmail.test')).toBe(0);
  });

  test('with a taken address is a conflict where no mail is sent, also for two at once', async () => {
    const email = 'twins@harbourmail.test';
    const answers = await Promise.all([0, 1, 2].map(() => post(api, '/auth/signup', { email, password })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await usersWith(email)).toBe(1);
  });

  test('is closed before anything is read where sign-ups are disabled', async () => {
    const closed = await testApi(database, { DISABLE_SIGNUPS: 'true' });
    try {
      const answer = await post(closed, '/auth/signup', { email: 'no address' });
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    } finally {
      await closed.close();
    }
  });

  test('is counted by network', async () => {
    const counted = await testApi(database, { SIGNUP_RATE_LIMIT_PER_IP: '2' });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++)
        statuses.push(
          (await post(counted, '/auth/signup', { email: `counted-${n}@harbourmail.test`, password })).status,
        );
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await counted.close();
    }
  });

  test('with an address that cannot be used is refused where that is asked for', async () => {
    for (const email of ['jo+spam@harbourmail.test', 'jo@mailinator.com', 'jo@nomail.test'])
      expect(await post(strict, '/auth/signup', { email, password })).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field: 'email' }] } },
      });
  });
});

describe('confirming an address', () => {
  test('opens the account: by the link of the mail, once, in the language of the browser', async () => {
    const email = 'greta.sund@harbourmail.test';
    const signUp = await post(strict, '/auth/signup', { email, password }, { 'Accept-Language': 'de-CH,en;q=0.5' });
    expect(signUp.status).toBe(200);
    const session = cookieOf(signUp.headers) ?? {};
    expect((await strict.call(null, 'GET', '/users/@me', undefined, session)).status).toBe(403);
    const letter = await last(email);
    expect(letter).toMatchObject({ kind: 'verify-address', subject: 'Bestätigen Sie Ihre Adresse' });
    expect(letter.link).toMatch(/^https:\/\/mail\.harbour\.test\/auth\/verify-email\?token=[0-9a-f]{64}$/);
    expect(letter.html).toContain(`href="${letter.link}"`);
    const token = tokenOf(letter);
    const stored = await database.db.rows<{ hash: Buffer }>('select token_hash as hash from account_tokens');
    expect(stored.some(({ hash }) => hash.toString('hex') === token || hash.toString() === token)).toBe(false);
    expect((await post(strict, '/auth/verify-email', { token })).body).toEqual({
      success: true,
      data: { message: 'Your address is verified' },
    });
    expect((await strict.call(null, 'GET', '/users/@me', undefined, session)).body).toEqual(signUp.body.data);
    expect(await post(strict, '/auth/verify-email', { token })).toMatchObject({
      status: 400,
      body: { error: { code: 'BAD_REQUEST' } },
    });
  });

  test('refuses tokens that are unknown, of another purpose, too old or of another length', async () => {
    const email = 'alma.reyes@harbourmail.test';
    await post(strict, '/auth/signup', { email, password });
    const token = tokenOf(await last(email));
    expect((await post(strict, '/auth/verify-email', { token: 'f'.repeat(64) })).status).toBe(400);
    expect((await post(strict, '/auth/reset-password', { token, newPassword: password })).status).toBe(400);
    expect((await post(strict, '/auth/verify-email', { token: token.slice(1) })).status).toBe(422);
    await database.db.count(`update account_tokens set expires_at = now() - interval '1 second'`);
    expect((await post(strict, '/auth/verify-email', { token })).status).toBe(400);
  });

  test('of two uses at once lets one through', async () => {
    const email = 'both.hands@harbourmail.test';
    await post(strict, '/auth/signup', { email, password });
    const token = tokenOf(await last(email));
    const answers = await Promise.all([0, 1, 2, 3].map(() => post(strict, '/auth/verify-email', { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  test('can be asked for again, three mails an hour, and only the newest link works', async () => {
    const email = 'ivo.marsh@harbourmail.test';
    const session = cookieOf((await post(strict, '/auth/signup', { email, password })).headers) ?? {};
    const first = tokenOf(await last(email));
    const again = () => post(strict, '/auth/request-verification', undefined, session);
    expect([(await again()).status, (await again()).status]).toEqual([200, 200]);
    const refused = await again();
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect(await letters(email)).toHaveLength(3);
    expect((await post(strict, '/auth/verify-email', { token: first })).status).toBe(400);
    expect((await post(strict, '/auth/verify-email', { token: tokenOf(await last(email)) })).status).toBe(200);
    expect((await again()).body.data.message).toContain('already');
    expect(await letters(email)).toHaveLength(3);
    expect((await post(strict, '/auth/request-verification')).status).toBe(401);
  });

  test('tells nobody who has an account: a taken address is answered like a new one', async () => {
    const owner = await aPerson(database.db, strict.config, { name: 'vera.lowe', signsIn: true });
    const taken = await post(strict, '/auth/signup', { email: owner.email, password });
    const fresh = await post(strict, '/auth/signup', { email: 'new.here@harbourmail.test', password });
    expect([taken.status, fresh.status]).toEqual([200, 200]);
    expect(taken.body).toEqual({ success: true, data: { id: expect.any(String), email: owner.email } });
    expect(taken.body.data.id).not.toBe(owner.id);
    const [asTaken, asFresh] = [cookieOf(taken.headers) ?? {}, cookieOf(fresh.headers) ?? {}];
    for (const [method, path] of [
      ['GET', '/users/@me'],
      ['GET', '/users/@me/projects'],
      ['POST', '/auth/request-verification'],
    ] as const) {
      const [one, other] = [
        await strict.call(null, method, path, undefined, asTaken),
        await strict.call(null, method, path, undefined, asFresh),
      ];
      expect(one.status, path).toBe(other.status);
      expect(one.body.error?.code).toBe(other.body.error?.code);
    }
    expect(await last(owner.email)).toMatchObject({
      kind: 'address-taken',
      link: 'https://mail.harbour.test/auth/login',
    });
    expect((await post(api, '/auth/login', { email: owner.email, password: owner.password })).status).toBe(200);
    for (let n = 0; n < 4; n++) await post(strict, '/auth/signup', { email: owner.email, password });
    expect(await letters(owner.email)).toHaveLength(3);
  });
});

describe('a forgotten password', () => {
  test('is replaced by the link of a mail, which ends every session', async () => {
    const person = await aPerson(database.db, api.config, { name: 'sami.aalto', signsIn: true });
    const before = cookieOf((await post(api, '/auth/login', person)).headers) ?? {};
    await post(api, '/auth/request-password-reset', { email: person.email });
    const token = tokenOf(await last(person.email));
    const newPassword = 'another long walk';
    const answer = await post(api, '/auth/reset-password', { token, newPassword });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await api.call(null, 'GET', '/users/@me', undefined, before)).status).toBe(401);
    expect((await post(api, '/auth/login', person)).status).toBe(401);
    expect((await post(api, '/auth/login', { email: person.email, password: newPassword })).status).toBe(200);
    expect((await post(api, '/auth/reset-password', { token, newPassword })).status).toBe(400);
  });

  test('is answered alike for known, unknown and OAuth addresses and beyond the limit, and mails only the first', async () => {
    const known = await aPerson(database.db, api.config, { name: 'uma.dahl' });
    const google = await aPerson(database.db, api.config, { type: 'GOOGLE_OAUTH' });
    const ask = (email: string) => post(api, '/auth/request-password-reset', { email });
    const answers = [await ask(known.email), await ask('nobody.at.all@harbourmail.test'), await ask(google.email)];
    for (let n = 0; n < 4; n++) answers.push(await ask(known.email));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual(answers[0]?.body);
    }
    expect(await letters(known.email)).toHaveLength(3);
    expect(await letters(google.email)).toEqual([]);
    expect((await ask('no address')).status).toBe(422);
    // Nor does the time tell: each answer takes longer than the work that only known addresses cause. Timers may be a moment early.
    for (const email of [known.email, 'nobody.either@harbourmail.test']) {
      const asked = performance.now();
      await ask(email);
      expect(performance.now() - asked).toBeGreaterThan(sameAnswerMs - 5);
    }
  });

  test('opens an address that was locked by failed attempts', async () => {
    const person = await aPerson(database.db, api.config, { name: 'lotte.brand', signsIn: true });
    for (let n = 0; n < 6; n++) await post(api, '/auth/login', { email: person.email, password: 'wrong guess' });
    expect((await post(api, '/auth/login', person)).status).toBe(429);
    await post(api, '/auth/request-password-reset', { email: person.email });
    await post(api, '/auth/reset-password', { token: tokenOf(await last(person.email)), newPassword: password });
    expect((await post(api, '/auth/login', { email: person.email, password })).status).toBe(200);
  });
});
