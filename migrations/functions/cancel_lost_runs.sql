-- Whatever deletes runs that are under way, their executions are cancelled.
create or replace function cancel_lost_runs() returns trigger language plpgsql as $fn$
begin
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

create or replace trigger automation_runs_lost after delete on automation_runs referencing old table as gone
  for each statement execute function cancel_lost_runs();
