-- Deleted runs are taken off the counts of the hours in which they started and ended, and the executions of those that were under way are
-- cancelled. Their goals stay as they are, without the contact.
create or replace function forget_runs() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (
    project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced,
    rated, rated_bounced, rated_complained, runs_started, runs_completed)
    select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), 0, 0, 0, 0, 0, 0, 0, 0, 0, -sum(item.started), -sum(item.completed)
    from gone r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
    where item.at is not null group by 1, 2;
  update automation_goals g set contact_id = null, check_at = null where g.run_id = any (array(select id from gone));
  with lost as (
    select uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution
    from gone where status in ('RUNNING', 'WAITING'))
  insert into outbox (id, dedupe_key, kind, workflow_id, payload)
    select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
      jsonb_build_object('type', 'cancel', 'id', execution)
    from lost;
  if found then perform pg_notify('fernpost_outbox', ''); end if;
  return null;
end
$fn$;

create or replace trigger automation_runs_forgotten after delete on automation_runs referencing old table as gone
  for each statement execute function forget_runs();
