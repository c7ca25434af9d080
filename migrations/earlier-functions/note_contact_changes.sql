-- Notes what changes in contacts, for statements that write many: many times cheaper for a thousand rows than a row trigger. The plan is
-- kept from the first call on, whose statement may have changed one row: a nested loop would be quadratic for the next thousand.
-- Contacts that go to the trash, or come back, are counted without their IDs: their history stays, and is written by whoever moves them.
create or replace function note_contact_changes() returns trigger language plpgsql set jit = off set enable_nestloop = off as $fn$
declare
  cause text := contact_cause();
  is_moved boolean := coalesce(current_setting('fernpost.trash', true) = 'on', false);
begin
  if tg_op = 'INSERT' then
    insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause)
      select project_id, data, subscribed, 1, case when not is_moved then id end, clock_timestamp(), cause from came;
  else
    insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, before, after,
        subscribed_before, email_before, email_after)
      select c.project_id, 'null', c.subscribed, 0, c.id, clock_timestamp(), cause, w.data, c.data,
        w.subscribed, nullif(w.email, c.email), nullif(c.email, w.email)
      from went w join came c on c.id = w.id
      where w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email;
  end if;
  return null;
end
$fn$;

create or replace trigger contacts_changed_together after update on contacts referencing old table as went new table as came
  for each statement when (current_setting('fernpost.set_based', true) = 'on')
  execute function note_contact_changes();

create or replace trigger contacts_inserted_together after insert on contacts referencing new table as came
  for each statement when (current_setting('fernpost.set_based', true) = 'on')
  execute function note_contact_changes();
