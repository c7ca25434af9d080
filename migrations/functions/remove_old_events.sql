-- Removes events from before `cutoff`, the next ones of a walk in the order of ids (retention_page); `before` is the first id of that instant. Only
-- removeByAge (src/store/columns.ts) calls it. Returns how many it looked at, and how many it removed. What stays is said by removable_events.
create or replace function remove_old_events(cutoff timestamptz, before uuid, again uuid, most integer, own integer default null)
returns table(walked integer, removed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  page uuid[];
begin
  select p.walked, p.page into walked, page from retention_page('events', 'events', before, again, most, own, 'event_retention_days') p;
  removed := remove_events(page, cutoff);
  return next;
end
$fn$;
