import { createHmac } from 'node:crypto';
import { composePassword, developmentSecret } from '@fernpost/earlier-name';
import type { Config } from './config.ts';
import type { SettingValues } from './settings.ts';

type Purpose = 'api keys' | 'recipient links' | 'sandbox webhooks';

/** A secret for one purpose, derived from another one. */
export function deriveSecret(from: string, purpose: Purpose): string {
  return createHmac('sha256', from).update(purpose).digest('base64url');
}

const knownSecrets: ReadonlySet<string> = new Set([
  developmentSecret,
  ...(['api keys', 'recipient links', 'sandbox webhooks'] as const).map((purpose) =>
    deriveSecret(developmentSecret, purpose),
  ),
]);

const secretSettings = [
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'APP_ENCRYPTION_KEY',
  'APP_ENCRYPTION_KEY_PREVIOUS',
  'LINK_SECRET',
  'LINK_SECRET_PREVIOUS',
  'TEMPORAL_CODEC_KEY',
  'TEMPORAL_CODEC_KEY_PREVIOUS',
] as const satisfies readonly (keyof SettingValues)[];

type Secrets = Pick<SettingValues, (typeof secretSettings)[number]>;

const isKnown = (secret: string | null) => secret !== null && knownSecrets.has(secret);

/** Returns the problems of a production deployment's secrets: those that are missing, or publicly known. */
export function productionSecretProblems(values: Secrets): string[] {
  const problems = secretSettings
    .filter((name) => isKnown(values[name]))
    .map((name) => `${name} is the development secret, which is public: set a random one (openssl rand -base64 48)`);
  if (values.JWT_SECRET === null) problems.push('JWT_SECRET is required in production (at least 32 characters)');
  return problems;
}

/**
 * The secrets in use, and those that are accepted besides during a rotation. A key that is not set is derived from
 * JWT_SECRET; what was derived from JWT_SECRET_PREVIOUS is accepted too.
 */
export function dependentSecrets(values: Secrets) {
  const jwtSecret = values.JWT_SECRET ?? developmentSecret;
  const { JWT_SECRET_PREVIOUS: previous } = values;
  const encryptionKey = values.APP_ENCRYPTION_KEY ?? deriveSecret(jwtSecret, 'api keys');
  const linkSecret = values.LINK_SECRET ?? deriveSecret(jwtSecret, 'recipient links');
  const accepted = (current: string, named: string | null, purpose: Purpose) =>
    distinct(current, named, previous === null ? null : deriveSecret(previous, purpose));
  return {
    JWT_SECRET: jwtSecret,
    APP_ENCRYPTION_KEY: encryptionKey,
    LINK_SECRET: linkSecret,
    /** Secrets whose sessions are accepted; new ones are signed with the first, JWT_SECRET. */
    sessionSecrets: distinct(jwtSecret, previous),
    /** Keys that open what is stored encrypted; the first, APP_ENCRYPTION_KEY, encrypts. */
    encryptionKeys: accepted(encryptionKey, values.APP_ENCRYPTION_KEY_PREVIOUS, 'api keys'),
    /** Secrets whose links of recipients are accepted; the first, LINK_SECRET, signs. */
    linkSecrets: accepted(linkSecret, values.LINK_SECRET_PREVIOUS, 'recipient links'),
    /** Whether a secret in use is one that everybody can look up in the source of this service. */
    usesKnownSecret: values.JWT_SECRET === null || secretSettings.some((name) => isKnown(values[name])),
  };
}

function distinct(...secrets: (string | null)[]): readonly string[] {
  return [...new Set(secrets.filter((secret) => secret !== null))];
}

type Provider = NonNullable<SettingValues['MAIL_PROVIDER']>;

/**
 * Settings with which a production deployment must not start: mail would silently go nowhere, or its links would lead to
 * the reader's own machine.
 */
export function productionProblems(
  values: SettingValues,
  urls: { API_URI: string; DASHBOARD_URI: string },
  provider: Provider,
): string[] {
  if (provider === 'sandbox') return forgottenProvider(values, ['POSTMARK_WEBHOOK_USER']);
  if (!reachesPeople(provider, values)) return [];
  return (['API_URI', 'DASHBOARD_URI'] as const)
    .filter((name) => isOwnMachine(urls[name]))
    .map((name) => {
      const setting = values[name] === null ? 'PUBLIC_URL' : name;
      return `${setting} leads to this machine (${urls[name]}): set it to what recipients of mail can reach`;
    })
    .filter((problem, place, all) => all.indexOf(problem) === place);
}

