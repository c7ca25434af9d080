import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { notFound } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import { clampLimit, decodeCursor, encodeCursor, foreignCursor } from '../../lib/pages.ts';
import { databaseNow } from '../../store/changes.ts';
import { isoInstant, isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from './entity.ts';
import { type DeliveredEvent, deliverable, deliveredColumns, payloadOf, subscribes, webhookIdOf } from './payload.ts';
import { countMissed } from './retries.ts';
import type { AttemptBody, AuditSpan, DeliveryBody, EndpointAudit, EndpointBody, ListDeliveries } from './schema.ts';

interface DeliveryRow extends Omit<DeliveryBody, 'webhookId' | 'nextAttemptAt'> {
  dueAt: string;
}

function deliveryBody({ eventId, sequence, type, eventAt, status, attempts, dueAt }: DeliveryRow): DeliveryBody {
  const nextAttemptAt = status === 'PENDING' ? dueAt : null;
  return { eventId, webhookId: webhookIdOf(eventId), sequence, type, eventAt, status, attempts, nextAttemptAt };
}

// A type that hardly any delivery has would otherwise be searched for in all of them.
const mostLookedAt = 20_000;
const longestSpanMs = 31 * 86_400_000;

/** A page of an endpoint's deliveries, the latest first; with a type it looks at 20,000 of them at most. */
export async function listDeliveries(db: Database, endpointId: string, query: ListDeliveries) {
  const { status = null, type, cursor } = query;
  const size = clampLimit(query.limit, 20, 100);
  const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, 1);
  if (typeof before !== 'number' || !Number.isSafeInteger(before)) throw foreignCursor();
  const most = type === undefined ? size + 1 : mostLookedAt;
  // The status stands in the text, because a plan that is kept for any value uses no partial index.
  const ofStatus = raw(status === null ? '' : `and status = '${status}'`);
  const rows = await db.rows<(DeliveryRow | { eventId: null }) & { lookedUpTo: number | null }>(sql`
    with looked as materialized (
      select * from webhook_deliveries where endpoint_id = ${endpointId} and sequence < ${before}::bigint ${ofStatus}
      order by sequence desc limit ${most}),
    ended as (select case when count(*) = ${mostLookedAt} then min(sequence)::float8 end as "lookedUpTo" from looked)
    select d.event_id as "eventId", d.sequence::float8 as sequence, d.event_name as type, ${raw(isoText('d.event_at'))} as "eventAt",
      d.status, d.attempts, ${raw(isoText('d.due_at'))} as "dueAt", "lookedUpTo"
    from ended left join looked d on ${subscribes('d.event_name', [type ?? '*'])}
    order by d.sequence desc limit ${size + 1}`);
  const found = rows.filter((row) => row.eventId !== null);
  const page = found.slice(0, size);
  const last = found.length > size ? (page.at(-1)?.sequence ?? null) : null;
  const next = last ?? rows[0]?.lookedUpTo ?? null;
  const data = page.map(deliveryBody);
  return { data, cursor: next === null ? null : encodeCursor([next]), hasMore: next !== null };
}

interface HourRow {
  endpointId: string;
  at: string;
  delivered: number;
  failed: number;
  pending: number;
}

/** Endpoints with what became of their deliveries in each of the last 24 hours. */
export async function withHealth(db: Database, endpoints: readonly EndpointBody[]): Promise<EndpointBody[]> {
  const rows = await db.rows<HourRow>(sql`
    select e.id as "endpointId", h.at::text as at, count(*) filter (where d.status = 'DELIVERED')::int as delivered,
      count(*) filter (where d.status = 'FAILED')::int as failed, count(*) filter (where d.status = 'PENDING')::int as pending
    from unnest(${endpoints.map(({ id }) => id)}::uuid[]) e (id)
    cross join generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()), interval '1 hour') h (at)
    left join webhook_deliveries d on d.endpoint_id = e.id and d.event_at >= h.at and d.event_at < h.at + interval '1 hour'
    group by e.id, h.at order by h.at`);
  const hours = Map.groupBy(rows, ({ endpointId }) => endpointId);
  return endpoints.map((endpoint) => ({
    ...endpoint,
    health: (hours.get(endpoint.id) ?? []).map(({ endpointId: _, at, ...counts }) => ({
      at: isoInstant(at),
      ...counts,
    })),
  }));
}

