import type { Logger } from 'pino';
import { type Database, sql } from '../sql.ts';

const shortestPauseMs = 250;
const longestPauseMs = 5000;

/** Whether Temporal is out of reach. While it is, one row at a time finds out whether it is back. */
export class Outage {
  readonly #log: Logger;
  #current: { pauseMs: number; until: number; isReported: boolean } | null = null;
  #answers = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** An outage has begun and nobody has reached Temporal since. */
  get isOpen(): boolean {
    return this.#current !== null;
  }

  /** Nothing is to be tried now. */
  get isDown(): boolean {
    return this.#current !== null && Date.now() < this.#current.until;
  }

  /** How many calls have reached Temporal: a call that begins notes it, for `lost`. */
  get answers(): number {
    return this.#answers;
  }

  /**
   * A call that began after `answers` others had reached Temporal did not reach it: the next one comes after a pause that doubles up
   * to five seconds. Where others have reached it meanwhile, the call tells of an outage that may be over, which makes no line.
   */
  lost(reason: string, answers: number): void {
    const isReported = this.#current?.isReported ?? false;
    const isNews = !isReported && answers === this.#answers;
    if (isNews) this.#log.warn(`outbox: ${reason}; work is kept and starts when Temporal is back`);
    if (this.#current !== null) this.#current.isReported = isReported || isNews;
    if (this.isDown) return;
    const pauseMs = this.#current === null ? shortestPauseMs : Math.min(longestPauseMs, this.#current.pauseMs * 2);
    this.#current = { pauseMs, until: Date.now() + pauseMs, isReported: isReported || isNews };
  }

  /** A call reached Temporal. */
  reached(): void {
    if (this.#current?.isReported) this.#log.info('outbox: Temporal is back');
    this.#current = null;
    this.#answers += 1;
  }
}

/** An execution of the reconciler. */
export interface ReconcilePass {
  workflowId: string;
  runId: string;
}

export interface StoreState {
  /** ISO instant until which executions may be behind their rows, see `checkStore`; null when the store never lost any. */
  changedAt: string | null;
  /** Whether that was found just now. */
  isNews: boolean;
}

interface StoreCheckDeps {
  db: Database;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  /** Whether Temporal knows this execution, open or closed. Rejects when it cannot be asked. */
  isKnown(pass: ReconcilePass): Promise<boolean>;
}

/**
 * Notes an execution of the reconciler, and asks for the one that was noted before: a store that does not know it any more is
 * new, was emptied or was restored from a back-up. One that was off for longer than closed executions are kept looks the
 * same, which costs a pass over unfinished work and nothing else. `changedAt` is the instant by which every worker has
 * forgotten the executions of the store before: half a minute after the change was found.
 */
export async function checkStore(deps: StoreCheckDeps, pass: ReconcilePass): Promise<StoreState> {
  const { db, queuePrefix } = deps;
  const last = await lastPass(db, queuePrefix);
  if (last?.runId === pass.runId) return { changedAt: last.changedAt, isNews: false };
  const isNews = last !== null && !(await deps.isKnown(last));
  // Until a worker has heard of the change, which it asks for every 5 seconds, and has let go of what it remembers, an execution
  // may be handed to that memory of another history, which skips the signals of the execution. So rows that move shortly
  // after the change was found count as older than it, too.
  const noted = await db.row<{ changedAt: string | null }>(sql`
    insert into temporal_stores as t (task_queue, workflow_id, run_id, seen_at)
      values (${queuePrefix}, ${pass.workflowId}, ${pass.runId}, now())
      on conflict (task_queue) do update set workflow_id = excluded.workflow_id, run_id = excluded.run_id, seen_at = now(),
        changed_at = case when ${isNews}::boolean then clock_timestamp() + interval '30 seconds' else t.changed_at end
        where t.run_id = ${last?.runId ?? null}
      returning changed_at::text as "changedAt"`);
  // Another execution of the reconciler was first, and has reported it.
  if (noted === null) return { changedAt: await storeChangedAt(db, queuePrefix), isNews: false };
  return { changedAt: noted.changedAt, isNews };
}

/** `changedAt` of the last change that a reconciler found, as Postgres writes it; null when never. */
export async function storeChangedAt(db: Database, queuePrefix: string): Promise<string | null> {
  return (await lastPass(db, queuePrefix))?.changedAt ?? null;
}

/** Whether a reconciler of this database has ever run on the task queues of this prefix. False where there is no schema yet. */
export async function hasWorkedOn(db: Database, queuePrefix: string): Promise<boolean> {
  const table = await db.row<{ isThere: boolean }>(sql`select to_regclass('temporal_stores') is not null as "isThere"`);
  return table?.isThere === true && (await lastPass(db, queuePrefix)) !== null;
}

function lastPass(db: Database, queuePrefix: string): Promise<(ReconcilePass & { changedAt: string | null }) | null> {
  return db.row(sql`
    select workflow_id as "workflowId", run_id as "runId", changed_at::text as "changedAt"
      from temporal_stores where task_queue = ${queuePrefix}`);
}
