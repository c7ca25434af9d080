import { type JsonObjectValue, splitData, withoutDangerousKeys } from '../../lib/contact-data.ts';
import { AppError, bareBadRequest, invalidField, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { clampLimit } from '../../lib/pages.ts';
import { dateParameter, dayMs, type SqlSpan, sqlSpan } from '../../lib/time.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { Database, WriteOnce } from '../../store/sql.ts';
import { Contact } from '../entity.ts';
import { refuseInUse, usesOfEvent } from '../usage.ts';
import { countByName } from './counting-queries.ts';
import {
  deleteSomeEvents,
  eventAudience,
  eventBody,
  findEvent,
  newestEvents,
  newestEventsOf,
  recordEventRow,
  trackEvent,
} from './queries.ts';
import type {
  EventBody,
  EventStats,
  EventStatsQuery,
  EventUsage,
  ListEvents,
  TrackBody,
  TrackEither,
  TrackReply,
} from './schema.ts';
import { trackTogether } from './track-together.ts';

/**
 * Records an event of a contact, which is created when it is new (docs/contract/core.md#2-9). `tracked` runs in the
 * transaction of the writes, after them.
 * @throws 422 `reserved_event` before anything is written
 */
export async function track(
  writeOnce: WriteOnce,
  projectId: string,
  { email, event, subscribed, data: sent }: TrackBody,
  tracked: (tx: Database, data: TrackReply['data']) => Promise<void> = async () => undefined,
): Promise<TrackReply['data']> {
  refuseReserved('event', event);
  const data = storedData(sent);
  const change = { email, subscribed: subscribed ?? null, ...splitData(data ?? {}) };
  const happened = { name: event, data };
  return writeOnce(async (db) => {
    const { contactId, id, createdAt } =
      (await trackTogether(db, projectId, change, happened)) ?? (await trackEvent(db, projectId, change, happened));
    const reply = { contact: contactId, event: id, timestamp: createdAt };
    await tracked(db, reply);
    return reply;
  });
}

/** Thrown to take back what a trial has written. */
class Undone extends Error {}

/**
 * Returns what `track` would for a contact with this ID, and refuses what that would refuse, but stores nothing of the request.
 * `tracked` gets the reply in the transaction of the request's `Idempotency-Key`.
 */
export async function seemToTrack(
  db: Database,
  writeOnce: WriteOnce,
  projectId: string,
  body: TrackBody,
  contact: string,
  tracked: (tx: Database, data: TrackReply['data']) => Promise<void>,
): Promise<TrackReply['data']> {
  const trial = { ...body, email: `${newId()}@erased.invalid` };
  await db
    .transaction(async (tx) => {
      await track((work) => work(tx), projectId, trial);
      throw new Undone();
    })
    .catch((error) => {
      if (!(error instanceof Undone)) throw error;
    });
  return writeOnce(async (tx) => {
    const reply = { contact, event: newId(), timestamp: new Date().toISOString() };
    await tracked(tx, reply);
    return reply;
  });
}

/**
 * Records an event by either form of `POST /events/track` (docs/contract/core.md#5-1) and returns its record.
 * @throws 422 `reserved_event`, 404 for a contact or an email that is none of the project
 */
export async function recordEvent(db: Database, projectId: string, body: TrackEither): Promise<EventBody> {
  if ('track' in body) {
    const { event } = await track(
      (work) => work(db),
      projectId,
      body.track,
      async () => undefined,
    );
    const row = await findEvent(db, projectId, event);
    if (row === null) throw new Error('The event that was just recorded is gone');
    return row;
  }
  const { name, contactId = null, emailId = null, data } = body.record;
  refuseReserved('name', name);
  const row = await recordEventRow(db, projectId, { name, contactId, emailId, data: storedData(data) });
  if (row !== null) return row;
  if (contactId !== null && (await db.em.count(Contact, { projectId, id: contactId })) === 0)
    throw notFound('contact', contactId);
  throw notFound('email', emailId ?? '');
}

/**
 * Whether only the service itself may record events of this name (docs/contract/core.md#5-3): everything below `email.`,
 * the two subscription changes, and the entries and exits of segments. Letter case counts.
 */
function isReservedEvent(name: string): boolean {
  return (
    name.startsWith('email.') ||
    name === 'contact.subscribed' ||
    name === 'contact.unsubscribed' ||
    (name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit')))
  );
}

function refuseReserved(field: string, name: string): void {
  if (isReservedEvent(name))
    throw invalidField(field, 'is a name that only the service itself records', 'reserved_event', name);
}

// Stored as it was sent, with its `persistent` wrappers; only keys that could reach a prototype are removed.
function storedData(data: Record<string, unknown> | null | undefined): JsonObjectValue | null {
  return data ? (withoutDangerousKeys(data as JsonObjectValue) as JsonObjectValue) : null;
}

/** The newest events of the project, each with its contact's address. */
export async function listEvents(db: Database, projectId: string, query: ListEvents) {
  const name = query.eventName ? query.eventName : null;
  if (name?.includes('\0')) return { events: [] };
  const rows = await newestEvents(db, projectId, name, clampLimit(query.limit, 100, 1_000));
  return {
    events: rows.map(({ contactEmail, ...row }) => ({
      ...eventBody(row),
      contact: contactEmail === null ? null : { email: contactEmail },
    })),
  };
}

/** The newest events of a contact; none for an unknown one. */
export async function listContactEvents(
  db: Database,
  projectId: string,
  contactId: string,
  limit: string | undefined,
): Promise<{ events: EventBody[] }> {
  if (!isUuid(contactId)) return { events: [] };
  const rows = await newestEventsOf(db, projectId, contactId, clampLimit(limit, 50, 1_000));
  return { events: rows.map(eventBody) };
}

/** How often each event happened, the most frequent first. @throws 400 for what is no date */
export function eventStats(db: Database, projectId: string, query: EventStatsQuery): Promise<EventStats> {
  return countByName(db, projectId, spanOf(query));
}

/** The names of the project's events, the most frequent first; those of the service itself included. */
export async function eventNames(db: Database, projectId: string): Promise<{ eventNames: string[] }> {
  const counts = await countByName(db, projectId, spanOf({}));
  return { eventNames: counts.map(({ name }) => name) };
}

function spanOf({ startDate, endDate }: EventStatsQuery): SqlSpan {
  const end = dateParameter('endDate', endDate);
  // Instants are kept in milliseconds, so that this is the first one after the last that belongs to the range.
  const until = end && new Date(end.getTime() + 1);
  return sqlSpan({ from: dateParameter('startDate', startDate), until }, dayMs);
}

// Paths of other routes: an event of such a name cannot be addressed (docs/contract/core.md#1-2).
const addresses = new Set(['stats', 'names', 'contact', 'track']);

function refuseAddress(name: string): void {
  if (addresses.has(name))
    throw new AppError(
      404,
      'RESOURCE_NOT_FOUND',
      `"${name}" is an address of the API and cannot be the name of an event here`,
    );
}

/** Returns everything that uses an event, and how often it happened (docs/contract/core.md#5-1). */
export async function eventUsage(db: Database, projectId: string, name: string): Promise<EventUsage> {
  refuseAddress(name);
  const [{ segments, workflows }, audience] = await Promise.all([
    usesOfEvent(db, projectId, name),
    name.includes('\0') ? { total: 0, contacts: 0 } : eventAudience(db, projectId, name),
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
  refuseInUse(name, await usesOfEvent(db, projectId, name));
  if (name.includes('\0')) return { deletedCount: 0 };
  // One entry for all of its transactions, before the first.
  await db.transaction((tx) => recordChange(tx, projectId, { action: 'event_name.deleted', target: name }));
  for (let deletedCount = 0; ; ) {
    const deleted = await deleteSomeEvents(db, projectId, name, eventsPerDeletion);
    deletedCount += deleted;
    if (deleted < eventsPerDeletion) return { deletedCount };
  }
}
