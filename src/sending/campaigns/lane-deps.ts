import type { OutgoingMessage } from '@posthorn/mail-providers';
import type { EngineDeps } from '../engine/index.ts';
import type { Gate } from './gate.ts';
import type { ClaimedRecipient, SendKey } from './ledger.ts';

/** What delivery lanes are built from; one for each worker process. */
export interface LaneDeps extends EngineDeps {
  rendering: Gate;
  /** Limits the statements of campaigns that are under way in this process. */
  gate: Gate;
  /** Lets one claim at a time be made in this process, so that the others wait for it without holding a connection. */
  claiming: Gate;
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

/** The send that a lane works on. */
export interface LaneSend extends SendKey {
  /** Renders the message of one recipient; what it throws fails that message alone. */
  compose(recipient: ClaimedRecipient): OutgoingMessage;
  /** Whether contacts that have unsubscribed meanwhile are left out. */
  needsSubscription: boolean;
  /** Recipients of one claim. */
  size: number;
  /** This attempt, as `campaign_claims.holder` names it. */
  holder: string;
  /** Begins the holder of every attempt of this activity. */
  prefix: string;
}
