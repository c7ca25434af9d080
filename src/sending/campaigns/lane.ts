import { pause } from '../../core/lib/time.ts';
import { bucketMade, type Hold, longestHeldMs, mayCall, probeSize } from '../engine/index.ts';
import {
  type ClaimAnswer,
  claimRanges,
  claimsOpen,
  claimsTogether,
  type RangeClaim,
  releaseClaims,
  retakeClaim,
} from './claims.ts';
import { deliverClaim } from './deliver-claim.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';
import { type SettledRecipients, settleClaim } from './ledger.ts';

/** How a lane paces itself. */
export interface LanePace {
  /** Claims under way at once (setting CAMPAIGN_CALLS_IN_FLIGHT). */
  claims: number;
  /** How long it works before it reports, in milliseconds, so that histories stay short and progress is seen. */
  shareMs: number;
}

/** How a lane ended. */
export interface LaneReport extends SettledRecipients {
  /**
   * `empty`: nothing is left that it could claim. `share`: its time was over. `held`: the provider is. `paused`: the
   * campaign is. `stopped`: the campaign is no longer SENDING, or the worker stops.
   */
  end: 'empty' | 'share' | 'held' | 'paused' | 'stopped';
  /** When to look again, in milliseconds: 0 at once, null when nothing is open. */
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
  const { campaignId, sendSeq, projectId, holder } = send;
  const { db, gate, mailer } = deps;
  const total: SettledRecipients = { sent: 0, skipped: 0, failed: 0 };
  const slots = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  let claims = 0;
  // Half of the slots go on while the others are filled again.
  const together = Math.min(claimsTogether, Math.ceil(pace.claims / 2));
  try {
    await bucketMade(db, projectId);
    const end = await loop();
    await Promise.all(slots);
    if (failure !== null) throw (failure as { error: unknown }).error;
    // A hold, a pause or the end of its share may have come before all of them were taken over.
    await releaseClaims(db, send);
    return { ...total, ...end };
  } finally {
    await Promise.allSettled(slots);
  }

  async function loop(): Promise<Omit<LaneReport, keyof SettledRecipients>> {
    const started = performance.now();
    let retakeAt = 0;
    for (;;) {
      if (stop.aborted || failure !== null) return { end: 'stopped', waitMs: 0, hold: null };
      if (performance.now() - started > pace.shareMs) return { end: 'share', waitMs: 0, hold: null };
      if (slots.size + together > pace.claims) {
        await Promise.race(slots);
        continue;
      }
      if (performance.now() >= retakeAt) {
        const claim = await gate.run(() => retakeClaim(db, send));
        if (claim !== null) {
          const hold = await reopen(claim);
          if (hold !== null) return heldEnd(hold);
          continue;
        }
        retakeAt = performance.now() + retakeEveryMs;
      }
      let answer = await claimNext(send.size, together, false);
      if (answer.claims.length > 0) continue;
      if (!answer.sending) {
        const { open, dueMs } = await claimsOpen(db, campaignId, sendSeq, holder);
        return { end: 'stopped', waitMs: open === 0 ? null : (dueMs ?? othersMs), hold: null };
      }
      if (answer.paused) return { end: 'paused', waitMs: null, hold: null };
      if (answer.held) {
        const leave = await mayCall(db, mailer.name);
        if (leave.hold !== null) return heldEnd(leave.hold);
        if (!leave.probing) continue;
        answer = await claimNext(probeSize, 1, true);
        if (answer.claims.length > 0) {
          await Promise.all(slots);
          continue;
        }
      }
      if (answer.throttleMs > 0) await eventually(Math.min(answer.throttleMs, shortPauseMs));
      else if (!answer.expanded) await eventually(catchUpMs);
      else if (slots.size > 0) await allEnded();
      else {
        const { open, dueMs } = await claimsOpen(db, campaignId, sendSeq, holder);
        if (dueMs === null || dueMs > shortPauseMs)
          return { end: 'empty', waitMs: open === 0 ? null : (dueMs ?? othersMs), hold: null };
        await pause(dueMs, stop);
        retakeAt = 0;
      }
    }
  }

  async function claimNext(size: number, ranges: number, probing: boolean): Promise<ClaimAnswer> {
    const limits = { projectId, campaignId, sendSeq, size, rate: deps.rate, provider: mailer.name, probing };
    const ids = Array.from({ length: ranges }, (_, n) => `${holder}.${claims + n + 1}`);
    claims += ranges;
    const answer = await deps.claiming.run(() => claimRanges(db, limits, ids, holder));
    for (const claim of answer.claims) start(claim, answer.sending, probing);
    return answer;
  }

  /** Goes on with a claim that was taken over, unless it needs the provider and that is held: then it is put back. */
  async function reopen(claim: RangeClaim & { sending: boolean }): Promise<Hold | null> {
    if (claim.handedMs === null && (claim.projectDisabled || !claim.domainVerified)) {
      start(claim, claim.sending, false);
      return null;
    }
    const leave = await mayCall(db, mailer.name);
    if (leave.hold === null) {
      start(claim, claim.sending, leave.probing);
      if (leave.probing) await Promise.all(slots);
      return null;
    }
    const place = { projectId, campaignId, sendSeq, claim, holder, provider: mailer.name, stream: null };
    const back = { settled: false, delayMs: 0, doubtful: claim.handedMs !== null, attempt: false } as const;
    await gate.run(() => settleClaim(db, place, [], back));
    return leave.hold;
  }

  function start(claim: RangeClaim, sending: boolean, probing: boolean): void {
    const taken = { ...claim, sending, probing, takenAt: performance.now() };
    const slot: Promise<void> = deliverClaim(deps, send, taken)
      .then(
        ({ sent, skipped, failed }) => {
          total.sent += sent;
          total.skipped += skipped;
          total.failed += failed;
        },
        (error: unknown) => {
          failure ??= { error };
        },
      )
      .finally(() => slots.delete(slot));
    slots.add(slot);
  }

  // Everybody has been claimed: asking again after each slot would only be turned away, but for what is put back meanwhile.
  async function allEnded(): Promise<void> {
    await Promise.race([Promise.all(slots), pause(retakeEveryMs, stop)]);
  }

  async function eventually(milliseconds: number): Promise<void> {
    await Promise.race([...slots, pause(milliseconds, stop)]);
  }
}

function heldEnd(hold: Hold): Omit<LaneReport, keyof SettledRecipients> {
  return { end: 'held', waitMs: Math.min(hold.waitMs, longestHeldMs), hold };
}
