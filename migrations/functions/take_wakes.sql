-- Takes up to `most` calls that are due of the lane `wakes` (src/store/outbox/queries.ts) for `lease_ms` milliseconds, of any process: signals and cancellations
-- of automations, of which one event or bulk change causes any number.
--
-- 1. Every project with due wakes has the same share, and in it each of its automations, of which the oldest come first. What one leaves of its share is
--    taken the next time. Where there are more projects than calls, those come first that have waited for longest. Automations that are gone are one project.
-- 2. The index begins with the automation, `automation/<id>/…`. It is read from automation to automation, so that the cost grows with the automations that
--    have open wakes, and not with the wakes.
-- 3. A signal or cancellation waits for every start of its workflow id, and for what was enqueued before it, as in `isDue` of src/store/outbox/queries.ts.
--
-- The planner is held to the indexes: a plan from when the table was empty would read all of it for each row of the next wave.
create or replace function take_wakes(most integer, lease_ms float8)
returns table(id uuid, workflow_id text, payload jsonb, attempts integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_nestloop = on as $fn$
#variable_conflict use_column
begin
  return query with recursive place (automation) as (
      (select substr(o.workflow_id, 12, 36) collate "C" from outbox o
       where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
       order by 1 limit 1)
      union all
      select (
        select substr(o.workflow_id, 12, 36) collate "C" from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" > place.automation
        order by 1 limit 1)
      from place where place.automation is not null),
    head as (
      select place.automation, oldest.at, (
          select a.project_id from automations a where a.id = case
            when place.automation ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then place.automation::uuid end) as project
      from place cross join lateral (
        select o.next_attempt_at as at from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" = place.automation and o.next_attempt_at <= now()::timestamptz(3)
          and (
            select 1 from outbox e
            where e.done_at is null and e.workflow_id = o.workflow_id and e.id <> o.id and (e.kind = 'start' or e.id < o.id)
            limit 1) is null
        order by o.next_attempt_at, o.id limit 1) oldest),
    chosen as (
      select automation, project from (
        select automation, project, at, row_number() over (partition by project order by at, automation) as n from head) ranked
      order by n, at limit most),
    share as (
      select automation, greatest(1, most / (select count(distinct coalesce(project::text, '')) from chosen)
        / count(*) over (partition by project)) as calls
      from chosen),
    due as (
      select taken.id from share cross join lateral (
        select o.id from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" = share.automation and o.next_attempt_at <= now()::timestamptz(3)
          and (
            select 1 from outbox e
            where e.done_at is null and e.workflow_id = o.workflow_id and e.id <> o.id and (e.kind = 'start' or e.id < o.id)
            limit 1) is null
        order by o.next_attempt_at, o.id limit share.calls for update of o skip locked) taken)
    update outbox o set next_attempt_at = clock_timestamp() + make_interval(secs => lease_ms / 1000)
    where o.id = any (array(select due.id from due))
    returning o.id, o.workflow_id, o.payload, o.attempts;
end
$fn$;
