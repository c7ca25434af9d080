-- Removes events because of their age, whose counts stay: the trigger takes deleted events off the counts, and the statement that deletes them adds them
-- again. Returns how many. Events stay that somebody still needs: with the limits of a key, not yet delivered to an endpoint that is enabled, about
-- to start a workflow, or the cause of an execution that is under way. Only remove_old_events and remove_old_mail call it.
create or replace function remove_events(old uuid[]) returns integer language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  counted timestamptz;
  removed integer;
begin
  -- The lock keeps out whoever moves the instant up to which events are counted; see uncount_deleted_events.
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  select counted_through into counted from event_counts_state;
  with gone as (
    delete from events e
    where e.id = any (old) and e.created_at < counted and e.limited_by is null
      and not exists (
        select from webhook_endpoints w where w.project_id = e.project_id and w.status = 'ENABLED' and (w.cursor_at <= e.created_at
          or exists (select from webhook_deliveries d where d.endpoint_id = w.id and d.event_id = e.id and d.status = 'PENDING')))
      and (e.contact_id is null or not exists (
        select from automations a where a.project_id = e.project_id and (
          exists (select from automation_arrivals p where p.automation_id = a.id and p.event_id = e.id)
          or exists (select from automation_runs r where r.automation_id = a.id and r.source_event_id = e.id
            and r.status in ('RUNNING', 'WAITING')))))
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
