-- Counts runs by the hour in which they ended, but for those that forget_contacts ends, which counts them itself.
create or replace function count_ended_run() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained, runs_started, runs_completed)
    select new.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, item.change
    from (values (old.completed_at, -1), (new.completed_at, 1)) item (at, change) where item.at is not null;
  return null;
end
$fn$;

create or replace trigger automation_runs_ended_counted after update of completed_at on automation_runs
  for each row when (old.completed_at is distinct from new.completed_at and pg_trigger_depth() = 0)
  execute function count_ended_run();
