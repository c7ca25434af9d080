import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { measureStatement, traced } from '../lib/telemetry.ts';
import { despiteDeadlocks } from './postgres/connection.ts';
import { Query, raw } from './postgres/query.ts';
import { type Connection, inTurn, transactionContext } from './transaction-context.ts';

export { compiled, join, Query, raw, sql, unprepared } from './postgres/query.ts';

/**
 * The one way to hold the database: queries by `sql`, entities by `em`, both on the connection of the transaction where one is
 * open. The handle of the process is handed down by `main`, each request has a `session` of its own. A plain text, with
 * its values apart, is for conditions that a compiler has put together. Instants and bigints come back as text; see `src/store/columns.ts`
 * for readers.
 */
export interface Database {
  /** The rows a query answers. */
  rows<Row extends object>(query: Query | string, values?: readonly unknown[]): Promise<Row[]>;
  /** The first row, or null. */
  row<Row extends object>(query: Query | string, values?: readonly unknown[]): Promise<Row | null>;
  /** How many rows a query changed. */
  count(query: Query | string, values?: readonly unknown[]): Promise<number>;
  /** The pool, for code that keeps a connection for itself. */
  readonly pool: Pool;
  /** Whether this is a transaction, so that what is written is not committed yet. */
  readonly isTransaction: boolean;
  /**
   * The entity manager of this session or transaction. That of a transaction begins empty, writes what has changed before the
   * commit, and opens no transactions of its own. The handle of the process has none that can be used.
   */
  readonly em: EntityManager;
  /**
   * Runs the work in one transaction: commits when it resolves, rolls back when it rejects. `settings` are made for its
   * statements alone, such as `byIndexes`. Inside a transaction the work joins it, and `settings` are left out.
   */
  transaction<T>(work: (tx: Database) => Promise<T>, settings?: LocalSettings): Promise<T>;
  /** Who makes the changes of this session; null for the service itself. */
  readonly author: Author | null;
  /** The same database with an entity manager of its own, for changes of this author. */
  session(author?: Author | null): Database;
}

/** Who makes changes, as the audit log names them. */
export interface Author {
  kind: 'user' | 'key' | 'mcp';
  /** Of the user, or of the key with scopes. */
  id: string | null;
  requestId: string;
  /** A keyed hash of the network address. */
  ipHash(): Buffer;
  /** Set for a key whose mail reaches some recipients only. */
  isLimited?: boolean;
  /** Domains that a key may send from; all that are verified when absent or null. */
  senderDomains?: readonly string[] | null;
}

/** The ID of the key whose limits hold for what this session starts; null where there are none. */
export function limitingKey({ author }: Pick<Database, 'author'>): string | null {
  return author?.isLimited ? author.id : null;
}

/**
 * Runs the writes of a request. With an `Idempotency-Key` they share one transaction with the key's row, so that either both
 * are committed or neither is; without one `work` gets the database itself. What must not come before the commit, such as a
 * wake, comes after this resolves. `keepsKey` says whether the key is used up by such a result; it is when absent.
 */
export type WriteOnce = <T>(work: (db: Database) => Promise<T>, keepsKey?: (result: T) => boolean) => Promise<T>;

/**
 * Runs a part of a transaction that may fail without the rest: what its statements have written is rolled back, and its error passed on. The
 * entity manager knows nothing of it, so the part changes no entities.
 */
export async function withSavepoint<T>(tx: Database, part: () => Promise<T>): Promise<T> {
  await tx.count(raw('savepoint part'));
  try {
    const result = await part();
    await tx.count(raw('release savepoint part'));
    return result;
  } catch (error) {
    await tx.count(raw('rollback to savepoint part'));
    throw error;
  }
}

/** Settings of one transaction, as SQL. */
export type LocalSettings = string & { readonly localSettings: unique symbol };

/**
 * For statements on a few rows of tables that may have millions, each found by an index. Their plans are made once, for any
 * values, without reading whole tables or joining by hash: otherwise a plan that was right for the ten rows of a first try is kept
 * for the million after it, or a campaign that has just been written down looks empty to statistics from before (measured: up
 * to 80 times the work). Before version 18 Postgres counts a plan that is steered as so expensive that it compiles it, for longer than the
 * statement takes.
 */
