import { passingFailure } from '@fernpost/postgres';
import { BodyError } from '@fernpost/request-bodies';
import { SmtpReply } from '@fernpost/smtp-submission';
import { AppError } from '../../core/lib/errors.ts';

const away = () => new SmtpReply(451, '4.3.0', 'Temporarily unavailable, try again later');

/**
 * What a failure answers: codes of the contract (docs/contract/reach.md#4). 4xx lets the client keep the message and try again,
 * so it is for what passes; 5xx for what no repetition changes. Null for a failure that nobody foresaw, which is logged.
 */
export function replyTo(error: unknown): SmtpReply | null {
  if (error instanceof SmtpReply) return error;
  if (passingFailure(error) !== null || error instanceof BodyError) return away();
  if (!(error instanceof AppError)) return null;
  const { status, message, extra } = error;
  const isDirective = extra.errors?.some(({ field }) => /^(scheduledFor|template|tags|data)\b/.test(field)) ?? false;
  if (isDirective) return new SmtpReply(550, '5.5.4', message);
  const isTooBig = extra.errors?.some(({ code, field }) => code === 'too_big' || field === 'attachments') ?? false;
  if (status === 422) return isTooBig ? new SmtpReply(552, '5.3.4', message) : new SmtpReply(550, '5.6.0', message);
  if (status === 403) return new SmtpReply(550, '5.7.1', message);
  if (status === 400) return new SmtpReply(550, '5.7.1', message);
  if (status === 402) return new SmtpReply(452, '4.2.2', message);
  if (status === 404) return new SmtpReply(550, '5.5.4', message);
  if (status === 429) return new SmtpReply(451, '4.7.0', `${message}. ${extra.suggestion ?? ''}`);
  return status >= 500 || status === 409 ? away() : null;
}

/** The reply to what nobody foresaw: the client keeps the message. */
export const unforeseen = away;
