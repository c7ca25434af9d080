import type { Verdict } from '../mailer.ts';
import { failedBeforeWriting } from '../network-errors.ts';

/** What a failed call of Amazon SES says of its message. `throttled` asks for the same message again, more slowly. */
export type SesFailure = { throttled: true; reason: string } | { throttled: false; verdict: Verdict };

// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors and the errors that all
// services of AWS share.
const accountErrors = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  // The configuration set is gone.
  'NotFoundException',
  'LimitExceededException',
]);
const messageErrors = new Set(['MessageRejected', 'BadRequestException', 'MailFromDomainNotVerifiedException']);
const throttlingErrors = new Set(['TooManyRequestsException', 'ThrottlingException', 'Throttling']);
// Nothing was sent: there is nothing to sign a request with.
const localErrors = new Set(['CredentialsProviderError', 'TokenProviderError']);

/** Reads what the client of Amazon SES threw (docs/contract/platform.md#10-4). */
export function readSesFailure(error: unknown): SesFailure {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const text = error instanceof Error ? error.message : String(error);
  const status = $metadata?.httpStatusCode;
  const account = retry(`Amazon SES refuses the account (${name}): ${text}`, 'account');
  if (localErrors.has(name)) return account;
  if (status === undefined) {
    if (failedBeforeWriting(error)) return retry(`Amazon SES cannot be reached: ${text}`, 'call');
    return unknown(`no answer from Amazon SES: ${text}`);
  }
  const reason = `Amazon SES answers ${status} (${name}): ${text}`;
  if (throttlingErrors.has(name) || status === 429)
    // The day's quota is not over in a moment.
    return /daily|quota/i.test(text) ? retry(reason, 'account') : { throttled: true, reason };
  if (accountErrors.has(name)) return account;
  if (messageErrors.has(name) || status === 413) return rejected(status, text);
  if (status === 503) return retry(reason, 'call');
  // A 2xx ends up here when its body broke off: the message may well have been taken.
  if (status >= 500 || status < 300) return unknown(reason);
  return account;
}

function retry(reason: string, scope: 'call' | 'account'): SesFailure {
  return { throttled: false, verdict: { kind: 'retry', reason, afterMs: null, scope } };
}

function rejected(code: number, reason: string): SesFailure {
  return { throttled: false, verdict: { kind: 'rejected', code, reason, inactive: false } };
}

function unknown(reason: string): SesFailure {
  return { throttled: false, verdict: { kind: 'unknown', reason } };
}
