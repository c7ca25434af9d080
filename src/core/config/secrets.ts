import { createHmac } from 'node:crypto';
import { developmentSecret } from '@fernpost/earlier-name';
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

/** What is wrong with the secrets of a production deployment: one that is missing, or that everybody knows. */
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
