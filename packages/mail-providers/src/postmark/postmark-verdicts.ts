import type { Verdict } from '../mailer.ts';
import type { CallFailure } from './postmark-transport.ts';

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

/** What the answer to one message says of it (docs/contract/platform.md#10-4). */
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

/** What to do with a batch whose call failed: one verdict for all of it, or split it and send the parts. */
export type FailedCall = { split: true; code: number; reason: string } | { split: false; verdict: Verdict };

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
