import { createHmac, randomBytes } from 'node:crypto';
import { countByName } from '../../contacts/events/counting-queries.ts';
import { eventData } from '../../contacts/events/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { invalid } from '../../lib/errors.ts';
import { editDistance, likeText } from '../../lib/text.ts';
import { dayMs, sqlSpan } from '../../lib/time.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';

// Events that the service records below its own prefixes.
const ownNames = [
  ...['sent', 'delivery', 'open', 'click', 'bounce', 'complaint', 'failed', 'received'].map((name) => `email.${name}`),
  ...['sent', 'paused', 'cancelled', 'held'].map((name) => `campaign.${name}`),
  ...['finished', 'failed'].map((name) => `workflow.${name}`),
  'import.finished',
  ...['verified', 'lost'].map((name) => `domain.${name}`),
];
const ownPrefixes = [...new Set(ownNames.map((name) => name.slice(0, name.indexOf('.') + 1)))];

/**
 * Refuses to subscribe an endpoint to an event that never comes: a name below one of the service's own prefixes that the
 * service does not record and the project has not tracked. Other names may be tracked later.
 * @throws 422 with the nearest name for each
 */
export async function refuseUnknownEvents(db: Database, projectId: string, events: readonly string[]): Promise<void> {
  const unknown = events.flatMap((name, place) => (isUnknown(name) ? [{ name, place }] : []));
  if (unknown.length === 0) return;
  const span = sqlSpan({ from: null, until: null }, dayMs);
  const tracked = new Set((await countByName(db, projectId, span)).map(({ name }) => name));
  const refused = unknown.filter(({ name }) => !tracked.has(name));
  if (refused.length > 0)
    throw invalid(
      refused.map(({ name, place }) => ({
        field: `events.${place}`,
        code: 'invalid_enum_value',
        message: `is not an event: did you mean "${nearest(name)}"?`,
      })),
      `The service's own events are ${ownNames.join(', ')}.`,
    );
}

function isUnknown(name: string): boolean {
  if (!ownPrefixes.some((prefix) => name.startsWith(prefix))) return false;
  return name.endsWith('.*') ? !ownPrefixes.includes(name.slice(0, -1)) : !ownNames.includes(name);
}

function nearest(name: string): string {
  // A name of the same prefix is nearer than one with fewer slips.
  const prefix = name.slice(0, name.indexOf('.') + 1);
  const candidates = ownNames.filter((own) => own.startsWith(prefix));
  const distance = (own: string) => editDistance(name.toLowerCase(), own, name.length + own.length);
  return candidates.toSorted((one, other) => distance(one) - distance(other))[0] ?? `${prefix}*`;
}

/** Whether only names are subscribed to, each of which is a place in an index. */
export function isNarrow(events: readonly string[]): boolean {
  return !events.some((event) => event.endsWith('*'));
}

/** SQL: whether the name of an event, a column, is subscribed to. */
export function subscribes(column: string, events: readonly string[]): Query {
  const likes = events.map((event) => likeText(event).replace(/\*$/, '%'));
  const [operator, names] = isNarrow(events) ? ['=', events] : ['like', likes];
  return sql`${raw(column)} ${raw(operator)} any(${names}::text[])`;
}

/** The name under which endpoints get new contacts. No events are recorded for them, so that an application may track one of that name. */
const creation = 'contact.created';

/** Subscriptions that new contacts are part of. */
export const creationPatterns = raw(`array['*', 'contact.*', '${creation}']`);

/**
 * SQL of what endpoints can get of a project, as a table: its events, and with such a subscription its contacts, each from its creation and under
 * its own ID.
 */
export function deliverable(projectId: string, events: readonly string[]): Query {
  // Where it is false, Postgres plans for the events alone.
  const creations = raw(String(events.some((event) => ['*', 'contact.*', creation].includes(event))));
  return sql`(select id, name, created_at from events where project_id = ${projectId}
    union all select id, ${raw(`'${creation}'::text`)}, created_at from contacts where project_id = ${projectId} and ${creations})`;
}

/**
 * Columns of what is delivered by `d`, a row of deliveries, over its event `e` and the contact `c` of that, or the new contact, which is
 * delivered as it is by then. Both are null once they are deleted.
 */
export const deliveredColumns =
  raw(`case when e.id is not null then jsonb_build_object('name', e.name, 'at', e.created_at::text,
      'data', ${eventData('e')}, 'emailId', e.email_id)
    when c.id is not null then jsonb_build_object('name', d.event_name, 'at', d.event_at::text,
      'data', jsonb_build_object('subscribed', c.subscribed, 'data', c.data), 'emailId', null) end as event,
  case when c.id is not null then jsonb_build_object('id', c.id, 'email', c.email) end as contact`);

/** An event with whom it is about, as it is delivered. */
export interface DeliveredEvent {
  eventId: string;
  name: string;
  /** ISO instant. */
  at: string;
  data: JsonObjectValue | null;
  contact: { id: string; email: string } | null;
  emailId: string | null;
}

/** Most bytes of a body; a larger event is delivered thin. */
const mostBytes = 20 * 1024;

/** The body of a delivery. What is too large, and everything for a thin endpoint, leaves out the event's data. */
export function payloadOf(event: DeliveredEvent, kind: 'full' | 'thin'): string {
  const thin = bodyOf(event, { id: event.eventId, name: event.name });
  if (kind === 'thin') return JSON.stringify(thin);
  const full = JSON.stringify(bodyOf(event, { id: event.eventId, name: event.name, data: event.data }));
  return Buffer.byteLength(full) <= mostBytes ? full : JSON.stringify({ ...thin, truncated: true });
}

function bodyOf({ name, at, contact, emailId }: DeliveredEvent, event: object) {
  return { type: name, timestamp: at, data: { event, contact, email: emailId === null ? null : { id: emailId } } };
}

const prefix = 'whsec_';

/** A new signing secret: 24 random bytes (Standard Webhooks, "Signature scheme"). */
export function newSecret(): string {
  return prefix + randomBytes(24).toString('base64');
}

/**
 * The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of one call (Standard Webhooks 1.0). There is a signature for each
 * secret, so that receivers may change to a new one while the old one still counts.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(prefix.length), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(signature).join(' '),
  };
}

/** The id that receivers know an event by: the same for every repetition and replay. */
export function webhookIdOf(eventId: string): string {
  return `evt_${eventId}`;
}
