import { readFileSync } from 'node:fs';
import type { TemporalSettings, TlsSettings } from '../../../temporal/connection.ts';
import { type Config, ConfigError } from '../../core/config/config.ts';

/**
 * Reads the connection settings and the files they name.
 * @throws ConfigError naming the setting whose file cannot be read, or the missing address
 */
export function temporalSettings(config: Config): TemporalSettings {
  if (config.TEMPORAL_ADDRESS === null) throw new ConfigError(['TEMPORAL_ADDRESS is required']);
  return {
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    apiKey: config.TEMPORAL_API_KEY,
    tls: tlsSettings(config),
    codecKey: config.TEMPORAL_CODEC_KEY,
    ...(config.TEMPORAL_CODEC_KEY_PREVIOUS === null ? {} : { previousCodecKey: config.TEMPORAL_CODEC_KEY_PREVIOUS }),
  };
}

function tlsSettings(config: Config): TlsSettings | null {
  const problems: string[] = [];
  const read = (name: 'TEMPORAL_TLS_CA' | 'TEMPORAL_TLS_CERT' | 'TEMPORAL_TLS_KEY') => {
    const path = config[name];
    if (path === null) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      problems.push(`${name} names a file that cannot be read: ${(error as Error).message}`);
      return undefined;
    }
  };
  const serverRootCACertificate = read('TEMPORAL_TLS_CA');
  const crt = read('TEMPORAL_TLS_CERT');
  const key = read('TEMPORAL_TLS_KEY');
  if (problems.length > 0) throw new ConfigError(problems);
  const serverNameOverride = config.TEMPORAL_TLS_SERVER_NAME ?? undefined;
  const named = serverRootCACertificate ?? crt ?? serverNameOverride;
  // A certificate, a name to expect or an API key make no sense without TLS, so each of them turns it on.
  if (!config.TEMPORAL_TLS && named === undefined && config.TEMPORAL_API_KEY === null) return null;
  return {
    ...(serverNameOverride === undefined ? {} : { serverNameOverride }),
    ...(serverRootCACertificate === undefined ? {} : { serverRootCACertificate }),
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
  };
}
