import { randomBytes } from 'node:crypto';
import { pause } from '../../lib/time.ts';
import { projectsWithWaitingMail } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { abandonedAfterMs, inFlightMs, probeSize } from '../engine/attempts.ts';
import { renderTurns, slowBatch } from '../engine/batch.ts';
import { holdSentence } from '../engine/breaker.ts';
import type { Backlog, Source } from '../engine/port.ts';
import { type Pace, runSource, workOnLeft } from '../engine/run.ts';
import type { ClaimedMail } from '../ledger/queries.ts';
import { anyDue, claimQueued, type EarlierAttempts, nextWork, releaseEarlier, takeOverQueued } from './claims.ts';
import { QueueClaim, type QueueDeps } from './queue-claim.ts';

/** The pace of the service. */
const servicePace: Pace = { claims: 6, lingerMs: 500, longestMs: 30_000 };

/** One run of deliveries: whose, under which claim ids, and when to stop early. */
export interface DeliveryRun {
  projectId: string;
  /** Begins the id of every claim of every attempt of this run. */
  prefix: string;
  /** 1 for the first attempt; a later one first settles what the earlier ones held. */
  attempt: number;
  /** Aborts when nothing more may be claimed. Claims under way are finished. */
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
/** An execution does not stay open for mail that is due later than this; the sweep of the workers wakes the delivery of such mail. */
export const longestWaitMs = 10 * 60_000;

/** Hands over a project's mail until none is due. Rejects when Postgres does, once the claims under way have ended. */
export async function deliverPending(deps: QueueDeps, run: DeliveryRun, pace = servicePace): Promise<DeliveryReport> {
  const queue = new Queue(deps, run, pace.claims);
  const { sent, failed, end, waitMs, hold } = await runSource(deps, queue, pace, run.stop);
  const isTooLong = waitMs !== null && waitMs > longestWaitMs;
  return {
    delivered: sent,
    failed,
    waitMs: end === 'stopped' ? stopPauseMs : isTooLong ? null : waitMs,
    held: hold && holdSentence(hold, queue.waiting),
  };
}

/** The queue of a project. */
class Queue implements Source<ClaimedMail> {
  /** Mail that was not claimed when the queue was last asked what it waits for. */
  waiting = 0;
  readonly #deps: QueueDeps;
  readonly #run: DeliveryRun;
  readonly #mostClaims: number;
  /** Begins the ids of the claims of this attempt. */
  readonly #own: string;
  #claims = 0;
  /** Checks in a row that found nothing to claim. */
  #empty = 0;
  /** Whether claims may be there to be taken over. Looking for them reads the claims of all projects, so that it is done for a reason only. */
  #mayTakeOver: boolean;

  constructor(deps: QueueDeps, run: DeliveryRun, mostClaims: number) {
    this.#deps = deps;
    this.#run = run;
    this.#mostClaims = mostClaims;
    this.#mayTakeOver = run.attempt > 1;
    // A Temporal store that was restored gives out the ids of runs and attempts again.
    this.#own = `${run.prefix}${run.attempt}.${randomBytes(3).toString('hex')}.`;
  }

  hasRoom(underWay: number): boolean {
    return underWay < (renderTurns.isSlow(this.#run.projectId) ? 1 : this.#mostClaims);
  }

  async claim(probing: boolean): Promise<QueueClaim[]> {
    const { db, rate, mailer } = this.#deps;
    const { projectId } = this.#run;
    this.#claims += 1;
    const id = `${this.#own}${this.#claims}`;
    // A slow project renders a few messages in its turn: more would be read for nothing, and large bodies take long to read.
    const size = renderTurns.isSlow(projectId) ? slowBatch : claimSize;
    const limits = { messages: probing ? probeSize : size, rate, provider: mailer.name, probing };
    const takenAt = performance.now();
    const mails = await claimQueued(db, projectId, id, limits);
    if (mails.length === 0) return [];
    this.#empty = 0;
    return [new QueueClaim(this.#deps, { id, mails, takenAt, probing })];
  }

  async takeOver(): Promise<QueueClaim | null> {
    if (!this.#mayTakeOver) return null;
    const claim = await takeOver(this.#deps, this.#run.projectId, this.#earlier);
    this.#mayTakeOver = claim !== null;
    return claim;
  }

  async watch(over: Promise<unknown>): Promise<boolean> {
    const { stop, projectId } = this.#run;
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await Promise.race([over, pause(pollMs(this.#empty), stop)]);
      this.#empty += 1;
      if (stop.aborted || (await anyDue(this.#deps.db, projectId))) return true;
    }
    return false;
  }

  async backlog(): Promise<Backlog> {
    const { db, rate } = this.#deps;
    const { ready, waiting, dueMs, takeOverMs, throttleMs } = await nextWork(db, this.#run.projectId, rate, claimSize);
    this.waiting = waiting;
    this.#mayTakeOver ||= takeOverMs !== null;
    const waits = { isReady: ready > 0, isWaiting: waiting > 0, isGrowing: false };
    return { end: null, ...waits, throttleMs, dueMs, takeOverMs };
  }

  async release(): Promise<void> {
    if (this.#earlier !== null) await releaseEarlier(this.#deps.db, this.#earlier, restMs(this.#deps));
  }

  get #earlier(): EarlierAttempts | null {
    const { projectId, prefix, attempt } = this.#run;
    return attempt === 1 ? null : { projectId, prefix, own: this.#own };
  }
}

/** Takes over a claim of one project or (null) of any; null when there is none. */
async function takeOver(
  deps: QueueDeps,
  projectId: string | null,
  earlier: EarlierAttempts | null,
): Promise<QueueClaim | null> {
  const takenAt = performance.now();
  const mails = await takeOverQueued(deps.db, projectId, earlier, restMs(deps));
  const [first] = mails;
  if (first === undefined) return null;
  return new QueueClaim(deps, { id: first.claimId, mails, takenAt, probing: false, lookUpOnly: true });
}

/** How long mail of a dead attempt rests: the provider's lag counts from the last moment at which a message may have come there. */
function restMs({ mailer, lagMs }: QueueDeps): number {
  return inFlightMs(mailer) + lagMs;
}

// New mail is looked for often at first, then less and less; the last value bounds the latency of mail that comes late.
function pollMs(empty: number): number {
  return Math.min(50, 5 * 2 ** Math.floor(empty / 3));
}

// Mail waits longer than this only where no delivery is awake, or where it is throttled or held and a wake is harmless.
const overdueMs = 5000;

/**
 * Repairs what crashes and lost wakes left, of any project: dead claims are settled, and `wake` is called for each
 * project with mail that nobody fetches. Returns the number of those mails and projects.
 */
export async function reconcileClaims(deps: QueueDeps, wake: (projectId: string) => void): Promise<number> {
  await releaseAbandoned(deps.db, restMs(deps));
  const { sent, failed } = await workOnLeft(deps, () => takeOver(deps, null, null));
  const projects = await projectsWithWaitingMail(deps.db, overdueMs);
  for (const projectId of projects) wake(projectId);
  return sent + failed + projects.length;
}

/** Notes that every claim is unconfirmed that is older than any that is worked on; it may be sent again `restMs` from now at the earliest. */
async function releaseAbandoned(db: Database, restMs: number): Promise<void> {
  await db.count(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and claimed_at < clock_timestamp() - ${abandonedAfterMs} * interval '1 millisecond'`);
}
