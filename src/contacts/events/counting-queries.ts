import { dayMs, type SqlSpan } from '../../lib/time.ts';
import { countedSpan, tryLockName } from '../../store/columns.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import type { EventStats } from './schema.ts';

/**
 * Counts the events that happened since the last time into the counts by day and those by hour. Returns how many they
 * were. Does nothing while another process counts, or when it was done a moment ago.
 */
export function countNewEvents(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryLockName(tx, 'event counts'))) return 0;
    // Events are stamped with the beginning of their transaction: before the oldest one that is open nothing can appear
    // any more. It must be asked for by a statement of its own, before the one that counts.
    const until = await tx.row<{ horizon: string; soon: boolean }>(sql`
      select least(now() - interval '1 second', min(xact_start))::text as horizon,
        least(now() - interval '1 second', min(xact_start)) < (select counted_through from event_counts_state) + interval '15 seconds' as soon
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
    return until === null || until.soon ? 0 : countUntil(tx, until.horizon);
  });
}

// Under the lock no deletion of events changes the counts, so the rows of a day can be merged into one.
async function countUntil(tx: Database, horizon: string): Promise<number> {
  const row = await tx.row<{ counted: number }>(sql`
    with fresh as materialized (
      select e.project_id, e.name, date_bin('1 hour', e.created_at, timestamptz 'epoch') as hour,
        date_bin('1 hour', e.mail_at, timestamptz 'epoch') as mail_hour, count(*)::integer as events
      from events e, event_counts_state s
      where e.created_at >= s.counted_through and e.created_at < ${horizon}::timestamptz(3)
      group by 1, 2, 3, 4),
    days as materialized (
      select project_id, name, (hour at time zone 'UTC')::date as day, sum(events) as events from fresh group by 1, 2, 3),
    hours as materialized (
      select project_id, '' as kind, hour, sum(events) as items from fresh group by 1, 3
      union all
      select project_id, name, mail_hour, sum(events) from fresh where mail_hour is not null group by 1, 2, 3),
    touched as materialized (
      select project_id, name, day from days
      union select project_id, name, day from event_counts where events < 0),
    before as (
      delete from event_counts c using touched t
      where c.project_id = t.project_id and c.day = t.day and c.name = t.name
      returning c.project_id, c.name, c.day, c.events),
    summed as (
      insert into event_counts (project_id, name, day, events)
      select project_id, name, day, sum(events)
      from (select * from days union all select * from before) every
      where exists (select from projects p where p.id = every.project_id)
      group by project_id, name, day having sum(events) > 0),
    touched_hours as materialized (
      select project_id, kind, hour from hours
      union select project_id, kind, hour from activity_counts where items < 0),
    before_hours as (
      delete from activity_counts c using touched_hours t
      where c.project_id = t.project_id and c.hour = t.hour and c.kind = t.kind
      returning c.project_id, c.kind, c.hour, c.items),
    summed_hours as (
      insert into activity_counts (project_id, kind, hour, items)
      select project_id, kind, hour, sum(items)
      from (select * from hours union all select * from before_hours) every
      where exists (select from projects p where p.id = every.project_id)
      group by project_id, kind, hour having sum(items) > 0),
    moved as (update event_counts_state set counted_through = ${horizon}::timestamptz(3))
    select coalesce(sum(events), 0)::integer as counted from fresh`);
  return row?.counted ?? 0;
}

/**
 * The CTEs that move events to another hour in the counts, when their mail turns out to have reached an instant earlier; `rows` names a CTE with
 * `id`, `project_id`, `name`, `created_at`, `was` and `becomes`. Only counted events are moved: the lock keeps out `countNewEvents`, and `for share`
 * reads up to where it has counted by then, even if that was after the statement began. Those that are being copied (`src/store/event-parts.ts`) are noted.
 */
export function recountingEvents(rows: string): Query {
  return raw(`
    counting_locked as materialized (
      select pg_advisory_xact_lock_shared(hashtextextended('event counts', 0)) from ${rows}),
    counted_events as materialized (
      select counted_through, copied_before from event_counts_state where (select count(*) from counting_locked) > 0 for share),
    touched as (
      insert into events_touched (id) select r.id from ${rows} r join counted_events c on r.id < c.copied_before),
    recounted as (
      insert into activity_counts (project_id, kind, hour, items)
      select r.project_id, r.name, date_bin('1 hour', item.at, timestamptz 'epoch'), item.change
      from ${rows} r join counted_events c on r.created_at < c.counted_through
        cross join lateral (values (r.was, -1), (r.becomes, 1)) item (at, change))`);
}

/**
 * How often each event of the project happened within a span of days, the most frequent first, then by name. Whole days are
 * read from the counts. Parts of days at the ends are counted by the index, for the names that the day has; so is what
 * happened after the counts were last brought up to date.
 */
export async function countByName(db: Database, projectId: string, span: SqlSpan): Promise<EventStats> {
  const { from, until, first, last } = await countedSpan(db, projectId, ['events'], span, dayMs);
  return db.rows<EventStats[number]>(sql`
    with state as (select counted_through as at from event_counts_state),
    parts as (
      select name, sum(c.events) as events from event_counts c, state
      where c.project_id = ${projectId} and c.day >= ${first}::date
        and (${until}::timestamptz > state.at or c.day < ${last}::date)
      group by name
      union all
      select e.name, count(*) from events e
      where e.project_id = ${projectId} and e.created_at < ${until}::timestamptz
        and e.created_at >= greatest(${from}::timestamptz, (select at from state))
      group by e.name
      union all
      select d.name, n.events from state,
        (select distinct name from event_counts
         where project_id = ${projectId} and isfinite(${from}::timestamptz) and day = (${from}::timestamptz at time zone 'UTC')::date) d,
        lateral (select count(*) as events from events e where e.project_id = ${projectId} and e.name = d.name
          and e.created_at >= ${from}::timestamptz
          and e.created_at < least(${first}::timestamptz, ${until}::timestamptz, state.at)) n
      union all
      select d.name, n.events from state,
        (select distinct name from event_counts
         where project_id = ${projectId} and isfinite(${last}::date) and day = ${last}::date) d,
        lateral (select count(*) as events from events e where e.project_id = ${projectId} and e.name = d.name
          and e.created_at >= ${last}::timestamptz and e.created_at < ${until}::timestamptz) n
      where ${until}::timestamptz <= state.at and ${last}::timestamptz >= ${first}::timestamptz)
    select name, sum(events)::integer as count from parts group by name having sum(events) > 0
    order by 2 desc, name collate "C"`);
}
