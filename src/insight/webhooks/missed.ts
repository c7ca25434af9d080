import { type Database, type Query, sql } from '../../core/database/sql.ts';
import { isNarrow, subscribes } from './subscriptions.ts';

/** What of an endpoint is checked: events from `from` up to the place that the feed has come to. */
interface Looked {
  projectId: string;
  events: string[];
  from: string;
  cursorAt: string;
  cursorId: string;
}

// What the horizon of the feed does not foresee appears behind its cursor soon, or when the clock of Postgres was set back.
const lookBack = sql`least(now(), cursor_at) - interval '20 minutes'`;
const lookedColumns = sql`project_id as "projectId", events, greatest(counted_from, ${lookBack})::text as "from",
  cursor_at::text as "cursorAt", cursor_id as "cursorId"`;
const pageSize = 2_000;
// A pass has this long, so that the other checks of the minute are not held up; the next one begins with others.
const longestMs = 20_000;

/**
 * Checks the last twenty minutes of every endpoint a second time: queues, under new sequences, what has appeared behind the cursor of the
 * feed. Returns how many events it queued.
 */
export async function insertMissed(db: Database): Promise<number> {
  const endpoints = await db.rows<Looked & { id: string }>(sql`
    select id, ${lookedColumns} from webhook_endpoints e
    where e.status = 'ENABLED'
      and (select max(created_at) from events where project_id = e.project_id) > ${lookBack}
    order by random()`);
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
    const looked = await tx.row<Looked>(sql`
      select ${lookedColumns} from webhook_endpoints where id = ${endpointId} and status = 'ENABLED' for update`);
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
    select id, missing, project_id as "projectId", events, cursor_at::text as "cursorAt", cursor_id as "cursorId",
      greatest(counted_from, least(now(), cursor_at) - interval '1 day')::text as "from"
    from webhook_endpoints
    where status = 'ENABLED' and (missing > 0 or audited_at is null or audited_at < now() - interval '1 hour')
    order by missing > 0 desc, audited_at nulls first`);
  const endsAt = performance.now() + longestMs;
  let lacking = 0;
  for (const { id, missing: before, ...looked } of due) {
    if (performance.now() > endsAt) break;
    const missing = await countMissed(db, id, looked);
    await db.count(sql`update webhook_endpoints set audited_at = now(), missing = ${missing} where id = ${id}`);
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
  const named = isNarrow(events) ? sql`e.name = any(${events}::text[])` : subscribes(sql`e.name`, events);
  return sql`
    select e.id, e.name, e.created_at from events e
    where e.project_id = ${projectId} and e.created_at >= ${from}::timestamptz and e.created_at <= ${cursorAt}::timestamptz
      and (e.created_at, e.id) <= (${cursorAt}::timestamptz, ${cursorId}::uuid) and ${named}
      and not exists (select from webhook_deliveries d where d.endpoint_id = ${endpointId} and d.event_id = e.id)`;
}
