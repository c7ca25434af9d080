import { Agent, request } from 'undici';
import type { Verdict } from '../mailer.ts';
import { failedBeforeWriting } from '../mime.ts';
import type { OutgoingBytes } from './postmark-batch.ts';

/** One element of the answer of `/email/batch`. */
export interface Answer {
  ErrorCode?: unknown;
  Message?: unknown;
  MessageID?: unknown;
  SubmittedAt?: unknown;
}

// Postmark's error codes: https://postmarkapp.com/developer/api/overview#error-codes
const codes = {
  badToken: 10,
  maintenance: 100,
  inactiveRecipient: 406,
  tooManyMessages: 410,
  rateLimited: 429,
} as const;
// 405: may not send (for example no credits left), 412: account pending approval, 413: account may not send.
const accountCodes = new Set<number>([codes.badToken, 405, 412, 413]);

/** Returns the verdict of Postmark's answer to one message (docs/contract/platform.md#10-4). */
export function verdictOfAnswer(answer: Answer | undefined): Verdict {
  const code = answer?.ErrorCode;
  if (answer === undefined || typeof code !== 'number')
    return { kind: 'unknown', reason: 'the provider answered without a result for this message' };
  const said = typeof answer.Message === 'string' ? answer.Message : 'no reason given';
  if (code === 0) return acceptance(answer);
  const reason = `provider error ${code}: ${said}`;
  if (accountCodes.has(code)) return { kind: 'retry', reason, afterMs: null, scope: 'account' };
  if (code === codes.maintenance) return { kind: 'retry', reason, afterMs: null, scope: 'call' };
  if (code === codes.rateLimited) return { kind: 'retry', reason, afterMs: 1000, scope: 'call' };
  return { kind: 'rejected', code, reason: said, inactive: code === codes.inactiveRecipient };
}

function acceptance(answer: Answer): Verdict {
  if (typeof answer.MessageID !== 'string' || answer.MessageID === '')
    return { kind: 'unknown', reason: 'the provider accepted the message without naming it' };
  return { kind: 'accepted', messageId: answer.MessageID, at: instant(answer.SubmittedAt) };
}

/** A provider's instant, with whatever offset and precision, as ISO in UTC; now when it is unreadable. */
export function instant(value: unknown): string {
  // The messages of a batch mostly share their instant.
  if (value === lastInstant.said) return lastInstant.iso;
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  if (typeof value !== 'string' || Number.isNaN(date.getTime())) return new Date().toISOString();
  lastInstant = { said: value, iso: date.toISOString() };
  return lastInstant.iso;
}

let lastInstant = { said: '', iso: '' };

/** The decision about a batch whose call failed: one verdict for all of it, or split it and send the parts. */
type FailedCall = { split: true; code: number; reason: string } | { split: false; verdict: Verdict };

/** Reads a failed call (docs/contract/platform.md#10-4; a 429 that names no time means a second). */
export function readFailedCall({ status, retryAfterMs, unwritten, code, text }: CallFailure): FailedCall {
  if (status === null) {
    if (unwritten) return retry(`the provider cannot be reached: ${text}`, 'call');
    return unknown(`no answer from the provider: ${text}`);
  }
  const reason = `provider answers ${status}${code === 0 ? '' : ` (error ${code})`}`;
  if (accountCodes.has(code) || status === 401 || status === 403) return retry(`${reason}: ${text}`, 'account');
  if (status === 413 || status === 422) return { split: true, code: code === 0 ? status : code, reason: text };
  if (status === 429) return retry(reason, 'call', retryAfterMs ?? 1000);
  if (status === 503 || status === 408 || code === codes.maintenance) return retry(reason, 'call', retryAfterMs);
  // A 2xx ends up here when its body broke off: the messages may well have been taken.
  if (status >= 500 || status < 300) return unknown(reason);
  // A redirect, a 404: this is not the API of the settings, and only an operator can correct that.
  return retry(`${reason}: ${text}`, 'account');
}

/** The verdict on a message that was sent alone and refused as a whole call. */
export function refusedAlone(call: { code: number; reason: string }): Verdict {
  return { kind: 'rejected', code: call.code, reason: call.reason, inactive: call.code === codes.inactiveRecipient };
}

function retry(reason: string, scope: 'call' | 'account', afterMs: number | null = null): FailedCall {
  return { split: false, verdict: { kind: 'retry', reason, afterMs, scope } };
}

function unknown(reason: string): FailedCall {
  return { split: false, verdict: { kind: 'unknown', reason } };
}

/** How long calls may take, in milliseconds. */
export interface Timeouts {
  /** To open a connection. */
  connect: number;
  /** To hand over a batch and read its answer. */
  send: number;
  /** To look messages up. */
  search: number;
}

/** A call that Postmark did not answer with a 2xx. */
interface CallFailure {
  /** HTTP status, or null when no answer came. */
  status: number | null;
  /** The pause that `Retry-After` asked for, in milliseconds. */
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
