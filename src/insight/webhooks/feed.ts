import type { Logger } from 'pino';
import { signals, workflowId } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { leastId } from '../../lib/ids.ts';
import { describeFailure } from '../../lib/network.ts';
import { type HorizonTimes, settledHorizon } from '../../segments/changes.ts';
import { removeSome } from '../../store/columns.ts';
import { signalOrStart } from '../../store/outbox/calls.ts';
import { type Database, join, type Query, sql, unprepared } from '../../store/sql.ts';
import { creationPatterns, deliverable, isNarrow, subscribes } from './payload.ts';

interface WebhookWatchDeps {
  db: Database;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
}

// An execution watches its queue for longer than this after the last delivery.
const gapMs = 3_000;

/**
 * Builds the watch that a worker runs every second: it wakes the execution of each endpoint that has something to do. The rows
 * say so, so that writers of events do nothing for webhooks and a lost wake is repeated.
 */
export function createWebhookWatch({ db, temporal, queuePrefix, log }: WebhookWatchDeps): () => Promise<void> {
  let woken = new Map<string, number>();
  let failing = false;
  return async () => {
    const now = Date.now();
    woken = new Map([...woken].filter(([, at]) => now - at < gapMs));
    for (const { id, projectId } of await endpointsWithWork(db)) {
      if (woken.has(id)) continue;
      woken.set(id, now);
      await wake(id, projectId);
    }
  };

  async function wake(endpointId: string, projectId: string): Promise<void> {
    try {
      await signalOrStart(
        temporal,
        queuePrefix,
        {
          workflow: 'webhookFeed',
          id: workflowId.webhookFeed(endpointId),
          input: { endpointId },
          searchAttributes: { ProjectId: projectId, Kind: 'webhook-feed' },
          staticSummary: 'Delivers the events of one webhook endpoint',
        },
        signals.wake,
      );
      failing = false;
    } catch (error) {
      if (!failing)
        log.warn(
          { endpointId },
          `webhooks were not woken, the next check repeats it: ${describeFailure(error, temporal.settings)}`,
        );
      failing = true;
    }
  }
}

/** Events in one page of the feed, and deliveries that may wait before the feed of an endpoint rests. */
const pageSize = 2_000;
const mostPending = 10_000;

interface Place {
  projectId: string;
  events: string[];
  cursorAt: string;
  cursorId: string;
  sequence: string;
}

/**
 * Queues the next page of events for an endpoint and moves its cursor, in one transaction, so that an event is queued exactly once
 * whatever dies when. Events are read in the order of (created_at, id) and only up to the settled horizon: what has not committed yet is
 * stamped later than that; what is stamped earlier nevertheless is found by `insertMissed`.
 * @returns whether there may be more
 */
export function feedEndpoint(db: Database, endpointId: string, times?: HorizonTimes): Promise<boolean> {
  return db.transaction(async (tx) => {
    const horizon = await settledHorizon(tx, times);
    const place = await tx.row<Place>(sql`
      select project_id as "projectId", events, cursor_at::text as "cursorAt", cursor_id as "cursorId", sequence::text as sequence
      from webhook_endpoints e
      where id = ${endpointId} and status = 'ENABLED' and cursor_at < ${horizon}::timestamptz
        and (select count(*) from (
          select from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'PENDING' limit ${mostPending}) waiting) < ${mostPending}
      for update`);
    if (place === null) return false;
    const fed = await tx.row<{ more: boolean }>(sql`
      with seen as materialized (
        select * from (${eventsAfter(place, horizon)}) e order by created_at, id limit ${pageSize}),
      matching as (select * from seen where ${subscribes('name', place.events)}),
      queued as (
        insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at)
        select uuidv7(), ${endpointId}, ${place.sequence}::bigint + row_number() over (order by created_at, id), id, name, created_at
        from matching
        returning 1),
      last as (select created_at, id from seen order by created_at desc, id desc limit 1),
      size as (select count(*) as rows from seen)
      update webhook_endpoints
      set sequence = sequence + (select count(*) from queued), updated_at = now(),
        cursor_at = case when size.rows = ${pageSize} then (select created_at from last) else ${horizon}::timestamptz end,
        cursor_id = case when size.rows = ${pageSize} then (select id from last) else ${leastId}::uuid end
      from size
      where webhook_endpoints.id = ${endpointId}
      returning size.rows = ${pageSize} as more`);
    return fed?.more ?? false;
  });
}

