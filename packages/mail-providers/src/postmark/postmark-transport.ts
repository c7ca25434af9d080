import { Agent, request } from 'undici';
import { failedBeforeWriting } from '../network-errors.ts';
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

/** What is known of a call that Postmark did not answer with a 2xx. */
export interface CallFailure {
  /** HTTP status, or null when no answer came. */
  status: number | null;
  /** What `Retry-After` asked for, in milliseconds. */
  retryAfterMs: number | null;
  /** Whether the call failed before its request was written, so that nothing can have been accepted. */
  unwritten: boolean;
  /** Postmark's error code; 0 when it named none. */
  code: number;
  text: string;
}

/** Results in the order of the messages, fewer where the answer was no such list; or why there are none. */
type BatchAnswer = { results: unknown[] } | { failure: CallFailure };

/**
 * Posts bodies of `/email/batch` that are written already, byte for byte, over one pool of kept-alive connections. The
 * `postmark` package would serialise each message again and send it by fetch, which costs more than rendering it.
 */
export interface RawBatchTransport {
  post(body: OutgoingBytes): Promise<BatchAnswer>;
}

/** The transport to a base URL such as `https://api.postmarkapp.com`. */
export function createRawBatchTransport(apiUrl: string, serverToken: string, timeouts: Timeouts): RawBatchTransport {
  const endpoint = `${apiUrl.replace(/\/+$/, '')}/email/batch`;
  // HTTP/1.1 only: one connection carries one call, so a failure says something about that call alone.
  const dispatcher = new Agent({
    allowH2: false,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.send,
    bodyTimeout: timeouts.send,
  });
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'Fernpost',
    'X-Postmark-Server-Token': serverToken,
  };
  return {
    async post(body) {
      const failure: CallFailure = { status: null, retryAfterMs: null, unwritten: false, code: 0, text: '' };
      try {
        const answer = await request(endpoint, {
          method: 'POST',
          headers: { ...headers, 'Content-Length': String(body.byteLength) },
          // undici takes any iterable, of which its types know nothing, and asks for a chunk when the one before has been written.
          body: body as unknown as Buffer,
          dispatcher,
          signal: AbortSignal.timeout(timeouts.send),
        });
        failure.status = answer.statusCode;
        failure.retryAfterMs = retryAfter(headerOf(answer.headers['retry-after']), Date.now());
        const said = parsed(await answer.body.text());
        if (answer.statusCode >= 200 && answer.statusCode < 300) return { results: Array.isArray(said) ? said : [] };
        const { ErrorCode, Message } = (said ?? {}) as { ErrorCode?: unknown; Message?: unknown };
        if (typeof ErrorCode === 'number') failure.code = ErrorCode;
        failure.text = typeof Message === 'string' ? Message : `status code ${answer.statusCode}`;
      } catch (error) {
        failure.unwritten = failure.status === null && failedBeforeWriting(error);
        failure.text = error instanceof Error ? error.message : String(error);
      }
      return { failure };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function headerOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** `Retry-After` (RFC 9110, 10.2.3: seconds or a date) as milliseconds from now; null when absent or unreadable. */
function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
