import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { keyContexts } from '@fernpost/earlier-name';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import {
  type DataConverter,
  defaultPayloadConverter,
  type Headers,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { describeFailure, grpcStatus } from '../src/lib/network.ts';
import { activeTrace } from '../src/lib/telemetry.ts';
import { pause } from '../src/lib/time.ts';
import { traceHeader } from './commands.ts';

/** How to reach Temporal: a self-hosted server, one behind mTLS, or Temporal Cloud by API key. */
export interface TemporalSettings {
  /** host:port of the frontend. */
  address: string;
  namespace: string;
  apiKey: string | null;
  tls: TlsSettings | null;
  /** Secret that encrypts payloads and memos; they are stored in clear without one. */
  codecKey?: string | null;
  /** The secret before it: what it encrypted can be read. */
  previousCodecKey?: string | null;
}

/** TLS towards the server; the contents of the files that the settings name. */
export interface TlsSettings {
  serverNameOverride?: string;
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}

/** Whether the settings lead to Temporal Cloud, where namespaces and search attributes are made by its own tools. */
export function isTemporalCloud(settings: TemporalSettings): boolean {
  const host = settings.address.replace(/:\d+$/, '').toLowerCase();
  return host.endsWith('.tmprl.cloud') || host.endsWith('.api.temporal.io');
}

/** A client that connects when it is first used and again whenever the server comes back. */
export interface TemporalConnection extends AsyncDisposable {
  // The current ones: `renew` replaces them, so that nobody keeps them.
  readonly client: Client;
  readonly connection: Connection;
  readonly settings: TemporalSettings;
  /** Runs calls that must answer within the given milliseconds. */
  within<T>(milliseconds: number, calls: () => Promise<T>): Promise<T>;
  /** Goes on with other credentials, from the next call on. */
  renew(settings: TemporalSettings): void;
  close(): Promise<void>;
}

// Timers fire late, never early.
const timerLatenessMs = 20;

// Longer than any call may take.
const lastCallsMs = 60_000;

/** Makes the client; `onClose` is called when it is closed. Nothing is sent, so this works while Temporal is down. */
export function openTemporal(first: TemporalSettings, onClose: () => void = () => undefined): TemporalConnection {
  let channel = openChannel(first);
  // Calls that are under way end on the channel they began on.
  const earlier = new Map<Channel, NodeJS.Timeout>();
  const leave = (one: Channel) => {
    clearTimeout(earlier.get(one));
    earlier.delete(one);
    return one.close();
  };
  const close = async () => {
    onClose();
    await Promise.all([channel.close(), ...[...earlier.keys()].map(leave)]);
  };
  return {
    get client() {
      return channel.client;
    },
    get connection() {
      return channel.connection;
    },
    get settings() {
      return channel.settings;
    },
    within: (milliseconds, calls) => channel.connection.withDeadline(Date.now() + milliseconds, calls),
    renew(settings) {
      const old = channel;
      channel = openChannel(settings);
      earlier.set(old, setTimeout(() => void leave(old).catch(() => undefined), lastCallsMs).unref());
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A client with the credentials it was made with. */
interface Channel extends Pick<TemporalConnection, 'client' | 'connection' | 'settings' | 'close'> {}

function openChannel(settings: TemporalSettings): Channel {
  const retry = defaultGrpcRetryOptions({ maxAttempts: 2 });
  let closing = false;
  let lastRetryAt = 0;
  const connection = Connection.lazy({
    address: settings.address,
    ...(settings.tls === null ? {} : { tls: settings.tls }),
    ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
    // Callers wait in their own ways (the outbox, a sweep, a request that answers 503), so a call gives up early,
    // and the channel tries again within seconds of the server's return; its default back-off grows to two minutes.
    interceptors: [
      makeGrpcRetryInterceptor({
        ...retry,
        retryableDecider: (attempt, status) =>
          !closing && status.code !== grpcStatus.RESOURCE_EXHAUSTED && retry.retryableDecider(attempt, status),
        delayFunction(attempt, status) {
          const delay = retry.delayFunction(attempt, status);
          lastRetryAt = Math.max(lastRetryAt, Date.now() + delay);
          return delay;
        },
      }),
    ],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2000 },
  });
  const client = new Client({
    connection,
    namespace: settings.namespace,
    dataConverter: dataConverterOf(settings),
    interceptors: { workflow: [traceInHeaders] },
  });
  const close = async () => {
    closing = true;
    // A repetition that is due on a closed channel throws in its timer, where nobody can catch it.
    const restMs = lastRetryAt - Date.now() + timerLatenessMs;
    if (restMs > 0) await pause(restMs);
    await connection.close();
  };
  return { client, connection, settings, close };
}

const traceInHeaders: WorkflowClientInterceptor = {
  start: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signal: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
};

function withTrace(headers: Headers): Headers {
  const traceparent = activeTrace();
  if (traceparent === null) return headers;
  return { ...headers, [traceHeader]: defaultPayloadConverter.toPayload({ traceparent }) };
}

/** Reads the trace context of the headers of an activity; null without one. */
export function traceOfHeaders(headers: Headers): string | null {
  const payload = headers[traceHeader];
  if (payload === undefined) return null;
  const context = defaultPayloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload);
  return typeof context?.traceparent === 'string' ? context.traceparent : null;
}

/** How payloads are written: the same for clients and workers, or they could not read one another. */
export function dataConverterOf({ codecKey, previousCodecKey }: TemporalSettings): DataConverter {
  return codecKey ? { payloadCodecs: [encryptingCodec(codecKey, previousCodecKey)] } : {};
}

const encoding = 'binary/encrypted';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts what Temporal stores of inputs, results, memos and summaries by AES-256-GCM, with a key derived from the
 * secret. What was stored in clear before can still be read, so the secret can be introduced at any time; what the
 * previous secret encrypted can be read as well.
 */
export function encryptingCodec(secret: string, previous: string | null = null): PayloadCodec {
  const keyOf = (text: string) => Buffer.from(hkdfSync('sha256', text, '', keyContexts.temporalPayloads, 32));
  const key = keyOf(secret);
  const keys = previous === null ? [key] : [key, keyOf(previous)];
  const Wire = proto.temporal.api.common.v1.Payload;

  const seal = (payload: Payload): Payload => {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    const text = [cipher.update(Wire.encode(payload).finish()), cipher.final()];
    return {
      metadata: { encoding: Buffer.from(encoding) },
      data: Buffer.concat([iv, ...text, cipher.getAuthTag()]),
    };
  };

  const open = (payload: Payload): Payload => {
    if (Buffer.from(payload.metadata?.encoding ?? []).toString() !== encoding) return payload;
    const data = Buffer.from(payload.data ?? []);
    let cause: unknown;
    for (const candidate of keys) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', candidate, data.subarray(0, ivBytes));
        decipher.setAuthTag(data.subarray(-tagBytes));
        const text = decipher.update(data.subarray(ivBytes, -tagBytes));
        return Wire.decode(Buffer.concat([text, decipher.final()]));
      } catch (error) {
        cause = error;
      }
    }
    throw new Error('A payload cannot be decrypted: TEMPORAL_CODEC_KEY is not the one it was encrypted with', {
      cause,
    });
  };

  return {
    encode: async (payloads) => payloads.map(seal),
    decode: async (payloads) => payloads.map(open),
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
