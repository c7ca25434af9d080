import { randomBytes } from 'node:crypto';
import { pause } from '../../lib/time.ts';
import { InFlight, probeSize } from './attempts.ts';
import { renderTurns, slowBatch } from './batch.ts';
import { type Hold, holdFor, holdSentence, longestHeldMs, mayCall } from './breaker.ts';
import { anyDue, claimQueued, type NextWork, nextWork } from './claim.ts';
import type { DeliveryDeps, Tally } from './deps.ts';
import { settleDeadAttempt, settleDueDoubts } from './doubts.ts';
import { handOverQueued } from './queue-ledger.ts';

/** How a run of deliveries paces itself; every value has one that fits. Times are milliseconds. */
export interface Pace {
  /** Provider calls under way at once. */
  lanes: number;
  /** How long an empty queue is watched before the run ends: mail that comes meanwhile needs no new activity. */
  lingerMs: number;
  /** A run ends after so long even if there is mail, so that histories stay short and workers can stop. */
  longestMs: number;
}

/** The pace of the service. */
const servicePace: Pace = { lanes: 6, lingerMs: 500, longestMs: 30_000 };

/** One run of deliveries: whose, under which claim ids, and when to stop early. */
export interface DeliveryRun {
  projectId: string;
  /** Begins the id of every claim of every attempt of this run. */
  prefix: string;
  /** 1 for the first attempt; a later one first settles what the earlier ones held. */
  attempt: number;
  /** Aborts when nothing more may be claimed. What is claimed is finished. */
  stop: AbortSignal;
}

/** How a run ended. */
export interface DeliveryReport {
  delivered: number;
  failed: number;
  /** When to check again, in milliseconds: 0 at once, null when nothing is left that is due within 10 minutes. */
  waitMs: number | null;
  /** Why mail waits, as a sentence for operators; null where it does not. */
  held: string | null;
}

const claimSize = 500;
// A worker that stops may still be asked for a moment before it polls no more.
const stopPauseMs = 100;
// Pauses of this length and less are spent here, longer ones by the workflow's timer.
const shortPauseMs = 1000;
/** An execution does not stay open for mail that is due later than this. */
export const longestWaitMs = 10 * 60_000;

/**
 * Hands over a project's mail until none is due, streaming: several provider calls are under way at once, and each claim
 * is settled as soon as its answer is there. Rejects when Postgres does, once what is under way has ended.
 */
export async function deliverPending(
  deps: DeliveryDeps,
  run: DeliveryRun,
  pace = servicePace,
): Promise<DeliveryReport> {
  const delivery = new Delivery(deps, run, pace);
  const end = await delivery.lanes.whole(() => delivery.deliver());
  return { ...delivery.tally, ...end };
}

/** How a run ended, but for what it delivered. */
type End = Omit<DeliveryReport, keyof Tally>;

class Delivery {
  readonly tally: Tally = { delivered: 0, failed: 0 };
  readonly lanes = new InFlight();
  readonly #deps: DeliveryDeps;
  readonly #run: DeliveryRun;
  readonly #pace: Pace;
  // A Temporal store that was restored gives out the ids of runs and attempts again.
  readonly #own = randomBytes(3).toString('hex');
  #claims = 0;
  /** Claims in a row that found nothing. */
  #empty = 0;
  #lastWork = performance.now();

  constructor(deps: DeliveryDeps, run: DeliveryRun, pace: Pace) {
    this.#deps = deps;
    this.#run = run;
    this.#pace = pace;
  }

