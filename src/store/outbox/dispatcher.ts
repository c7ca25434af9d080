import type { Logger } from 'pino';
import type { StartCommand } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import {
  describeFailure,
  grpcCode,
  grpcDetails,
  grpcStatus,
  isTemporalUnprepared,
  isTemporalUnreachable,
} from '../../lib/network.ts';
import type { Database } from '../sql.ts';
import { ConcurrencyLimit, callDeadlineMs, performCommand } from './calls.ts';
import {
  enqueue,
  finish,
  type Lane,
  type OutboxTicket,
  type PutBack,
  putBack,
  type TakenRow,
  takeDue,
  takeOf,
} from './queries.ts';
import { Outage } from './store-state.ts';

/**
 * Decides about an execution that a signal or cancellation did not find: reads the row behind the workflow id and answers
 * the start that continues it, or null when the row is finished or gone.
 */
type Revive = (tx: Database, workflowId: string) => Promise<StartCommand | null>;

/** A `Revive` for each kind of workflow id, by its first part: `{ campaign: … }` decides about `campaign/<id>/<seq>`. */
export type Revivers = Readonly<Record<string, Revive>>;

export interface OutboxDeps {
  db: Database;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
  /** Every process needs all of them: any process may be the one that makes a call. */
  revivers: Revivers;
  /** Most calls under way at once; the server's refusals lower it for a while. */
  maxInFlight?: number;
  /** Called when the server lacks its namespace or search attributes, as one does that was emptied. */
  onUnprepared?: () => void;
  /** Called for each call: what was asked for and how it ended. */
  onCall?: (
    kind: TakenRow['payload']['type'],
    outcome: 'done' | 'existed' | 'absent' | 'refused' | 'unreachable',
  ) => void;
}

const batchSize = 100;
// How long a taken row is this process's own. No call begins so late that the lease could end before it.
const leaseMs = 15_000;
const shortestBackOffMs = 1000;
const longestBackOffMs = 300_000;
const longestTimeoutPauseMs = 30_000;
// Beyond this many workflow ids the relay is as quick as the fast path, and memory stays bounded.
const mostWaiting = 5000;

/** The pause after so many refusals of one row: 1 s, doubled each time, up to 5 minutes. */
export function backOffMs(refusals: number): number {
  return Math.min(longestBackOffMs, shortestBackOffMs * 2 ** Math.min(refusals, 20));
}

