import type { Database } from './sql.ts';

/** The time by the clock of Postgres, which all processes share: what is stored to happen later is compared with it. */
export async function databaseNow(db: Database): Promise<Date> {
  const row = await db.row<{ ms: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms');
  if (row === null) throw new Error('Postgres did not answer');
  return new Date(row.ms);
}

/** `databaseNow` that is asked once, and only where it is needed. */
export function sharedDatabaseNow(db: Database): () => Promise<Date> {
  let now: Promise<Date> | undefined;
  return () => {
    now ??= databaseNow(db);
    return now;
  };
}
