import type { Mailer, OutgoingMessage } from '@fernpost/mail-providers';
import type { LimitFunction } from 'p-limit';
import type { Database } from '../../core/database/sql.ts';
import type { ClaimedMail } from '../ledger/index.ts';

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
