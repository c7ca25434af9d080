import type { PoolClient, QueryConfig, QueryResult } from 'pg';

/** A query as MikroORM hands it to the connection of a transaction. */
interface Compiled {
  sql: string;
  parameters: readonly unknown[];
}

/** The part of a transaction's connection that MikroORM 7 uses to read and write entities. */
interface TransactionContext {
  executeQuery(query: Compiled): Promise<{ rows: unknown[]; numAffectedRows?: bigint }>;
  savepoint(): never;
}

const changes = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** A connection to Postgres, or a pool of them. */
export interface Connection {
  query(query: string | QueryConfig, values?: unknown[]): Promise<QueryResult>;
}

/** A connection that is asked by several at once, as readers are that ask a pool side by side: each query waits for the one before. */
export function inTurn(client: PoolClient): Connection {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query(query, values) {
      const result = last.then(() => client.query(query, values));
      last = result.catch(() => undefined);
      return result;
    },
  };
}

/**
 * A transaction that is open on a connection of ours, for `em.setTransactionContext`: the entity manager runs its statements in it. It
 * begins and ends nothing.
 */
export function transactionContext(connection: Connection): TransactionContext {
  return {
    async executeQuery({ sql, parameters }) {
      const { rows, rowCount, command } = await connection.query(sql, [...parameters]);
      return { rows: rows ?? [], ...(changes.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
    },
    savepoint() {
      throw new Error('A transaction is open already: work in it, or join it by its handle');
    },
  };
}

/**
 * For an entity manager that only reads, each statement by itself: what it changes has to be in a transaction, which has an entity
 * manager of its own.
 */
export function readingContext(
  read: (query: string, values: readonly unknown[]) => Promise<unknown[]>,
): TransactionContext {
  return {
    async executeQuery({ sql, parameters }) {
      if (!/^\s*(select|with)\b/i.test(sql)) throw new Error('Heavy reads change nothing outside of a transaction');
      return { rows: await read(sql, parameters) };
    },
    savepoint() {
      throw new Error('Open a transaction by the handle of the database');
    },
  };
}
