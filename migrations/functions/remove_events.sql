-- Removes those of some events that may go (removable_events), whose counts stay: the trigger takes deleted events off the counts, and the statement that
-- deletes them adds them again. Returns how many. Only remove_old_events, which has a cutoff, and remove_old_mail call it.
create or replace function remove_events(old uuid[], cutoff timestamptz default null) returns integer language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  going uuid[];
  removed integer;
begin
  -- The lock keeps out whoever moves the instant up to which events are counted; see uncount_deleted_events.
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  going := removable_events(old, cutoff);
  with gone as (
    delete from events e where e.id = any (going)
    returning e.project_id, e.name, e.created_at, e.mail_at),
  days as (
    insert into event_counts (project_id, name, day, events)
    select gone.project_id, gone.name, (gone.created_at at time zone 'UTC')::date, count(*)
    from gone where exists (select from projects p where p.id = gone.project_id)
    group by 1, 2, 3),
  hours as (
    insert into activity_counts (project_id, kind, hour, items)
    select gone.project_id, item.kind, date_bin('1 hour', item.at, timestamptz 'epoch'), count(*)
    from gone, lateral (
      select '' as kind, gone.created_at as at
      union all select gone.name, gone.mail_at where gone.mail_at is not null) item
    where exists (select from projects p where p.id = gone.project_id)
    group by 1, 2, 3)
  select count(*) into removed from gone;
  return removed;
end
$fn$;
