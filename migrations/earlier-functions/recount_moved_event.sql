-- A report that comes late can say that something happened earlier than was known.
create or replace function recount_moved_event() returns trigger language plpgsql as $fn$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  insert into activity_counts (project_id, kind, hour, items)
    select new.project_id, new.name, date_bin('1 hour', item.at, timestamptz 'epoch'), item.change
    from (values (old.mail_at, -1), (new.mail_at, 1)) item (at, change)
    where item.at is not null and new.created_at < (select counted_through from event_counts_state);
  return null;
end
$fn$;

create or replace trigger events_moved after update of mail_at on events
  for each row when (old.mail_at is distinct from new.mail_at)
  execute function recount_moved_event();
