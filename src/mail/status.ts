/**
 * The status of a mail in the ledger: it waits (PENDING), is with a claim (SENDING, which the interface derives), was handed over (SENT), what the
 * provider reported since, or why it was never sent. RECEIVED is mail that came in. A campaign has a status of its own.
 *
 * FAILED is set by our own verdict on handed-over mail (`settle_mail`), by a provider's report that it was rejected
 * (feedback/reports/notify.ts), when the project is paused for its reputation (feedback/reputation/service.ts), when a campaign is cancelled
 * (campaigns/delivery/completion.ts), and from the start: beyond the monthly limit (campaigns/audience/expansion.ts), left out at a review
 * (launches/review/expand-reviewed.ts), or as a step's mail to a contact that is not subscribed (automations/runtime/mail-step.ts).
 */
export const MailStatus = {
  PENDING: 'PENDING',
  SENDING: 'SENDING',
  SENT: 'SENT',
  DELIVERED: 'DELIVERED',
  RECEIVED: 'RECEIVED',
  OPENED: 'OPENED',
  CLICKED: 'CLICKED',
  BOUNCED: 'BOUNCED',
  COMPLAINED: 'COMPLAINED',
  FAILED: 'FAILED',
  SUPPRESSED: 'SUPPRESSED',
  CANCELLED: 'CANCELLED',
} as const;
export type MailStatus = keyof typeof MailStatus;

/** Every status, in the order in which the interface lists them. */
export const mailStatuses = Object.values(MailStatus);

/** Mail that is to be sent and never will be: each counts as this from then on. */
export type UnsentStatus = 'FAILED' | 'SUPPRESSED' | 'CANCELLED';

/** SQL: how far the status `status` is, which only climbs by reports (docs/contract/platform.md#9-2). PENDING, SENDING and FAILED are 0. */
export function statusRank(status: string): string {
  return `case ${status} when 'SENT' then 1 when 'DELIVERED' then 2 when 'RECEIVED' then 2 when 'OPENED' then 3
    when 'CLICKED' then 4 when 'BOUNCED' then 5 when 'COMPLAINED' then 6 else 0 end`;
}
