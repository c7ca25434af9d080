-- Counts runs by the hours in which they started and ended.
create or replace function count_runs_on_insert() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (
    project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced,
    rated, rated_bounced, rated_complained, runs_started, runs_completed)
    select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(item.started), sum(item.completed)
    from changed r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
    where item.at is not null group by 1, 2;
  return null;
end
$fn$;

create or replace trigger automation_runs_counted_on_insert after insert on automation_runs referencing new table as changed
  for each statement execute function count_runs_on_insert();
