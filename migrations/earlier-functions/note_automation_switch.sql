-- Notes when an automation is enabled and disabled, whoever does it: an event of a contact may be asked about months later.
create or replace function note_automation_switch() returns trigger language plpgsql as $fn$
begin
  insert into automation_switches (automation_id, enabled) values (new.id, new.enabled);
  return null;
end
$fn$;

create or replace trigger automation_made after insert on automations
  for each row execute function note_automation_switch();

create or replace trigger automation_switched after update of enabled on automations
  for each row when (old.enabled is distinct from new.enabled) execute function note_automation_switch();
