import type { LimitFunction } from 'p-limit';
import type { KeyLimits } from '../../contacts/suppressions/matching.ts';
import type { OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { EngineDeps } from '../../mail/engine/port.ts';
import type { ClaimedRecipient, SendKey } from './ledger.ts';

/** The parts that delivery lanes are built from; one for each worker process. */
export interface LaneDeps extends EngineDeps {
  rendering: LimitFunction;
  /**
   * Limits the statements of campaigns that are under way in this process, so that they never take all of its connections while
   * mail that must not wait asks for one.
   */
  statements: LimitFunction;
  /** Lets one claim at a time be made in this process, so that the others wait for it without holding a connection. */
  claiming: LimitFunction;
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

/** The send that a lane works on. */
export interface LaneSend extends SendKey {
  /** Renders the message of one recipient; an error fails that message alone. */
  compose(recipient: ClaimedRecipient): OutgoingMessage;
  /** The version of the content that `compose` renders; claims of another one are left alone. */
  version: number;
  /** Limits of the key that began the send, and the sender of its mail; absent where none hold. */
  limits?: { key: KeyLimits; from: string };
  /** Whether contacts that have unsubscribed meanwhile are left out. */
  needsSubscription: boolean;
  /** Whether only the members of its canary are claimed. */
  canary: boolean;
  /** Recipients of one claim. */
  size: number;
  /** This attempt, as `campaign_claims.holder` names it. */
  holder: string;
  /** Begins the holder of every attempt of this activity. */
  prefix: string;
}
