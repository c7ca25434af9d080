import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { invalidField } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { RecentResults } from '../../lib/keyed-turns.ts';
import { isoText } from '../../store/columns.ts';
import { boundedPage } from '../../store/heavy-reads.ts';
import { type NewEvent, recordingEvents } from '../../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql, unprepared } from '../../store/sql.ts';
import { withinDataLimits } from '../limits.ts';
import { contactsAndTrash } from '../trash-queries.ts';
import { type ContactWrite, contactsWritten, writingAs } from '../write.ts';
import type { EventBody } from './schema.ts';

/** Builds the data that every `email.*` event has of its mail (docs/contract/core.md#5-2): jsonb from the row that the alias names. */
export function mailPayload(alias: string, subject = `${alias}.subject`): string {
  return `mail_payload(${alias}.id, ${subject}, ${alias}."from", ${alias}.from_name, ${alias}.message_id, ${alias}.template_id,
    ${alias}.campaign_id, ${alias}.source_type)`;
}

/** Builds the tags of the mail of an `email.*` event: jsonb with them, or an empty object. */
export function mailTags(alias: string): string {
  return `coalesce((select jsonb_build_object('tags', jsonb_object_agg(tag.name, tag.value)) from email_tags tag
    where tag.email_id = ${alias}.id having count(*) > 0), '{}')`;
}

/**
 * The data of an event that the alias names. An `email.sent` is stored without any: all of it is in the ledger row, and a copy of
 * that for each message would be larger than the row. Those of earlier releases may have their data.
 */
export function eventData(alias: string): string {
  return `case when ${alias}.data is null and ${alias}.name = 'email.sent' then (
    select ${mailPayload('mail')} || jsonb_build_object('sentAt', ${isoText('mail.sent_at')}) || ${mailTags('mail')} from emails mail where mail.id = ${alias}.email_id)
    else ${alias}.data end`;
}

/**
 * Builds an event of a campaign, which is one of its project, from the row of `campaigns` that the alias names: webhook endpoints get it in the
 * order of all events. It has no contact, so nobody enters a workflow or a segment by it. `more` is further data: jsonb.
 */
export function campaignEvent(
  alias: string,
  { more, ...event }: Pick<NewEvent, 'name' | 'from'> & { more?: Query },
): NewEvent {
  const data =
    raw(`jsonb_build_object('campaignId', ${alias}.id, 'campaignName', ${alias}.name, 'recipients', ${alias}.total_recipients,
    'sent', ${alias}.sent_count, 'skipped', ${alias}.skipped_count, 'failed', ${alias}.failed_count)`);
  return { ...event, projectId: raw(`${alias}.project_id`), data: more ? sql`${data} || ${more}` : data };
}

/** An event of a contact that was recorded. */
export interface TrackedEvent {
  id: string;
  contactId: string;
  createdAt: string;
}

/**
 * Upserts the contact and records the event, in one statement. `data` is stored as it was sent.
 * @throws 422 for data over a limit
 */
export async function trackEvent(
  db: Database,
  projectId: string,
  change: ContactWrite,
  { name, data }: { name: string; data: JsonObjectValue | null },
): Promise<TrackedEvent> {
  // The event comes after the change of subscription that it may bring about, in the order of ids too.
  const writing = { ...writingAs(db, 'track'), subscribedWhenNew: true };
  const written = contactsWritten(projectId, [{ ...change, flipId: newId() }], writing);
  const id = newId();
  const event = {
    id,
    projectId,
    contactId: raw('contact.id'),
    name,
    data: eventDataText(data),
    limitedBy: limitingKey(db),
    from: raw('contact'),
  };
  const tracked = await withinDataLimits(
    db.row<TrackedEvent>(
      recordingEvents({
        given: sql`contact as materialized (select id from ${written})`,
        events: [event],
        result: sql`select ${id}::uuid as id, contact.id as "contactId", ${raw(isoText(recordedAt))} as "createdAt" from contact`,
      }),
    ),
  );
  if (tracked === null) throw new Error('A contact was not written');
  return tracked;
}

/** Most bytes of the data of one event, as JSON. */
export const mostEventBytes = 64 * 1024;

/** Most bytes of one event's data in a list. Events of received mail carry its text, cut at a megabyte. */
export const mostListedEventBytes = 2 * 1024 * 1024;

function eventDataText(data: JsonObjectValue | null): string | null {
  if (data === null) return null;
  const text = JSON.stringify(data);
  if (text.length > mostEventBytes || Buffer.byteLength(text) > mostEventBytes)
    throw invalidField('data', 'must be at most 64 kB of JSON', 'too_big');
  return text;
}

const columns = raw(`e.id, e.name, ${eventData('e')} as data, e.project_id as "projectId", e.contact_id as "contactId",
  e.email_id as "emailId", ${isoText('e.created_at')} as "createdAt"`);

/** The instant of the events that a statement records, as the table has it. */
export const recordedAt = 'now()::timestamptz(3)';

