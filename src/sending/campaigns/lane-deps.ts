import type { Database } from '../../core/database/sql.ts';
import type { Mailer, OutgoingMessage } from '../providers/index.ts';
import type { Gate } from './gate.ts';
import type { Recipient, SendKey } from './ledger.ts';

/** What delivery lanes are built from; one for each worker process. */
export interface LaneDeps {
  db: Database;
  /** Limits the statements of campaigns that are under way in this process. */
  gate: Gate;
  /** Lets one claim at a time be made in this process, so that the others wait for it without holding a connection. */
  claiming: Gate;
  /**
   * Lets one batch at a time be rendered in this process: rendered side by side, all of them would be in memory before the
   * first is on its way.
   */
  rendering: Gate;
  mailer: Mailer;
  log: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

/** The send that a lane works on. */
export interface LaneSend extends SendKey {
  /** Renders the message of one recipient; what it throws fails that message alone. */
  compose(recipient: Recipient): OutgoingMessage;
  /** Whether contacts that have unsubscribed meanwhile are left out. */
  needsSubscription: boolean;
  /** Recipients of one claim. */
  size: number;
  /** This attempt, as `campaign_claims.holder` names it. */
  holder: string;
  /** Begins the holder of every attempt of this activity. */
  prefix: string;
}
