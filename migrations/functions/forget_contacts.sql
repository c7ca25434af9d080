-- Mail and events have no foreign key to contacts, whose checks cost more than the row itself (measured: a third of all work of
-- Postgres during a campaign). The planner does not know the size of a transition table, so the settings hold it to the indexes.
create or replace function forget_contacts() returns trigger language plpgsql
  set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $fn$
begin
  -- An erasure has emptied mail and events, and keeps their rows: campaigns count them.
  if current_setting('fernpost.erasing', true) = 'on' then
    return null;
  end if;
  -- Contacts that can be restored keep their mail and events until the trash is emptied, but for what was never sent.
  if current_setting('fernpost.trash', true) = 'on' then
    delete from emails m using gone
      where m.contact_id = gone.id and m.status in ('PENDING', 'SENDING') and m.sent_at is null and m.message_id is null;
    return null;
  end if;
  delete from emails m using gone where m.contact_id = gone.id;
  delete from events e using gone where e.contact_id = gone.id;
  return null;
end
$fn$;

create or replace trigger contacts_forgotten after delete on contacts referencing old table as gone
  for each statement execute function forget_contacts();
