-- Removes events from before `cutoff`, the next ones of a walk in the order of ids (retention_page); `before` is the first id of that instant. Only
-- removeByAge (src/store/columns.ts) calls it. Returns how many it looked at, and how many it removed. Two things stay true for ever:
--
-- 1. Conditions: of each contact the last event of each name stays. Whether something has ever happened, within some time or longer ago, is asked of that one.
--    What saved conditions ask more of stays altogether (narrowed_filters).
-- 2. Consent: the changes of subscriptions stay, for they are its proof.
create or replace function remove_old_events(cutoff timestamptz, before uuid, again uuid, most integer, own integer default null)
returns table(walked integer, removed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  page uuid[];
  narrowed text[];
begin
  select p.walked, p.page into walked, page from retention_page('events', 'events', before, again, most, own, 'event_retention_days') p;
  narrowed := array(
    select f.project_id || ' ' || case when f.filter ? 'link' then 'email.click' else regexp_replace(f.filter ->> 'field', '^event\.', '') end
    from narrowed_filters(array(select distinct e.project_id from events e where e.id = any (page))) f
    -- Filters on mail look at mail, but for links, which are in the data of clicks.
    where f.filter ? 'link' or f.filter ->> 'field' not like 'email.%');
  removed := remove_events(array(
    select e.id from events e
    where e.id = any (page) and e.created_at < cutoff and e.name not in ('contact.subscribed', 'contact.unsubscribed')
      and e.project_id || ' ' || e.name <> all (narrowed)
      and (e.contact_id is null or exists (
        select from events n where n.contact_id = e.contact_id and n.name = e.name and n.created_at >= e.created_at
          and (n.created_at, n.id) > (e.created_at, e.id)))));
  return next;
end
$fn$;
