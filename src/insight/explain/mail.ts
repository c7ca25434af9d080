import type { ReasonCode } from '../../mail/ledger/reasons.ts';
import { MailStatus } from '../../mail/status.ts';
import type { Database } from '../../store/sql.ts';
import { type ExplainedMail, flipsAround } from './queries.ts';
import { type Decision, type Finding, finding, onDate, recorded } from './schema.ts';

/** Explains the status of a mail by its row in the ledger and the events of its contact. */
export async function explainMail(db: Database, projectId: string, mail: ExplainedMail): Promise<Finding> {
  const isHeldOut = mail.status === MailStatus.SUPPRESSED && mail.rule?.kind === 'HOLDOUT';
  const came = `The email to ${mail.to} was ${isHeldOut ? 'requested' : 'accepted'} on ${onDate(mail.createdAt)}.`;
  const detail = { at: mail.createdAt, source: sourceOf(mail) };
  const decisions = [recorded(isHeldOut ? 'mail.requested' : 'mail.accepted', 'pass', came, detail)];
  const { verdict } = mail;
  if (verdict === 'handed_over') return reportsOf(mail, decisions);
  if (mail.status === MailStatus.SUPPRESSED) {
    const { rule } = mail;
    if (isHeldOut) {
      decisions.push(heldOut('stop', 'was', { at: mail.createdAt }));
      return finding('did_not', decisions);
    }
    const sentence =
      rule === null
        ? `The email to ${mail.to} was suppressed: ${mail.reasonText ?? 'its reason was not kept'}.`
        : `The suppression rule "${rule.name}" matches ${mail.to}, so the email was not sent.`;
    decisions.push(
      recorded('mail.suppressed', 'stop', sentence, {
        at: mail.createdAt,
        expected: rule && { kind: rule.kind, pattern: rule.pattern },
        actual: mail.to,
        source: rule && { type: 'suppression rule', id: rule.ruleId, href: '/suppressions' },
      }),
    );
    return finding('did_not', decisions);
  }
  if (verdict === 'unknown' || mail.isClaimed || mail.status === MailStatus.SENDING) {
    const sentence = 'The email is being handed to the provider, or was when a process ended; this is looked up there.';
    decisions.push(recorded('mail.unconfirmed', 'info', sentence, { at: mail.updatedAt, source: sourceOf(mail) }));
    return finding('cannot_tell', decisions, sentence, { next: { at: null, what: 'The provider is asked again.' } });
  }
  if (verdict === 'pending') return waiting(mail, decisions);
  return notSent(db, projectId, mail, decisions);
}

/** The decision that the control group gets no marketing email. */
export function heldOut(outcome: Decision['outcome'], verb: 'is' | 'was', detail: Partial<Decision>): Decision {
  const sentence = `The contact ${verb} in the control group (holdout), which gets no marketing email.`;
  return recorded('mail.holdout', outcome, sentence, detail);
}

function sourceOf({ id }: ExplainedMail): Decision['source'] {
  return { type: 'email', id, href: `/emails/${id}` };
}

function reportsOf(mail: ExplainedMail, decisions: Decision[]): Finding {
  const { sentAt, updatedAt, deliveredAt, bouncedAt, openedAt, clickedAt, complainedAt, provider } = mail;
  const source = sourceOf(mail);
  const by = provider === null ? 'the provider' : provider;
  const noted = (at: string | null, check: string, sentence: string) => {
    if (at !== null) decisions.push(recorded(check, 'pass', `${sentence} on ${onDate(at)}.`, { at, source }));
  };
  if (mail.quietUntil !== null) {
    const sentence = `It was on hold until ${onDate(mail.quietUntil)}, the end of the contact's quiet hours.`;
    decisions.push(recorded('mail.quiet_hours', 'info', sentence, { at: mail.quietUntil, source }));
  }
  noted(sentAt ?? updatedAt, 'mail.sent', `It was handed to ${by}`);
  if (mail.isRevised) {
    const sentence = `It has version ${mail.version} of the campaign's content, which was revised while it was sent.`;
    decisions.push(recorded('mail.version', 'info', sentence, { at: sentAt, actual: mail.version, source }));
  }
  noted(deliveredAt, 'mail.delivered', 'The mailbox accepted it');
  noted(openedAt, 'mail.opened', 'It was first opened');
  noted(clickedAt, 'mail.clicked', 'A link in it was first clicked');
  noted(complainedAt, 'mail.complained', 'The recipient reported it as spam');
  if (bouncedAt !== null) {
    const words = mail.reasonText === null ? '' : `: ${mail.reasonText}`;
    const sentence = `The email bounced on ${onDate(bouncedAt)}${words}`;
    decisions.push(recorded('mail.bounced', 'stop', sentence, { at: bouncedAt, actual: mail.reasonText, source }));
    // A report of delivery is the mailbox's own word.
    if (deliveredAt === null) return finding('did_not', decisions);
  }
  const seen = clickedAt ?? openedAt ?? deliveredAt ?? complainedAt;
  if (seen === null)
    return finding('sent', decisions, `The email was handed to ${by} on ${onDate(sentAt ?? updatedAt)}.`, {
      next: { at: null, what: 'The mailbox has not reported yet.' },
    });
  const what = deliveredAt === null ? 'reached its recipient' : 'was delivered';
  return finding('received', decisions, `The email to ${mail.to} ${what} on ${onDate(deliveredAt ?? seen)}.`);
}

