import { boundedPage, type WithOmission } from '../../core/database/bounded-page.ts';
import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { invalidField } from '../../core/lib/errors.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { RecentResults } from '../../core/lib/recent-results.ts';
import { type ContactWrite, untilSeen, upsertContactCtes, upsertValues, withinDataLimits } from '../contacts/index.ts';
import { eventData } from './mail-data.ts';
import type { EventBody } from './schema.ts';

const track = statement(
  'events.track',
  `with ${upsertContactCtes},
   tracked as (
     insert into events (id, project_id, contact_id, name, data)
     select $9, $1, id, $10, $11::jsonb from contact
     returning created_at)
   select contact.id as "contactId", tracked.created_at::text as "createdAt" from contact, tracked`,
);

/**
 * Upserts the contact and records the event, in one statement. `data` is stored as it was sent.
 * @throws 422 for data over a limit
 */
export async function trackEvent(
  sql: Sql,
  projectId: string,
  change: ContactWrite,
  event: { id: string; name: string; data: Record<string, unknown> | null },
): Promise<{ contactId: string; createdAt: string }> {
  const values = [...upsertValues(projectId, change), event.id, event.name, eventDataText(event.data)];
  return untilSeen(() => withinDataLimits(sql.row<{ contactId: string; createdAt: string }>(track, values)));
}

/** Most bytes of the data of one event, as JSON. */
export const mostEventBytes = 64 * 1024;

/** Most bytes of one event's data in a list. Events of received mail carry its text, cut at a megabyte. */
export const mostListedEventBytes = 2 * 1024 * 1024;

function eventDataText(data: Record<string, unknown> | null): string | null {
  if (data === null) return null;
  const text = JSON.stringify(data);
  if (text.length > mostEventBytes || Buffer.byteLength(text) > mostEventBytes)
    throw invalidField('data', 'must be at most 64 kB of JSON', 'too_big');
  return text;
}

/** An event as SQL answers it. */
export interface EventRow extends Partial<WithOmission<JsonObjectValue>> {
  id: string;
  name: string;
  data: JsonObjectValue | null;
  projectId: string;
  contactId: string | null;
  emailId: string | null;
  createdAt: string;
}

const columns = `e.id, e.name, ${eventData('e')} as data, e.project_id as "projectId", e.contact_id as "contactId", e.email_id as "emailId",
  e.created_at::text as "createdAt"`;

const record = statement(
  'events.record',
  `insert into events as e (id, project_id, contact_id, email_id, name, data)
   select $2, $1, $3::uuid, $4::uuid, $5, $6::jsonb
   where ($3::uuid is null or exists (select from contacts where project_id = $1 and id = $3::uuid))
     and ($4::uuid is null or exists (select from emails where project_id = $1 and id = $4::uuid))
   returning ${columns}`,
);

/** Records an event; null when its contact or its email is none of the project. @throws 422 for data over 64 kB */
export async function recordEventRow(
  sql: Sql,
  projectId: string,
  event: {
    id: string;
    name: string;
    contactId: string | null;
    emailId: string | null;
    data: JsonObjectValue | null;
  },
): Promise<EventRow | null> {
  return sql.row<EventRow>(record, [
    projectId,
    event.id,
    event.contactId,
    event.emailId,
    event.name,
    eventDataText(event.data),
  ]);
}

const find = statement('events.find', `select ${columns} from events e where e.project_id = $1 and e.id = $2`);

/** One event of the project, or null. */
export function findEvent(sql: Sql, projectId: string, id: string): Promise<EventRow | null> {
  return sql.row<EventRow>(find, [projectId, id]);
}

const hasContact = statement('events.has_contact', 'select 1 from contacts where project_id = $1 and id = $2');

/** Whether the project has this contact. */
export async function contactExists(sql: Sql, projectId: string, id: string): Promise<boolean> {
  return (await sql.row(hasContact, [projectId, id])) !== null;
}

const listed = (rows: string, more = '') =>
  boundedPage(rows, `id, name, "projectId", "contactId", "emailId", "createdAt"${more}`, mostListedEventBytes);
const withContact = `${columns}, c.email as "contactEmail"`;
const newest = statement(
  'events.newest',
  listed(
    `select ${withContact} from events e left join contacts c on c.id = e.contact_id
     where e.project_id = $1 order by e.created_at desc, e.id desc limit $2`,
    ', "contactEmail"',
  ),
);
const newestOfName = statement(
  'events.newest_of_name',
  listed(
    `select ${withContact} from events e left join contacts c on c.id = e.contact_id
     where e.project_id = $1 and e.name = $3 order by e.created_at desc, e.id desc limit $2`,
    ', "contactEmail"',
  ),
);
const newestOfContact = statement(
  'events.newest_of_contact',
  listed(
    `select ${columns} from events e
     where e.project_id = $1 and e.contact_id = $2 order by e.created_at desc, e.id desc limit $3`,
  ),
);

/** The newest events of the project, of one name or of all. */
export function newestEvents(
  sql: Sql,
  projectId: string,
  name: string | null,
  limit: number,
): Promise<(EventRow & { contactEmail: string | null })[]> {
  return name === null ? sql.rows(newest, [projectId, limit]) : sql.rows(newestOfName, [projectId, limit, name]);
}

/** The newest events of one contact of the project. */
export function newestEventsOf(sql: Sql, projectId: string, contactId: string, limit: number): Promise<EventRow[]> {
  return sql.rows<EventRow>(newestOfContact, [projectId, contactId, limit]);
}

const audience = statement(
  'events.audience',
  `select coalesce(sum(events), 0)::integer as total, count(contact_id)::integer as contacts
   from (select contact_id, count(*) as events from events where project_id = $1 and name = $2 group by contact_id) by_contact`,
);

/** How often an event happened, and to how many contacts. */
interface EventAudience {
  total: number;
  contacts: number;
}

// Whom an event has happened to is counted row by row; nothing smaller than the rows knows it.
const largeFrom = 10_000;
const largeAudiences = new RecentResults<EventAudience>({ entries: 1_000, now: () => performance.now() });

/** How often an event happened, and to how many contacts; above 10,000 the two may be half a minute old. */
export function eventAudience(sql: Sql, projectId: string, name: string): Promise<EventAudience> {
  return largeAudiences.get(
    audienceKey(projectId, name),
    async () => (await sql.row<EventAudience>(audience, [projectId, name])) ?? { total: 0, contacts: 0 },
    ({ total }) => (total > largeFrom ? 30_000 : 0),
  );
}

function audienceKey(projectId: string, name: string): string {
  return JSON.stringify([projectId, name]);
}

/** Deletes up to `limit` events of a name. Answers how many. */
export function deleteSomeEvents(sql: Sql, projectId: string, name: string, limit: number): Promise<number> {
  largeAudiences.forget(audienceKey(projectId, name));
  return sql.count(
    `delete from events where ctid = any(array(
       select ctid from events where project_id = $1 and name = $2 limit $3))`,
    [projectId, name, limit],
  );
}

/** The event as the API shows it. */
export function eventBody(row: EventRow): EventBody {
  return {
    id: row.id,
    name: row.name,
    data: row.data,
    ...(row.dataOmitted ? { dataOmitted: true as const } : {}),
    projectId: row.projectId,
    contactId: row.contactId,
    emailId: row.emailId,
    createdAt: isoInstant(row.createdAt),
  };
}
