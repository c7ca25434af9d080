-- Notes what changes in contacts for the catalogue of fields, for statements that write many: many times cheaper for a thousand rows
-- than a row trigger.
create or replace function note_contact_changes() returns trigger language plpgsql as $fn$
begin
  if tg_op = 'INSERT' then
    insert into contact_changes select project_id, data, subscribed, 1 from came;
  elsif tg_op = 'UPDATE' then
    insert into contact_changes
      select project_id, data, subscribed, -1 from went union all select project_id, data, subscribed, 1 from came;
  else
    -- Contacts also go because their project does; then nobody will ask again.
    insert into contact_changes
      select project_id, data, subscribed, -1 from went
      where exists (select from projects p where p.id = went.project_id);
  end if;
  return null;
end
$fn$;

create or replace trigger contacts_changed_together after update on contacts referencing old table as went new table as came
  for each statement when (current_setting('posthorn.set_based', true) = 'on')
  execute function note_contact_changes();

create or replace trigger contacts_deleted after delete on contacts referencing old table as went
  for each statement execute function note_contact_changes();

create or replace trigger contacts_inserted_together after insert on contacts referencing new table as came
  for each statement when (current_setting('posthorn.set_based', true) = 'on')
  execute function note_contact_changes();
