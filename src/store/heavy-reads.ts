import { AppError } from '../lib/errors.ts';
import { KeyedTurns, type TurnRest } from '../lib/keyed-turns.ts';
import { passingFailure } from './postgres/connection.ts';
import { type Author, type Database, type LocalSettings, localSettings, type Query, raw, sql } from './sql.ts';
import { readingContext } from './transaction-context.ts';

const megabyte = 1024 * 1024;
/** Most bytes of `data` that a list answers. */
const mostListedBytes = 8 * megabyte;

// Up to here Postgres keeps a value in its row, and whatever it was compressed from is small enough.
const inlineBytes = 2_000;

/** SQL: how many bytes the JSON text of a column has, about; more than `most` where it surely has. What is small is not opened. */
function sizeOf(column: string, most: number): string {
  return `case when ${column} is null then 0 when pg_column_size(${column}) <= ${inlineBytes} then ${inlineBytes}
    when pg_column_size(${column}) > ${most} then ${most + 1} else octet_length(${column}::text) end`;
}

/** SQL: a column of JSON that may be larger than a list should load, as null where it has more than so many bytes. */
export function jsonWithin(column: string, most: number): string {
  return `case when ${sizeOf(column, most)} <= ${most} then ${column} end`;
}

/** A column of JSON that a list leaves out where it is too large. */
export interface WithOmission<Data> {
  /** Null where it is left out. */
  data: Data | null;
  dataOmitted: boolean;
}

/**
 * SQL of a list whose column `data` stays within what an answer may carry: more than `most` bytes in a row, or more than 8 MB in
 * all rows so far, are left out by the database and never loaded. `rows` answers the rows in order, with `data` and `columns`.
 */
export function boundedPage(rows: Query, columns: string, most: number): Query {
  const fits = raw(
    `size <= ${most} and sum(case when size <= ${most} then size else 0 end) over (order by place) <= ${mostListedBytes}`,
  );
  return sql`with page as materialized (${rows}),
    placed as (select *, row_number() over () as place, ${raw(sizeOf('data', most))} as size from page),
    summed as (select *, ${fits} as fits from placed)
    select ${raw(columns)}, case when fits then data end as data, not fits as "dataOmitted" from summed order by place`;
}

/** How much of the connections for heavy reads one project may use, and for how long. */
export interface HeavyReadLimits {
  /** Statements or transactions of a project at once. */
  perProject: number;
  /** How many more of them may wait; further ones are refused. Null is no limit. */
  waiting: number | null;
  /** Seconds that a read may take, and that it may wait for its turn. Null is no limit. */
  seconds: number | null;
  /** How a project is slowed down that reads without a pause; not at all when absent. */
  rest?: TurnRest;
}

/** The database for what reads or counts much of a project's data. */
export interface HeavyReads {
  /**
   * The database for one project: each statement, and each transaction as a whole, waits for its turn among those of the project.
   * A statement of a transaction must use its `tx`: another turn might never come.
   * @throws 429 RATE_LIMIT_EXCEEDED, 503 DATABASE_ERROR for a read that takes too long
   */
  of(projectId: string, author?: Author | null): Database;
}

/** Shares the connections of a pool out between projects. `db` is over a pool that nothing else uses, and its entity manager is that of the process. */
export function heavyReads(db: Database, limits: HeavyReadLimits): HeavyReads {
  const { perProject: atOnce, waiting, seconds, rest = null } = limits;
  const waitMs = seconds === null ? null : seconds * 1000;
  const turns = new KeyedTurns({ atOnce, waiting, waitMs, rest, refusal: () => tooMany(limits) });
  // A statement that is spread over several processes of Postgres would take more than one connection's part of the processors.
  const alone = { max_parallel_workers_per_gather: 0 };
  const limit = localSettings({ ...alone, ...(seconds === null ? {} : { statement_timeout: seconds * 1000 }) });
  const read = async <T>(projectId: string, work: (tx: Database) => Promise<T>): Promise<T> => {
    try {
      return await turns.run(projectId, () => db.transaction(work, limit));
    } catch (error) {
      throw seconds !== null && isTimeout(error) ? tookTooLong(seconds) : error;
    }
  };
  const handle = (projectId: string, author: Author | null): Database => {
    // The limit is set in a transaction: a pooler passes no setting of a connection on.
    const one = <T>(work: (tx: Database) => Promise<T>) => read(projectId, work);
    const em = () => {
      const manager = db.session(author).em;
      manager.setTransactionContext(readingContext((query, values) => one((tx) => tx.rows(query, values))));
      return manager;
    };
    let used: ReturnType<typeof em> | null = null;
    return {
      pool: db.pool,
      author,
      isTransaction: false,
      rows: <Row extends object>(query: Query | string, values?: readonly unknown[]) =>
        one((tx) => tx.rows<Row>(query, values)),
      row: <Row extends object>(query: Query | string, values?: readonly unknown[]) =>
        one((tx) => tx.row<Row>(query, values)),
      count: (query, values) => one((tx) => tx.count(query, values)),
      get em() {
        used ??= em();
        return used;
      },
      session: (next = author) => handle(projectId, next),
      // A writing transaction keeps the longer limit that every request has.
      transaction: (work, settings: LocalSettings = localSettings(alone)) =>
        turns.run(projectId, () => db.session(author).transaction(work, settings)),
    };
  };
  return { of: (projectId, author = null) => handle(projectId, author) };
}

// Postgres ends a statement beyond its limit with `query_canceled`.
function isTimeout(error: unknown): boolean {
  return passingFailure(error) !== null && (error as { code?: unknown }).code === '57014';
}

function tookTooLong(seconds: number): AppError {
  return new AppError(503, 'DATABASE_ERROR', `Reading this takes longer than ${seconds} seconds`, {
    details: { limit: 'HEAVY_READ_TIMEOUT', seconds, retryAfter: seconds },
    suggestion:
      'Use fewer or simpler conditions, or a shorter period. The operator sets the limit (HEAVY_READ_TIMEOUT).',
    headers: { 'Retry-After': String(seconds) },
  });
}

function tooMany({ perProject, waiting, seconds }: HeavyReadLimits): AppError {
  const retryAfter = seconds ?? 1;
  const message = `This project already has ${perProject} heavy reads running and up to ${waiting} waiting: previews, counts, exports, analytics and explanations share this limit`;
  return new AppError(429, 'RATE_LIMIT_EXCEEDED', message, {
    details: { limit: 'HEAVY_READS_PER_PROJECT', atOnce: perProject, retryAfter },
    suggestion: `Wait ${retryAfter} s, and make fewer such requests at the same time. Sending is not affected.`,
    headers: { 'Retry-After': String(retryAfter) },
  });
}
