-- Takes deleted events off the counts. The shared lock keeps out whoever moves the instant up to which events are counted. While the rows that stay of old
-- parts are copied (event_counts_state.copied_before), notes which of them are gone.
create or replace function uncount_deleted_events() returns trigger language plpgsql as $fn$
declare
  counted timestamptz;
  copied uuid;
begin
  if not exists (select from went) then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  select counted_through, copied_before into counted, copied from event_counts_state;
  if copied is not null then
    insert into events_touched (id) select went.id from went where went.id < copied;
  end if;
  insert into event_counts (project_id, name, day, events)
    select went.project_id, went.name, (went.created_at at time zone 'UTC')::date, -count(*)
    from went
    where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
    group by 1, 2, 3;
  insert into activity_counts (project_id, kind, hour, items)
    select went.project_id, item.kind, date_bin('1 hour', item.at, timestamptz 'epoch'), -count(*)
    from went, lateral (
      select '' as kind, went.created_at as at
      union all select went.name, went.mail_at where went.mail_at is not null) item
    where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
    group by 1, 2, 3;
  return null;
end
$fn$;

create or replace trigger events_deleted after delete on events referencing old table as went
  for each statement execute function uncount_deleted_events();
