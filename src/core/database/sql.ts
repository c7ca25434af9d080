import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';
import type { Pool, PoolClient, QueryResultRow } from 'pg';

/** SQL text with a name: `pg` prepares it once for each connection, which the hot paths need; not through every pooler. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs SQL with `$1` parameters. Instants and bigints come back as text; see `src/core/database/columns.ts` for readers. */
export interface Sql {
  /** The rows a statement answers. */
  rows<Row extends object>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
  /** The first row, or null. */
  row<Row extends object>(statement: Statement | string, values?: readonly unknown[]): Promise<Row | null>;
  /** How many rows a statement changed. */
  count(statement: Statement | string, values?: readonly unknown[]): Promise<number>;
}

/** A connection pool's `Sql`, with transactions. */
export interface Database extends Sql {
  readonly pool: Pool;
  /**
   * Runs the work in one transaction: commits when it resolves, rolls back when it rejects. `settings` are made for its
   * statements alone, such as `byIndexes`.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, settings?: LocalSettings): Promise<T>;
}

/** A transaction that is open: whoever would open one joins it. */
export type Joined = Sql & Pick<Database, 'transaction'>;

/**
 * Runs the writes of a request. With an `Idempotency-Key` they share one transaction with the key's row, so that either both
 * are committed or neither is; without one `work` gets the database itself. What must not come before the commit, such as a
 * wake, comes after this resolves. `keepsKey` says whether the key is used up by such a result; it is when absent.
 */
export type WriteOnce = <T>(work: (db: Joined) => Promise<T>, keepsKey?: (result: T) => boolean) => Promise<T>;

/** Settings of one transaction, as SQL. */
export type LocalSettings = string & { readonly localSettings: unique symbol };

/**
 * For statements on a few rows of tables that may have millions, each found by an index. Their plans are made once, for any
 * values, without reading whole tables or joining by hash: otherwise a plan that was right for the ten rows of a first try is kept
 * for the million after it, or a campaign that has just been written down looks empty to statistics from before (measured: up
 * to 80 times the work).
 */
export const byIndexes = localSettings({
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
});

/** Settings by name, with values that need no quoting. */
export function localSettings(settings: Readonly<Record<string, 'on' | 'off' | 'force_generic_plan'>>): LocalSettings {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ') as LocalSettings;
}

/** Names a statement so that it is prepared. Names must be unique in the service. */
export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** The `Database` over a pool; `prepares` says whether statements with a name may be prepared. */
export function databaseOf(pool: Pool, { prepares } = { prepares: true }): Database {
  return {
    pool,
    ...sqlOver(pool, prepares),
    async transaction(work, settings) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query(settings === undefined ? 'begin' : `begin; ${settings}`);
        const result = await work(sqlOver(client, prepares));
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
  };
}

/** The open transaction of `sql` for code that opens transactions of its own. */
export function joined(sql: Sql): Joined {
  const same: Joined = {
    rows: (query, values) => sql.rows(query, values),
    row: (query, values) => sql.row(query, values),
    count: (query, values) => sql.count(query, values),
    transaction: (work) => work(same),
  };
  return same;
}

/** The `Sql` of an entity manager: inside `em.transactional` it runs in that transaction. */
export function sqlOf(em: EntityManager): Sql {
  const run = async <Row>(query: Statement | string, values: readonly unknown[] = []) => {
    const kysely = em.getKysely() as unknown as Kysely<unknown>;
    return kysely.executeQuery(CompiledQuery.raw(textOf(query), [...values])) as Promise<{
      rows: Row[];
      numAffectedRows?: bigint;
    }>;
  };
  return {
    rows: async <Row extends object>(query: Statement | string, values?: readonly unknown[]) =>
      (await run<Row>(query, values)).rows,
    row: async <Row extends object>(query: Statement | string, values?: readonly unknown[]) =>
      (await run<Row>(query, values)).rows[0] ?? null,
    count: async (query, values) => Number((await run(query, values)).numAffectedRows ?? 0n),
  };
}

function sqlOver(client: Pool | PoolClient, prepares: boolean): Sql {
  const run = <Row extends QueryResultRow>(query: Statement | string, values: readonly unknown[] = []) =>
    typeof query === 'string' || !prepares
      ? client.query<Row>(textOf(query), values as unknown[])
      : client.query<Row>({ name: query.name, text: query.text, values: values as unknown[] });
  return {
    rows: async <Row extends object>(query: Statement | string, values?: readonly unknown[]) =>
      (await run<Row & QueryResultRow>(query, values)).rows,
    row: async <Row extends object>(query: Statement | string, values?: readonly unknown[]) =>
      (await run<Row & QueryResultRow>(query, values)).rows[0] ?? null,
    count: async (query, values) => (await run(query, values)).rowCount ?? 0,
  };
}

function textOf(query: Statement | string): string {
  return typeof query === 'string' ? query : query.text;
}
