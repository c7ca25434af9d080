-- Those of some events that may go because of their age: the one rule of retention, which remove_events asks for what it deletes, and
-- src/store/event-parts.ts for what is left behind when a part of a divided table is dropped.
--
-- 1. Nobody needs them: events stay that have the limits of a key, are not yet delivered to an endpoint that is enabled, are about to start a workflow,
--    or are the cause of an execution that is under way.
-- 2. With `cutoff` they are older, and two things stay true for ever. Conditions: of each contact the last event of each name stays, and whether something
--    has ever happened, within some time or longer ago, is asked of that one; what saved conditions ask more of stays altogether. And consent: the
--    changes of subscriptions stay, for they are its proof.
create or replace function removable_events(page uuid[], cutoff timestamptz) returns uuid[] language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  old uuid[] := page;
  narrowed text[];
begin
  if cutoff is not null then
    narrowed := array(
      select f.project_id || ' ' || f.name from narrowed_names(array(select distinct e.project_id from events e where e.id = any (page))) f);
    old := array(
      select e.id from events e
      where e.id = any (page) and e.created_at < cutoff and e.name not in ('contact.subscribed', 'contact.unsubscribed')
        and e.project_id || ' ' || e.name <> all (narrowed)
        and (e.contact_id is null or exists (
          select from events n where n.contact_id = e.contact_id and n.name = e.name and n.created_at >= e.created_at
            and (n.created_at, n.id) > (e.created_at, e.id))));
  end if;
  return array(
    select e.id from events e
    where e.id = any (old) and e.created_at < (select counted_through from event_counts_state) and e.limited_by is null
      and not exists (
        select from webhook_endpoints w where w.project_id = e.project_id and w.status = 'ENABLED' and (w.cursor_at <= e.created_at
          or exists (select from webhook_deliveries d where d.endpoint_id = w.id and d.event_id = e.id and d.status = 'PENDING')))
      and (e.contact_id is null or not exists (
        select from automations a where a.project_id = e.project_id and (
          exists (select from automation_arrivals p where p.automation_id = a.id and p.event_id = e.id)
          or exists (select from automation_runs r where r.automation_id = a.id and r.source_event_id = e.id
            and r.status in ('RUNNING', 'WAITING'))))));
end
$fn$;
