-- The instant before which rows of a kind ('mail' or 'events') may be gone because of their age; null where none were removed yet.
create or replace function removed_before(kind text) returns timestamptz language sql stable parallel safe as $fn$
  select timestamptz 'epoch' + ('x' || left(replace(through::text, '-', ''), 12))::bit(48)::bigint * interval '1 millisecond'
  from retention_cursors where rule = 'removed ' || kind
$fn$;
