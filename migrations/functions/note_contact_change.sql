-- Notes what changes in contacts for the catalogue of fields. A row trigger costs nothing where nothing changed, which is what most
-- requests find; statements that write many contacts choose note_contact_changes by a setting of their transaction.
create or replace function note_contact_change() returns trigger language plpgsql as $fn$
begin
  if tg_op = 'INSERT' then
    insert into contact_changes values (new.project_id, new.data, new.subscribed, 1);
  else
    insert into contact_changes values
      (old.project_id, old.data, old.subscribed, -1), (new.project_id, new.data, new.subscribed, 1);
  end if;
  return null;
end
$fn$;

create or replace trigger contacts_changed after update on contacts
  for each row when (current_setting('posthorn.set_based', true) is distinct from 'on'
    and (old.data <> new.data or old.subscribed <> new.subscribed))
  execute function note_contact_change();

create or replace trigger contacts_inserted after insert on contacts
  for each row when (current_setting('posthorn.set_based', true) is distinct from 'on')
  execute function note_contact_change();
