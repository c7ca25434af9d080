import { isoText } from '../../core/database/columns.ts';
import { type Database, join, raw, sql, unprepared } from '../../core/database/sql.ts';
import { conditionQuery } from '../conditions/index.ts';
import { getContact } from '../contacts/index.ts';
import { storedDefinition } from './definition.ts';
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
