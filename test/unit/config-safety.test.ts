import { composePassword, developmentSecret } from '@fernpost/earlier-name';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/lib/config/config.ts';
import { unsafeSettings } from '../../src/lib/config/secrets.ts';

const safe = {
  NODE_ENV: 'production',
  JWT_SECRET: 'a secret of a deployment that has a good one',
  PUBLIC_URL: 'https://mail.harbour-news.org',
  TRUST_PROXY: '1',
  POSTMARK_SERVER_TOKEN: 'a-token',
  SYSTEM_FROM_ADDRESS: 'no-reply@harbour-news.org',
  DISABLE_SIGNUPS: 'true',
};

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
const warningsOf = (env: Record<string, string>) => unsafeSettings(readConfig(env));

describe('the development secret', () => {
  test.each([
    ['unset', {}],
    ['empty, as a compose file passes it', { JWT_SECRET: '' }],
    ['spelled out', { JWT_SECRET: developmentSecret }],
    ['the previous one', { JWT_SECRET: safe.JWT_SECRET, JWT_SECRET_PREVIOUS: developmentSecret }],
    ['for stored keys', { JWT_SECRET: safe.JWT_SECRET, APP_ENCRYPTION_KEY: developmentSecret }],
    ['derived', { JWT_SECRET: safe.JWT_SECRET, LINK_SECRET: readConfig({}).LINK_SECRET }],
  ])('is warned of when it is in use: %s', (_, env) => {
    expect(warningsOf(env)).toEqual([expect.stringContaining('openssl rand')]);
  });

  test('is not warned of when it is not in use', () => {
    expect(warningsOf({ JWT_SECRET: safe.JWT_SECRET })).toEqual([]);
  });

  test.each([
    'JWT_SECRET',
    'JWT_SECRET_PREVIOUS',
    'APP_ENCRYPTION_KEY',
    'APP_ENCRYPTION_KEY_PREVIOUS',
    'LINK_SECRET',
    'LINK_SECRET_PREVIOUS',
    'TEMPORAL_CODEC_KEY',
  ])('stops a production start as %s, even when it is spelled out', (name) => {
    expect(problemsOf({ ...safe, [name]: ` ${developmentSecret} ` })).toEqual([
      expect.stringMatching(new RegExp(`^${name} is the development secret`)),
    ]);
  });

  test('is no way around the secret that production asks for', () => {
    expect(problemsOf({ ...safe, JWT_SECRET: '' })).toEqual([expect.stringMatching(/^JWT_SECRET is required/)]);
    expect(problemsOf({ ...safe, LINK_SECRET: readConfig({}).LINK_SECRET })).toHaveLength(1);
  });
});

describe('production settings', () => {
  test('that are safe say nothing', () => {
    expect(problemsOf(safe)).toEqual([]);
    expect(warningsOf(safe)).toEqual([]);
  });

  test.each([
    [{ PUBLIC_URL: '' }, ['PUBLIC_URL leads to this machine']],
    [{ PUBLIC_URL: 'http://127.0.0.1:3000' }, ['PUBLIC_URL leads to this machine']],
    [{ DASHBOARD_URI: 'http://localhost:5173' }, ['DASHBOARD_URI leads to this machine']],
    [{ POSTMARK_SERVER_TOKEN: '', POSTMARK_ACCOUNT_TOKEN: 'x' }, ['POSTMARK_SERVER_TOKEN is missing']],
    [
      { POSTMARK_SERVER_TOKEN: '', POSTMARK_WEBHOOK_USER: 'x', POSTMARK_WEBHOOK_PASSWORD: 'y' },
      ['POSTMARK_SERVER_TOKEN is missing'],
    ],
    [{ POSTMARK_SERVER_TOKEN: '', SMTP_URL: 'smtp://smtp.example.org' }, ['MAIL_PROVIDER=smtp is missing']],
    [{ POSTMARK_SERVER_TOKEN: '', AWS_SES_REGION: 'eu-west-1' }, ['MAIL_PROVIDER=ses is missing']],
  ])('stop the start where mail would go nowhere or lead nowhere: %j', (env, problems) => {
    expect(problemsOf({ ...safe, ...env })).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  test.each([
    [{ SYSTEM_FROM_ADDRESS: '' }, 'SYSTEM_FROM_ADDRESS'],
    [{ TRUST_PROXY: '0' }, 'TRUST_PROXY'],
    [{ PUBLIC_URL: 'http://mail.harbour-news.org' }, 'not https'],
    [{ POSTMARK_SERVER_TOKEN: '' }, 'sandbox'],
    [{ DATABASE_URL: 'postgres://fernpost:fernpost-development@postgres:5432/fernpost' }, 'POSTGRES_PASSWORD'],
    [{ DATABASE_URL: `postgres://fernpost:${composePassword}@postgres:5432/fernpost` }, 'POSTGRES_PASSWORD'],
    [{ POSTMARK_SERVER_TOKEN: '', MAIL_PROVIDER: 'sandbox', POSTMARK_ACCOUNT_TOKEN: 'x' }, 'sandbox'],
  ])('that are not safe are warned of: %j', (env, part) => {
    expect(warningsOf({ ...safe, ...env })).toEqual([expect.stringContaining(part)]);
  });

  test.each([
    [{ ...safe }, /its domains wait for your approval, it sends at most 200 emails a day/],
    [
      { ...safe, PUBLIC_PROJECT_DAILY_EMAILS: '0', PUBLIC_DOMAINS_NEED_APPROVAL: 'false' },
      /no approval, it has no daily limit/,
    ],
    [{ JWT_SECRET: safe.JWT_SECRET, POSTMARK_SERVER_TOKEN: 'x' }, /at most 200/],
    [{ ...safe, POSTMARK_SERVER_TOKEN: '', MAIL_PROVIDER: 'sandbox' }, /can create a project\. Set/],
  ])('open sign-ups of a deployment are one warning', (env, text) => {
    const open = (warnings: string[]) => warnings.filter((warning) => warning.includes('sign-ups are open'));
    expect(open(warningsOf({ ...env, DISABLE_SIGNUPS: '' }))).toEqual([expect.stringMatching(text)]);
    expect(open(warningsOf({ ...env, DISABLE_SIGNUPS: 'true' }))).toEqual([]);
  });

  test('open sign-ups of a trial are not warned of', () => {
    expect(warningsOf({ JWT_SECRET: safe.JWT_SECRET })).toEqual([]);
    expect(warningsOf({ JWT_SECRET: safe.JWT_SECRET, MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:25' })).toEqual(
      [],
    );
  });

  test('outside production only what cannot be meant is warned of', () => {
    const env = { JWT_SECRET: safe.JWT_SECRET };
    expect(warningsOf({ ...env, POSTMARK_ACCOUNT_TOKEN: 'x' })).toEqual([expect.stringContaining('sandbox')]);
    expect(warningsOf({ ...env, POSTMARK_SERVER_TOKEN: 'x', DISABLE_SIGNUPS: 'true' })).toEqual([]);
  });
});
