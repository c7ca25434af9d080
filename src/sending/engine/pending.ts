import { randomBytes } from 'node:crypto';
import { pause } from '../../core/lib/time.ts';
import { probeSize } from './attempts.ts';
import { type Hold, holdFor, holdSentence, longestHeldMs, mayCall } from './breaker.ts';
import { anyDue, claimQueued, type NextWork, nextWork } from './claim.ts';
import type { Claim, DeliveryDeps, Tally } from './deps.ts';
import { settleDeadAttempt, settleDueDoubts } from './doubts.ts';
import { handOverQueued } from './queue-ledger.ts';
import { renderTurns, slowBatch } from './render-turns.ts';

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
const servicePace: Pace = { lanes: 6, lingerMs: 250, longestMs: 30_000 };

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
  /** When to look again, in milliseconds: 0 at once, null when nothing is left. */
  waitMs: number | null;
  /** Why mail waits, as a sentence for operators; null where it does not. */
  held: string | null;
}

const claimSize = 500;
// A worker that stops may still be asked for a moment before it polls no more.
const stopPauseMs = 100;
// Pauses of this length and less are spent here, longer ones by the workflow's timer.
const shortPauseMs = 1000;

/**
 * Hands over a project's mail until none is due, streaming: several provider calls are under way at once, and each claim
 * is settled as soon as its answer is there. Rejects when Postgres does, once what is under way has ended.
 */
export async function deliverPending(
  deps: DeliveryDeps,
  run: DeliveryRun,
  pace = servicePace,
): Promise<DeliveryReport> {
  const total: Tally = { delivered: 0, failed: 0 };
  // A Temporal store that was restored gives out the ids of runs and attempts again.
  const own = randomBytes(3).toString('hex');
  const lanes = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  try {
    if (run.attempt > 1) count(await settleDeadAttempt(deps, run.projectId, run.prefix));
    const end = await loop();
    await Promise.all(lanes);
    if (failure !== null) throw (failure as { error: unknown }).error;
    return { ...total, ...end };
  } finally {
    await Promise.allSettled(lanes);
  }

  async function loop(): Promise<Omit<DeliveryReport, keyof Tally>> {
    const started = performance.now();
    let claims = 0;
    let empty = 0;
    let lastWork = started;
    for (;;) {
      if (run.stop.aborted) return { waitMs: stopPauseMs, held: null };
      if (failure !== null || performance.now() - started > pace.longestMs) return { waitMs: 0, held: null };
      if (lanes.size >= (renderTurns.isSlow(run.projectId) ? 1 : pace.lanes)) {
        await Promise.race(lanes);
        continue;
      }
      claims += 1;
      if ((empty === 0 || (await anyDue(deps.db, run.projectId))) && (await claim(claims, false))) {
        empty = 0;
        lastWork = performance.now();
        continue;
      }
      // What the queue waits for is asked at the first empty claim and now and then while watching it.
      const asks = empty % 8 === 0 || performance.now() - lastWork >= pace.lingerMs;
      empty += 1;
      if (lanes.size > 0) {
        await Promise.race([...lanes, pause(pollMs(empty), run.stop)]);
        lastWork = performance.now();
        continue;
      }
      const end = asks ? await onEmptyQueue(await nextWork(deps.db, run.projectId, deps.rate, claimSize)) : 'watch';
      if (end === 'again') continue;
      if (end !== 'watch' && (end.held !== null || performance.now() - lastWork >= pace.lingerMs)) return end;
      await pause(pollMs(empty), run.stop);
    }

    async function onEmptyQueue(next: NextWork): Promise<'again' | Omit<DeliveryReport, keyof Tally>> {
      if (next.doubtMs === 0) {
        count(await settleDueDoubts(deps, run.projectId));
        return 'again';
      }
      if (next.ready > 0) {
        const leave = await mayCall(deps.db, deps.mailer.name);
        if (leave.hold !== null) return heldEnd(leave.hold, next);
        claims += 1;
        if (leave.probing && (await claim(claims, true))) {
          await Promise.all(lanes);
          // What needed no call has told nothing: the next claim follows at once.
          empty = 0;
        } else await pause(Math.min(Math.max(next.throttleMs, 2), shortPauseMs), run.stop);
        return 'again';
      }
      // Mail that a failed call has put off waits for the provider as well as for its time.
      const hold = next.waiting > 0 ? await holdFor(deps.db, deps.mailer.name) : null;
      if (hold !== null && hold.waitMs > 0)
        return heldEnd({ ...hold, waitMs: Math.max(hold.waitMs, next.dueMs ?? 0) }, next);
      const waitMs = earliest(next.dueMs, next.doubtMs);
      if (waitMs !== null && waitMs <= shortPauseMs) {
        await pause(Math.max(waitMs, 2), run.stop);
        return 'again';
      }
      return { waitMs, held: null };
    }
  }

  // What a slow project cannot render in its turn would be read for nothing, and large bodies take long to read.
  function sizeNow(): number {
    return renderTurns.isSlow(run.projectId) ? slowBatch : claimSize;
  }

  async function claim(number: number, probing: boolean): Promise<boolean> {
    const id = `${run.prefix}${run.attempt}.${own}.${number}`;
    const limits = { messages: probing ? probeSize : sizeNow(), rate: deps.rate, provider: deps.mailer.name, probing };
    const mails = await claimQueued(deps.db, run.projectId, id, limits);
    if (mails.length === 0) return false;
    open({ id, mails, takenAt: performance.now(), probing });
    return true;
  }

  function open(taken: Claim): void {
    const lane: Promise<void> = handOverQueued(deps, taken)
      .then(count, (error: unknown) => {
        failure ??= { error };
      })
      .finally(() => lanes.delete(lane));
    lanes.add(lane);
  }

  function count(more: Tally): void {
    total.delivered += more.delivered;
    total.failed += more.failed;
  }
}

function heldEnd(hold: Hold, next: NextWork): Omit<DeliveryReport, keyof Tally> {
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
