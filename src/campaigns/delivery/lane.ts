import { pause } from '../../lib/time.ts';
import { InFlight, inFlightMs, probeSize } from '../../mail/engine/attempts.ts';
import { type Hold, longestHeldMs, mayCall } from '../../mail/engine/breaker.ts';
import { bucketMade } from '../../mail/engine/claim.ts';
import { type Settled, settleMail } from '../../mail/ledger/settle.ts';
import { type ClaimAnswer, claimRanges, claimsOpen, claimsTogether, releaseClaims, retakeClaim } from './claims.ts';
import { type ClaimInHand, deliverClaim } from './deliver-claim.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';

/** How a lane paces itself. */
export interface LanePace {
  /** Claims under way at once (setting CAMPAIGN_CALLS_IN_FLIGHT). */
  claims: number;
  /** How long it works before it reports, in milliseconds, so that histories stay short and progress is seen. */
  shareMs: number;
}

/** How a lane ended. */
export interface LaneReport extends Settled {
  /**
   * `empty`: nothing is left that it could claim. `share`: its time was over. `held`: the provider is. `paused`: the
   * campaign is. `stopped`: the campaign is no longer SENDING, or the worker stops.
   */
  end: 'empty' | 'share' | 'held' | 'paused' | 'stopped';
  /** When to check again, in milliseconds: 0 at once, null when nothing is open. */
  waitMs: number | null;
  /** Why it waits, where the provider is held. */
  hold: Hold | null;
}

// How often a busy lane looks for claims that were put back or lost their holder.
const retakeEveryMs = 1000;
// Pauses of this length and less are spent here, longer ones by the workflow's timer.
const shortPauseMs = 2000;
// While the audience is still being frozen, the lane catches up with it now and then.
const catchUpMs = 20;
// What another attempt holds is looked at again after this.
const othersMs = 5000;

/**
 * Works on a send until nothing is left to claim: many claims are under way at once, each is settled as soon as its
 * answers are there. Claims of dead attempts come first. Rejects when Postgres does, once what is under way has ended.
 */
export async function runLane(deps: LaneDeps, send: LaneSend, pace: LanePace, stop: AbortSignal): Promise<LaneReport> {
  const lane = new Lane(deps, send, pace, stop);
  await bucketMade(deps.db, send.projectId);
  const end = await lane.slots.whole(() => lane.run());
  // A hold, a pause or the end of its share may have come before all of them were taken over.
  await releaseClaims(deps.db, send, inFlightMs(deps.mailer));
  return { ...lane.total, ...end };
}

/** How a lane ended, but for what it settled. */
type End = Omit<LaneReport, keyof Settled>;

class Lane {
  readonly total: Settled = { sent: 0, skipped: 0, failed: 0 };
  /** Claims under way. */
  readonly slots = new InFlight();
  readonly #deps: LaneDeps;
  readonly #send: LaneSend;
  readonly #pace: LanePace;
  readonly #stop: AbortSignal;
  /** Ranges that are claimed at once: half of the slots go on while the others are filled again. */
  readonly #together: number;
  #claims = 0;
  #retakeAt = 0;

  constructor(deps: LaneDeps, send: LaneSend, pace: LanePace, stop: AbortSignal) {
    this.#deps = deps;
    this.#send = send;
    this.#pace = pace;
    this.#stop = stop;
    this.#together = Math.min(claimsTogether, Math.ceil(pace.claims / 2));
  }

