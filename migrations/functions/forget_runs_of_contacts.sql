-- Neither runs nor pending enrollments have a foreign key to contacts: one statement for each statement that deletes contacts is cheaper.
create or replace function forget_runs_of_contacts() returns trigger language plpgsql as $fn$
declare
  active uuid[];
begin
  delete from automation_arrivals a using gone where a.contact_id = gone.id;
  -- A contact that can be restored keeps its entries, so that no workflow takes it for a new one; what is under way ends.
  if current_setting('fernpost.trash', true) = 'on' then
    active := array(
      select r.id from automation_runs r
      where r.contact_id = any (array(select id from gone)) and r.status in ('RUNNING', 'WAITING') order by r.id for update);
    if cardinality(active) = 0 then
      return null;
    end if;
    update automation_step_runs x set status = 'SKIPPED', completed_at = now(), updated_at = now()
      where x.run_id = any (active) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');
    with ended as (
      update automation_runs r set status = 'CANCELLED', exit_reason = 'Contact deleted', completed_at = now(),
        updated_at = now(), due_at = null, next_version_id = null
      where r.id = any (active)
      returning uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
        jsonb_build_object('type', 'cancel', 'id', execution)
      from ended;
    perform pg_notify('fernpost_outbox', '');
    return null;
  end if;
  delete from automation_runs r using gone where r.contact_id = gone.id;
  delete from automation_entries n using gone where n.contact_id = gone.id;
  return null;
end
$fn$;

create or replace trigger contacts_runs_forgotten after delete on contacts referencing old table as gone
  for each statement execute function forget_runs_of_contacts();
