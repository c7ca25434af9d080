import type { CanaryCounts, CanaryStop } from '../../campaigns/launch.ts';

/** Percentages of the mailed slice that must not be exceeded, with two decimals at most; null or absent is no limit. */
export interface StopIf {
  bounceRate?: number | null | undefined;
  complaintRate?: number | null | undefined;
  unsubscribeRate?: number | null | undefined;
}

/** Where a canary stands. */
export interface CanaryFacts {
  counts: CanaryCounts;
  /** Claims of the slice that have no verdict yet. */
  openClaims: number;
  /** Its members who wait for the end of quiet hours. */
  held: number;
  stopIf: StopIf;
  minDelivered: number;
  /** Whether the time of the hold is over. */
  isHoldOver: boolean;
  /** Whether the project may not send any more: what waits ends with that reason, as in any campaign. */
  isProjectDisabled: boolean;
  /** Whether a person has decided that the campaign continues. */
  isReleased: boolean;
}

/** The decision about a canary: the slice is sent, its reports are awaited, the campaign continues or is paused. */
export type CanaryDecision = { next: 'send' | 'hold' | 'pass' } | { next: 'stop'; stopped: CanaryStop };

const limits = [
  ['bounceRate', 'bounced', 'canary_bounce_rate'],
  ['complaintRate', 'complained', 'canary_complaint_rate'],
  ['unsubscribeRate', 'unsubscribed', 'canary_unsubscribe_rate'],
] as const;

/**
 * Decides about a canary. A limit is broken above it, not at it. While a part of the slice is still to be sent it counts as
 * mailed, so that a limit breaks early only when nothing can reverse it.
 */
export function decideCanary(facts: CanaryFacts): CanaryDecision {
  const { counts, openClaims, held, stopIf, minDelivered, isHoldOver, isProjectDisabled, isReleased } = facts;
  const isSent = counts.pending === 0 && openClaims === 0;
  // Nobody else waits for members who are in quiet hours once a person has decided.
  if (isReleased) return { next: counts.pending <= held && openClaims === 0 ? 'pass' : 'send' };
  const of = counts.mailed + counts.pending;
  for (const [rate, kind, code] of limits) {
    const limit = stopIf[rate];
    const count = counts[kind];
    if (limit !== null && limit !== undefined && exceeds(count, of, limit))
      return { next: 'stop', stopped: { code, count, of, limit } };
  }
  if (!isSent) return { next: 'send' };
  if (isProjectDisabled) return { next: 'pass' };
  if (!isHoldOver) return { next: 'hold' };
  if (counts.delivered >= minDelivered) return { next: 'pass' };
  return {
    next: 'stop',
    stopped: { code: 'canary_too_few_delivered', count: counts.delivered, of: counts.mailed, limit: minDelivered },
  };
}

// In hundredths of a percent, for 0.29 × 100 is not 29.
function exceeds(count: number, of: number, limit: number): boolean {
  return count * 10_000 > Math.round(limit * 100) * of;
}