  async deliver(): Promise<End> {
    const { projectId, prefix, attempt, stop } = this.#run;
    if (attempt > 1) this.#count(await settleDeadAttempt(this.#deps, projectId, prefix));
    const started = performance.now();
    this.#lastWork = started;
    for (;;) {
      if (stop.aborted) return { waitMs: stopPauseMs, held: null };
      if (this.lanes.hasFailed || performance.now() - started > this.#pace.longestMs) return { waitMs: 0, held: null };
      if (this.lanes.size >= (renderTurns.isSlow(projectId) ? 1 : this.#pace.lanes)) {
        await this.lanes.next();
        continue;
      }
      const mayFind = this.#empty === 0 || (await anyDue(this.#deps.db, projectId));
      if (mayFind && (await this.#claim(false))) {
        this.#empty = 0;
        this.#lastWork = performance.now();
        continue;
      }
      const end = await this.#watch();
      if (end !== null) return end;
    }
  }

  /** Waits a little for mail, or what keeps it. Answers how the run ends, or null when it goes on. */
  async #watch(): Promise<End | null> {
    const { stop, projectId } = this.#run;
    const isOver = () => performance.now() - this.#lastWork >= this.#pace.lingerMs;
    // What the queue waits for is asked at the first empty claim and now and then while watching it.
    const asks = this.#empty % 8 === 0 || isOver();
    this.#empty += 1;
    if (this.lanes.size > 0) {
      await this.lanes.next(pause(pollMs(this.#empty), stop));
      this.#lastWork = performance.now();
      return null;
    }
    if (asks) {
      const end = await this.#onEmptyQueue(await nextWork(this.#deps.db, projectId, this.#deps.rate, claimSize));
      if (end === null || end.held !== null || isOver()) return end;
    }
    await pause(pollMs(this.#empty), stop);
    return null;
  }

  /** Does what can be done although nothing could be claimed. Answers how the run may end, or null when it may claim again. */
  async #onEmptyQueue(next: NextWork): Promise<End | null> {
    const { db, mailer } = this.#deps;
    const { stop, projectId } = this.#run;
    if (next.doubtMs === 0) {
      this.#count(await settleDueDoubts(this.#deps, projectId));
      return null;
    }
    if (next.ready > 0) {
      const leave = await mayCall(db, mailer.name);
      if (leave.hold !== null) return heldEnd(leave.hold, next);
      if (leave.probing && (await this.#claim(true))) {
        await this.lanes.ended();
        // What needed no call has said nothing: the next claim follows at once.
        this.#empty = 0;
      } else await pause(Math.min(Math.max(next.throttleMs, 2), shortPauseMs), stop);
      return null;
    }
    // Mail that a failed call has put off waits for the provider as well as for its time.
    const hold = next.waiting > 0 ? await holdFor(db, mailer.name) : null;
    if (hold !== null && hold.waitMs > 0)
      return heldEnd({ ...hold, waitMs: Math.max(hold.waitMs, next.dueMs ?? 0) }, next);
    const waitMs = earliest(next.dueMs, next.doubtMs);
    // The sweep of the workers wakes the delivery of mail that is due by then.
    if (waitMs === null || waitMs > longestWaitMs) return { waitMs: null, held: null };
    if (waitMs > shortPauseMs) return { waitMs, held: null };
    await pause(Math.max(waitMs, 2), stop);
    return null;
  }

  /** Takes what is due and hands it over meanwhile. Answers false when nothing was. */
  async #claim(probing: boolean): Promise<boolean> {
    const { db, rate, mailer } = this.#deps;
    const { projectId, prefix, attempt } = this.#run;
    this.#claims += 1;
    const id = `${prefix}${attempt}.${this.#own}.${this.#claims}`;
    // What a slow project cannot render in its turn would be read for nothing, and large bodies take long to read.
    const size = renderTurns.isSlow(projectId) ? slowBatch : claimSize;
    const limits = { messages: probing ? probeSize : size, rate, provider: mailer.name, probing };
    // Before the claim is made: the process may stand still before it hears of it.
    const takenAt = performance.now();
    const mails = await claimQueued(db, projectId, id, limits);
    if (mails.length === 0) return false;
    const claim = { id, mails, takenAt, probing };
    this.lanes.add(handOverQueued(this.#deps, claim).then((tally) => this.#count(tally)));
    return true;
  }

  #count({ delivered, failed }: Tally): void {
    this.tally.delivered += delivered;
    this.tally.failed += failed;
  }
}

function heldEnd(hold: Hold, next: NextWork): End {
  const waitMs = earliest(Math.min(hold.waitMs, longestHeldMs), next.doubtMs);
  return { waitMs, held: holdSentence(hold, next.waiting) };
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

// New mail is looked for often at first, then less and less; the last value bounds the latency of mail that comes late.
function pollMs(empty: number): number {
  return Math.min(50, 5 * 2 ** Math.floor(empty / 3));
}
