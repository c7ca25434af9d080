import { pause } from '../../core/lib/time.ts';

/** A message that took longer to render than this, in milliseconds, costs its project a rest. */
const longMs = 15;
/** A rest is so many times as long as the rendering was: what is left of the process belongs to everybody else. */
const restFactor = 15;
const longestRestMs = 2000;
// For so long after a slow message its project takes turns with others that have had one.
const rememberedMs = 60_000;
// One slow message may be due to the machine. Of so many slow ones each is forgiven by so many quick ones.
const slowFrom = 3;
const forgivenBy = 20;
/** How many messages of a slow project are claimed and rendered in one batch. */
export const slowBatch = 5;
/** How long one batch may render, in milliseconds; what is left of it comes again in a batch of its own. */
export const longestBatchMs = 500;

/** What takes turns needs of time; tests bring their own. */
export interface TurnClock {
  now(): number;
  pause(ms: number): Promise<void>;
}

/**
 * Shares a process between projects whose messages take long to render and all others. Rendering one message cannot be
 * interrupted, so that all work of the process waits for it. Projects with slow messages therefore render one message at a
 * time among all of them, and after each the process rests from them for many times as long. Who has none never waits.
 */
export class RenderTurns {
  private readonly clock: TurnClock;
  private quietUntil = 0;
  private readonly scores = new Map<string, { score: number; at: number }>();

  constructor(clock: TurnClock = { now: () => performance.now(), pause }) {
    this.clock = clock;
  }

  /** Waits for the project's turn, if it has to take turns. */
  async turn(projectId: string): Promise<void> {
    while (this.isSlow(projectId) && this.clock.now() < this.quietUntil)
      await this.clock.pause(this.quietUntil - this.clock.now());
  }

  /** Notes how long rendering a message took. Answers whether it was long. */
  note(projectId: string, tookMs: number): boolean {
    const known = this.scores.get(projectId);
    if (tookMs < longMs) {
      if (known !== undefined) {
        known.score -= 1 / forgivenBy;
        if (known.score <= 0) this.scores.delete(projectId);
      }
      return false;
    }
    const now = this.clock.now();
    if (this.scores.size > 1000)
      for (const [id, { at }] of this.scores) if (now - at > rememberedMs) this.scores.delete(id);
    this.scores.set(projectId, { score: Math.min(2 * slowFrom, (known?.score ?? 0) + 1), at: now });
    if (this.isSlow(projectId))
      this.quietUntil = Math.max(now, this.quietUntil) + Math.min(longestRestMs, restFactor * tookMs);
    return true;
  }

  /** Whether the project takes turns at the moment: then it should claim little at once. */
  isSlow(projectId: string): boolean {
    const known = this.scores.get(projectId);
    return known !== undefined && known.score >= slowFrom && this.clock.now() - known.at < rememberedMs;
  }
}

/** Those of this process. */
export const renderTurns = new RenderTurns();
