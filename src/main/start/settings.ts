import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { postgresName as earlierPostgresName } from '@fernpost/earlier-name';
import { postgresName, reasonOf, StartError, type TakenPort, type WantedPort } from '@fernpost/local-stack';
import * as v from 'valibot';
import { type Config, ConfigError, readConfig } from '../../lib/config/config.ts';

const Generated = v.object({
  /** Password of the Postgres that we run ourselves. */
  postgresPassword: v.pipe(v.string(), v.minLength(16)),
  /** Its role and its database. Files from before they had a choice name none. */
  postgresName: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+$/)), earlierPostgresName),
  /** Value of JWT_SECRET for as long as that is not set. */
  jwtSecret: v.pipe(v.string(), v.minLength(32)),
});

/** Secrets that nobody needs to choose, made once and kept in DATA_DIR/secrets.json for its owner alone. */
export type GeneratedSecrets = v.InferOutput<typeof Generated>;

/**
 * Reads the kept secrets, or makes them on the first run.
 * @throws StartError when the file is there and unusable; it is never replaced, for the data depends on it
 */
export function keptSecrets(dataDir: string): GeneratedSecrets {
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) {
    try {
      return v.parse(Generated, JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      throw new StartError(
        `${path} cannot be read (${reasonOf(error)}). Restore it, or remove ${dataDir} to begin anew without its data.`,
      );
    }
  }
  const made: GeneratedSecrets = {
    postgresPassword: randomBytes(18).toString('base64url'),
    postgresName,
    jwtSecret: randomBytes(32).toString('base64url'),
  };
  writeFileSync(`${path}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
}

/** The settings of `npm start`. DATA_DIR is an absolute path. */
export type StartConfig = Config;

// Settings that only make sense with servers of others. Our own Temporal speaks plain text; our own Postgres has no pooler before it.
const companions = {
  TEMPORAL_ADDRESS: [
    'TEMPORAL_API_KEY',
    'TEMPORAL_TLS',
    'TEMPORAL_TLS_CA',
    'TEMPORAL_TLS_CERT',
    'TEMPORAL_TLS_KEY',
    'TEMPORAL_TLS_SERVER_NAME',
  ],
  DATABASE_URL: ['DIRECT_DATABASE_URL'],
} as const;

/**
 * Reads the settings of `npm start`, which makes the secrets that are not set.
 * @throws StartError with one line for each setting that is wrong
 */
export function readStartConfig(env: NodeJS.ProcessEnv): StartConfig {
  try {
    const config = readConfig({ ...env, JWT_SECRET: env.JWT_SECRET?.trim() || '-'.repeat(32) });
    const problems = (['TEMPORAL_ADDRESS', 'DATABASE_URL'] as const).flatMap((missing) =>
      config[missing] === null
        ? companions[missing]
            .filter((name) => config[name])
            .map((name) => `${missing} is missing: ${name} is set and needs it`)
        : [],
    );
    if (problems.length > 0) throw new ConfigError(problems);
    return { ...config, DATA_DIR: resolve(config.DATA_DIR) };
  } catch (error) {
    if (error instanceof ConfigError) throw new StartError(...error.problems);
    throw error;
  }
}

/** The settings without optional listeners whose ports are taken. */
export function withoutTaken(config: StartConfig, taken: readonly TakenPort[]): StartConfig {
  return { ...config, ...Object.fromEntries(taken.map(({ setting }) => [setting, null])) };
}

/** Where mail is taken by SMTP, as host:port; null where it is not. */
export function smtpAddress(config: StartConfig): string | null {
  const port = config.SMTP_IN_PORT ?? config.SMTP_IN_TLS_PORT;
  return port === null ? null : `${reachableHost(config.SMTP_IN_HOST)}:${port}`;
}

/** The ports that a start with these settings opens. */
export function wantedPorts(config: StartConfig): WantedPort[] {
  const local = '127.0.0.1';
  const ports: WantedPort[] = [{ port: config.PORT, host: config.HOST, wantedBy: 'the API', setting: 'PORT' }];
  for (const setting of ['SMTP_IN_PORT', 'SMTP_IN_TLS_PORT'] as const) {
    const port = config[setting];
    if (port !== null)
      ports.push({ port, host: config.SMTP_IN_HOST, wantedBy: 'SMTP submission', setting, optional: true });
  }
  if (config.mailProvider === 'sandbox')
    ports.push({
      port: config.SANDBOX_PORT,
      host: config.SANDBOX_HOST,
      wantedBy: 'the mail sandbox',
      setting: 'SANDBOX_PORT',
    });
  if (config.TEMPORAL_ADDRESS === null)
    ports.push(
      { port: config.TEMPORAL_PORT, host: local, wantedBy: 'Temporal', setting: 'TEMPORAL_PORT' },
      { port: config.TEMPORAL_UI_PORT, host: local, wantedBy: 'the Temporal Web UI', setting: 'TEMPORAL_UI_PORT' },
    );
  if (config.DATABASE_URL === null)
    ports.push({ port: config.POSTGRES_PORT, host: local, wantedBy: 'Postgres', setting: 'POSTGRES_PORT' });
  return ports;
}

/** The host under which this machine reaches something that listens on the address. */
export function reachableHost(listenAddress: string): string {
  if (listenAddress === '0.0.0.0' || listenAddress === 'localhost') return '127.0.0.1';
  if (listenAddress === '::') return '[::1]';
  return listenAddress.includes(':') ? `[${listenAddress}]` : listenAddress;
}
