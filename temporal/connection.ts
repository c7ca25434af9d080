import { readFileSync } from 'node:fs';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { type Config, ConfigError } from '../src/config.ts';

/** How to reach Temporal: a self-hosted server, one behind mTLS, or Temporal Cloud by API key. */
export interface TemporalSettings {
  /** host:port of the frontend. */
  address: string;
  namespace: string;
  apiKey: string | null;
  tls: TlsSettings | null;
}

/** TLS towards the server; the contents of the files that the settings name. */
export interface TlsSettings {
  serverNameOverride?: string;
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}

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

/** Whether the settings lead to Temporal Cloud, where namespaces and search attributes are made by its own tools. */
export function isTemporalCloud(settings: TemporalSettings): boolean {
  const host = settings.address.replace(/:\d+$/, '').toLowerCase();
  return host.endsWith('.tmprl.cloud') || host.endsWith('.api.temporal.io');
}

/** A client that connects when it is first used and again whenever the server comes back. */
export interface TemporalConnection extends AsyncDisposable {
  readonly client: Client;
  readonly connection: Connection;
  readonly settings: TemporalSettings;
  /** Runs calls that must answer within the given milliseconds. */
  within<T>(milliseconds: number, calls: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Makes the client. Nothing is sent, so this works while Temporal is down. */
export function openTemporal(settings: TemporalSettings): TemporalConnection {
  const retry = defaultGrpcRetryOptions({ maxAttempts: 2 });
  const connection = Connection.lazy({
    address: settings.address,
    ...(settings.tls === null ? {} : { tls: settings.tls }),
    ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
    // Callers have their own ways to wait (the outbox, a sweep, a request that answers 503), so a call gives up early,
    // and the channel tries again within seconds of the server's return; its default back-off grows to two minutes.
    interceptors: [
      makeGrpcRetryInterceptor({
        ...retry,
        retryableDecider: (attempt, status) =>
          status.code !== grpcStatus.RESOURCE_EXHAUSTED && retry.retryableDecider(attempt, status),
      }),
    ],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2000 },
  });
  const client = new Client({ connection, namespace: settings.namespace });
  const close = () => connection.close();
  return {
    client,
    connection,
    settings,
    within: (milliseconds, calls) => connection.withDeadline(Date.now() + milliseconds, calls),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Asks Temporal for the namespace. Answers null when all is well, else one line that says what is not. */
export async function checkTemporal(temporal: TemporalConnection, deadlineMs = 2000): Promise<string | null> {
  const { namespace } = temporal.settings;
  try {
    await temporal.within(deadlineMs, () => temporal.connection.workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    return describeFailure(error, temporal.settings);
  }
}

/** The status codes of gRPC that decide what happens next (grpc/doc/statuscodes.md). */
export const grpcStatus = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** The gRPC status code of an error or of one of its causes; null when it came from elsewhere. */
export function grpcCode(error: unknown): number | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'number') return code;
  }
  return null;
}

/** Whether the error says that no answer came at all, which waiting may cure. */
export function isTemporalUnreachable(error: unknown): boolean {
  const code = grpcCode(error);
  return code === grpcStatus.UNAVAILABLE || code === grpcStatus.DEADLINE_EXCEEDED || code === grpcStatus.CANCELLED;
}

/** The most precise text of an error from the client: what the server, or the network, said. */
export function grpcDetails(error: unknown): string {
  let text = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const details = (cause as { details?: unknown }).details;
    text = typeof details === 'string' && details !== '' ? details : cause.message;
  }
  return text;
}

/** One line about why Temporal could not be used. */
export function describeFailure(error: unknown, settings: TemporalSettings): string {
  const code = grpcCode(error);
  if (code === grpcStatus.NOT_FOUND) return `namespace "${settings.namespace}" does not exist`;
  if (code === grpcStatus.DEADLINE_EXCEEDED) return `no answer from ${settings.address}`;
  if (code === grpcStatus.UNAVAILABLE) return `cannot reach ${settings.address}`;
  if (code === grpcStatus.UNAUTHENTICATED || code === grpcStatus.PERMISSION_DENIED)
    return `${settings.address} refuses the credentials: ${grpcDetails(error)}`;
  return grpcDetails(error);
}