  async run(): Promise<End> {
    const started = performance.now();
    for (;;) {
      if (this.#stop.aborted || this.slots.hasFailed) return { end: 'stopped', waitMs: 0, hold: null };
      if (performance.now() - started > this.#pace.shareMs) return { end: 'share', waitMs: 0, hold: null };
      if (this.slots.size + this.#together > this.#pace.claims) {
        await this.slots.next();
        continue;
      }
      const end = performance.now() >= this.#retakeAt ? await this.#retake() : await this.#claim();
      if (end !== null) return end;
    }
  }

  /** Goes on with a claim that was put back or lost its holder. Answers how the lane ends, or null when it goes on. */
  async #retake(): Promise<End | null> {
    const { db, statements, mailer } = this.#deps;
    const { value: claim, takenAt } = await statements(() =>
      timed(() => retakeClaim(db, this.#send, inFlightMs(mailer))),
    );
    if (claim === null) {
      this.#retakeAt = performance.now() + retakeEveryMs;
      return null;
    }
    const needsProvider = claim.handedMs !== null || (!claim.projectDisabled && claim.domainVerified);
    const leave = needsProvider ? await mayCall(db, mailer.name) : { hold: null, probing: false };
    if (leave.hold === null) {
      this.#start({ ...claim, probing: leave.probing, takenAt });
      if (leave.probing) await this.slots.ended();
      return null;
    }
    const end = { settled: false, delayMs: 0, unconfirmed: claim.handedMs !== null, attempt: false } as const;
    const back = { id: claim.id, provider: mailer.name, send: { ...this.#send, end } };
    await statements(() => settleMail(db, back, []));
    return heldEnd(leave.hold);
  }

  /** Claims the next ranges, or waits for what keeps them. Answers how the lane ends, or null when it goes on. */
  async #claim(): Promise<End | null> {
    let answer = await this.#claimNext(this.#send.size, this.#together, false);
    if (answer.claims.length > 0) return null;
    if (!answer.sending) return { end: 'stopped', waitMs: (await this.#whenOpen()).waitMs, hold: null };
    if (answer.paused) return { end: 'paused', waitMs: null, hold: null };
    if (answer.held) {
      const leave = await mayCall(this.#deps.db, this.#deps.mailer.name);
      if (leave.hold !== null) return heldEnd(leave.hold);
      if (!leave.probing) return null;
      answer = await this.#claimNext(probeSize, 1, true);
      if (answer.claims.length > 0) {
        await this.slots.ended();
        return null;
      }
    }
    if (answer.throttleMs > 0) await this.slots.next(this.#pause(Math.min(answer.throttleMs, shortPauseMs)));
    else if (!answer.expanded) await this.slots.next(this.#pause(catchUpMs));
    // Everybody has been claimed: asking again after each slot would only be turned away, but for what is put back meanwhile.
    else if (this.slots.size > 0) await Promise.race([this.slots.ended(), this.#pause(retakeEveryMs)]);
    else return this.#finish();
    return null;
  }

  async #claimNext(size: number, ranges: number, probing: boolean): Promise<ClaimAnswer> {
    const { db, rate, mailer, claiming } = this.#deps;
    const { projectId, campaignId, sendSeq, holder, canary, version } = this.#send;
    const limits = { projectId, campaignId, sendSeq, size, rate, provider: mailer.name, probing, canary, version };
    const ids = Array.from({ length: ranges }, () => `${holder}.${++this.#claims}`);
    const { value, takenAt } = await claiming(() => timed(() => claimRanges(db, limits, ids, holder)));
    for (const claim of value.claims) this.#start({ ...claim, sending: value.sending, probing, takenAt });
    return value;
  }

  #start(claim: ClaimInHand): void {
    this.slots.add(
      deliverClaim(this.#deps, this.#send, claim).then(({ sent, skipped, failed }) => {
        this.total.sent += sent;
        this.total.skipped += skipped;
        this.total.failed += failed;
      }),
    );
  }

  /** Nothing is left to claim, and nothing is under way here. */
  async #finish(): Promise<End | null> {
    const { waitMs, dueMs } = await this.#whenOpen();
    if (dueMs === null || dueMs > shortPauseMs) return { end: 'empty', waitMs, hold: null };
    await this.#pause(dueMs);
    this.#retakeAt = 0;
    return null;
  }

  /** When the claims that are open elsewhere can be asked for again; null for none. */
  async #whenOpen(): Promise<{ waitMs: number | null; dueMs: number | null }> {
    const { campaignId, sendSeq, holder } = this.#send;
    const { open, dueMs } = await claimsOpen(this.#deps.db, campaignId, sendSeq, holder);
    return { waitMs: open === 0 ? null : (dueMs ?? othersMs), dueMs };
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.#stop);
  }
}

// The instant before a claim is made: the process may stand still before it hears of it.
async function timed<T>(claim: () => Promise<T>): Promise<{ value: T; takenAt: number }> {
  const takenAt = performance.now();
  return { value: await claim(), takenAt };
}

function heldEnd(hold: Hold): End {
  return { end: 'held', waitMs: Math.min(hold.waitMs, longestHeldMs), hold };
}
