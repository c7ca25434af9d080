import { type Database, sql } from '../../core/database/sql.ts';
import { contactsWritten, writingAs } from './write.ts';

/**
 * Removes a key from those of the next `size` contacts that hold it, in one transaction. Returns how many held it, and
 * the contact after which to go on; null after the last.
 */
export async function removeKeyFromSome(
  db: Database,
  projectId: string,
  key: string,
  after: string | null,
  size: number,
): Promise<{ changed: number; last: string | null }> {
  const writing = writingAs(db, 'field');
  const rows = sql`(
    select jsonb_agg(jsonb_build_object('id', id, 'remove', jsonb_build_array(${key}::text))) from slice where holds)`;
  const row = await db.row<{ changed: number; last: string | null }>(sql`
    with slice as materialized (
      select id, data ? ${key}::text as holds from contacts
      where project_id = ${projectId} and id > coalesce(${after}, '00000000-0000-0000-0000-000000000000')::uuid
      order by id limit ${size})
    select (select count(*) filter (where changed) from ${contactsWritten(projectId, rows, writing)})::integer as changed,
      (select id from slice order by id desc limit 1) as last`);
  return row ?? { changed: 0, last: null };
}
