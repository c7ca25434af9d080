import type { Database } from '../../core/database/sql.ts';

/**
 * Removes a key from those of the next `size` contacts that hold it, in one transaction. Answers how many held it, and
 * the contact after which to go on; null after the last.
 */
export function removeKeyFromSome(
  db: Database,
  projectId: string,
  key: string,
  after: string | null,
  size: number,
): Promise<{ changed: number; last: string | null }> {
  return db.transaction(async (sql) => {
    await sql.row(setBased);
    const row = await sql.row<{ changed: number; last: string | null }>(
      `with slice as materialized (
         select id from contacts where project_id = $1 and id > coalesce($3, '00000000-0000-0000-0000-000000000000')::uuid
         order by id limit $4),
       changed as (
         update contacts c set data = c.data - $2::text, updated_at = now()
         from slice where c.id = slice.id and c.data ? $2::text
         returning 1)
       select (select count(*) from changed)::integer as changed,
         (select id from slice order by id desc limit 1) as last`,
      [projectId, key, after, size],
    );
    return row ?? { changed: 0, last: null };
  });
}

/** Tells the triggers of contacts that statements of this transaction write many rows each (see the audience migration). */
export const setBased = `select set_config('posthorn.set_based', 'on', true)`;
