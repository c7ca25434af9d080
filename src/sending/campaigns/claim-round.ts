import { givenUp } from '../engine/index.ts';
import type { Accepted, MailStream, Verdict } from '../providers/index.ts';
import type { Claim } from './claims.ts';
import { provenInstant, type Recipient, type Settlement } from './ledger.ts';
import { refusedByProvider } from './reasons.ts';

/** What a verdict that is not final says of the time until the next attempt. */
export type Unsettled = { doubtful: true } | { doubtful: false; afterMs: number | null; untried: boolean };

/** The bookkeeping of one pass over a claim: which recipients are open, and what became of the others. */
export class ClaimRound {
  readonly settlements: Settlement[] = [];
  /** The stream of the messages that were composed; null while there is none. */
  stream: MailStream | null = null;
  readonly open: Set<Recipient>;
  readonly #claim: Claim;

  constructor(claim: Claim, recipients: readonly Recipient[]) {
    this.#claim = claim;
    this.open = new Set(recipients);
    // A notification that came in before our own verdict was written proves the hand-over as well as a search does.
    for (const recipient of recipients) {
      const at = provenInstant(recipient);
      if (recipient.messageId !== null && at !== null) this.#sent(recipient, recipient.messageId, at, null);
    }
  }

  /** Ends what a search of the provider found. `subjectOf` answers the subject that was sent, or null. */
  found(accepted: Accepted, subjectOf: (recipient: Recipient) => string | null): void {
    for (const recipient of this.open) {
      const known = accepted.get(recipient.emailId);
      if (known !== undefined) this.#sent(recipient, known.messageId, known.at, subjectOf(recipient));
    }
  }

  /** Ends the open recipients of which `reasonOf` says why they are not sent to. */
  fail(reasonOf: (recipient: Recipient) => string | null): void {
    for (const recipient of this.open) {
      const error = reasonOf(recipient);
      if (error !== null) this.#failed(recipient, 'FAILED', error, null);
    }
  }

  /**
   * Ends one recipient by the provider's verdict, or answers what is to be done about a verdict that is not final.
   * `held`: the provider refuses everybody, so that its refusal says nothing of this message.
   */
  judge(recipient: Recipient, subject: string, verdict: Verdict, found: Accepted, held: boolean): Unsettled | null {
    switch (verdict.kind) {
      case 'accepted':
        this.#sent(recipient, verdict.messageId, verdict.at, subject);
        return null;
      case 'rejected': {
        const error = `${refusedByProvider} (${verdict.code}): ${verdict.reason}`;
        this.#failed(recipient, verdict.inactive ? 'BOUNCED' : 'FAILED', error, subject);
        return null;
      }
      case 'retry': {
        const { untried = false } = verdict;
        const error = givenUp(this.#claim, held || untried, verdict.reason);
        if (error === null) return { doubtful: false, afterMs: verdict.afterMs, untried };
        this.#failed(recipient, 'FAILED', error, subject);
        return null;
      }
      case 'unknown': {
        const known = found.get(recipient.emailId);
        if (known === undefined) return { doubtful: true };
        this.#sent(recipient, known.messageId, known.at, subject);
        return null;
      }
    }
  }

  #sent(recipient: Recipient, messageId: string, at: string, subject: string | null): void {
    this.#end(recipient, { emailId: recipient.emailId, outcome: 'SENT', messageId, at, subject });
  }

  #failed(recipient: Recipient, outcome: 'FAILED' | 'BOUNCED', error: string, subject: string | null): void {
    this.#end(recipient, { emailId: recipient.emailId, outcome, error, subject });
  }

  #end(recipient: Recipient, settlement: Settlement): void {
    this.settlements.push(settlement);
    this.open.delete(recipient);
  }
}
