-- The names of events that saved conditions ask more of than whether, or when, one happened last (narrowed_filters), by project.
create or replace function narrowed_names(projects uuid[]) returns table(project_id uuid, name text) language sql stable as $fn$
  select distinct f.project_id, case when f.filter ? 'link' then 'email.click' else regexp_replace(f.filter ->> 'field', '^event\.', '') end
  from narrowed_filters(projects) f
  -- Filters on mail look at mail, but for links, which are in the data of clicks.
  where f.filter ? 'link' or f.filter ->> 'field' not like 'email.%'
$fn$;
