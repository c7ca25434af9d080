-- The kind of a value in the data of a contact. Dates as docs/contract/core.md#3-5 writes them are a kind of their own. The
-- catalogue of fields is built on it: when what it answers changes, a migration must rebuild that catalogue.
create or replace function contact_value_kind(value jsonb) returns text language sql immutable parallel safe as $fn$
select case jsonb_typeof(value)
  when 'string' then case when value #>> '{}' like '____-__-__%'
    and value #>> '{}' ~ '^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3})?Z?)?$' then 'date' else 'string' end
  when 'object' then 'json' when 'array' then 'json'
  else jsonb_typeof(value) end
$fn$;
