-- Notes what changes in contacts, for the catalogue of fields and for their history. A row trigger costs nothing where nothing changed,
-- which is what most requests find; statements that write many contacts choose note_contact_changes by a setting of their transaction.
create or replace function note_contact_change() returns trigger language plpgsql as $fn$
begin
  if tg_op = 'INSERT' then
    insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause)
      values (new.project_id, new.data, new.subscribed, 1, new.id, clock_timestamp(), contact_cause());
  else
    insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, before, after,
        subscribed_before, email_before, email_after)
      values (new.project_id, 'null', new.subscribed, 0, new.id, clock_timestamp(), contact_cause(), old.data, new.data,
        old.subscribed, nullif(old.email, new.email), nullif(new.email, old.email));
  end if;
  return null;
end
$fn$;

create or replace trigger contacts_changed after update on contacts
  for each row when (current_setting('fernpost.set_based', true) is distinct from 'on'
    and (old.data <> new.data or old.subscribed <> new.subscribed or old.email <> new.email))
  execute function note_contact_change();

create or replace trigger contacts_inserted after insert on contacts
  for each row when (current_setting('fernpost.set_based', true) is distinct from 'on')
  execute function note_contact_change();
