-- Processes that cache one of these rows listen for its change. The message is sent on commit only. Checks of a domain write its
-- row all the time, and so does the use of a key: caches only care about which domains may send, and what a key may do.
create or replace function announce_change() returns trigger language plpgsql as $fn$
declare
  changed record := coalesce(new, old);
begin
  perform pg_notify('fernpost_changes', tg_table_name || ':' ||
    case when tg_table_name = 'projects' then changed.id::text else (to_jsonb(changed) ->> 'project_id') end);
  return null;
end
$fn$;

create or replace trigger api_keys_announce after insert or delete on api_keys
  for each row execute function announce_change();

create or replace trigger api_keys_announce_changed after update on api_keys
  for each row when (old.last_used_at is not distinct from new.last_used_at)
  execute function announce_change();

create or replace trigger automations_announce after insert or delete or update on automations
  for each row execute function announce_change();

create or replace trigger domains_announce after insert or delete on domains
  for each row execute function announce_change();

create or replace trigger domains_announce_verified after update on domains
  for each row when (old.verified is distinct from new.verified or old.domain is distinct from new.domain or old.project_id is distinct from new.project_id)
  execute function announce_change();

create or replace trigger projects_announce after insert or delete or update on projects
  for each row execute function announce_change();

create or replace trigger suppression_rules_announce after insert or delete or update on suppression_rules
  for each row execute function announce_change();

create or replace trigger templates_announce after insert or delete or update on templates
  for each row execute function announce_change();
