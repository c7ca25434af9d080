-- Segments find deleted contacts by a row for each statement that deleted some. Appending needs no lock that two deletions would wait
-- for.
create or replace function note_lost_contacts() returns trigger language plpgsql as $fn$
begin
  insert into contact_losses (project_id)
    select distinct lost.project_id from lost where exists (select from projects p where p.id = lost.project_id);
  return null;
end
$fn$;

create or replace trigger contacts_lost after delete on contacts referencing old table as lost
  for each statement execute function note_lost_contacts();