/** Makes the calls that the outbox asks for. One for each process. */
export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #limiter: ConcurrencyLimit;
  readonly #outage: Outage;
  /** Workflow ids whose calls are to be made soon. */
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<Promise<unknown>>();
  #soon: Promise<void> | null = null;
  #closed = false;
  #databaseFailed = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#limiter = new ConcurrencyLimit(deps.maxInFlight ?? 16);
    this.#outage = new Outage(deps.log);
  }

  /**
   * Makes the calls behind the tickets soon and in the background: call it after the commit, never inside the
   * transaction. Never throws; what fails stays in the outbox for the relay.
   */
  dispatchSoon(...tickets: readonly OutboxTicket[]): void {
    if (this.#closed || this.#outage.isDown) return;
    for (const { workflowId } of tickets) if (this.#waiting.size < mostWaiting) this.#waiting.add(workflowId);
    if (this.#waiting.size === 0) return;
    this.#soon ??= this.#track(this.#dispatchWaiting()).finally(() => {
      this.#soon = null;
    });
  }

  /**
   * Makes up to `limit` calls that are due, of any process and of one lane, or of both, and answers how many rows it took.
   * `onMade` is called for each call that Temporal took. Rejects without Postgres.
   */
  dispatchDue(limit: number, lane?: Lane, onMade?: (row: TakenRow) => void): Promise<number> {
    const { db } = this.#deps;
    const take = async (most: number) => {
      const rows = await takeDue(db, lane ?? 'others', most, leaseMs);
      if (lane === undefined && rows.length < most)
        rows.push(...(await takeDue(db, 'wakes', most - rows.length, leaseMs)));
      return rows;
    };
    return this.dispatch(Math.min(limit, batchSize), take, onMade);
  }

  /**
   * Makes the calls of up to `limit` rows that `take` has taken for this process, or written as taken (`enqueueTaken`), for the
   * milliseconds it is given, and answers how many they were. While Temporal is out of reach it takes one row now and then, or none.
   */
  async dispatch(
    limit: number,
    take: (most: number, leaseMs: number) => Promise<TakenRow[]>,
    onMade?: (row: TakenRow) => void,
  ): Promise<number> {
    if (this.#closed || this.#outage.isDown) return 0;
    const most = this.#outage.isOpen ? 1 : limit;
    const takeAndMake = async () => {
      const rows = await take(most, leaseMs);
      if (rows.length > 0) await this.#make(rows, onMade);
      return rows.length;
    };
    return this.#track(takeAndMake());
  }

  /** Resolves when nothing that this process began is under way. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Takes nothing more and drains. */
  close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    return this.drain();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = () => this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  async #dispatchWaiting(): Promise<void> {
    try {
      // One turn of the event loop collects the tickets of requests that committed together.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#waiting.size > 0 && !this.#closed) {
        const ids = [...this.#waiting].slice(0, batchSize);
        for (const id of ids) this.#waiting.delete(id);
        // The call of a workflow id that waited for another one can be taken once that is done.
        while (!this.#closed && !this.#outage.isDown) {
          const rows = await takeOf(this.#deps.db, ids, batchSize, leaseMs);
          if (rows.length === 0) break;
          await this.#make(rows);
        }
      }
      this.#databaseFailed = false;
    } catch (err) {
      this.#waiting.clear();
      if (!this.#databaseFailed)
        this.#deps.log.warn({ err }, 'outbox: rows could not be taken after a commit; the relay will');
      this.#databaseFailed = true;
    }
  }

  async #make(rows: readonly TakenRow[], onMade?: (row: TakenRow) => void): Promise<void> {
    const lastMoment = Date.now() + leaseMs - callDeadlineMs;
    const done: string[] = [];
    const back: PutBack[] = [];
    const makeOne = async (row: TakenRow) => {
      const failure = await this.#makeOne(row, lastMoment);
      if (failure !== null) return void back.push(failure);
      done.push(row.id);
      onMade?.(row);
    };
    await Promise.all(rows.map((row) => this.#limiter.run(() => makeOne(row))));
    if (done.length > 0) await finish(this.#deps.db, done);
    if (back.length > 0) await putBack(this.#deps.db, back);
  }

  async #makeOne(row: TakenRow, lastMoment: number): Promise<PutBack | null> {
    if (this.#closed || Date.now() > lastMoment) return unmade(row, 'no time was left for this call');
    if (this.#outage.isDown) return unmade(row, 'Temporal is out of reach');
    const { temporal, queuePrefix, onCall } = this.#deps;
    const { answers } = this.#outage;
    try {
      const outcome = await performCommand(temporal, queuePrefix, row.payload);
      onCall?.(row.payload.type, outcome);
      if (outcome === 'absent') await this.#revive(row);
      this.#outage.reached();
      return null;
    } catch (error) {
      return this.#failed(row, error, answers);
    }
  }

  async #revive(row: TakenRow): Promise<void> {
    const { db, revivers } = this.#deps;
    const decide = revivers[row.workflow_id.split('/', 1)[0] ?? ''];
    if (decide === undefined) return;
    await db.transaction(async (tx) => {
      const start = await decide(tx, row.workflow_id);
      // The row's own id makes the new start one, however often this row is taken.
      if (start !== null) await enqueue(tx, { ...start, restart: row.id });
    });
  }

  #failed(row: TakenRow, error: unknown, answers: number): PutBack {
    const { temporal, onCall, onUnprepared, log } = this.#deps;
    const { type: kind } = row.payload;
    const code = grpcCode(error);
    const text = describeFailure(error, temporal.settings).slice(0, 500);
    if (code === grpcStatus.RESOURCE_EXHAUSTED) {
      this.#limiter.slower();
      onCall?.(kind, 'refused');
      return { id: row.id, delayMs: 500 + Math.random() * 1000, error: text, counts: false };
    }
    const delayMs = backOffMs(row.attempts);
    const isUnprepared = isTemporalUnprepared(error);
    if (isUnprepared) onUnprepared?.();
    if (isUnprepared || isOutage(error, code)) {
      onCall?.(kind, 'unreachable');
      this.#outage.lost(text, answers);
      // No answer may be this call's own fault, so it counts; no connection never is.
      if (code !== grpcStatus.DEADLINE_EXCEEDED) return unmade(row, text);
      return { id: row.id, delayMs: Math.min(delayMs, longestTimeoutPauseMs), error: text, counts: true };
    }
    onCall?.(kind, 'refused');
    const facts = { workflowId: row.workflow_id, kind, attempt: row.attempts + 1, retryInMs: delayMs };
    log.warn(facts, `outbox: ${grpcDetails(error)}`);
    return { id: row.id, delayMs, error: text, counts: true };
  }
}

// The row goes behind those that are due already, so that one bad call cannot hold up the rest for ever.
function unmade(row: TakenRow, error: string): PutBack {
  return { id: row.id, delayMs: 0, error, counts: false };
}

// These say that Temporal as a whole cannot be used now, not that this call is wrong.
function isOutage(error: unknown, code: number | null): boolean {
  return isTemporalUnreachable(error) || code === grpcStatus.UNAUTHENTICATED || code === grpcStatus.PERMISSION_DENIED;
}
