import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import {
  openTemporal,
  type TemporalConnection,
  type TemporalSettings,
  type TlsSettings,
} from '../../../temporal/connection.ts';
import { isTemporalSetUp, restoreTemporal, TemporalSetupError } from '../../../temporal/setup.ts';
import { type Config, ConfigError } from '../../lib/config/config.ts';
import { describeFailure } from '../../lib/network.ts';
import { pause } from '../../lib/time.ts';

// Certificates that are renewed in time are valid for hours more; a key may be withdrawn soon after its successor is there.
const readAgainEveryMs = 30_000;

/** Opens the connection of a long-lived process: it goes on with new certificates, or a new API key, when their files have changed. */
export function openLastingTemporal(config: Config, log: Logger, everyMs = readAgainEveryMs): TemporalConnection {
  let said: string | null = null;
  const readAgain = () => {
    try {
      const settings = temporalSettings(config);
      if (isDeepStrictEqual(settings, temporal.settings)) return;
      const { clientCertPair, serverRootCACertificate: ca } = settings.tls ?? {};
      // Throws where the certificate is there and its key is still the old one.
      createSecureContext({ ca, cert: clientCertPair?.crt, key: clientCertPair?.key });
      temporal.renew(settings);
      said = null;
      log.info('Temporal: certificates or the API key have changed, and are used from now on');
    } catch (error) {
      const { message } = error as Error;
      if (message !== said) log.warn(`Temporal: new certificates or a new API key cannot be used yet: ${message}`);
      said = message;
    }
  };
  const timer = setInterval(readAgain, everyMs).unref();
  const temporal = openTemporal(temporalSettings(config), () => clearInterval(timer));
  return temporal;
}

/**
 * Reads the connection settings and the files they name.
 * @throws ConfigError naming the setting whose file cannot be read, or the missing address
 */
export function temporalSettings(config: Config): TemporalSettings {
  if (config.TEMPORAL_ADDRESS === null) throw new ConfigError(['TEMPORAL_ADDRESS is required']);
  const problems: string[] = [];
  const read = (name: 'TEMPORAL_API_KEY_FILE' | 'TEMPORAL_TLS_CA' | 'TEMPORAL_TLS_CERT' | 'TEMPORAL_TLS_KEY') => {
    const path = config[name];
    if (path === null) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      problems.push(`${name} names a file that cannot be read: ${(error as Error).message}`);
      return undefined;
    }
  };
  const apiKey = read('TEMPORAL_API_KEY_FILE')?.toString().trim() || config.TEMPORAL_API_KEY;
  const tls = tlsSettings(config, apiKey !== null, {
    serverRootCACertificate: read('TEMPORAL_TLS_CA'),
    crt: read('TEMPORAL_TLS_CERT'),
    key: read('TEMPORAL_TLS_KEY'),
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    ...{ apiKey, tls },
    codecKey: config.TEMPORAL_CODEC_KEY,
    ...(config.TEMPORAL_CODEC_KEY_PREVIOUS === null ? {} : { previousCodecKey: config.TEMPORAL_CODEC_KEY_PREVIOUS }),
  };
}

function tlsSettings(
  config: Config,
  hasApiKey: boolean,
  { serverRootCACertificate, crt, key }: Partial<Record<'serverRootCACertificate' | 'crt' | 'key', Buffer | undefined>>,
): TlsSettings | null {
  const serverNameOverride = config.TEMPORAL_TLS_SERVER_NAME ?? undefined;
  const named = serverRootCACertificate ?? crt ?? serverNameOverride;
  // A certificate, a name to expect or an API key make no sense without TLS, so each of them turns it on.
  if (!config.TEMPORAL_TLS && named === undefined && !hasApiKey) return null;
  return {
    ...(serverNameOverride === undefined ? {} : { serverNameOverride }),
    ...(serverRootCACertificate === undefined ? {} : { serverRootCACertificate }),
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
  };
}

/** Keeps namespace, search attributes and schedules in the Temporal store. One for each process. */
interface TemporalPreparation {
  /**
   * Makes what is missing, as `npm run migrate` does, and says so once. Answers null when all is there, else why Temporal
   * cannot be used. Calls at the same time share one look.
   */
  ensure(): Promise<string | null>;
  /** Has `ensure` run soon, in the background. */
  soon(): void;
  /** Looks no more; a look that is under way ends when the connection is closed. */
  close(): void;
}

interface TemporalPreparationDeps {
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
  /** Setting TEMPORAL_SETUP. */
  mayMake: boolean;
  /** How often the store is looked at when nobody asks for it, in milliseconds. */
  everyMs?: number;
}

// A store is emptied rarely, and the outbox tells of it at once.
const usualEveryMs = 60_000;

/** Starts to keep Temporal prepared, with a look right away. */
export function keepTemporalPrepared(deps: TemporalPreparationDeps): TemporalPreparation {
  const { temporal, queuePrefix, log, mayMake, everyMs = usualEveryMs } = deps;
  const stopping = new AbortController();
  let wake = new AbortController();
  let underWay: Promise<string | null> | null = null;
  let refusal: string | null = null;

  const ensure = (): Promise<string | null> => {
    underWay ??= prepare().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  void look();
  return {
    ensure,
    soon: () => wake.abort(),
    close() {
      stopping.abort();
      wake.abort();
    },
  };

  async function look(): Promise<void> {
    while (!stopping.signal.aborted) {
      await ensure();
      await pause(everyMs, wake.signal);
      if (!stopping.signal.aborted) wake = new AbortController();
    }
  }

  async function prepare(): Promise<string | null> {
    try {
      if (!(await isTemporalSetUp(temporal, queuePrefix))) {
        if (!mayMake) return lacking('run "npm run migrate", or set TEMPORAL_SETUP=true');
        const made = await restoreTemporal(temporal, queuePrefix);
        if (made.length > 0)
          log.warn({ made }, 'the Temporal store is new or was emptied: what it lacked was made again');
      }
      refusal = null;
      return null;
    } catch (error) {
      if (!(error instanceof TemporalSetupError)) return describeFailure(error, temporal.settings);
      return lacking(error.message);
    }
  }

  // Only an operator can help, who has to be notified once.
  function lacking(advice: string): string {
    const text = `the Temporal store lacks its namespace, search attributes or schedules: ${advice}`;
    if (advice !== refusal) log.error(text);
    refusal = advice;
    return text;
  }
}
