import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type OAuthServer, oauthServer } from '../../support/oauth-server.ts';
import { aPerson } from '../../support/people.ts';

let database: TestDatabase;
let github: OAuthServer;
let google: OAuthServer;
let api: TestApi;
const client = { id: 'fernpost-client', secret: 'fernpost client secret' };
const settings = {
  GITHUB_OAUTH_CLIENT: client.id,
  GITHUB_OAUTH_SECRET: client.secret,
  GOOGLE_OAUTH_CLIENT: client.id,
  GOOGLE_OAUTH_SECRET: client.secret,
};
const dashboard = 'http://localhost:3000';

beforeAll(async () => {
  database = await testDatabase();
  [github, google] = await Promise.all([oauthServer(client), oauthServer(client)]);
  api = await testApi(database, settings, { oauth: endpoints() });
});

afterAll(async () => {
  await api?.close();
  await Promise.all([github?.[Symbol.asyncDispose](), google?.[Symbol.asyncDispose]()]);
  await database?.close();
});

const endpoints = () => ({ github: github.endpoints, google: google.endpoints });

/** A browser with nothing but cookies. */
function browser(which: TestApi) {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async open(path: string): Promise<{ status: number; location: string }> {
      const answer = await fetch(`${which.url}${path}`, {
        redirect: 'manual',
        headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      await answer.arrayBuffer();
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return { status: answer.status, location: answer.headers.get('location') ?? '' };
    },
    async me(): Promise<{ status: number; body: unknown }> {
      return which.call(null, 'GET', '/users/@me', undefined, {
        Cookie: `fernpost_session=${cookies.get('fernpost_session') ?? ''}`,
      });
    },
  };
}

async function signIn(server: OAuthServer, name: 'github' | 'google', which = api, user = browser(which)) {
  const out = await user.open(`/oauth/${name}/outbound`);
  const back = new URL(await server.agree(out.location));
  const end = await user.open(`${back.pathname}${back.search}`);
  return { user, back, end, message: new URL(end.location).searchParams.get('message') };
}

test('signs in by GitHub with the primary confirmed address, and finds the same account the next time', async () => {
  github.identity = [
    { email: 'old@harbourmail.test', primary: false, verified: true },
    { email: 'Liv.Solberg@harbourmail.test', primary: true, verified: true },
  ];
  const first = await signIn(github, 'github');
  expect(first.back.href).toContain(`${api.config.API_URI}/oauth/github/callback`);
  expect(first.end).toEqual({ status: 302, location: dashboard });
  const me = await first.user.me();
  expect(me).toMatchObject({ status: 200, body: { email: 'liv.solberg@harbourmail.test' } });
  expect((await (await signIn(github, 'github')).user.me()).body).toEqual(me.body);
  const row = await database.db.row(
    'select type, email_verified as verified, password_hash as hash from users where email = $1',
    ['liv.solberg@harbourmail.test'],
  );
  expect(row).toEqual({ type: 'GITHUB_OAUTH', verified: true, hash: null });
});

test('signs in by Google, also where addresses must be confirmed', async () => {
  const strict = await testApi(database, { ...settings, REQUIRE_EMAIL_VERIFICATION: 'true' }, { oauth: endpoints() });
  try {
    google.identity = { email: 'paolo.neri@harbourmail.test', email_verified: true };
    const { user } = await signIn(google, 'google', strict);
    expect((await user.me()).status).toBe(200);
  } finally {
    await strict.close();
  }
});

test('says which providers are set up, and 404 for the others', async () => {
  const oauthConfig = async (which: TestApi) => (await which.call(null, 'GET', '/auth/oauth-config')).body.data;
  expect(await oauthConfig(api)).toEqual({ github: true, google: true });
  const bare = await testApi(database);
  try {
    expect(await oauthConfig(bare)).toEqual({ github: false, google: false });
    for (const path of ['/oauth/github/outbound', '/oauth/google/callback?code=1&state=1', '/oauth/other/outbound'])
      expect(await bare.call(null, 'GET', path)).toMatchObject({ status: 404, body: { error: expect.any(String) } });
  } finally {
    await bare.close();
  }
});

test('refuses a sign-in that was not begun in this browser, is begun at another provider, or is used twice', async () => {
  github.identity = [{ email: 'liv.solberg@harbourmail.test', primary: true, verified: true }];
  const { user, back } = await signIn(github, 'github');
  const attacker = browser(api);
  const refused = [
    await attacker.open(`${back.pathname}${back.search}`),
    await user.open(`${back.pathname}${back.search}`),
  ];
  const victim = browser(api);
  await victim.open('/oauth/github/outbound');
  refused.push(await victim.open('/oauth/github/callback?code=stolen&state=guessed'));
  const crossing = browser(api);
  const toGoogle = new URL(await google.agree((await crossing.open('/oauth/google/outbound')).location));
  refused.push(await crossing.open(`/oauth/github/callback${toGoogle.search}`));
  for (const { status, location } of refused) {
    expect(status).toBe(302);
    expect(location).toContain(`${dashboard}/auth/login?message=This%20sign-in%20was%20not%20begun%20here`);
  }
  for (const one of [attacker, victim, crossing]) expect(one.cookies.has('fernpost_session')).toBe(false);
});

test('refuses an address that is not confirmed, belongs to an account of another kind, or is new while sign-ups are disabled', async () => {
  google.identity = { email: 'unsure@harbourmail.test', email_verified: false };
  expect((await signIn(google, 'google')).message).toContain('no confirmed address');
  const holder = await aPerson(database.db, api.config, { name: 'password.holder' });
  google.identity = { email: holder.email, email_verified: true };
  const taken = await signIn(google, 'google');
  expect(taken.message).toContain('another way to sign in');
  expect(taken.user.cookies.has('fernpost_session')).toBe(false);
  const closed = await testApi(database, { ...settings, DISABLE_SIGNUPS: 'true' }, { oauth: endpoints() });
  try {
    google.identity = { email: 'late.comer@harbourmail.test', email_verified: true };
    expect((await signIn(google, 'google', closed)).message).toContain('disabled');
    google.identity = { email: 'paolo.neri@harbourmail.test', email_verified: true };
    expect((await signIn(google, 'google', closed)).end.location).toBe(dashboard);
  } finally {
    await closed.close();
  }
  const late = await database.db.row('select 1 from users where email = $1', ['late.comer@harbourmail.test']);
  expect(late).toBeNull();
});

test('tells the user when they cancel or the provider fails', async () => {
  const user = browser(api);
  await user.open('/oauth/google/outbound');
  expect((await user.open('/oauth/google/callback?error=access_denied')).location).toContain('cancelled');
  google.broken = true;
  expect((await signIn(google, 'google')).message).toContain('could not be asked');
  google.broken = false;
  google.identity = { surprise: true };
  expect((await signIn(google, 'google')).message).toContain('could not be asked');
});
