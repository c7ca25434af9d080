-- Neither runs nor pending enrollments have a foreign key to contacts: one statement for each statement that deletes contacts is cheaper.
create or replace function forget_runs_of_contacts() returns trigger language plpgsql as $fn$
begin
  delete from automation_arrivals a using gone where a.contact_id = gone.id;
  delete from automation_runs r using gone where r.contact_id = gone.id;
  delete from automation_entries n using gone where n.contact_id = gone.id;
  return null;
end
$fn$;

create or replace trigger contacts_runs_forgotten after delete on contacts referencing old table as gone
  for each statement execute function forget_runs_of_contacts();
