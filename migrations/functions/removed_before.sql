-- The instant before which rows of a project of a kind ('mail', 'events' or 'runs') may be gone because of their age, by the retention of the deployment or
-- by its own; null where none were removed yet. Processes of the release before ask without a project.
create or replace function removed_before(kind text, project uuid default null) returns timestamptz language sql stable parallel safe as $fn$
  select timestamptz 'epoch' + ('x' || left(replace(through::text, '-', ''), 12))::bit(48)::bigint * interval '1 millisecond'
  from retention_cursors where rule in ('removed ' || kind, 'removed ' || kind || ' ' || project) order by through desc limit 1
$fn$;
