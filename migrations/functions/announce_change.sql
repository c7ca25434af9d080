-- Processes that cache one of these rows listen for its change. The message is sent on commit only. Checks of a domain write its
-- row all the time, and so does the use of a key: caches only care about which domains may send, and what a key may do.
create or replace function announce_change() returns trigger language plpgsql as $fn$
declare
  changed record := coalesce(new, old);
begin
  if tg_op = 'UPDATE' then
    if tg_table_name = 'api_keys' then
      if old.last_used_at is distinct from new.last_used_at then
        return null;
      end if;
    elsif tg_table_name = 'domains' then
      if (old.verified, old.domain, old.project_id) is not distinct from (new.verified, new.domain, new.project_id) then
        return null;
      end if;
    end if;
  end if;
  perform pg_notify('fernpost_changes', tg_table_name || ':' ||
    case when tg_table_name = 'projects' then changed.id::text else (to_jsonb(changed) ->> 'project_id') end);
  return null;
end
$fn$;

create or replace trigger api_keys_announce after insert or delete or update on api_keys
  for each row execute function announce_change();

create or replace trigger automations_announce after insert or delete or update on automations
  for each row execute function announce_change();

create or replace trigger domains_announce after insert or delete or update on domains
  for each row execute function announce_change();

create or replace trigger projects_announce after insert or delete or update on projects
  for each row execute function announce_change();

create or replace trigger suppression_rules_announce after insert or delete or update on suppression_rules
  for each row execute function announce_change();

create or replace trigger templates_announce after insert or delete or update on templates
  for each row execute function announce_change();
