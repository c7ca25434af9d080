import type { Database } from '../../core/database/sql.ts';
import type { ClaimedMail } from '../ledger/index.ts';
import type { Mailer, OutgoingMessage } from '../providers/index.ts';

/** What the pipeline is built from. */
export interface DeliveryDeps {
  db: Database;
  mailer: Mailer;
  /** Renders a claimed mail for its recipient. What it throws fails that mail alone. */
  compose(mail: ClaimedMail): OutgoingMessage;
  log: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

/** Mail of one claim, and when this process took it (`performance.now()`). */
export interface Claim {
  id: string;
  mails: ClaimedMail[];
  takenAt: number;
  /** Taken under a hold whose time is over: each call of it is a probe, which `takeProbe` gives to one claim at a time. */
  probing: boolean;
}

/** How many mails reached a final state. */
export interface Tally {
  delivered: number;
  failed: number;
}
