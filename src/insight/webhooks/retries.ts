import { type Database, type Query, sql } from '../../store/sql.ts';
import { WebhookEndpoint } from './entity.ts';
import { deliverable, subscribes } from './payload.ts';

/** The events of an endpoint that are checked: those from `from` up to the place that the feed has come to. */
interface Looked {
  projectId: string;
  events: string[];
  from: string;
  cursorAt: string;
  cursorId: string;
}

// Of each enabled endpoint, the events since the last so long that its feed has passed.
const lookedAt = (back: '20 minutes' | '1 day') => sql`
  select w.id, w.missing, w.project_id as "projectId", w.events, greatest(w.counted_from, since)::text as "from",
    w.cursor_at::text as "cursorAt", w.cursor_id as "cursorId"
  from webhook_endpoints w cross join lateral (
    select least(now(), w.cursor_at) - ${back}::interval as since) back
  where w.status = 'ENABLED'`;
// Events that the horizon of the feed does not foresee appear behind its cursor soon, or when the clock of Postgres was set back.
const late = lookedAt('20 minutes');
const pageSize = 2_000;
// A pass has this long, so that the other checks of the minute are not held up; the next one begins with others.
const longestMs = 20_000;

/**
 * Checks the last twenty minutes of every endpoint a second time: queues, under new sequences, what has appeared behind the cursor of the
 * feed. Returns how many events it queued.
 */
export async function insertMissed(db: Database): Promise<number> {
  const endpoints = await db.rows<Looked & { id: string }>(sql`
    ${late} and greatest((select max(created_at) from events where project_id = w.project_id),
      (select max(created_at) from contacts where project_id = w.project_id)) > since order by random()`);
  const endsAt = performance.now() + longestMs;
  let inserted = 0;
  for (const { id, ...looked } of endpoints) {
    if (performance.now() > endsAt) break;
    // Nearly always nothing is missing, which is found out without a lock.
    let missed = await countMissed(db, id, looked);
    while (missed > 0 && performance.now() < endsAt) {
      const count = await insertPage(db, id);
      inserted += count;
      missed = count === 0 ? 0 : missed - count;
    }
  }
  return inserted;
}

// The lock keeps the feed from queueing the same events, and is taken first, so that the statement after it sees what the feed has queued.
function insertPage(db: Database, endpointId: string): Promise<number> {
  return db.transaction(async (tx) => {
    const looked = await tx.row<Looked>(sql`${late} and w.id = ${endpointId} for update of w`);
    if (looked === null) return 0;
    const row = await tx.row<{ queued: number }>(sql`
      with missed as (${missedOf(endpointId, looked)} order by e.created_at, e.id limit ${pageSize}),
      queued as (
        insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at)
        select uuidv7(), ${endpointId}, w.sequence + row_number() over (order by m.created_at, m.id), m.id, m.name, m.created_at
        from missed m cross join (select sequence from webhook_endpoints where id = ${endpointId}) w
        returning 1)
      update webhook_endpoints set sequence = sequence + (select count(*) from queued), updated_at = now()
      where id = ${endpointId} and exists (select from queued)
      returning (select count(*) from queued)::int as queued`);
    return row?.queued ?? 0;
  });
}

/**
 * Compares the events of the last day with the deliveries of each endpoint, once an hour, and of one that lacks events every time, and notes
 * how many of them were never queued: the alert reads it. Returns how many endpoints have begun to lack some.
 */
export async function auditEndpoints(db: Database): Promise<number> {
  const due = await db.rows<Looked & { id: string; missing: number }>(sql`
    ${lookedAt('1 day')} and (w.missing > 0 or w.audited_at is null or w.audited_at < now() - interval '1 hour')
    order by w.missing > 0 desc, w.audited_at nulls first`);
  const endsAt = performance.now() + longestMs;
  let lacking = 0;
  for (const { id, missing: before, ...looked } of due) {
    if (performance.now() > endsAt) break;
    const missing = await countMissed(db, id, looked);
    await db.session().em.nativeUpdate(WebhookEndpoint, { id }, { auditedAt: new Date(), missing });
    if (before === 0 && missing > 0) lacking += 1;
  }
  return lacking;
}

/** How many events of a span were never queued for the endpoint, although its feed has passed them. */
export async function countMissed(db: Database, endpointId: string, looked: Looked): Promise<number> {
  const row = await db.row<{ missing: number }>(
    sql`select count(*)::int as missing from (${missedOf(endpointId, looked)}) missed`,
  );
  return row?.missing ?? 0;
}

/** SQL: the events of a span that the feed has passed and the endpoint was never queued. */
function missedOf(endpointId: string, { projectId, events, from, cursorAt, cursorId }: Looked): Query {
  return sql`
    select e.id, e.name, e.created_at from ${deliverable(projectId, events)} e
    where e.created_at >= ${from}::timestamptz and e.created_at <= ${cursorAt}::timestamptz
      and (e.created_at, e.id) <= (${cursorAt}::timestamptz, ${cursorId}::uuid) and ${subscribes('e.name', events)}
      and not exists (select from webhook_deliveries d where d.endpoint_id = ${endpointId} and d.event_id = e.id)`;
}

/** The response to a call; null where there is none. */
interface CallResult {
  statusCode: number | null;
  retryAfter: string | null;
}

/** The next state of a delivery and its endpoint after a call. */
export interface CallConsequence {
  status: 'DELIVERED' | 'PENDING' | 'FAILED';
  /** When a pending delivery is tried again, in milliseconds from now. */
  dueInMs: number;
  /** How long the whole endpoint is left alone, in milliseconds. */
  restMs: number | null;
  /** The endpoint said that it is gone. */
  isGone: boolean;
}

const minute = 60_000;
const hour = 60 * minute;
// Standard Webhooks, "Retries": ten attempts over 75 hours.
const pauses = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
const overloaded = new Set([429, 502, 503, 504]);
const defaultRestMs = 30_000;
const longestRestMs = hour;

/**
 * Decides on the attempt with the number `attempt` (1 is the first): only 2xx counts as taken, 410 ends the endpoint, and an overloaded
 * endpoint rests. `random` is in [0, 1) and spreads retries by a fifth.
 */
export function afterCall(
  { statusCode, retryAfter }: CallResult,
  attempt: number,
  now: Date,
  random: number,
): CallConsequence {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300)
    return { status: 'DELIVERED', dueInMs: 0, restMs: null, isGone: false };
  // The event waits for the endpoint to be enabled again.
  if (statusCode === 410) return { status: 'PENDING', dueInMs: 0, restMs: null, isGone: true };
  const asked = retryAfterMs(retryAfter, now);
  const restMs =
    asked !== null || (statusCode !== null && overloaded.has(statusCode))
      ? Math.min(asked ?? defaultRestMs, longestRestMs)
      : null;
  const pauseMs = pauses[attempt - 1];
  if (pauseMs === undefined) return { status: 'FAILED', dueInMs: 0, restMs, isGone: false };
  return {
    status: 'PENDING',
    dueInMs: Math.max(Math.round(pauseMs * (0.9 + random * 0.2)), restMs ?? 0),
    restMs,
    isGone: false,
  };
}

/** Reads `Retry-After` (RFC 9110, 10.2.3): seconds or a date; null when it is neither, or past. */
function retryAfterMs(text: string | null, now: Date): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const ms = Date.parse(text) - now.getTime();
  return ms > 0 ? ms : null;
}
