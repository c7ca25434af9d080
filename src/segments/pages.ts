import { segmentEvent, segmentSlug } from '@fernpost/workflow-graph';
import { conditionQuery } from '../contacts/conditions.ts';
import { contactColumns, contactsWithin, type ListedContact } from '../contacts/entity.ts';
import { getContact } from '../contacts/service.ts';
import type { OffsetPage } from '../lib/pages.ts';
import { isoText } from '../store/columns.ts';
import { type Database, join, raw, sql, unprepared } from '../store/sql.ts';
import { type Definition, storedDefinition } from './definition.ts';
import type { ContactSegments } from './schema.ts';

// Far below the most filters that a condition may have.
const segmentsPerQuery = 50;

/** The segments that a contact is in now, by name. @throws 404 for the contact */
export async function segmentsOfContact(
  db: Database,
  projectId: string,
  contactId: string,
  now: Date,
): Promise<ContactSegments> {
  await getContact(db, projectId, contactId);
  const segments = await db.rows<ContactSegments['data'][number]>(sql`
    select s.id, s.name, s.type, ${raw(isoText('m.entered_at'))} as "enteredAt" from segments s
    left join segment_memberships m on m.segment_id = s.id and m.contact_id = ${contactId} and m.exited_at is null
    where s.project_id = ${projectId} order by s.name, s.id`);
  const inside = new Set<string>();
  for (let from = 0; from < segments.length; from += segmentsPerQuery) {
    const ids = segments.slice(from, from + segmentsPerQuery).map(({ id }) => id);
    for (const id of await thoseWith(db, projectId, contactId, ids, now)) inside.add(id);
  }
  return { data: segments.filter(({ id }) => inside.has(id)) };
}

async function thoseWith(
  db: Database,
  projectId: string,
  contactId: string,
  ids: readonly string[],
  now: Date,
): Promise<string[]> {
  const groups = ids.map((id) => ({ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] }));
  const { condition, segments } = await storedDefinition(db, projectId, { logic: 'OR', groups });
  const each = condition.groups.map((group, place) => {
    const holds = conditionQuery({ logic: 'AND', groups: [group] }, { projectId, now, segments, reach: 'one' });
    return sql`case when ${holds} then ${ids[place]}::text end`;
  });
  const row = await db.row<{ inside: string[] }>(
    unprepared(sql`
      select array_remove(array[${join(each, ', ')}], null) as inside from contacts c
      where c.project_id = ${projectId} and c.id = ${contactId}`),
  );
  return row?.inside ?? [];
}

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

/** The event of contacts that enter or leave a segment (docs/contract/core.md#4-2). */
export function memberEvent(segment: { id: string; name: string }, kind: 'entry' | 'exit') {
  const data = { segmentId: segment.id, segmentName: segment.name };
  return { name: segmentEvent(segmentSlug(segment), kind), data };
}
