import { isoInstant } from '../../core/database/columns.ts';
import type { Database, Sql, WriteOnce } from '../../core/database/sql.ts';
import { splitData, withoutDangerousKeys } from '../../core/lib/contact-data.ts';
import { clampLimit } from '../../core/lib/cursor.ts';
import { AppError, bareBadRequest, invalidField, notFound } from '../../core/lib/errors.ts';
import { isUuid, newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { dateParameter, dayMs, sqlSpan } from '../../core/lib/span.ts';
import { automationsUsingEvent, segmentsAsking } from '../usage/index.ts';
import { type CountedEvent, type CountRange, countByName } from './counting-queries.ts';
import { isReservedEvent } from './names.ts';
import {
  contactExists,
  deleteSomeEvents,
  eventAudience,
  eventBody,
  findEvent,
  newestEvents,
  newestEventsOf,
  recordEventRow,
  trackEvent,
} from './queries.ts';
import type { EventBody, EventStatsQuery, EventUsage, ListEvents, TrackBody, TrackEither } from './schema.ts';

/**
 * Records an event of a contact, which is created when it is new (contract page 1, 2.9).
 * @throws 422 `reserved_event` before anything is written
 */
export async function track(
  writeOnce: WriteOnce,
  projectId: string,
  body: TrackBody,
): Promise<{ contact: string; event: string; timestamp: string }> {
  refuseReserved('event', body.event);
  const data = storedData(body.data);
  const { set, remove } = splitData(data ?? {});
  const flipEventId = newId();
  const event = newId();
  const change = {
    newId: newId(),
    email: body.email,
    subscribed: body.subscribed ?? null,
    subscribedWhenNew: true,
    set,
    remove,
    flipEventId,
  };
  const stored = await writeOnce((sql) => trackEvent(sql, projectId, change, { id: event, name: body.event, data }));
  return { contact: stored.contactId, event, timestamp: isoInstant(stored.createdAt) };
}

/**
 * Records an event by either form of `POST /events/track` (contract page 1, 5.1) and answers its record.
 * @throws 422 `reserved_event`, 404 for a contact or an email that is none of the project
 */
export async function recordEvent(db: Database, projectId: string, body: TrackEither): Promise<EventBody> {
  if ('track' in body) {
    const { event } = await track((work) => work(db), projectId, body.track);
    const row = await findEvent(db, projectId, event);
    if (row === null) throw new Error('The event that was just recorded is gone');
    return eventBody(row);
  }
  const { name, contactId = null, emailId = null, data } = body.record;
  refuseReserved('name', name);
  const row = await recordEventRow(db, projectId, { id: newId(), name, contactId, emailId, data: storedData(data) });
  if (row !== null) return eventBody(row);
  if (contactId !== null && !(await contactExists(db, projectId, contactId))) throw notFound('contact', contactId);
  throw notFound('email', emailId ?? '');
}

function refuseReserved(field: string, name: string): void {
  if (isReservedEvent(name))
    throw invalidField(field, 'is a name that only the service itself records', 'reserved_event', name);
}

// Stored as it was sent, wrappers and all; only what could reach a prototype is left out.
function storedData(data: Record<string, unknown> | null | undefined): JsonObjectValue | null {
  return data ? (withoutDangerousKeys(data as JsonObjectValue) as JsonObjectValue) : null;
}

/** The newest events of the project, each with its contact's address. */
export async function listEvents(sql: Sql, projectId: string, query: ListEvents) {
  const name = query.eventName ? query.eventName : null;
  if (name?.includes('\0')) return { events: [] };
  const rows = await newestEvents(sql, projectId, name, clampLimit(query.limit, 100, 1_000));
  return {
    events: rows.map((row) => ({
      ...eventBody(row),
      contact: row.contactEmail === null ? null : { email: row.contactEmail },
    })),
  };
}

/** The newest events of a contact; none for an unknown one. */
export async function listContactEvents(
  sql: Sql,
  projectId: string,
  contactId: string,
  limit: string | undefined,
): Promise<{ events: EventBody[] }> {
  if (!isUuid(contactId)) return { events: [] };
  const rows = await newestEventsOf(sql, projectId, contactId, clampLimit(limit, 50, 1_000));
  return { events: rows.map(eventBody) };
}

/** How often each event happened, the most frequent first. @throws 400 for what is no date */
export function eventStats(sql: Sql, projectId: string, query: EventStatsQuery): Promise<CountedEvent[]> {
  return countByName(sql, projectId, rangeOf(query));
}

/** The names of the project's events, the most frequent first; those of the service itself included. */
export async function eventNames(sql: Sql, projectId: string): Promise<{ eventNames: string[] }> {
  const counts = await countByName(sql, projectId, rangeOf({}));
  return { eventNames: counts.map(({ name }) => name) };
}

function rangeOf({ startDate, endDate }: EventStatsQuery): CountRange {
  const end = dateParameter('endDate', endDate);
  // Instants are kept in milliseconds, so that this is the first one after the last that belongs to the range.
  const until = end && new Date(end.getTime() + 1);
  const { first, last, ...ends } = sqlSpan({ from: dateParameter('startDate', startDate), until }, dayMs);
  return { ...ends, firstDay: first, lastDay: last };
}

// Addresses of their own, with whatever method: an event that is called so has none (contract page 1, 1.2).
const addresses = new Set(['stats', 'names', 'contact', 'track']);

function refuseAddress(name: string): void {
  if (addresses.has(name))
    throw new AppError(
      404,
      'RESOURCE_NOT_FOUND',
      `"${name}" is an address of the API and cannot be the name of an event here`,
    );
}

/** Who relies on an event, and how often it happened (contract page 1, 5.1). */
export async function eventUsage(sql: Sql, projectId: string, name: string): Promise<EventUsage> {
  refuseAddress(name);
  const [segments, workflows, audience] = await Promise.all([
    segmentsAsking(sql, projectId, name),
    automationsUsingEvent(sql, projectId, name),
    name.includes('\0') ? { total: 0, contacts: 0 } : eventAudience(sql, projectId, name),
  ]);
  return {
    usedInSegments: segments,
    usedInWorkflows: workflows,
    totalCount: audience.total,
    uniqueContacts: audience.contacts,
    canDelete: segments.length === 0 && workflows.length === 0 && !isReservedEvent(name),
  };
}

const eventsPerDeletion = 5_000;

/**
 * Deletes every event of a name, some thousands at a time.
 * @throws bare 400 for a reserved name and for one that is in use
 */
export async function deleteEvents(db: Database, projectId: string, name: string): Promise<{ deletedCount: number }> {
  refuseAddress(name);
  if (isReservedEvent(name)) throw bareBadRequest(`"${name}" is a name that only the service itself records`);
  const uses = [
    ...(await segmentsAsking(db, projectId, name)).map((segment) => `segment "${segment.name}"`),
    ...(await automationsUsingEvent(db, projectId, name)).map((workflow) => `workflow "${workflow.name}"`),
  ];
  if (uses.length > 0) throw bareBadRequest(`"${name}" is in use by ${uses.slice(0, 5).join(', ')}`);
  if (name.includes('\0')) return { deletedCount: 0 };
  for (let deletedCount = 0; ; ) {
    const deleted = await deleteSomeEvents(db, projectId, name, eventsPerDeletion);
    deletedCount += deleted;
    if (deleted < eventsPerDeletion) return { deletedCount };
  }
}
