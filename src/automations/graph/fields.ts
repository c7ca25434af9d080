import { listFields } from '../../audience/contacts/index.ts';
import { eventData } from '../../audience/events/index.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';

/** Keys at the top of the data of the newest 100 events with data, of one name or of all. */
async function newestEventKeys(db: Database, projectId: string, name: string | null): Promise<string[]> {
  const named = name === null ? raw('') : sql`and e.name = ${name}`;
  const order = raw(name === null ? 'e.id desc' : 'e.created_at desc, e.id desc');
  const rows = await db.rows<{ key: string }>(sql`
    select distinct jsonb_object_keys(newest.data) as key from (
      select data.data from events e cross join lateral (select ${raw(eventData('e'))} as data) data
      where jsonb_typeof(data.data) = 'object' and e.project_id = ${projectId} ${named} order by ${order} limit 100) newest`);
  return rows.map(({ key }) => key);
}

/** What a condition of an automation can ask for: fields of contacts, and of the events that were recorded lately. */
export async function workflowFields(db: Database, projectId: string, eventName: string | undefined) {
  const name = eventName || null;
  const [{ fields: contactFields }, keys] = await Promise.all([
    listFields(db, projectId),
    name?.includes('\0') ? [] : newestEventKeys(db, projectId, name),
  ]);
  const typedFields = [
    ...contactFields.map(({ field, type, isCustom }) => ({
      field: `contact.${field}`,
      type: type as string,
      category: isCustom ? 'Custom Data' : 'Contact Fields',
    })),
    ...keys.map((key) => ({ field: `event.${key}`, type: 'string', category: 'Event Data' })),
  ].sort((one, other) => (one.field < other.field ? -1 : 1));
  return { fields: typedFields.map(({ field }) => field), typedFields, count: typedFields.length };
}
