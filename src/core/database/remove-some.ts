import { type Database, type Query, raw, sql } from './sql.ts';

/** Deletes up to `limit` of the rows of a table that fit, in any order; answers how many. For sweeps, which repeat it. */
export function removeSome(db: Database, table: string, which: Query, limit: number): Promise<number> {
  return db.count(sql`
    delete from ${raw(table)} where ctid = any(array(select ctid from ${raw(table)} where ${which} limit ${limit}))`);
}