// Each name is a place in the index events_name, so a subscription to rare events never reads frequent ones. Postgres sees which of the two
// a name is only where the name is a value of a plan that is made for it: kept for any value, the plan reads all events of a project.
function eventsAfter({ projectId, events, cursorAt, cursorId }: Place, horizon: string): Query {
  if (!isNarrow(events))
    return sql`
      select id, name, created_at from ${deliverable(projectId, events)} e
      where (created_at, id) > (${cursorAt}::timestamptz, ${cursorId}::uuid)
        and created_at < ${horizon}::timestamptz`;
  const named = events.map(
    (name) => sql`(select e.id, e.name, e.created_at from ${deliverable(projectId, [name])} e
      where e.name = ${name} and created_at >= ${cursorAt}::timestamptz
        and created_at < ${horizon}::timestamptz and (created_at, id) > (${cursorAt}::timestamptz, ${cursorId}::uuid)
      order by created_at, id limit ${pageSize})`,
  );
  return unprepared(join(named, ' union all '));
}

interface Replay {
  id: string;
  projectId: string;
  since: string;
  until: string;
  events: string[];
  only: 'failed' | 'all';
  placeAt: string;
  placeId: string;
}

/**
 * Queues the next page of a running replay again, under the sequences of the first time; events that were never queued get new ones.
 * @returns whether there is more
 */
export function replayPage(db: Database, endpointId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const replay = await tx.row<Replay>(sql`
      select r.id, e.project_id as "projectId", r.since::text as since, r.until::text as until, r.events, r.only,
        r.place_at::text as "placeAt", r.place_id as "placeId"
      from webhook_endpoints e join webhook_replays r on r.endpoint_id = e.id
      where e.id = ${endpointId} and r.status = 'RUNNING' and e.status = 'ENABLED'
      for update`);
    if (replay === null) return false;
    const done = await tx.row<{ more: boolean }>(sql`
      with seen as materialized (
        select id, name, created_at from ${deliverable(replay.projectId, replay.events)} e
        where created_at <= ${replay.until}::timestamptz
          and (created_at, id) > (${replay.placeAt}::timestamptz, ${replay.placeId}::uuid)
        order by created_at, id limit ${pageSize}),
      matching as (select * from seen where ${subscribes('name', replay.events)}),
      repeated as (
        update webhook_deliveries d set status = 'PENDING', attempts = 0, due_at = now()
        from matching m
        where d.endpoint_id = ${endpointId} and d.event_id = m.id and (${replay.only === 'all'} or d.status = 'FAILED')
        returning 1),
      base as (select sequence from webhook_endpoints where id = ${endpointId}),
      added as (
        insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at)
        select uuidv7(), ${endpointId}, base.sequence + row_number() over (order by m.created_at, m.id), m.id, m.name, m.created_at
        from matching m cross join base
        where ${replay.only === 'all'} and not exists (
          select from webhook_deliveries d where d.endpoint_id = ${endpointId} and d.event_id = m.id)
        returning 1),
      counted as (
        update webhook_endpoints set sequence = sequence + (select count(*) from added), updated_at = now()
        where id = ${endpointId}),
      last as (select created_at, id from seen order by created_at desc, id desc limit 1),
      size as (select count(*) as rows from seen)
      update webhook_replays set
        requeued = requeued + (select count(*) from repeated) + (select count(*) from added),
        status = case when size.rows = ${pageSize} then 'RUNNING' else 'DONE' end,
        place_at = coalesce((select created_at from last), place_at), place_id = coalesce((select id from last), place_id),
        updated_at = now()
      from size
      where webhook_replays.id = ${replay.id}
      returning size.rows = ${pageSize} as more`);
    return done?.more ?? false;
  });
}

/** Deletes up to `limit` deliveries older than `days`, with their log. Those that still wait are kept. Answers how many. */
export function removeOldDeliveries(db: Database, days: number, limit: number): Promise<number> {
  const old = sql`created_at < now() - ${days}::int * interval '1 day' and status <> 'PENDING'`;
  return removeSome(db, 'webhook_deliveries', old, limit);
}

/** Endpoints that have something to do now: an event that is not queued yet, a delivery that is due, or a replay. */
export async function endpointsWithWork(db: Database): Promise<{ id: string; projectId: string }[]> {
  return db.rows(sql`
    select e.id, e.project_id as "projectId" from webhook_endpoints e
    where e.status = 'ENABLED' and (e.resting_until is null or e.resting_until <= now()) and (
      (select max(created_at) from events where project_id = e.project_id) > e.cursor_at
      or e.events && ${creationPatterns} and (select max(created_at) from contacts where project_id = e.project_id) > e.cursor_at
      or exists (select from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'PENDING' and d.due_at <= now())
      or exists (select from webhook_replays r where r.endpoint_id = e.id and r.status = 'RUNNING'))`);
}
