import type { MailStream, OutgoingMessage } from '../../domains/providers/mailer.ts';
import { heldUntil } from '../../mail/emails/schedule.ts';
import type { Claim, KeptTexts, Outcome, Tried } from '../../mail/engine/port.ts';
import { type MailRecipient, type Suppressing, suppressing, writeSuppressed } from '../../mail/engine/suppression.ts';
import type { Reason } from '../../mail/ledger/reasons.ts';
import { type ClaimEnd, type Settled, settleMail, type Verdict } from '../../mail/ledger/settle.ts';
import { noteVersion } from '../results/results.ts';
import { campaignRefusal } from './content.ts';
import { holdRecipients, noteChangedHours } from './held.ts';
import type { LaneDeps, LaneSend } from './lane.ts';
import { type ClaimedRecipient, provenInstant, readRecipients } from './ledger.ts';
import { type RetakenClaim, renewClaim } from './retaking.ts';

// Messages that the provider took are usually found soon; the first look-up comes before its indexing lag is over.
const firstLookUpMs = 2000;
// A claim that is put back rests for this long at least.
const shortestRestMs = 100;

/** How this process took a claim; see `Claim`. */
export type Taking = Pick<Claim<never>, 'takenAt' | 'calls'> & { lookUpOnly?: boolean };

/** Recipients of a campaign who were claimed together. One statement settles all of it and ends the claim, or puts it back. */
export class CampaignClaim implements Claim<ClaimedRecipient> {
  readonly id: string;
  readonly projectId: string;
  readonly takenAt: number;
  readonly calls: Claim<never>['calls'];
  readonly settlesWhole = true;
  readonly lookUpOnly: boolean;
  readonly #deps: LaneDeps;
  readonly #send: LaneSend;
  readonly #claim: RetakenClaim;
  readonly #handed: { sinceMs: number; lagMs: number } | null;
  /** The stream of the messages that were composed; null while there is none. */
  #stream: MailStream | null = null;

  constructor(deps: LaneDeps, send: LaneSend, claim: RetakenClaim, { takenAt, calls, lookUpOnly }: Taking) {
    this.#deps = deps;
    this.#send = send;
    this.#claim = claim;
    this.id = claim.id;
    this.projectId = send.projectId;
    this.takenAt = takenAt;
    this.calls = calls;
    this.lookUpOnly = lookUpOnly === true || !claim.sending;
    const { handedMs } = claim;
    this.#handed = handedMs === null ? null : { sinceMs: handedMs, lagMs: Math.max(0, deps.lagMs - handedMs) };
  }

