import { type Sql, statement } from '../db/sql.ts';
import { isUuid } from '../lib/ids.ts';

const projectOf = statement('domains.project_of', 'select project_id as "projectId" from domains where id = $1');

/** The project of a domain, for sessions that name none; whether the caller belongs to it is for others to ask. */
export async function projectOfDomain(sql: Sql, id: string): Promise<string | null> {
  if (!isUuid(id)) return null;
  return (await sql.row<{ projectId: string }>(projectOf, [id]))?.projectId ?? null;
}
