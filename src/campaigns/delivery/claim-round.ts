import type { MailStream, OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { KeptTexts, Ledger, Outcome, Tried } from '../../mail/engine/deps.ts';
import { findSuppressed, writeSuppressed } from '../../mail/engine/suppression.ts';
import type { Reason } from '../../mail/ledger/reasons.ts';
import type { ClaimEnd, Verdict } from '../../mail/ledger/settle.ts';
import { holdsClaim, type RangeClaim } from './claims.ts';
import { campaignRefusal } from './content.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';
import { type ClaimedRecipient, countSuppressed, provenInstant } from './ledger.ts';

// What the provider took is usually found soon; the first look comes before its indexing lag is over.
const firstLookMs = 2000;
// A claim that is put back rests for this long at least.
const shortestRestMs = 100;

/**
 * One pass over a claim, as the engine sees it: which recipients are open, and what became of the others. All of it is
 * written down together when the pass has ended.
 */
export class ClaimRound implements Ledger<ClaimedRecipient> {
  readonly settlements: Verdict[] = [];
  /** The stream of the messages that were composed; null while there is none. */
  stream: MailStream | null = null;
  readonly open: Set<ClaimedRecipient>;
  readonly projectId: string;
  readonly #deps: LaneDeps;
  readonly #send: LaneSend;
  readonly #claim: RangeClaim;
  #unconfirmed = false;
  #refused = false;
  #delayMs = shortestRestMs;

  constructor(deps: LaneDeps, send: LaneSend, claim: RangeClaim, recipients: readonly ClaimedRecipient[]) {
    this.#deps = deps;
    this.#send = send;
    this.#claim = claim;
    this.projectId = send.projectId;
    this.open = new Set(recipients);
    // A notification that came in before our own verdict was written proves the hand-over as well as a search does.
    for (const recipient of recipients) {
      const at = provenInstant(recipient);
      if (recipient.messageId !== null && at !== null) this.sent(recipient, recipient.messageId, at, null);
    }
  }

  idOf({ emailId }: ClaimedRecipient): string {
    return emailId;
  }

  triedOf(): Tried {
    return this.#claim;
  }

  refusalOf(recipient: ClaimedRecipient): Reason | null {
    const { projectDisabled, domainVerified } = this.#claim;
    return campaignRefusal(
      { projectDisabled, domainVerified, needsSubscription: this.#send.needsSubscription },
      recipient,
    );
  }

  async suppress(mails: readonly ClaimedRecipient[]): Promise<ReadonlySet<ClaimedRecipient>> {
    const { db, statements } = this.#deps;
    const suppressed = await statements(async () => {
      const found = await findSuppressed(db, mails, {
        projectId: this.projectId,
        idOf: ({ emailId }) => emailId,
        textsOf: () => null,
        ...(this.#send.limits && { limits: this.#send.limits }),
      });
      if (found.rows.length > 0)
        await db.transaction(async (tx) => {
          await writeSuppressed(tx, found.rows, null);
          await countSuppressed(tx, this.#send, found.rows.length);
        });
      return found.mails;
    });
    for (const recipient of suppressed) this.open.delete(recipient);
    return suppressed;
  }

  compose(recipient: ClaimedRecipient): OutgoingMessage {
    const message = this.#send.compose(recipient);
    this.stream = message.stream;
    return message;
  }

  // What waits for the provider's answer is little: the bodies of a campaign are not kept.
  keep({ subject }: OutgoingMessage): KeptTexts {
    return { subject, body: null };
  }

  isHeld(): Promise<boolean> {
    const { db, statements } = this.#deps;
    return statements(() => holdsClaim(db, this.#claim.id, this.#send.holder));
  }

  async settle(outcomes: readonly Outcome<ClaimedRecipient>[]): Promise<void> {
    for (const end of outcomes) {
      switch (end.outcome) {
        case 'SENT':
          this.sent(end.mail, end.messageId, end.at, end.texts.subject);
          break;
        case 'FAILED':
        case 'BOUNCED':
          this.failed(end.mail, end.outcome, end.reason, end.texts?.subject ?? null);
          break;
        case 'RETRY':
          // A round counts as refused by a message that was, while the provider takes others.
          this.#refused ||= end.attempt && !end.held;
          this.#delayMs = Math.max(this.#delayMs, end.delayMs);
          break;
        case 'UNCONFIRMED':
          this.#unconfirmed = true;
      }
    }
  }

  /** What becomes of the claim after this pass. */
  end(): ClaimEnd {
    if (this.open.size === 0) return { settled: true };
    if (this.#unconfirmed)
      return { settled: false, delayMs: Math.min(firstLookMs, this.#deps.lagMs), unconfirmed: true, attempt: true };
    return { settled: false, delayMs: this.#delayMs, unconfirmed: false, attempt: this.#refused };
  }

  /** Ends a recipient whose message the provider has; `at` is an ISO instant. */
  sent(recipient: ClaimedRecipient, messageId: string, at: string, subject: string | null): void {
    this.#close(recipient, { emailId: recipient.emailId, outcome: 'SENT', messageId, at, subject });
  }

  /** Ends a recipient who will never get the message. */
  failed(recipient: ClaimedRecipient, outcome: 'FAILED' | 'BOUNCED', reason: Reason, subject: string | null): void {
    this.#close(recipient, { emailId: recipient.emailId, outcome, reason, subject });
  }

  #close(recipient: ClaimedRecipient, settlement: Verdict): void {
    this.settlements.push(settlement);
    this.open.delete(recipient);
  }
}
