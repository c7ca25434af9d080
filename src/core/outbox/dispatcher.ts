import type { Logger } from 'pino';
import type { Command, StartCommand } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import type { Database, Sql } from '../database/sql.ts';
import {
  describeFailure,
  grpcCode,
  grpcDetails,
  grpcStatus,
  isTemporalUnprepared,
  isTemporalUnreachable,
} from '../lib/grpc.ts';
import { callDeadlineMs, performCommand } from './calls.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { enqueue, type OutboxTicket } from './enqueue.ts';
import { finish, type Lane, type PutBack, putBack, type TakenRow, takeDue, takeOf } from './queries.ts';

/** Makes the calls that the outbox asks for. One for each process. */
export interface Outbox {
  /**
   * Makes the calls behind the tickets soon and in the background: call it after the commit, never inside the
   * transaction. Never throws; what fails stays in the outbox for the relay.
   */
  dispatchSoon(...tickets: readonly OutboxTicket[]): void;
  /**
   * Makes up to `limit` calls that are due, of any process and of one lane, or of both, and answers how many rows it took.
   * `onMade` is told of each call that Temporal took. Rejects without Postgres.
   */
  dispatchDue(limit: number, lane?: Lane, onMade?: (command: Command) => void): Promise<number>;
  /** Resolves when nothing that this process began is under way. */
  drain(): Promise<void>;
  /** Takes nothing more and drains. */
  close(): Promise<void>;
}

/**
 * Decides about an execution that a signal or cancellation did not find: reads the row behind the workflow id and answers
 * the start that continues it, or null when the row is finished or gone.
 */
type Revive = (sql: Sql, workflowId: string) => Promise<StartCommand | null>;

/** A `Revive` for each kind of workflow id, by its first part: `{ campaign: … }` decides about `campaign/<id>/<seq>`. */
export type Revivers = Readonly<Record<string, Revive>>;

/** What an outbox is built from. */
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
  /** Told when the server lacks its namespace or search attributes, as one does that was emptied. */
  onUnprepared?: () => void;
  /** Told of each call: what was asked for and how it ended. */
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
const longestOutagePauseMs = 5000;
// Beyond this many workflow ids the relay is as quick as the fast path, and memory stays bounded.
const mostWaiting = 5000;

/** The pause after so many refusals of one row: 1 s, doubled each time, up to 5 minutes. */
export function backOffMs(refusals: number): number {
  return Math.min(longestBackOffMs, shortestBackOffMs * 2 ** Math.min(refusals, 20));
}

