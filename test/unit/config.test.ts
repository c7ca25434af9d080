import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, settingsPage } from '../../src/lib/config/config.ts';

function problemsOf(env: Record<string, string>, required: ('DATABASE_URL' | 'TEMPORAL_ADDRESS')[] = []): string[] {
  try {
    readConfig(env, required);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  test('an empty environment gives the documented defaults, frozen', () => {
    const config = readConfig({ PORT: '' });
    expect(config).toMatchObject({
      PORT: 3000,
      HOST: '127.0.0.1',
      PUBLIC_URL: 'http://localhost:3000',
      SANDBOX_PORT: 8025,
      POSTMARK_API_URL: 'http://localhost:8025',
      SEND_RATE_PER_PROJECT: 1000,
      SEND_CHUNK: 500,
      mailProvider: 'sandbox',
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('a server token turns Postmark on, and an explicit address always wins', () => {
    expect(readConfig({ POSTMARK_SERVER_TOKEN: 't' })).toMatchObject({
      mailProvider: 'postmark',
      POSTMARK_API_URL: 'https://api.postmarkapp.com',
      POSTMARK_WEBHOOK_USER: null,
    });
    expect(readConfig({ POSTMARK_SERVER_TOKEN: 't', POSTMARK_API_URL: 'http://127.0.0.1:9/' }).POSTMARK_API_URL).toBe(
      'http://127.0.0.1:9',
    );
  });

  test('MAIL_PROVIDER chooses Amazon SES or an SMTP server, and each needs to know where that is', () => {
    const token = { POSTMARK_SERVER_TOKEN: 't', POSTMARK_UNSUBSCRIBES: 'postmark' };
    expect(readConfig({ ...token, MAIL_PROVIDER: 'ses', AWS_SES_REGION: 'eu-west-1' })).toMatchObject({
      mailProvider: 'ses',
      POSTMARK_UNSUBSCRIBES: 'self',
    });
    expect(readConfig({ MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtps://u:p@mail.example.com' }).mailProvider).toBe('smtp');
    expect(problemsOf({ MAIL_PROVIDER: 'ses' })).toEqual([
      'AWS_SES_REGION is missing: MAIL_PROVIDER is ses and needs it',
    ]);
    expect(problemsOf({ MAIL_PROVIDER: 'smtp' })).toEqual(['SMTP_URL is missing: MAIL_PROVIDER is smtp and needs it']);
    expect(problemsOf({ MAIL_PROVIDER: 'postmark' })).toEqual([
      'POSTMARK_SERVER_TOKEN is missing: MAIL_PROVIDER is postmark and needs it',
    ]);
    expect(problemsOf({ ...token, MAIL_PROVIDER: 'sandbox' })).toHaveLength(1);
    expect(problemsOf({ AWS_SES_ACCESS_KEY_ID: 'A' })).toEqual([
      'AWS_SES_SECRET_ACCESS_KEY is missing: AWS_SES_ACCESS_KEY_ID is set and needs it',
    ]);
  });

  test('webhooks reach this machine by default only where nobody else does', () => {
    const hostsOf = (env: Record<string, string>) => readConfig(env).WEBHOOK_ALLOWED_HOSTS;
    expect(hostsOf({})).toContain('localhost');
    expect(hostsOf({ WEBHOOK_ALLOWED_HOSTS: 'intranet.test' })).toEqual(['intranet.test']);
    expect(hostsOf({ HOST: '0.0.0.0' })).toEqual([]);
    expect(hostsOf({ NODE_ENV: 'test' })).toEqual([]);
    expect(hostsOf({ POSTMARK_SERVER_TOKEN: 't' })).toEqual([]);
  });

  test.each([
    ['MAIL_PROVIDER', 'pigeon', 'one of'],
    ['SMTP_URL', 'mail.example.com:25', 'smtp://'],
    ['PORT', 'eighty', 'whole number'],
    ['PORT', '70000', 'at most 65535'],
    ['LOG_LEVEL', 'loud', 'one of'],
    ['POSTMARK_API_URL', 'api.postmarkapp.com', 'http'],
    ['DATABASE_URL', 'mysql://localhost/x', 'postgres://'],
    ['TEMPORAL_ADDRESS', 'http://localhost:7233', 'host:port'],
    ['JWT_SECRET', 'short', 'at least 32'],
    ['TEMPORAL_TLS', 'perhaps', 'true or false'],
    ['DNS_SERVERS', 'resolver.example', 'IP addresses'],
  ])('%s=%s stops the start with one line that names it', (name, value, part) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
    expect(problems[0]).toContain(part);
  });

  test('every problem is told at once, required and companion settings included', () => {
    const problems = problemsOf({ PORT: 'x', TEMPORAL_TLS_CERT: '/a', NODE_ENV: 'production' }, [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
    ]);
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TLS_KEY',
      'JWT_SECRET',
    ]);
  });

  test('secrets are derived from JWT_SECRET, each for its purpose', () => {
    const one = readConfig({ JWT_SECRET: 'a'.repeat(32) });
    const two = readConfig({ JWT_SECRET: 'b'.repeat(32) });
    expect(new Set([one.APP_ENCRYPTION_KEY, one.LINK_SECRET, two.APP_ENCRYPTION_KEY, two.LINK_SECRET]).size).toBe(4);
  });

  test('docs/settings.md shows the settings as they are', () => {
    const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    expect(page).toBe(settingsPage());
  });
});
