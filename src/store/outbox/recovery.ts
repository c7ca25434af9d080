import type { Logger } from 'pino';
import type { SignalCommand, StartCommand } from '../../../temporal/commands.ts';
import { leastId } from '../../lib/ids.ts';
import { hourMs } from '../../lib/time.ts';
import { startWokenLoop } from '../postgres/listener.ts';
import { type Database, type Query, raw, sql } from '../sql.ts';
import type { Outbox } from './dispatcher.ts';
import { enqueueAll, type OutboxTicket, outboxChannel, type TakenRow } from './queries.ts';
import type { UnderWay } from './wake.ts';

interface RelayDeps {
  outbox: Outbox;
  /** Postgres without a pooler that shares sessions, for LISTEN. */
  listenUrl: string;
  log: Logger;
  /** Holds back wakes of automations while enough of them are under way; without it they are made as they come. */
  wakes?: Pick<UnderWay<TakenRow>, 'add' | 'remaining'>;
  /** How long it waits for a notification before it looks anyway, in milliseconds. */
  pollMs?: number;
}

const batchSize = 100;
// How soon wakes that were held back are checked again.
const heldBackMs = 20;

/**
 * Starts the loop in every worker that makes the calls a crash, an outage or a wave left in the outbox. It goes on through
 * outages of Postgres and of Temporal, and logs once that one began.
 */
export function startRelay({ outbox, listenUrl, log, wakes, pollMs = 1000 }: RelayDeps): { close(): Promise<void> } {
  return startWokenLoop({
    channel: outboxChannel,
    listenUrl,
    what: 'the outbox',
    log,
    retryMs: pollMs,
    // A row that came out may have freed the next one of its workflow id, so only an empty round ends it.
    async work() {
      const others = await outbox.dispatchDue(batchSize, 'others');
      const most = wakes === undefined ? batchSize : await wakes.remaining();
      const woken = most === 0 ? 0 : await outbox.dispatchDue(most, 'wakes', (row) => wakes?.add(row));
      if (others + woken > 0) return 0;
      return most === 0 ? heldBackMs : pollMs;
    },
  });
}

/** Unfinished work whose row has not moved for a while. */
export interface StalledWork {
  /** Instant and id by which the rows of its kind are paged, as Postgres writes them. */
  at: string;
  id: string;
  /** The start of its execution, as it was first made. */
  start: StartCommand;
  /** Wakes an open execution that waits for what has happened already; absent or null where an open execution never does. */
  wake?: Pick<SignalCommand, 'signal' | 'input'> | null;
  /** Whether the row has not moved since the Temporal store changed, where an execution can be woken. */
  isOlder?: boolean;
}

/** The rows that count as stalled. */
export interface StalledQuery {
  /** How long a row has not moved, in milliseconds. */
  afterMs: number;
  /** ISO instant at which the Temporal store changed: rows that have not moved since are stalled at once. */
  changedAt: string | null;
  /** Where the page begins: behind the row with this instant and id. */
  place: Pick<StalledWork, 'at' | 'id'>;
  limit: number;
}

/** A kind of durable work that can be left behind when its execution is lost. */
export interface RecoverableKind {
  name: string;
  /** How long a row of this kind rests before it counts as stalled, in milliseconds. */
  afterMs: number;
  /** Reads a page of stalled work, in the order of instant and id. */
  stalled(db: Database, query: StalledQuery): Promise<StalledWork[]>;
}

/** A kind of work of which a stalled row needs no more than the start of its execution. */
export function restartable<Row extends Pick<StalledWork, 'at' | 'id'>>(
  name: string,
  stalledRows: (db: Database, query: StalledQuery) => Promise<Row[]>,
  startOf: (row: Row) => StartCommand,
  afterMs = 5 * 60_000,
): RecoverableKind {
  const stalled: RecoverableKind['stalled'] = async (db, query) =>
    (await stalledRows(db, query)).map((row) => ({ at: row.at, id: row.id, start: startOf(row) }));
  return { name, afterMs, stalled };
}

