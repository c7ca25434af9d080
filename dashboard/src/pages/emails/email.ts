import type { components } from '../../api/schema.d.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { subjectText } from '../../words/subjects.ts';

export type Email = components['schemas']['Email'];
export type EmailSummary = components['schemas']['EmailSummary'];

interface State {
  name: string;
  tone?: Tone;
}

/** How each status is named and meant. */
export const statuses: Record<Email['status'], State> = {
  PENDING: { name: 'Queued', tone: 'info' },
  SENDING: { name: 'Sending', tone: 'info' },
  SENT: { name: 'Sent', tone: 'info' },
  DELIVERED: { name: 'Delivered', tone: 'good' },
  OPENED: { name: 'Opened', tone: 'good' },
  CLICKED: { name: 'Clicked', tone: 'good' },
  BOUNCED: { name: 'Bounced', tone: 'bad' },
  COMPLAINED: { name: 'Complained', tone: 'bad' },
  FAILED: { name: 'Failed', tone: 'bad' },
  SUPPRESSED: { name: 'Suppressed', tone: 'warn' },
  CANCELLED: { name: 'Canceled' },
  RECEIVED: { name: 'Received', tone: 'info' },
};

/** By which way mail was sent. */
export const sources: Record<Email['source'], string> = {
  TRANSACTIONAL: 'API or SMTP',
  CAMPAIGN: 'Campaign',
  WORKFLOW: 'Workflow',
  INBOUND: 'Received',
};

/** Codes of mail that was left out on purpose, so that it has not failed. */
export const leftOut: ReadonlySet<unknown> = new Set<EmailSummary['errorCode']>([
  'not_subscribed',
  'unsubscribed',
  'campaign_cancelled',
  'left_audience',
  'left_out_at_review',
  'left_workflow',
]);

/** The state of a mail, which says more than its status where that is not all. */
export function stateOf({ status, errorCode, scheduledFor, heldUntil }: EmailSummary): State {
  if (status === 'PENDING' && heldUntil) return { name: 'Held', tone: 'warn' };
  if (status === 'PENDING' && scheduledFor) return { name: 'Scheduled', tone: 'info' };
  if (status === 'FAILED' && errorCode === 'submission_unknown') return { name: 'Unconfirmed', tone: 'warn' };
  if (errorCode === 'left_workflow' || (status === 'FAILED' && leftOut.has(errorCode)))
    return { name: 'Skipped', tone: 'warn' };
  return statuses[status];
}

/** The subject of a mail; that of a received one is its sender's, whatever it looks like. */
export function subjectOf({ subject, source }: Pick<EmailSummary, 'subject' | 'source'>): string {
  return source === 'INBOUND' ? subject : subjectText(subject);
}

/** Why a mail was or was not sent, in a sentence. */
export function whyOf(email: Email): string {
  const { status, error, errorCode, suppression, scheduledFor, heldUntil, heldBy, attempts, lastRefusal } = email;
  switch (status) {
    case 'PENDING':
      if (heldBy === 'quietHours')
        return 'This email is on hold during the project’s quiet hours. It is sent after they end, unless it is canceled.';
      if (heldUntil) return 'This email is on hold. It is sent when the hold ends, unless it is canceled.';
      if (scheduledFor)
        return 'This email waits for its scheduled time. Consent and suppression rules are checked again then.';
      return attempts
        ? `The last attempt failed${lastRefusal ? ` (${lastRefusal})` : ''}. Fernpost tries again.`
        : 'This email waits to be sent.';
    case 'SENDING':
      return 'Fernpost is handing this email to the email provider.';
    case 'SENT':
      return 'The email provider accepted this email. The recipient’s server has not confirmed it yet.';
    case 'DELIVERED':
      return 'The recipient’s server accepted this email.';
    case 'OPENED':
      return 'The recipient opened this email.';
    case 'CLICKED':
      return 'The recipient clicked a link in this email.';
    case 'RECEIVED':
      return 'This email was sent to your project.';
    case 'CANCELLED':
      return 'Not sent: this email was canceled.';
    case 'BOUNCED':
      return `Not delivered: the recipient’s server returned this email${error ? ` (${error})` : ''}.`;
    case 'COMPLAINED':
      return 'The recipient reported this email as spam.';
    case 'SUPPRESSED':
      if (suppression?.kind === 'HOLDOUT')
        return 'Not sent: the contact is in the control group, which gets no marketing email.';
      return suppression?.kind === 'KEY'
        ? 'Not sent: the API key may not send to this address.'
        : `Not sent: the suppression rule “${String(suppression?.name ?? '')}” matches this address.`;
    case 'FAILED':
      return errorCode === 'submission_unknown'
        ? 'The email provider did not respond, so it is unknown whether this email arrived.'
        : `Not sent: ${error ?? 'the email provider refused it'}.`;
  }
}

/** An address as mail clients show it. */
export function withName({ email, name }: { email: string; name: string | null }): string {
  return name ? `${name} <${email}>` : email;
}

/** Links that were clicked in a mail, the most clicked first. */
export function clickedLinks({ timeline }: Pick<Email, 'timeline'>): { link: string; clicks: number }[] {
  const counts = new Map<string, number>();
  for (const { type, detail } of timeline)
    if (type === 'click' && typeof detail?.link === 'string')
      counts.set(detail.link, (counts.get(detail.link) ?? 0) + 1);
  return [...counts].map(([link, clicks]) => ({ link, clicks })).sort((one, other) => other.clicks - one.clicks);
}

/** Whether it waits and can still be changed; mail of a campaign is the campaign's to stop. */
export function isQueued({ status, campaignId }: EmailSummary): boolean {
  return status === 'PENDING' && campaignId === null;
}

/** Whether it failed and can be sent once more; mail of a campaign is the campaign's to resend. */
export function isResendable({ status, campaignId }: EmailSummary): boolean {
  return status === 'FAILED' && campaignId === null;
}

/** Whether nobody can tell that it did not arrive. */
export function mayHaveArrived({ errorCode }: EmailSummary): boolean {
  return errorCode === 'submission_unknown';
}

const minuteMs = 60_000;

/** Whether something is about to happen to it: reports of the provider come within minutes. */
export function isUnderWay({ status, sentAt }: EmailSummary, now: number): boolean {
  if (status === 'SENT') return sentAt !== null && now - Date.parse(sentAt) < 10 * minuteMs;
  return status === 'PENDING' || status === 'SENDING';
}
