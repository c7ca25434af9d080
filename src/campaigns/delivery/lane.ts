import type { LimitFunction } from 'p-limit';
import type { KeyLimits } from '../../contacts/suppressions/matching.ts';
import type { OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { MessageClass } from '../../lib/enums.ts';
import { pause } from '../../lib/time.ts';
import { inFlightMs, probeSize } from '../../mail/engine/attempts.ts';
import type { Backlog, EngineDeps, Source } from '../../mail/engine/port.ts';
import { catchUpMs, type Pace, type RunEnd, runSource } from '../../mail/engine/run.ts';
import { bucketMade } from '../../mail/engine/throttle.ts';
import type { Settled } from '../../mail/ledger/settle.ts';
import { CampaignClaim } from './campaign-claim.ts';
import { type ClaimAnswer, claimRanges, claimsTogether } from './claims.ts';
import type { ClaimedRecipient, SendKey } from './ledger.ts';
import { claimsOpen, othersMs, releaseClaims, retakeClaim } from './retaking.ts';

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
  messageClass: MessageClass;
  /** Whether only the members of its canary are claimed. */
  canary: boolean;
  /** Recipients of one claim. */
  size: number;
  /** This attempt, as `campaign_claims.holder` names it. */
  holder: string;
  /** Begins the holder of every attempt of this activity. */
  prefix: string;
}

/** How a lane ended, and the recipients that it settled. */
export type LaneReport = Settled & RunEnd;

/** How a lane paces itself; `claims` is the setting CAMPAIGN_CALLS_IN_FLIGHT. */
export type LanePace = Omit<Pace, 'lingerMs'>;

// When everybody has been claimed, only claims that are put back meanwhile can be worth another try.
const allClaimedMs = 1000;
// The longest pause for the throttle before another try.
const longestThrottleMs = 2000;

/**
 * Works on a send until nothing is left to claim, claims of dead attempts first. Rejects when Postgres does, once the claims under way
 * have ended.
 */
export async function runLane(deps: LaneDeps, send: LaneSend, pace: LanePace, stop: AbortSignal): Promise<LaneReport> {
  await bucketMade(deps.db, send.projectId);
  return runSource(deps, new Recipients(deps, send, pace.claims, stop), { ...pace, lingerMs: 0 }, stop);
}

/** Takes over a claim of a send, with `lookUpOnly` one of a paused send that may be with the provider; null when there is none. */
export async function takeOver(deps: LaneDeps, send: LaneSend, lookUpOnly = false): Promise<CampaignClaim | null> {
  const takenAt = performance.now();
  const claim = await deps.statements(() => retakeClaim(deps.db, send, inFlightMs(deps.mailer), lookUpOnly));
  return claim && new CampaignClaim(deps, send, claim, { takenAt, calls: 'ask', lookUpOnly });
}

/** The recipients of a send that nobody has claimed, those first whose quiet hours are over. */
class Recipients implements Source<ClaimedRecipient> {
  readonly #deps: LaneDeps;
  readonly #send: LaneSend;
  readonly #mostClaims: number;
  readonly #stop: AbortSignal;
  /** Ranges that are claimed at once: half of the claims under way go on while the others are made again. */
  readonly #together: number;
  #claims = 0;
  /** The result of the last claim. */
  #answer: ClaimAnswer = { sending: false, paused: false, expanded: false, held: false, throttleMs: 0, claims: [] };

  constructor(deps: LaneDeps, send: LaneSend, mostClaims: number, stop: AbortSignal) {
    this.#deps = deps;
    this.#send = send;
    this.#mostClaims = mostClaims;
    this.#stop = stop;
    this.#together = Math.min(claimsTogether, Math.ceil(mostClaims / 2));
  }

  hasRoom(underWay: number): boolean {
    return underWay + this.#together <= this.#mostClaims;
  }

  async claim(probing: boolean): Promise<CampaignClaim[]> {
    const { db, rate, mailer, claiming } = this.#deps;
    const { projectId, campaignId, sendSeq, holder, canary, version } = this.#send;
    const size = probing ? probeSize : this.#send.size;
    const limits = { projectId, campaignId, sendSeq, size, rate, provider: mailer.name, probing, canary, version };
    const ids = Array.from({ length: probing ? 1 : this.#together }, () => `${holder}.${++this.#claims}`);
    return claiming(async () => {
      const takenAt = performance.now();
      this.#answer = await claimRanges(db, limits, ids, holder);
      const { sending, claims } = this.#answer;
      const taking = { takenAt, calls: probing ? 'probe' : 'allowed' } as const;
      return claims.map((claim) => new CampaignClaim(this.#deps, this.#send, { ...claim, sending }, taking));
    });
  }

  takeOver(): Promise<CampaignClaim | null> {
    return takeOver(this.#deps, this.#send);
  }

  async watch(over: Promise<unknown>): Promise<boolean> {
    const { throttleMs, expanded } = this.#answer;
    const recheckMs = throttleMs > 0 ? Math.min(throttleMs, longestThrottleMs) : expanded ? allClaimedMs : catchUpMs;
    const again = pause(recheckMs, this.#stop).then(() => true);
    return Promise.race([again, over.then(() => false)]);
  }

  async backlog(): Promise<Backlog> {
    const { sending, paused, expanded, held, throttleMs } = this.#answer;
    const isReady = sending && !paused && (held || throttleMs > 0);
    const { campaignId, sendSeq, holder } = this.#send;
    const { open, dueMs, heldMs } = await claimsOpen(this.#deps.db, campaignId, sendSeq, holder);
    return {
      end: sending ? (paused ? 'paused' : null) : 'stopped',
      isReady,
      throttleMs,
      isGrowing: !expanded,
      isWaiting: open > 0,
      dueMs: paused || isReady ? null : heldMs,
      takeOverMs: open === 0 || paused || isReady ? null : (dueMs ?? othersMs),
    };
  }

  release(): Promise<void> {
    return releaseClaims(this.#deps.db, this.#send, inFlightMs(this.#deps.mailer));
  }
}
