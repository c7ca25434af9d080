import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// A deployment with an SMTP server somewhere else; nothing is sent to it here.
const deployment = {
  NODE_ENV: 'production',
  JWT_SECRET: 'a secret of a deployment that has a good one',
  PUBLIC_URL: 'https://mail.harbour-news.org',
  TRUST_PROXY: '1',
  MAIL_PROVIDER: 'smtp',
  SMTP_URL: 'smtp://user:password@smtp.harbour-news.org:587',
  SYSTEM_FROM_ADDRESS: 'no-reply@harbour-news.org',
};

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.close());

interface Ended {
  status: number;
  out: string;
  err: string;
}

function run(args: string[], settings: Record<string, string>): Promise<Ended> {
  const [file = '', ...rest] = args;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: '/nowhere', DATABASE_URL: database.url, ...settings };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, '../../../src/main', file), ...rest],
      { env },
      (error, out, err) => resolve({ status: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

const counts = () =>
  database.db.row<{ users: number; projects: number }>(
    'select (select count(*) from users)::int as users, (select count(*) from projects)::int as projects',
  );

test('a deployment gets no project of somebody at fernpost.test: its owner and sender have to be named', async () => {
  for (const settings of [deployment, { NODE_ENV: 'production', JWT_SECRET: deployment.JWT_SECRET }]) {
    const ended = await run(['create-first-project.ts'], settings);
    expect(ended.status).toBe(1);
    expect(ended.err).toContain('FIRST_PROJECT_OWNER');
    expect(ended.err).toContain('FIRST_PROJECT_SENDER');
  }
  expect(await counts()).toEqual({ users: 0, projects: 0 });
});

test('what the settings name is made: an owner who can sign in, and a sender whose DNS records are to be set', async () => {
  const settings = {
    ...deployment,
    FIRST_PROJECT_OWNER: 'Editor@Harbour-News.org',
    FIRST_PROJECT_SENDER: 'hello@news.harbour-news.org',
    FIRST_PROJECT_NAME: 'Harbour News',
  };
  const ended = await run(['create-first-project.ts'], settings);
  expect(ended.status).toBe(0);
  const made = JSON.parse(ended.out);
  expect(made).toMatchObject({
    baseUrl: 'https://mail.harbour-news.org',
    sender: 'hello@news.harbour-news.org',
    login: { email: 'editor@harbour-news.org', password: expect.any(String) },
    problem: null,
    domain: { domain: 'news.harbour-news.org', verified: false },
  });
  expect(made.domain.records).toContainEqual(
    expect.objectContaining({ purpose: 'DKIM', name: expect.stringContaining('news.harbour-news.org') }),
  );
  const api = await testApi(database, { JWT_SECRET: deployment.JWT_SECRET, REQUIRE_EMAIL_VERIFICATION: 'true' });
  try {
    expect((await api.call(null, 'POST', '/auth/login', made.login)).status).toBe(200);
    const own = await api.call(made.secretKey, 'GET', '/users/@me/projects');
    expect(own.body).toMatchObject([{ name: 'Harbour News', secret: made.secretKey }]);
    // It never counts as verified before its records are there.
    const domains = await api.call(made.secretKey, 'GET', `/domains/project/${made.projectId}`);
    expect(domains.body).toMatchObject([{ domain: 'news.harbour-news.org', verified: false, status: 'Pending' }]);
  } finally {
    await api.close();
  }
  expect((await run(['create-first-project.ts'], settings)).out).toContain('nothing was made');
});

test('npm run project -- create makes further ones, for owners with an account or without one', async () => {
  const create = (...args: string[]) => run(['project.ts', 'create', ...args], deployment);
  const owner = ['--owner', 'editor@harbour-news.org'];
  const first = await create(...owner, '--sender', 'shop@shop.harbour-news.org', '--name', 'Shop');
  expect(first.status).toBe(0);
  expect(JSON.parse(first.out)).toMatchObject({ login: { email: 'editor@harbour-news.org', password: null } });
  const before = await counts();
  for (const [args, problem] of [
    [[...owner, '--sender', 'again@shop.harbour-news.org'], 'shop.harbour-news.org is already a sender domain'],
    [[...owner], 'the sender is missing'],
    [[...owner, '--sender', 'hello@fernpost.test'], 'a domain that cannot exist'],
    [[...owner, '--sender', 'nobody'], 'not an email address'],
    [['--sender', 'hello@co.uk', '--owner', 'x@y.example'], 'must not be a public suffix'],
  ] as const) {
    const refused = await create(...args);
    expect(refused.status, problem).toBe(1);
    expect(refused.err).toContain(problem);
  }
  expect((await create('--owners', 'x')).status).toBe(2);
  // Keys sealed with another secret than the service's could never be shown.
  const foreign = await run(['project.ts', 'create', ...owner, '--sender', 'a@b.harbour-news.org'], {
    ...deployment,
    JWT_SECRET: 'a secret that the service does not have at all',
  });
  expect(foreign.status).toBe(1);
  expect(foreign.err).toContain('JWT_SECRET');
  expect(await counts()).toEqual(before);
});
