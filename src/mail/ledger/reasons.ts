import { storableText } from '../../lib/text.ts';
/**
 * Why a mail was not sent, or bounced: every code with its sentence, which people read in answers of the API, in files and
 * events. `{number}` and `{words}` are the details of the row. Codes are stored, so that they never change. Postgres has the
 * same table in the function `mail_reason_text`.
 */
export const reasonSentences = {
  project_disabled: 'Project is disabled',
  domain_unverified: 'Sender domain is not verified',
  limit_reached: 'Billing limit reached',
  /** Mail to one contact; a failure that the event `email.failed` reports. */
  not_subscribed: 'The contact is not subscribed',
  /** A recipient who is skipped by a campaign on purpose; counted, without an event. */
  unsubscribed: 'Contact is unsubscribed',
  campaign_cancelled: 'Campaign cancelled',
  /** Of a campaign that is sent to exactly those who were reviewed. */
  left_audience: 'No longer in the audience that was reviewed',
  left_out_at_review: 'Left out at the review: {words}',
  /** Queued mail that its sender took back. */
  cancelled: 'Cancelled before it was sent',
  /** Queued mail of an execution that an exit of its workflow has ended. */
  left_workflow: 'left the workflow: {words}',
  not_rendered: 'The message could not be rendered: {words}',
  /** The provider's last word on a message that it has not taken. */
  refused: 'Refused by the provider ({number}): {words}',
  /** It may be with the provider although nobody can tell (docs/contract/platform.md#10-4). */
  submission_unknown: 'submission unknown',
  too_old: 'Given up after 24 hours: {words}',
  too_many_attempts: 'Given up after {number} attempts: {words}',
  /** Reported by the provider of a message that it took, in its own words. */
  provider: '{words}',
} as const;

/** The code of a reason. */
export type ReasonCode = keyof typeof reasonSentences;
export const reasonCodes = Object.keys(reasonSentences) as ReasonCode[];

/** A reason as `emails.reason` holds it. */
export interface Reason {
  code: ReasonCode;
  number?: number;
  words?: string;
}

/** The sentence of a reason. */
export function reasonText({ code, number, words = '' }: Reason): string {
  return reasonSentences[code].replace('{number}', String(number)).replace('{words}', () => words);
}

/** A reason as jsonb. A filter of a template can make words that Postgres cannot store. */
export function storedReason({ words, ...reason }: Reason): string {
  return JSON.stringify({ ...reason, words: words && storableText(words) });
}

/** The condition that the row `alias` has one of these reasons. */
export function hasReason(alias: string, ...codes: readonly ReasonCode[]): string {
  return `coalesce(${alias}.reason ->> 'code' in (${codes.map((code) => `'${code}'`).join(', ')}), false)`;
}

/**
 * The condition that mail which was not sent was left out on purpose (docs/contract/campaigns-and-workflows.md#2-3); its columns
 * by alias.
 */
export function isLeftOut(alias: string): string {
  return `(${alias}.status in ('SUPPRESSED', 'CANCELLED') or ${hasReason(alias, 'unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review')})`;
}

/** Whether the provider has the message: a notification can prove it before our own record is written, which `sent_at` is. */
export function hasLeft(alias: string): string {
  return `(${alias}.sent_at is not null or ${alias}.message_id is not null)`;
}

/** The version of its campaign's content that a mail has; null for one that has not left. Without a note it is the first. */
export function versionSql(alias: string): string {
  return `case when ${hasLeft(alias)} then coalesce(${alias}.content_version, 1) end`;
}