export interface RecoveryDeps {
  db: Database;
  /** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
  isOpen(workflowId: string): Promise<boolean>;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** One pass over stalled work; answers how many executions it started or woke. `changedAt` as in `StalledQuery`. */
type Recovery = (changedAt?: string | null) => Promise<number>;

/** SQL: whether an unfinished row has not moved, since the instant in `at`, for so long that it is stalled. */
export function isStalled(at: Query, { afterMs, changedAt }: StalledQuery): Query {
  return sql`${at} < greatest(clock_timestamp() - ${afterMs}::float8 * interval '1 millisecond', ${changedAt}::timestamptz)`;
}

/** SQL: the last condition, order and limit of a page of stalled rows. */
export function stalledPage(at: Query, id: Query, { place, limit }: StalledQuery): Query {
  return sql`(${at}, ${id}) > (${place.at}::timestamptz, ${place.id}) order by ${at}, ${id} limit ${limit}`;
}

/**
 * A page of the stalled rows of a table that moves `updated_at`: those that are `open`, a condition in SQL. `columns` are read
 * beside `id` and `at`, in SQL.
 */
export function stalledRows<Row extends Pick<StalledWork, 'at' | 'id'>>(
  db: Database,
  { table, open, columns = 'id' }: { table: string; open: string; columns?: string },
  query: StalledQuery,
): Promise<Row[]> {
  const [at, id] = [raw('updated_at'), raw('id')];
  return db.rows<Row>(sql`
    select ${raw(columns)}, updated_at::text as at from ${raw(table)}
    where ${raw(open)} and ${isStalled(at, query)} and ${stalledPage(at, id, query)}`);
}

const beginning: StalledQuery['place'] = { at: '-infinity', id: leastId };
const rowsPerPage = 500;
const asksAtOnce = 16;
// A pass has this long, so that the other checks of the minute are not held up; the next one goes on from there.
const longestMs = 20_000;
// An execution that was woken has this long to act.
const wokenMs = 50_000;

/**
 * Builds the recovery of one kind of durable work (docs/contract/campaigns-and-workflows.md#4-10): what is stalled without an
 * open execution is started again, and an open execution that may be behind its row is woken. Rows say where to go on, so that
 * neither does harm where it was not needed. Each pass begins where the last one ended.
 */
export function createRecovery(deps: RecoveryDeps, kind: RecoverableKind, afterMs = kind.afterMs): Recovery {
  const { db } = deps;
  let place = beginning;
  // Executions from before a change of the store that were woken, and when.
  let woken = new Map<string, number>();

  return async (changedAt = null) => {
    if (place === beginning) woken = new Map([...woken].filter(([, since]) => Date.now() - since < hourMs));
    const deadline = Date.now() + longestMs;
    let recovered = 0;
    do {
      const page = await kind.stalled(db, { afterMs, changedAt, place, limit: rowsPerPage });
      recovered += await recover(page, changedAt);
      const last = page.length === rowsPerPage ? page.at(-1) : undefined;
      place = last === undefined ? beginning : { at: last.at, id: last.id };
    } while (place !== beginning && Date.now() < deadline);
    return recovered;
  };

  async function recover(works: readonly StalledWork[], changedAt: string | null): Promise<number> {
    const commands: (StartCommand | SignalCommand)[] = [];
    for (let from = 0; from < works.length; from += asksAtOnce) {
      const some = works.slice(from, from + asksAtOnce);
      const open = await Promise.all(some.map(({ start }) => deps.isOpen(start.id)));
      commands.push(...some.flatMap((work, n) => commandFor(work, open[n] === true, changedAt)));
    }
    if (commands.length === 0) return 0;
    deps.dispatchSoon(...(await db.transaction((tx) => enqueueAll(tx, commands))));
    return commands.length;
  }

  function commandFor(work: StalledWork, isOpen: boolean, changedAt: string | null): (StartCommand | SignalCommand)[] {
    const { start, wake } = work;
    const now = Date.now();
    if (!isOpen) return [{ ...start, restart: `stalled-${now}` }];
    if (wake === undefined || wake === null) return [];
    if (work.isOlder) {
      const since = woken.get(start.id) ?? now;
      woken.set(start.id, since);
      // Its history may not fit what a worker did before the store was restored. Once, for it may only have to wait its turn.
      if (now - since > wokenMs) return [{ ...start, restart: `replaced-${changedAt}`, replace: true }];
    }
    // Signals are kept in the history, so an execution that cannot go on is not woken every minute.
    const dedupeKey = `stalled-${Math.floor(now / hourMs)}-${changedAt ?? ''}`;
    return [{ type: 'signal', id: start.id, ...wake, dedupeKey }];
  }
}
