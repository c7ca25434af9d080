import { type Models, ServerClient } from 'postmark';
import { Agent, type Dispatcher, request } from 'undici';
import { failedBeforeWriting } from './network-errors.ts';
import type { OutgoingBytes } from './postmark-batch.ts';

/** How long calls may take, in milliseconds. */
export interface Timeouts {
  /** To open a connection. */
  connect: number;
  /** To hand over a batch and read its answer. */
  send: number;
  /** To look messages up. */
  search: number;
}

/** What a call showed besides its parsed answer; the `postmark` package keeps none of it. */
export interface CallFacts {
  /** HTTP status, or null when no answer came. */
  status: number | null;
  /** What `Retry-After` asked for, in milliseconds. */
  retryAfterMs: number | null;
  /** Whether the call failed before its request was written, so that nothing can have been accepted. */
  unwritten: boolean;
}

/** Makes clients of Postmark's server API that share one pool of kept-alive connections. */
export interface Transport {
  /**
   * A client for one call, and what will be known of that call when it ends. `body` goes out in place of the one that the
   * client makes.
   */
  open(timeoutMs: number, body?: OutgoingBytes): { client: ServerClient; facts: CallFacts };
}

/** What the `postmark` package passes to its fetch. */
interface Call {
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string;
}

/** The transport to a base URL such as `https://api.postmarkapp.com`. */
export function createTransport(apiUrl: string, serverToken: string, timeouts: Timeouts): Transport {
  const url = new URL(apiUrl);
  const longest = Math.max(timeouts.send, timeouts.search);
  // HTTP/1.1 only: one connection carries one call, so a failure says something about that call alone.
  const agent = new Agent({
    allowH2: false,
    connect: { timeout: timeouts.connect },
    headersTimeout: longest,
    bodyTimeout: longest,
  });
  const requestHost = `${url.host}${url.pathname.replace(/\/+$/, '')}`;
  return {
    open(timeoutMs, body) {
      const facts: CallFacts = { status: null, retryAfterMs: null, unwritten: false };
      // Not fetch: its streams and copies cost more per message than rendering it (measured: 26 µs against 3).
      const watchedFetch = async (input: string, init: Call) => {
        try {
          const answer = await request(input, {
            method: init.method,
            ...(body === undefined ? ownBody(init) : bodyInChunks(init, body)),
            dispatcher: agent,
            signal: AbortSignal.timeout(timeoutMs),
          });
          facts.status = answer.statusCode;
          facts.retryAfterMs = retryAfter(headerOf(answer.headers['retry-after']), Date.now());
          return { status: answer.statusCode, text: () => answer.body.text() };
        } catch (error) {
          facts.unwritten = failedBeforeWriting(error);
          throw error;
        }
      };
      // The package names the browser's fetch type and uses this much of it.
      const fetch = watchedFetch as unknown as Models.ClientOptions.FetchImplementation;
      return {
        client: new ServerClient(serverToken, { requestHost, useHttps: url.protocol === 'https:', fetch }),
        facts,
      };
    },
  };
}

type Sent = Pick<Dispatcher.RequestOptions, 'headers' | 'body'>;

function ownBody({ headers, body }: Call): Sent {
  return { headers, body: body ?? null };
}

// undici takes any iterable, of which its types know nothing, and asks for a chunk when the one before has been written.
function bodyInChunks({ headers }: Call, body: OutgoingBytes): Sent {
  return { headers: { ...headers, 'Content-Length': String(body.byteLength) }, body: body as unknown as Buffer };
}

function headerOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** `Retry-After` (RFC 9110, 10.2.3: seconds or a date) as milliseconds from now; null when absent or unreadable. */
export function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
