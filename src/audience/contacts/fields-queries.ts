import { type Database, sql } from '../../core/database/sql.ts';
import { writingMany } from './cause.ts';

/**
 * Removes a key from those of the next `size` contacts that hold it, in one transaction. Returns how many held it, and
 * the contact after which to go on; null after the last.
 */
export function removeKeyFromSome(
  db: Database,
  projectId: string,
  key: string,
  after: string | null,
  size: number,
): Promise<{ changed: number; last: string | null }> {
  return db.transaction(async (tx) => {
    await writingMany(tx, 'field');
    const row = await tx.row<{ changed: number; last: string | null }>(
      sql`
        with slice as materialized (
          select id from contacts where project_id = ${projectId} and id > coalesce(${after}, '00000000-0000-0000-0000-000000000000')::uuid
          order by id limit ${size}),
        changed as (
          update contacts c set data = c.data - ${key}::text, updated_at = now()
          from slice where c.id = slice.id and c.data ? ${key}::text
          returning 1)
        select (select count(*) from changed)::integer as changed,
          (select id from slice order by id desc limit 1) as last`,
    );
    return row ?? { changed: 0, last: null };
  });
}
