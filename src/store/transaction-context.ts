import type { PoolClient } from 'pg';

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

/**
 * A transaction that is open on a connection of ours, for `em.setTransactionContext`: the entity manager runs its statements in it,
 * one after the other. It begins and ends nothing.
 */
export function transactionContext(client: PoolClient): TransactionContext {
  let last: Promise<unknown> = Promise.resolve();
  return {
    executeQuery({ sql, parameters }) {
      const result = last.then(async () => {
        const { rows, rowCount, command } = await client.query(sql, [...parameters]);
        return { rows: rows ?? [], ...(changes.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
      });
      last = result.catch(() => undefined);
      return result;
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