/** Records an event; null when its contact or its email is none of the project. @throws 422 for data over 64 kB */
export async function recordEventRow(
  db: Database,
  projectId: string,
  { name, contactId, emailId, data }: Pick<EventBody, 'name' | 'contactId' | 'emailId' | 'data'>,
): Promise<EventBody | null> {
  const [id, text] = [newId(), eventDataText(data)];
  const given = sql`
    e as materialized (
      select ${id}::uuid as id, ${projectId}::uuid as project_id, ${contactId}::uuid as contact_id, ${emailId}::uuid as email_id,
        ${name}::text as name, ${text}::jsonb as data, ${raw(recordedAt)} as created_at
      where (${contactId}::uuid is null
          or exists (select from contacts where project_id = ${projectId} and id = ${contactId}::uuid))
        and (${emailId}::uuid is null
          or exists (select from emails where project_id = ${projectId} and id = ${emailId}::uuid)))`;
  const limitedBy = limitingKey(db);
  const event = { id, projectId, contactId, emailId, name, data: text, limitedBy, from: sql`e` };
  return db.row<EventBody>(recordingEvents({ given, events: [event], result: sql`select ${columns} from e` }));
}

/** One event of the project, or null. */
export function findEvent(db: Database, projectId: string, id: string): Promise<EventBody | null> {
  return db.row<EventBody>(sql`select ${columns} from events e where e.project_id = ${projectId} and e.id = ${id}`);
}

/** An event of a list, whose data may be left out. */
type ListedEvent = Omit<EventBody, 'dataOmitted'> & { dataOmitted: boolean };

const listedColumns = 'id, name, "projectId", "contactId", "emailId", "createdAt"';
const newestFirst = raw('order by e.created_at desc, e.id desc');

/** The newest events of the project, of one name or of all. */
export function newestEvents(
  db: Database,
  projectId: string,
  name: string | null,
  limit: number,
): Promise<(ListedEvent & { contactEmail: string | null })[]> {
  const ofName = name === null ? raw('') : sql`and e.name = ${name}`;
  const rows = sql`select ${columns}, c.email as "contactEmail" from events e left join ${contactsAndTrash} c on c.id = e.contact_id
    where e.project_id = ${projectId} ${ofName} ${newestFirst} limit ${limit}`;
  return db.rows(boundedPage(rows, `${listedColumns}, "contactEmail"`, mostListedEventBytes));
}

/** The newest events of one contact of the project. */
export function newestEventsOf(
  db: Database,
  projectId: string,
  contactId: string,
  limit: number,
): Promise<ListedEvent[]> {
  const rows = sql`select ${columns} from events e
    where e.project_id = ${projectId} and e.contact_id = ${contactId} ${newestFirst} limit ${limit}`;
  return db.rows(boundedPage(rows, listedColumns, mostListedEventBytes));
}

/** How often an event happened, and to how many contacts. */
interface EventAudience {
  total: number;
  contacts: number;
}

// The contacts of an event are counted row by row; no counter is kept of them.
const largeFrom = 10_000;
const largeAudiences = new RecentResults<EventAudience>({ entries: 1_000, now: () => performance.now() });
const audienceKey = (projectId: string, name: string) => JSON.stringify([projectId, name]);

/** How often an event happened, and to how many contacts; above 10,000 the two may be half a minute old. */
export function eventAudience(db: Database, projectId: string, name: string): Promise<EventAudience> {
  return largeAudiences.get(
    audienceKey(projectId, name),
    async () => {
      const [audience] = await db.rows<EventAudience>(sql`
        select coalesce(sum(events), 0)::integer as total, count(contact_id)::integer as contacts
        from (select contact_id, count(*) as events from events
              where project_id = ${projectId} and name = ${name} group by contact_id) by_contact`);
      return audience ?? { total: 0, contacts: 0 };
    },
    ({ total }) => (total > largeFrom ? 30_000 : 0),
  );
}

/** Deletes up to `limit` events of a name, and the counts of those that retention has removed. Returns how many. */
export function deleteSomeEvents(db: Database, projectId: string, name: string, limit: number): Promise<number> {
  largeAudiences.forget(audienceKey(projectId, name));
  return db.count(
    unprepared(sql`
      with counted as (
        delete from event_counts where project_id = ${projectId} and name = ${name} and day < (select removed_before('events', ${projectId}::uuid))::date)
      delete from events where id = any(array(
        select id from events where project_id = ${projectId} and name = ${name} limit ${limit}))`),
  );
}

/** An event of a list in an answer. */
export function eventBody({ dataOmitted, ...row }: ListedEvent): EventBody {
  return { ...row, ...(dataOmitted ? { dataOmitted } : {}) };
}

/**
 * SQL of a query that answers a row when the contact has left by a mail of the campaign before: a recipient counts once in
 * `unsubscribed_count`, however often they leave and come back. Both are SQL expressions.
 */
export function leftBefore(contact: string, campaign: string): string {
  return `select from events ev join emails em on em.id = ev.email_id
    where ev.contact_id = ${contact} and ev.name = 'contact.unsubscribed' and ev.data ->> 'reason' is null
      and em.campaign_id = ${campaign}`;
}
