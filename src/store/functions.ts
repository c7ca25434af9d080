import type { ClientBase } from 'pg';
import type { DatabaseFunction } from '../../migrations/functions.ts';
import { inShortLocks, type MigrationPace } from './run-migrations.ts';
import type { Database } from './sql.ts';

/**
 * Installs the functions whose text is not the one that was installed last; answers their names. The caller holds the lock of the
 * migrator. Each statement is a transaction of its own, which waits for its lock only briefly and is tried again: a trigger locks its table, and
 * nobody may hold two of these locks.
 * @throws FunctionError for the first that cannot be installed
 */
export async function installFunctions(
  client: ClientBase,
  functions: readonly DatabaseFunction[],
  pace: MigrationPace,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; hash: string }>(
    'select distinct on (name) name, hash from database_functions order by name, installed_at desc',
  );
  const current = new Map(rows.map(({ name, hash }) => [name, hash]));
  const changed = functions.filter(({ name, hash }) => current.get(name) !== hash);
  for (const { name, hash, statements } of changed) {
    try {
      for (const statement of statements)
        await inShortLocks(client, pace, async () => void (await client.query(statement)));
      await client.query(
        `insert into database_functions (name, hash) values ($1, $2)
         on conflict (name, hash) do update set installed_at = clock_timestamp()`,
        [name, hash],
      );
    } catch (cause) {
      throw new FunctionError(`functions/${name}.sql`, cause);
    }
  }
  return changed.map(({ name }) => name);
}

/** A function that could not be installed. */
export class FunctionError extends Error {
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`${file} failed`, { cause });
    this.name = 'FunctionError';
    this.file = file;
  }
}

/** Names of functions whose text was never installed in the database. One that was replaced since belongs to a later release. */
export async function missingFunctions(sql: Database, functions: readonly DatabaseFunction[]): Promise<string[]> {
  const rows = await sql.rows<{ name: string; hash: string }>('select name, hash from database_functions');
  const known = new Set(rows.map(({ name, hash }) => `${name} ${hash}`));
  return functions.filter(({ name, hash }) => !known.has(`${name} ${hash}`)).map(({ name }) => name);
}
