import type { LimitFunction } from 'p-limit';
import type { Mailer, MessageText, OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { Database } from '../../store/sql.ts';
import type { ClaimedMail } from '../ledger/queries.ts';
import type { Reason } from '../ledger/reasons.ts';

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

/** Where the engine tells operators what it met. */
export interface EngineLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

/** What handing over needs, wherever the mail comes from. */
export interface EngineDeps {
  db: Database;
  mailer: Mailer;
  log: EngineLog;
  /**
   * Lets one batch at a time be rendered in this process: rendered side by side, large ones would all be in memory before the
   * first is on its way. Absent where batches must not wait for one another.
   */
  rendering?: LimitFunction;
}

/** What the pipeline of queued mail is built from. */
export interface DeliveryDeps extends EngineDeps {
  /** Renders a claimed mail for its recipient. What it throws fails that mail alone. */
  compose(mail: ClaimedMail): OutgoingMessage;
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

/** What one attempt has taken: its id at the provider, and when this process took it (`performance.now()`). */
export interface TakenClaim {
  id: string;
  takenAt: number;
  /** Taken under a hold whose time is over: each call of it is a probe, which `takeProbe` gives to one claim at a time. */
  probing: boolean;
}

/** Queued mail of one claim. */
export interface Claim extends TakenClaim {
  mails: ClaimedMail[];
}

/** How many mails reached a final state. */
export interface Tally {
  delivered: number;
  failed: number;
}
