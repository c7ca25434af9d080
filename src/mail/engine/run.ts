import { pause } from '../../lib/time.ts';
import type { Settled } from '../ledger/settle.ts';
import { type Hold, holdFor, longestHeldMs, mayCall } from './breaker.ts';
import type { Backlog, Claim, EngineDeps, Source } from './port.ts';
import { add, workOn } from './work.ts';

/** Work of one kind that is under way at once, such as claims. A failure waits until the rest has ended. */
class InFlight {
  readonly #works = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;

  get size(): number {
    return this.#works.size;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  add(work: Promise<void>): void {
    const one: Promise<void> = work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#works.delete(one));
    this.#works.add(one);
  }

  /** Resolves once one of them has ended. Never rejects for them. */
  async next(): Promise<void> {
    await Promise.race(this.#works);
  }

  /** Resolves once all have ended. Never rejects for them. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }

  /** Runs what adds work, and resolves once all of that has ended. Rejects with the first failure. */
  async whole<T>(main: () => Promise<T>): Promise<T> {
    const result = await main().finally(() => this.ended());
    if (this.#failure !== null) throw this.#failure.error;
    return result;
  }
}

/** How much a run does at once, and for how long. Times are milliseconds. */
export interface Pace {
  /** Claims under way at once. */
  claims: number;
  /** A run ends after so long even if there is mail, so that histories stay short, progress is seen and workers can stop. */
  longestMs: number;
  /** How long an empty source is watched before the run ends: mail that comes meanwhile needs no new activity. */
  lingerMs: number;
}

/** How a run ended. */
export interface RunEnd {
  /**
   * `empty`: nothing is left that it could claim. `share`: its time was over. `held`: the circuit breaker is open. `paused`, `stopped`: the
   * source is, or (`stopped`) the worker stops.
   */
  end: 'empty' | 'share' | 'held' | 'paused' | 'stopped';
  /** When to check again, in milliseconds: 0 at once, null when nothing waits. */
  waitMs: number | null;
  /** Why it waits, where the provider is held. */
  hold: Hold | null;
}

// How often a busy run looks for claims that were put back or lost their attempt.
const takeOverEveryMs = 1000;
// Pauses of this length and less are spent here, longer ones by the workflow's timer.
const shortPauseMs = 2000;
// A pause is never shorter, so that a run cannot spin.
const shortestPauseMs = 2;
/** While recipients are being written down, a run catches up with them after each of these pauses, in milliseconds. */
export const catchUpMs = 20;

/**
 * Works on a source until nothing is left to claim: several claims are under way at once, and claims that an earlier attempt left come
 * first. This is the one loop of delivery; queue and campaigns differ in their `Source` only. Rejects when Postgres does, once
 * the claims under way have ended.
 */
export async function runSource<Mail>(
  deps: EngineDeps,
  source: Source<Mail>,
  pace: Pace,
  stop: AbortSignal,
): Promise<Settled & RunEnd> {
  const run = new Run(deps, source, pace, stop);
  const end = await run.work.whole(() => run.loop());
  // The run may have ended before all of them were taken over.
  await source.release();
  return { ...run.total, ...end };
}

/** Works on the claims that can be taken over, one after the other. `alive` is called after each and may throw. */
export async function workOnLeft<Mail>(
  deps: EngineDeps,
  takeOver: () => Promise<Claim<Mail> | null>,
  alive?: () => void,
): Promise<Settled> {
  const total: Settled = { sent: 0, skipped: 0, failed: 0 };
  for (;;) {
    const claim = await takeOver();
    if (claim === null) return total;
    add(total, await workOn(deps, claim));
    alive?.();
  }
}

class Run<Mail> {
  readonly total: Settled = { sent: 0, skipped: 0, failed: 0 };
  /** Claims under way. */
  readonly work = new InFlight();
  readonly #deps: EngineDeps;
  readonly #source: Source<Mail>;
  readonly #pace: Pace;
  readonly #stop: AbortSignal;
  #takeOverAt = 0;

  constructor(deps: EngineDeps, source: Source<Mail>, pace: Pace, stop: AbortSignal) {
    this.#deps = deps;
    this.#source = source;
    this.#pace = pace;
    this.#stop = stop;
  }

  async loop(): Promise<RunEnd> {
    const endsAt = performance.now() + this.#pace.longestMs;
    for (;;) {
      if (this.#stop.aborted || this.work.hasFailed) return over('stopped', 0);
      if (performance.now() > endsAt) return over('share', 0);
      if (!this.#source.hasRoom(this.work.size)) await this.work.next();
      else if (performance.now() >= this.#takeOverAt) await this.#takeOver();
      else if (await this.#claim(false)) continue;
      else if (this.work.size > 0) await this.#source.watch(this.work.ended());
      else {
        const end = await this.#rest(await this.#source.backlog());
        if (end !== null) return end;
      }
    }
  }

  async #takeOver(): Promise<void> {
    const claim = await this.#source.takeOver();
    if (claim === null) this.#takeOverAt = performance.now() + takeOverEveryMs;
    else this.#start(claim);
  }

  async #claim(probing: boolean): Promise<boolean> {
    const claims = await this.#source.claim(probing);
    for (const claim of claims) this.#start(claim);
    return claims.length > 0;
  }

  #start(claim: Claim<Mail>): void {
    this.work.add(workOn(this.#deps, claim).then((tally) => add(this.total, tally)));
  }

  /** Waits for what the source waits for, where that is short. Returns how the run ends, or null when it goes on. */
  async #rest(backlog: Backlog): Promise<RunEnd | null> {
    const { db, mailer } = this.#deps;
    if (backlog.end !== null) return over(backlog.end, backlog.takeOverMs);
    if (backlog.isReady) {
      const leave = await mayCall(db, mailer.name);
      if (leave.hold !== null) return held(leave.hold, backlog);
      // What needs no call says nothing of the provider, so that the next claim follows at once.
      if (leave.probing && (await this.#claim(true))) await this.work.ended();
      else await this.#pause(backlog.throttleMs);
      return null;
    }
    if (backlog.isGrowing) {
      await this.#pause(catchUpMs);
      return null;
    }
    // Mail that a failed call has put off waits for the provider as well as for its time.
    const hold = backlog.isWaiting ? await holdFor(db, mailer.name) : null;
    if (hold !== null && hold.waitMs > 0) return held(hold, backlog);
    const waitMs = earliest(backlog.dueMs, backlog.takeOverMs);
    if (waitMs !== null && waitMs <= shortPauseMs) {
      await this.#source.watch(this.#pause(waitMs));
      this.#takeOverAt = 0;
      return null;
    }
    const { lingerMs } = this.#pace;
    if (lingerMs > 0 && (await this.#source.watch(this.#pause(lingerMs)))) return null;
    return over('empty', waitMs === null ? null : Math.max(1, waitMs - lingerMs));
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(Math.min(Math.max(milliseconds, shortestPauseMs), shortPauseMs), this.#stop);
  }
}

function over(end: RunEnd['end'], waitMs: number | null): RunEnd {
  return { end, waitMs, hold: null };
}

// Mail that is due later than the hold ends has to wait for both.
function held(hold: Hold, { dueMs, takeOverMs, isReady }: Backlog): RunEnd {
  const waitMs = isReady ? hold.waitMs : Math.max(hold.waitMs, dueMs ?? 0);
  return { end: 'held', waitMs: earliest(Math.min(waitMs, longestHeldMs), takeOverMs), hold: { ...hold, waitMs } };
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