export const byIndexes = localSettings({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
});

/** Settings by name, with values that need no quoting. */
export function localSettings(
  settings: Readonly<Record<string, 'on' | 'off' | 'force_generic_plan' | number>>,
): LocalSettings {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ') as LocalSettings;
}

/**
 * A transaction that is made again where Postgres undoes it to end a deadlock. Only for work that reads and writes by `tx` and has no other
 * effect. Inside another transaction it is that one which may be made again.
 */
export function repeatable<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  const once = () => db.transaction(work);
  return db.isTransaction ? once() : despiteDeadlocks(once);
}

/** The `Database` over a pool; `prepares` says whether statements may be prepared, `em` makes entity managers over the same pool. */
export function databaseOf(pool: Pool, { prepares, em }: { prepares: boolean; em: EntityManager | null }): Database {
  const own = () => {
    if (em === null) throw new Error('This connection has no entity manager');
    return em;
  };
  // Each of these statements is a transaction.
  const single = measured({ query: (query, values) => despiteDeadlocks(() => pool.query(query, values)) });
  const overPool = (manager: () => EntityManager, author: Author | null): Database => ({
    pool,
    author,
    isTransaction: false,
    ...sqlOver(single, prepares),
    get em() {
      return manager();
    },
    session(next = author) {
      let forked: EntityManager | undefined;
      return overPool(() => {
        forked ??= own().fork();
        return forked;
      }, next);
    },
    transaction: (work, settings) => traced('transaction', postgres, () => transact(work, author, settings)),
  });
  const transact = async <T>(work: (tx: Database) => Promise<T>, author: Author | null, settings?: LocalSettings) => {
    const client = await pool.connect();
    const connection = measured(inTurn(client));
    let broken: Error | undefined;
    try {
      await connection.query(settings === undefined ? 'begin' : `begin; ${settings}`);
      const { tx, flush } = joining(connection, author);
      const result = await work(tx);
      await flush();
      await connection.query('commit');
      return result;
    } catch (error) {
      await connection.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  };
  const joining = (connection: Connection, author: Author | null) => {
    let used: EntityManager | null = null;
    const manager = () => {
      if (used === null) {
        used = own().fork();
        used.setTransactionContext(transactionContext(connection));
      }
      return used;
    };
    const tx: Database = {
      pool,
      author,
      isTransaction: true,
      ...sqlOver(connection, prepares),
      get em() {
        return manager();
      },
      session: () => tx,
      transaction: (work) => work(tx),
    };
    return { tx, flush: async () => used?.flush() };
  };
  return overPool(own, null);
}

const postgres = { kind: 'client', facts: { 'db.system.name': 'postgresql' } } as const;

function measured(connection: Connection): Connection {
  return { query: (query, values) => measureStatement(() => connection.query(query, values)) };
}

function sqlOver(connection: Connection, prepares: boolean): Pick<Database, 'rows' | 'row' | 'count'> {
  const run = <Row extends object>(query: Query | string, values: readonly unknown[] = []) =>
    connection.query(queryConfig(query, values, prepares)) as Promise<QueryResult<Row & QueryResultRow>>;
  return {
    rows: async <Row extends object>(query: Query | string, values?: readonly unknown[]) =>
      (await run<Row>(query, values)).rows,
    row: async <Row extends object>(query: Query | string, values?: readonly unknown[]) =>
      (await run<Row>(query, values)).rows[0] ?? null,
    count: async (query: Query | string, values?: readonly unknown[]) => (await run(query, values)).rowCount ?? 0,
  };
}

function queryConfig(query: Query | string, values: readonly unknown[], prepares: boolean) {
  if (typeof query === 'string') return { text: query, values: values as unknown[] };
  const { text, name } = query;
  const given = query instanceof Query ? query.values : values;
  return { text, values: given as unknown[], ...(prepares && name !== null ? { name } : {}) };
}