  async mails(): Promise<readonly ClaimedRecipient[]> {
    const { db, statements } = this.#deps;
    const recipients = await statements(() => readRecipients(db, this.#send, this.#claim));
    const { formerVersion } = this.#claim;
    const proven = recipients.flatMap(({ emailId, messageId }) => (messageId === null ? [] : [emailId]));
    // Recipients who are proven to have the message before this claim handed anything over have it from the claim whose rest this one is.
    if (formerVersion !== null && this.#handed === null && proven.length > 0)
      await statements(() => noteVersion(db, this.#send, formerVersion, proven));
    return recipients;
  }

  idOf({ emailId }: ClaimedRecipient): string {
    return emailId;
  }

  sourceOf(): 'CAMPAIGN' {
    return 'CAMPAIGN';
  }

  triedOf(): Tried {
    return this.#claim;
  }

  // The subject may have been revised since, so that it is not rendered again.
  proofOf(mail: ClaimedRecipient): Outcome<ClaimedRecipient> | null {
    const { messageId } = mail;
    const at = provenInstant(mail);
    if (messageId === null || at === null) return null;
    return { mail, outcome: 'SENT', messageId, at, stream: null, texts: null };
  }

  handedOf(): { sinceMs: number; lagMs: number } | null {
    return this.#handed;
  }

  refusalOf(recipient: ClaimedRecipient): Reason | null {
    const { projectDisabled, domainVerified } = this.#claim;
    const { needsSubscription } = this.#send;
    return campaignRefusal({ projectDisabled, domainVerified, needsSubscription }, recipient);
  }

  recipientOf({ toAddress, contactId }: ClaimedRecipient): MailRecipient {
    return { address: toAddress, marketingTo: this.#send.needsSubscription ? contactId : null };
  }

  suppressing(): Promise<Suppressing | null> {
    const { db, statements } = this.#deps;
    const { holdout } = this.#claim;
    return statements(() => suppressing(db, this.projectId, { holdout, limits: this.#send.limits }));
  }

  heldUntil({ contactId, data }: ClaimedRecipient): number | null {
    const { quiet, nowMs } = this.#claim;
    return heldUntil(quiet, this.#send.messageClass, { id: contactId, data }, nowMs);
  }

  compose(recipient: ClaimedRecipient): OutgoingMessage {
    const message = this.#send.compose(recipient);
    this.#stream = message.stream;
    return message;
  }

  // Little waits for the provider's answer: the bodies of a campaign are not kept.
  keep({ subject }: OutgoingMessage): KeptTexts {
    return { subject, body: null };
  }

  renew(): Promise<boolean> {
    const { db, statements } = this.#deps;
    return statements(() => renewClaim(db, this.id, this.#send.holder));
  }

  async settle(outcomes: readonly Outcome<ClaimedRecipient>[]): Promise<Settled> {
    // A call without an answer may have taken long, and the provider's lag counts from its end.
    if (outcomes.some(hasNoAnswer)) await this.renew();
    const { db, statements, mailer } = this.#deps;
    const suppressed = outcomes.flatMap((one) =>
      one.outcome === 'SUPPRESSED'
        ? [{ id: one.mail.emailId, suppression: one.suppression, subject: null, body: null }]
        : [],
    );
    if (suppressed.length > 0) await statements(() => writeSuppressed(db, suppressed, null));
    const held = outcomes.flatMap((one) =>
      one.outcome === 'HELD' ? [{ contactId: one.mail.contactId, until: one.until }] : [],
    );
    const { campaignId, sendSeq, holder } = this.#send;
    const claim = { id: this.id, holder, rate: this.#deps.rate };
    if (held.length > 0)
      await statements(async () => {
        await holdRecipients(db, this.#send, held, claim);
        await noteChangedHours(db, this.projectId, this.#claim.quiet);
      });
    const send = { campaignId, sendSeq, holder, end: this.#endOf(outcomes) };
    const verdicts = outcomes.flatMap((outcome) => verdictOf(outcome) ?? []);
    return statements(() =>
      settleMail(db, { id: this.id, provider: mailer.name, stream: this.#stream, send }, verdicts),
    );
  }

  #endOf(outcomes: readonly Outcome<ClaimedRecipient>[]): ClaimEnd {
    const unconfirmed = outcomes.filter((one) => one.outcome === 'UNCONFIRMED');
    const back = outcomes.filter((one) => one.outcome === 'RETRY');
    if (unconfirmed.length > 0) {
      const firstMs = Math.min(firstLookUpMs, this.#deps.lagMs);
      const delayMs = Math.min(...unconfirmed.map((one) => one.delayMs ?? firstMs));
      return { settled: false, delayMs, unconfirmed: true, attempt: outcomes.some(hasNoAnswer) };
    }
    // Rows of a send that is cancelled are ended by its clean-up.
    if (back.length === 0 || !this.#claim.sending) return { settled: true };
    const delayMs = back.reduce((most, one) => Math.max(most, one.delayMs), shortestRestMs);
    // A claim counts as refused by a message that was, while the provider takes others.
    return { settled: false, delayMs, unconfirmed: false, attempt: back.some(({ why }) => why === 'refused') };
  }
}

function hasNoAnswer(one: Outcome<ClaimedRecipient>): boolean {
  return one.outcome === 'UNCONFIRMED' && one.delayMs === null;
}

function verdictOf(end: Outcome<ClaimedRecipient>): Verdict | null {
  const { emailId } = end.mail;
  switch (end.outcome) {
    case 'SENT':
      return { emailId, outcome: 'SENT', messageId: end.messageId, at: end.at, subject: end.texts?.subject ?? null };
    case 'FAILED':
    case 'BOUNCED':
      return { emailId, outcome: end.outcome, reason: end.reason, subject: end.texts?.subject ?? null };
    default:
      return null;
  }
}