// Each of these is set by somebody who means mail to leave, and none of them does it alone. Outside production the sandbox
// may have a POSTMARK_WEBHOOK_USER of its own.
function forgottenProvider(values: SettingValues, ofPostmark: readonly 'POSTMARK_WEBHOOK_USER'[] = []): string[] {
  if (values.MAIL_PROVIDER === 'sandbox') return [];
  const halves = [
    ...ofPostmark.map((name) => [name, 'POSTMARK_SERVER_TOKEN is missing'] as const),
    ['POSTMARK_ACCOUNT_TOKEN', 'POSTMARK_SERVER_TOKEN is missing'],
    ['POSTMARK_WEBHOOK_TOKEN', 'POSTMARK_SERVER_TOKEN is missing'],
    ['AWS_SES_REGION', 'MAIL_PROVIDER=ses is missing'],
    ['SNS_TOPIC_ARNS', 'MAIL_PROVIDER=ses is missing'],
    ['SMTP_URL', 'MAIL_PROVIDER=smtp is missing'],
  ] as const;
  return halves
    .filter(([name]) => (Array.isArray(values[name]) ? values[name].length > 0 : values[name] !== null))
    .map(
      ([name, missing]) =>
        `${missing}: ${name} is set, but all mail would go to the sandbox; MAIL_PROVIDER=sandbox says that this is meant`,
    );
}

const publicPasswords = ['fernpost-development', composePassword];

/** Returns warnings about settings that work and are not safe, a sentence each. Empty when all is well. */
export function unsafeSettings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.usesKnownSecret)
    warnings.push(
      config.JWT_SECRET_PREVIOUS === null && config.sessionSecrets.length === 1
        ? 'JWT_SECRET is not set, or is the development secret: anyone can make sessions and links, and read stored API keys. Set a random one (openssl rand -base64 48)'
        : 'a secret in use is the development secret, which is public: set a random one (openssl rand -base64 48)',
    );
  if (isDeployment(config) && !config.DISABLE_SIGNUPS)
    warnings.push(
      `sign-ups are open: anyone who reaches this service can create a project${rulesForStrangers(config)}. Set DISABLE_SIGNUPS=true unless this is meant`,
    );
  if (config.NODE_ENV !== 'production') {
    if (config.mailProvider === 'sandbox') warnings.push(...forgottenProvider(config));
    return warnings;
  }
  const real = reachesPeople(config.mailProvider, config);
  if (config.mailProvider === 'sandbox')
    warnings.push('mail goes to the sandbox: nothing is delivered. Set POSTMARK_SERVER_TOKEN or MAIL_PROVIDER');
  if (config.SYSTEM_FROM_ADDRESS.endsWith('@localhost.test') && real)
    warnings.push(
      'SYSTEM_FROM_ADDRESS is not set: the mail provider will refuse the mail of the service, such as links that confirm an address',
    );
  if (isOwnMachine(config.DASHBOARD_URI) || isOwnMachine(config.API_URI))
    warnings.push(`links lead to this machine (${config.DASHBOARD_URI}): set PUBLIC_URL`);
  else if (config.API_URI.startsWith('http:'))
    warnings.push(
      'API_URI is not https: sessions and keys travel in clear, and mail clients offer no unsubscribe button',
    );
  if (config.API_URI.startsWith('https:') && config.TRUST_PROXY === 0)
    warnings.push(
      'TRUST_PROXY is 0 although API_URI is https, so a proxy is in front: all callers count as one network, and a hundred failed sign-ins lock sign-in for everybody. Set it to the number of proxies',
    );
  if (config.DATABASE_URL !== null && publicPasswords.includes(URL.parse(config.DATABASE_URL)?.password ?? ''))
    warnings.push('the password of Postgres is the one of docker-compose.yml, which is public: set POSTGRES_PASSWORD');
  return warnings;
}

// The rules for projects of people whom no operator invited.
function rulesForStrangers({ mailLeaves, publicDailyEmails, holdsPublicDomains }: Config): string {
  if (!mailLeaves) return '';
  const domains = holdsPublicDomains ? 'its domains wait for your approval' : 'its domains need no approval';
  const emails =
    publicDailyEmails === null ? 'it has no daily limit' : `it sends at most ${publicDailyEmails} emails a day`;
  return ` (${domains}, ${emails})`;
}

/**
 * Whether this is more than a trial: production, or mail that reaches people. Its first project is a real one, whose owner
 * and sender somebody has named.
 */
export function isDeployment(config: Config): boolean {
  return config.NODE_ENV === 'production' || reachesPeople(config.mailProvider, config);
}

/** Whether mail leaves. A provider that listens on this machine is taken for a stand-in. */
export function reachesPeople(
  provider: Provider,
  places: Pick<SettingValues, 'POSTMARK_API_URL' | 'AWS_SES_ENDPOINT' | 'SMTP_URL'>,
): boolean {
  const place = {
    sandbox: 'http://localhost',
    postmark: places.POSTMARK_API_URL,
    ses: places.AWS_SES_ENDPOINT,
    smtp: places.SMTP_URL?.replace(/^smtps?:/, 'http:') ?? null,
  }[provider];
  return place === null || !isOwnMachine(place);
}

/** Whether a URL leads to the machine of whoever opens it. */
function isOwnMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(host);
}