/** Builds the process's outbox. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { db, temporal, log } = deps;
  const limiter = createConcurrencyLimit(deps.maxInFlight ?? 16);
  const waiting = new Set<string>();
  const underWay = new Set<Promise<unknown>>();
  let soon: Promise<void> | null = null;
  let closed = false;
  // While Temporal is out of reach, one row at a time finds out whether it is back.
  let outage: { pauseMs: number; until: number } | null = null;
  let databaseFailed = false;

  return {
    dispatchSoon(...tickets) {
      if (closed || isDown()) return;
      for (const ticket of tickets) if (waiting.size < mostWaiting) waiting.add(ticket.workflowId);
      if (waiting.size > 0 && soon === null) {
        soon = track(dispatchWaiting()).finally(() => {
          soon = null;
        });
      }
    },
    dispatchDue(limit, lane, onMade) {
      if (closed) return Promise.resolve(0);
      return track(dispatchOnce(limit, lane, onMade));
    },
    async drain() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    async close() {
      closed = true;
      waiting.clear();
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const forget = () => underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  async function dispatchWaiting(): Promise<void> {
    try {
      // One turn of the event loop collects the tickets of requests that committed together.
      await new Promise((resolve) => setImmediate(resolve));
      while (waiting.size > 0 && !closed) {
        const ids = [...waiting].slice(0, batchSize);
        for (const id of ids) waiting.delete(id);
        // The call of a workflow id that waited for another one can be taken once that is done.
        while (!closed && !isDown()) {
          const rows = await takeOf(db, ids, batchSize, leaseMs);
          if (rows.length === 0) break;
          await make(rows);
        }
      }
      databaseFailed = false;
    } catch (error) {
      waiting.clear();
      if (!databaseFailed) log.warn({ err: error }, 'outbox: rows could not be taken after a commit; the relay will');
      databaseFailed = true;
    }
  }

  async function dispatchOnce(limit: number, lane?: Lane, onMade?: (command: Command) => void): Promise<number> {
    if (isDown()) return 0;
    const most = outage === null ? Math.min(limit, batchSize) : 1;
    const rows = await takeDue(db, lane ?? 'others', most, leaseMs);
    if (lane === undefined && rows.length < most)
      rows.push(...(await takeDue(db, 'wakes', most - rows.length, leaseMs)));
    if (rows.length > 0) await make(rows, onMade);
    return rows.length;
  }

  async function make(rows: readonly TakenRow[], onMade?: (command: Command) => void): Promise<void> {
    const lastMoment = Date.now() + leaseMs - callDeadlineMs;
    const done: string[] = [];
    const back: PutBack[] = [];
    await Promise.all(
      rows.map((row) =>
        limiter.run(async () => {
          const failure = await makeOne(row, lastMoment);
          if (failure !== null) back.push(failure);
          else {
            done.push(row.id);
            onMade?.(row.payload);
          }
        }),
      ),
    );
    if (done.length > 0) await finish(db, done);
    if (back.length > 0) await putBack(db, back);
  }

  async function makeOne(row: TakenRow, lastMoment: number): Promise<PutBack | null> {
    if (closed || Date.now() > lastMoment) return unmade(row, 'no time was left for this call');
    if (isDown()) return unmade(row, 'Temporal is out of reach');
    try {
      const outcome = await performCommand(temporal, deps.queuePrefix, row.payload);
      deps.onCall?.(row.payload.type, outcome);
      if (outcome === 'absent') await revive(row);
      reached();
      return null;
    } catch (error) {
      return failed(row, error);
    }
  }

  async function revive(row: TakenRow): Promise<void> {
    const kind = row.workflow_id.split('/', 1)[0] ?? '';
    const decide = deps.revivers[kind];
    if (decide === undefined) return;
    await db.transaction(async (sql) => {
      const start = await decide(sql, row.workflow_id);
      // The row's own id makes the new start one, however often this row is taken.
      if (start !== null) await enqueue(sql, { ...start, restart: row.id });
    });
  }

  function failed(row: TakenRow, error: unknown): PutBack {
    const code = grpcCode(error);
    const text = describeFailure(error, temporal.settings).slice(0, 500);
    if (code === grpcStatus.RESOURCE_EXHAUSTED) {
      limiter.slower();
      deps.onCall?.(row.payload.type, 'refused');
      return { id: row.id, delayMs: 500 + Math.random() * 1000, error: text, counts: false };
    }
    const delayMs = backOffMs(row.attempts);
    const isUnprepared = isTemporalUnprepared(error);
    if (isUnprepared) deps.onUnprepared?.();
    if (isUnprepared || isOutage(error, code)) {
      deps.onCall?.(row.payload.type, 'unreachable');
      lost(text);
      // No answer may be this call's own fault, so it counts; no connection never is.
      if (code !== grpcStatus.DEADLINE_EXCEEDED) return unmade(row, text);
      return { id: row.id, delayMs: Math.min(delayMs, longestTimeoutPauseMs), error: text, counts: true };
    }
    deps.onCall?.(row.payload.type, 'refused');
    log.warn(
      { workflowId: row.workflow_id, kind: row.payload.type, attempt: row.attempts + 1, retryInMs: delayMs },
      `outbox: ${grpcDetails(error)}`,
    );
    return { id: row.id, delayMs, error: text, counts: true };
  }

  function lost(text: string): void {
    if (outage === null) log.warn(`outbox: ${text}; work is kept and starts when Temporal is back`);
    if (isDown()) return;
    const pauseMs = outage === null ? 250 : Math.min(longestOutagePauseMs, outage.pauseMs * 2);
    outage = { pauseMs, until: Date.now() + pauseMs };
  }

  function isDown(): boolean {
    return outage !== null && Date.now() < outage.until;
  }

  function reached(): void {
    if (outage === null) return;
    outage = null;
    log.info('outbox: Temporal is back');
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
