import type { MessageText, OutgoingMessage } from '@fernpost/mail-providers';
import type { Reason } from '../ledger/index.ts';

/** The texts that a ledger keeps of a message; null where it keeps none. */
export interface KeptTexts {
  subject: string;
  body: MessageText | null;
}

/** How often and for how long a message has been tried, in milliseconds by the database's clock. */
export interface Tried {
  attempts: number;
  ageMs: number;
}

/** What became of one message. */
export type Outcome<Mail> =
  /** The provider has it; `at` is an ISO instant. */
  | { mail: Mail; outcome: 'SENT'; messageId: string; at: string; stream: string; texts: KeptTexts }
  /** It will never be sent; BOUNCED when the provider refuses the recipient for an earlier bounce or complaint. */
  | { mail: Mail; outcome: 'FAILED' | 'BOUNCED'; reason: Reason; texts: KeptTexts | null }
  /**
   * It was not sent and may be tried again after `delayMs`. `attempt`: it was offered and refused, in these words of the provider. `held`: by a
   * provider that refuses everything at the moment, which says nothing of this message.
   */
  | { mail: Mail; outcome: 'RETRY'; delayMs: number; attempt: boolean; held: boolean; words: string | null }
  /** The provider may have it: the claim must be looked up before it is sent again. */
  | { mail: Mail; outcome: 'UNCONFIRMED' };

/** Where messages come from and where their outcomes are written: the queue, a claim of a campaign, mail of the service. */
export interface Ledger<Mail> {
  readonly projectId: string;
  /** The id that the message has at the provider. */
  idOf(mail: Mail): string;
  triedOf(mail: Mail): Tried;
  /** Ends the mail that a rule of the project matches by now as SUPPRESSED, and answers it. */
  suppress(mails: readonly Mail[]): Promise<ReadonlySet<Mail>>;
  /** Why a mail must not be sent after all, or null. */
  refusalOf(mail: Mail): Reason | null;
  /** Renders a message. What it throws fails that message alone. */
  compose(mail: Mail): OutgoingMessage;
  /** What of a composed message comes back with its outcome; the rest is released while the call is under way. */
  keep(message: OutgoingMessage): KeptTexts;
  /** Whether the claim has not been lost to another attempt, so that its messages may be handed over. */
  isHeld(): Promise<boolean>;
  /** Takes note of outcomes, as the calls of a claim end. Rejects when they cannot be written. */
  settle(outcomes: readonly Outcome<Mail>[]): Promise<void>;
}