function waiting(mail: ExplainedMail, decisions: Decision[]): Finding {
  const source = sourceOf(mail);
  if (mail.isPaused) {
    const sentence = 'The campaign is paused, and this email is pending.';
    decisions.push(recorded('campaign.paused', 'stop', sentence, { source: campaignSource(mail.campaignId ?? '') }));
    return finding('will', decisions, sentence, {
      next: { at: null, what: 'It is sent when the campaign is resumed.' },
      fixes: [fix('Resume the campaign', `/campaigns/${mail.campaignId}/resume`)],
    });
  }
  if (mail.canary !== null) return heldBack(mail, mail.canary, decisions);
  if (mail.quietUntil !== null && mail.isQuiet) {
    const sentence = `The email is on hold until ${onDate(mail.quietUntil)}: the contact is in the quiet hours of the project.`;
    decisions.push(recorded('mail.quiet_hours', 'info', sentence, { at: mail.quietUntil, source }));
    return finding('will', decisions, sentence, {
      next: { at: mail.quietUntil, what: 'It is sent after a last check.' },
    });
  }
  const at = mail.dueAt;
  const attempts = triedInVain(mail);
  const due = at === null ? 'it is queued' : `it is due on ${onDate(at)}`;
  const sentence = `The email is pending: ${due}.${attempts}`;
  decisions.push(recorded('mail.pending', 'info', sentence, { at, source }));
  return finding('will', decisions, sentence, { next: { at, what: 'It is sent after a last check.' } });
}

function triedInVain({ attempts, lastRefusal }: ExplainedMail): string {
  if (!attempts) return '';
  const failed = attempts === 1 ? 'An earlier attempt failed' : `${attempts} earlier attempts failed`;
  return lastRefusal === null
    ? ` ${failed}.`
    : ` ${failed}, ${attempts === 1 ? '' : 'the last one '}with: ${lastRefusal}`;
}

function heldBack(mail: ExplainedMail, { until }: { until: string | null }, decisions: Decision[]): Finding {
  const campaign = mail.campaignId ?? '';
  const end = until === null ? '' : ` until ${onDate(until)}`;
  const sentence = `The email is pending: the campaign waits${end} for the reports of its canary.`;
  decisions.push(recorded('campaign.canary', 'info', sentence, { at: until, source: campaignSource(campaign) }));
  return finding('will', decisions, sentence, {
    next: { at: until, what: 'It is sent unless the canary exceeds a limit.' },
    fixes: until === null ? [] : [fix('End the canary', `/campaigns/${campaign}/canary/continue`)],
  });
}

/** A request that fixes what prevented something. */
export function fix(sentence: string, path: string, body: Record<string, unknown> = {}): Finding['fixes'][number] {
  return { sentence, method: 'POST', path, body };
}

export function campaignSource(id: string): Decision['source'] {
  return { type: 'campaign', id, href: `/campaigns/${id}` };
}

const consentCodes: readonly ReasonCode[] = ['not_subscribed', 'unsubscribed'];

async function notSent(db: Database, projectId: string, mail: ExplainedMail, decisions: Decision[]): Promise<Finding> {
  const code = mail.reason?.code;
  const source = sourceOf(mail);
  const instant = mail.updatedAt;
  if (code !== undefined && consentCodes.includes(code)) {
    decisions.push(await unsubscribedBefore(db, projectId, mail.contactId, mail.updatedAt));
    return finding('did_not', decisions);
  }
  if (code === 'submission_unknown') {
    const sentence = 'The provider never said whether it took this email, so it may or may not have arrived.';
    decisions.push(recorded('mail.unconfirmed', 'info', sentence, { at: instant, source }));
    return finding('cannot_tell', decisions, sentence, {
      fixes: mail.campaignId === null ? [resendFix(mail, { evenIfItArrived: true })] : [],
    });
  }
  const sentence = `The email was not sent: ${mail.reasonText ?? 'its reason was not kept'}.`.replace(/\.\.$/, '.');
  const check = code === undefined ? 'mail.failed' : `mail.${code}`;
  decisions.push(recorded(check, 'stop', sentence, { at: instant, actual: mail.reason, source }));
  if (code === undefined) return finding('cannot_tell', decisions);
  const isResendable = mail.campaignId === null && mail.status === MailStatus.FAILED;
  return finding('did_not', decisions, undefined, { fixes: isResendable ? [resendFix(mail)] : [] });
}

function resendFix({ id }: ExplainedMail, body = {}): Finding['fixes'][number] {
  return fix('Send it again', `/emails/${id}/resend`, body);
}

/** That a contact was not subscribed at an instant, and since when where an event says it. */
export async function unsubscribedBefore(
  db: Database,
  projectId: string,
  contactId: string,
  at: string,
): Promise<Decision> {
  const { before } = await flipsAround(db, projectId, contactId, at);
  if (before === null || before.subscribed)
    return recorded('contact.subscribed', 'stop', 'The contact was not subscribed.', {
      at,
      expected: true,
      actual: false,
    });
  const { emailId, reason } = before;
  const how =
    reason === 'bounce'
      ? ' after a bounce'
      : reason === 'complaint'
        ? ' after a complaint'
        : emailId === null
          ? ''
          : ' through the link in an email';
  return recorded('contact.subscribed', 'stop', `The contact unsubscribed on ${onDate(before.at)}${how}.`, {
    at: before.at,
    expected: true,
    actual: false,
    source:
      emailId === null
        ? { type: 'contact', id: contactId, href: `/contacts/${contactId}` }
        : { type: 'email', id: emailId, href: `/emails/${emailId}` },
  });
}
