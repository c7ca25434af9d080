-- Which limit the data of a contact exceeds: 256 kB, 1,000 keys, or the keys of the project's catalogue; null when none. Writes that
-- make a contact smaller, or leave its data as it is, pass: contacts may be larger from before.
create or replace function contact_data_problem(project uuid, before jsonb, after jsonb) returns text language plpgsql stable as $fn$
declare
  bytes integer;
  keys integer;
begin
  if pg_column_size(after) > 8000 then
    bytes := octet_length(after::text);
    if bytes > 262144 and (before is null or bytes > octet_length(before::text)) then
      return 'contact_data_bytes';
    end if;
    keys := (select count(*) from jsonb_object_keys(after));
    if keys > 1000 and (before is null or keys > (select count(*) from jsonb_object_keys(before))) then
      return 'contact_data_keys';
    end if;
  end if;
  if catalogue_is_full(project) and exists (
    select from jsonb_object_keys(after) as k (key)
    where not coalesce(jsonb_exists(before, k.key), false)
      and not exists (
        select from contact_fields f where f.project_id = project and f.key_hash = md5(k.key)::uuid)) then
    return 'contact_catalogue_keys';
  end if;
  return null;
end
$fn$;
