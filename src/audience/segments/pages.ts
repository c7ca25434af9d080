import { type Database, sql } from '../../core/database/sql.ts';
import type { OffsetPage } from '../../core/lib/offset-page.ts';
import { conditionQuery } from '../conditions/index.ts';
import { contactColumns, contactsWithin, type ListedContact } from '../contacts/index.ts';
import type { Definition } from './definition.ts';

/** The rows of a page of the contacts that a condition holds for now, newest first. */
export async function pageOfMatching(
  db: Database,
  projectId: string,
  { condition, segments }: Definition,
  page: OffsetPage,
  now: Date,
): Promise<ListedContact[]> {
  const found = await db.rows<{ id: string }>(sql`
    select c.id from contacts c
    where c.project_id = ${projectId} and ${conditionQuery(condition, { projectId, now, segments })}
    order by c.created_at desc, c.id desc limit ${page.pageSize} offset ${page.offset}`);
  const ids = found.map(({ id }) => id);
  return db.rows<ListedContact>(
    contactsWithin(sql`
      select ${contactColumns} from contacts c where c.id = any(${ids}::uuid[]) order by c.created_at desc, c.id desc`),
  );
}

/** The rows of a page of the current members of a STATIC segment, latest joined first. */
export function pageOfMembers(db: Database, segmentId: string, page: OffsetPage): Promise<ListedContact[]> {
  return db.rows<ListedContact>(
    contactsWithin(sql`
      select ${contactColumns} from segment_memberships m join contacts c on c.id = m.contact_id
      where m.segment_id = ${segmentId} and m.exited_at is null
      order by m.entered_at desc, m.contact_id desc limit ${page.pageSize} offset ${page.offset}`),
  );
}
