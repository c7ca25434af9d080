import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { newId } from '../../lib/ids.ts';
import { isoText } from '../../store/columns.ts';
import { groupCalls } from '../../store/postgres/grouped.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, limitingKey, raw, sql } from '../../store/sql.ts';
import { contactDataText } from '../limits.ts';
import { type ContactWrite, contactsWritten, writingAs } from '../write.ts';
import { recordedAt, type TrackedEvent } from './queries.ts';

interface TrackCall {
  /** The contact's address. */
  unique: string;
  set: JsonObjectValue;
  name: string;
  data: JsonObjectValue | null;
}

// Larger ones are not worth copying into a common parameter.
const mostCharacters = 8 * 1024;

/**
 * `trackEvent` for a request that may share its statement with others: when it leaves the subscription as it is, removes no data and is
 * not large. Null when the event has to be recorded by itself.
 */
export async function trackTogether(
  db: Database,
  projectId: string,
  { email, subscribed, set, remove }: ContactWrite,
  { name, data }: { name: string; data: JsonObjectValue | null },
): Promise<TrackedEvent | null> {
  const mayShare =
    !db.isTransaction &&
    limitingKey(db) === null &&
    subscribed === null &&
    remove.length === 0 &&
    (data === null || JSON.stringify(data).length <= mostCharacters);
  if (!mayShare) return null;
  contactDataText(set);
  return trackGroup(db, projectId, { unique: email, set, name, data });
}

const trackGroup = groupCalls<TrackCall, TrackedEvent, Database>(async (db, projectId, calls) => {
  const contacts = calls.map(({ unique, set }) => ({ email: unique, set }));
  const items = calls.map(({ unique, name, data }) => ({ email: unique, name, data, event_id: newId() }));
  const writing = { ...writingAs(db, 'track'), subscribedWhenNew: true, skipsHeld: true };
  const given = sql`
    item as materialized (
      select * from json_to_recordset(${JSON.stringify(items)}::json) as r (email text, event_id uuid, name text, data jsonb)),
    contact as materialized (select id, email from ${contactsWritten(projectId, contacts, writing)}),
    tracked as materialized (
      select item.event_id as id, contact.id as contact_id, item.name, item.data from item join contact using (email))`;
  const tracked = {
    id: raw('tracked.id'),
    projectId,
    contactId: raw('tracked.contact_id'),
    name: raw('tracked.name'),
    data: raw('tracked.data'),
    from: raw('tracked'),
  };
  const result = sql`select id, contact_id as "contactId", ${raw(isoText(recordedAt))} as "createdAt" from tracked`;
  const rows = await db.rows<TrackedEvent>(recordingEvents({ given, events: [tracked], result }));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ event_id }) => byId.get(event_id) ?? null);
});