interface Shown extends Pick<DeliveredEvent, 'contact'> {
  payload: 'full' | 'thin';
  event: Pick<DeliveredEvent, 'name' | 'at' | 'data' | 'emailId'> | null;
}

/** The body that an endpoint is called with for an event; null when the event was deleted. */
async function bodyOf(db: Database, endpointId: string, eventId: string): Promise<string | null> {
  const row = await db.row<Shown>(sql`
    select w.payload, ${deliveredColumns}
    from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
      left join events e on e.id = d.event_id left join ${contactsAndTrash} c on c.id = coalesce(e.contact_id, d.event_id)
    where d.endpoint_id = ${endpointId} and d.event_id = ${eventId}`);
  if (!row?.event) return null;
  const { event, contact, payload } = row;
  return payloadOf({ ...event, eventId, contact, at: isoInstant(event.at) }, payload);
}

/** One delivery with its log. @throws 404 */
export async function getDelivery(db: Database, endpointId: string, eventId: string) {
  const row = await db.em.findOne(WebhookDelivery, { endpointId, eventId });
  if (row === null) throw notFound('delivery', eventId);
  const { sequence, eventName: type, status, attempts } = row;
  const [eventAt, dueAt] = [row.eventAt.toISOString(), row.dueAt.toISOString()];
  const attempted = await db.em.find(
    WebhookAttempt,
    { deliveryId: row.id },
    { orderBy: { at: 'asc', id: 'asc' }, limit: 100 },
  );
  const log = attempted.map(
    ({ at, statusCode, ms, answer, error }): AttemptBody => ({
      at: at.toISOString(),
      statusCode: statusCode ?? null,
      ms,
      answer: answer ?? null,
      error: error ?? null,
    }),
  );
  const body = await bodyOf(db, endpointId, eventId);
  return { ...deliveryBody({ eventId, sequence, type, eventAt, status, attempts, dueAt }), body, log };
}

/** Queues a delivery again, with all its attempts. @throws 404 */
export async function redeliver(db: Database, endpointId: string, eventId: string): Promise<void> {
  const pending = { status: 'PENDING', attempts: 0, dueAt: await databaseNow(db) } as const;
  const count = await db.em.nativeUpdate(WebhookDelivery, { endpointId, eventId }, pending);
  if (count === 0) throw notFound('delivery', eventId);
}

/**
 * Compares the events of a span with the deliveries of it: it adds up when each event was queued. Deliveries whose event was deleted since
 * do not count against it. The span is cut to what the endpoint has been queued and to the time since its subscription last changed, and to
 * 31 days.
 */
export async function auditEndpoint(db: Database, endpointId: string, span: AuditSpan): Promise<EndpointAudit> {
  const endpoint = await db.em.findOne(WebhookEndpoint, { id: endpointId });
  if (endpoint === null) throw notFound('webhook endpoint', endpointId);
  const { projectId, events, countedFrom, cursorAt } = endpoint;
  const earliest = [countedFrom.getTime(), Date.parse(span.from ?? ''), Date.now() - longestSpanMs];
  const from = new Date(Math.max(...earliest.filter((ms) => !Number.isNaN(ms)))).toISOString();
  const latest = Math.min(
    cursorAt.getTime(),
    span.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(span.until),
  );
  const until = new Date(latest).toISOString();
  const counts = await db.row<Omit<EndpointAudit, 'from' | 'until' | 'addsUp'>>(sql`
    select (select count(*)::int from ${deliverable(projectId, events)} e where created_at >= ${from}::timestamptz
        and created_at < ${until}::timestamptz and ${subscribes('name', events)}) as events,
      count(*) filter (where status = 'DELIVERED')::int as delivered, count(*) filter (where status = 'FAILED')::int as failed,
      count(*) filter (where status = 'PENDING')::int as pending,
      min(sequence)::float8 as "firstSequence", max(sequence)::float8 as "lastSequence"
    from webhook_deliveries
    where endpoint_id = ${endpointId} and event_at >= ${from}::timestamptz and event_at < ${until}::timestamptz`);
  if (counts === null) throw new Error('Postgres did not answer');
  // Equal counts are cheap to compare, and usual.
  const addsUp =
    counts.events === counts.delivered + counts.failed + counts.pending ||
    (await countMissed(db, endpointId, { projectId, events, from, cursorAt: until, cursorId: leastId })) === 0;
  return { from, until, ...counts, addsUp };
}
