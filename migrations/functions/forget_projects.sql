-- Events have no foreign key to projects; see forget_contacts.
create or replace function forget_projects() returns trigger language plpgsql as $fn$
begin
  delete from events e using gone where e.project_id = gone.id;
  delete from retention_cursors where rule = any (array(
    select 'removed ' || kind || ' ' || gone.id from gone, unnest(array['mail', 'events', 'runs']) kind));
  return null;
end
$fn$;

create or replace trigger projects_forgotten after delete on projects referencing old table as gone
  for each statement execute function forget_projects();
