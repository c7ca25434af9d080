import { type buildConnector, Client } from 'undici';
import { AddressRefused } from './guard.ts';

/** A request to a stranger's server. Header names are in lower case. */
export interface OutgoingRequest {
  url: URL;
  method: string;
  /** Headers of the request's author: not shown to another host that a redirect leads to. */
  headers: Readonly<Record<string, string>>;
  /** Headers of ours: sent to every host. */
  ownHeaders: Readonly<Record<string, string>>;
  body: string | null;
}

/** The response. */
export interface IncomingAnswer {
  statusCode: number;
  /** The first 64 KiB of the body. */
  body: Buffer;
  /** There was more of it, or the rest did not come in time. */
  truncated: boolean;
  /** The header `Retry-After`, as it came. */
  retryAfter: string | null;
}

/** No answer came. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  /** Whether the request, or a part of it, may have reached a server. */
  readonly written: boolean;

  constructor(message: string, written: boolean) {
    super(message);
    this.written = written;
  }
}

/** How far a call may go; see the defaults. */
export interface CallLimits {
  hopMs: number;
  /** How many are followed; with 0 a redirect is an answer like any other. */
  redirects: number;
  bodyBytes: number;
}

/** The limits of docs/contract/campaigns-and-workflows.md#3-3. */
export const callLimits: CallLimits = { hopMs: 10_000, redirects: 5, bodyBytes: 65_536 };

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Makes a request and follows redirects, every one of which is connected to by the same guard.
 * @throws AddressRefused, NoAnswer
 */
export async function callOut(
  connect: buildConnector.connector,
  request: OutgoingRequest,
  signal: AbortSignal,
  limits = callLimits,
): Promise<IncomingAnswer> {
  let hop = request;
  let written = false;
  for (let hops = 0; ; hops += 1) {
    const { location, ...answer } = await callHop(connect, hop, signal, limits, written);
    if (location === null || limits.redirects === 0 || !redirectStatuses.has(answer.statusCode)) return answer;
    written = true;
    if (hops === limits.redirects)
      throw new NoAnswer(`The receiver redirected more than ${limits.redirects} times`, true);
    hop = redirected(hop, location, answer.statusCode);
  }
}

function redirected(hop: OutgoingRequest, location: string, statusCode: number): OutgoingRequest {
  const url = URL.parse(location, hop.url.href);
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.username !== '' ||
    url.password !== ''
  )
    throw new AddressRefused('The receiver redirected to what is no address of the web');
  const keepsBody = statusCode === 307 || statusCode === 308;
  const isElsewhere = url.host !== hop.url.host || (hop.url.protocol === 'https:' && url.protocol === 'http:');
  const headers = isElsewhere ? {} : { ...hop.headers };
  if (!keepsBody) delete headers['content-type'];
  return { ...hop, url, headers, ...(keepsBody ? {} : { method: 'GET', body: null }) };
}

async function callHop(
  connect: buildConnector.connector,
  { url, method, headers, ownHeaders, body }: OutgoingRequest,
  stop: AbortSignal,
  { hopMs, bodyBytes }: CallLimits,
  written: boolean,
): Promise<IncomingAnswer & { location: string | null }> {
  let connected = false;
  const client = new Client(url.origin, {
    allowH2: false,
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (...result) => {
        connected ||= result[0] === null;
        callback(...result);
      }),
  });
  const late = AbortSignal.timeout(hopMs);
  try {
    const answer = await client.request({
      method: method as 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers, ...ownHeaders },
      body,
      signal: AbortSignal.any([late, stop]),
    });
    const { location, 'retry-after': retryAfter } = answer.headers;
    return {
      statusCode: answer.statusCode,
      location: typeof location === 'string' ? location : null,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      ...(await readBody(answer.body, bodyBytes)),
    };
  } catch (error) {
    if (stop.aborted) throw stop.reason;
    if (error instanceof AddressRefused) throw error;
    const reason = late.aborted ? `no answer within ${hopMs / 1000} s` : reasonOf(error);
    throw new NoAnswer(`${url.host}: ${reason}`, written || connected);
  } finally {
    client.destroy().catch(() => undefined);
  }
}

// A partial body is kept: the receiver did answer.
async function readBody(
  body: AsyncIterable<Buffer>,
  most: number,
): Promise<Pick<IncomingAnswer, 'body' | 'truncated'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) break;
    }
  } catch {
    return { body: Buffer.concat(chunks).subarray(0, most), truncated: true };
  }
  return { body: Buffer.concat(chunks).subarray(0, most), truncated: size > most };
}

const reasons: Record<string, string> = {
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name could not be looked up',
  ENODATA: 'the name has no address',
  ESERVFAIL: 'the name could not be looked up',
  ETIMEOUT: 'the name could not be looked up in time',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut before an answer came',
  UND_ERR_SOCKET: 'the connection was cut before an answer came',
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be made in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};

function reasonOf(error: unknown): string {
  // Several addresses that all failed come as one error that holds the others.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = first as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? (code === undefined ? message : `${message} (${code})`);
}
