import type { LimitFunction } from 'p-limit';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import type { Mailer, MessageText, OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { SourceType } from '../../lib/enums.ts';
import type { Database } from '../../store/sql.ts';
import type { Reason } from '../ledger/reasons.ts';
import type { Settled } from '../ledger/settle.ts';
import type { MailRecipient, Suppressing } from './suppression.ts';

/** The texts of a message that are kept with its outcome; null where none are. */
export interface KeptTexts {
  subject: string;
  body: MessageText | null;
}

/** How often and for how long a message has been tried, in milliseconds by the database's clock. */
export interface Tried {
  attempts: number;
  ageMs: number;
}

/** The outcome of one message. */
export type Outcome<Mail> =
  /** The provider has it; `at` is an ISO instant. Stream and texts are null where it could not be rendered again. */
  | { mail: Mail; outcome: 'SENT'; messageId: string; at: string; stream: string | null; texts: KeptTexts | null }
  /** It will never be sent; BOUNCED when the provider refuses the recipient for an earlier bounce or complaint. */
  | { mail: Mail; outcome: 'FAILED' | 'BOUNCED'; reason: Reason; texts: KeptTexts | null }
  /** A rule of the project, a limit of its key, or the control group keeps it back. */
  | { mail: Mail; outcome: 'SUPPRESSED'; suppression: SuppressionMatch }
  /**
   * It was not sent and may be tried again after `delayMs`. `refused`: the provider said no, in these words; `held`: so it did, to everything at
   * the moment; `untried`: it was not offered; `lost`: the provider was found not to have it.
   */
  | {
      mail: Mail;
      outcome: 'RETRY';
      why: 'refused' | 'held' | 'untried' | 'lost';
      delayMs: number;
      words: string | null;
    }
  /** Its recipient is in quiet hours: it may be tried again at this instant, in epoch milliseconds. */
  | { mail: Mail; outcome: 'HELD'; until: number }
  /** The provider may have it: it is looked up after `delayMs`, or, where its call has just ended (null), when its source says. */
  | { mail: Mail; outcome: 'UNCONFIRMED'; delayMs: number | null };

/** Mail that goes to the provider under one ID. Queued mail, ranges of a campaign, and mail of the service implement it. */
export interface Delivery<Mail> {
  /** Travels with the messages, so that one search at the provider finds all of them. */
  readonly id: string;
  readonly projectId: string;
  /** When this process took the mail (`performance.now()`), read before the statement that took it. */
  readonly takenAt: number;
  /**
   * Whether the provider may be called: `allowed` and `probe` were found out before the mail was claimed (see `mayCall`), `ask` asks
   * before the first call.
   */
  readonly calls: 'allowed' | 'probe' | 'ask';
  /** The ID that the message has at the provider. */
  idOf(mail: Mail): string;
  /** `traceparent` of the span that accepted the mail, null where none was sampled; absent for mail that has no trace of its own. */
  traceOf?(mail: Mail): string | null;
  triedOf(mail: Mail): Tried;
  recipientOf(mail: Mail): MailRecipient;
  /** Reads the rules that may keep mail back by now; null where there are none. */
  suppressing(): Promise<Suppressing | null>;
  /** Returns the reason why a mail must not be sent after all, or null. */
  refusalOf(mail: Mail): Reason | null;
  /** Returns when the mail may leave whose recipient is in quiet hours, in epoch milliseconds, or null for now; absent where none count. */
  heldUntil?(mail: Mail): number | null;
  /** Renders a message. An error fails that message alone. */
  compose(mail: Mail): OutgoingMessage;
  /** Returns the part of a message that comes back with its outcome; the rest is released while the call is under way. */
  keep(message: OutgoingMessage): KeptTexts;
  /** Returns whether the mail still belongs to this attempt, so that it may be handed over from now on. */
  renew(): Promise<boolean>;
}

/** Mail that one attempt has claimed from a source. */
export interface Claim<Mail> extends Delivery<Mail> {
  /** Whether all outcomes are settled together at the end, and not as each call ends. */
  readonly settlesWhole: boolean;
  /** Whether nothing is handed over any more: it is only looked up what the provider has. */
  readonly lookUpOnly: boolean;
  /** The source by which a mail is counted. */
  sourceOf(mail: Mail): SourceType;
  /** Reads the mail without a final state. */
  mails(): Promise<readonly Mail[]>;
  /** Returns the outcome of a mail that a report of the provider proved to be sent before we wrote that down, or null. */
  proofOf(mail: Mail): Outcome<Mail> | null;
  /**
   * Returns the milliseconds since the provider may have got the mail, and until it would know it by now; null where it cannot have it.
   */
  handedOf(mail: Mail): { sinceMs: number; lagMs: number } | null;
  /** Writes outcomes down. Safe to repeat. Rejects when they cannot be written. */
  settle(outcomes: readonly Outcome<Mail>[]): Promise<Settled>;
}

/** Where claims come from: the queue of a project, or the recipients of a campaign. */
export interface Source<Mail> {
  /** Returns whether more may be claimed beside the claims under way. */
  hasRoom(underWay: number): boolean;
  /** Claims mail that may go now. An empty list means that nothing can be claimed at the moment. */
  claim(probing: boolean): Promise<readonly Claim<Mail>[]>;
  /** Takes over a claim whose attempt is dead, or that was put back or left unconfirmed and is due; null when there is none. */
  takeOver(): Promise<Claim<Mail> | null>;
  /** Waits until it is worth trying to claim again (true), or until `over` resolves (false). */
  watch(over: Promise<unknown>): Promise<boolean>;
  /** Says what it waits for, after a claim that returned nothing and with nothing under way. */
  backlog(): Promise<Backlog>;
  /** Gives up the claims of earlier attempts of the same activity, whose death nobody else knows of. */
  release(): Promise<void>;
}

/** Mail of a source that could not be claimed. Times are milliseconds from now; null for never. */
export interface Backlog {
  /** Why nothing may be claimed any more, whatever there is. */
  end: 'stopped' | 'paused' | null;
  /** Whether mail is ready, which the circuit breaker or the throttle keeps. */
  isReady: boolean;
  /** Until the throttle lets mail through; 0 when it does. */
  throttleMs: number;
  /** Whether more recipients are being written down. */
  isGrowing: boolean;
  /** Whether mail waits for its next attempt, and so for the circuit breaker too. */
  isWaiting: boolean;
  /** Until the first mail is due that was put off or scheduled. */
  dueMs: number | null;
  /** Until a claim may be taken over. */
  takeOverMs: number | null;
}

/** Where operators read what the engine met. */
export interface EngineLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

/** The parts that handing over needs, wherever the mail comes from. */
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
