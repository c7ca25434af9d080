-- Records events, and everything that an event starts, in the transaction of whoever calls it. No other statement inserts events.
--
-- 1. The rows of `events`, in the order of the array.
-- 2. Whether anybody listens. Most events interest nobody: those cost two steps into an index for each name and project, one for triggers and one
--    for what the versions of graphs listen for besides (`automation_watches`), which is written before any run can be pinned to a version.
-- 3. Starts: a pending enrollment for each enabled automation with that trigger. A worker makes runs of them.
-- 4. Exits, and goals that end runs: a run whose version may end by the event keeps the first that it has not tested, and tests it when it is woken. These runs are
--    locked in the order of their ids, before any step execution.
-- 5. Wakes: an event claims the waits of its contact, once, because the timeout of a wait makes the same conditional update. The signal
--    to the execution goes through the outbox. An event of a key with limits ends only waits of executions that keep them. A wait that asks
--    for data of the event (`where`) is not claimed: it keeps the first event that its run has not tested, and the run, woken, tests it.
-- 6. Goals: an open goal that the event may reach is tested by the bookkeeping of a worker, which waits here for the event, or the event for it.
--
-- The statements see what other transactions have committed until now, and what the caller's statement has changed so far. Callers do this last: it
-- locks runs, step executions and goals, which come after usage counters, contacts and campaigns; several of them in the order of their ids. The
-- planner is held to the indexes: it knows neither the length of the array nor that everybody may wait for the same event, and would
-- read a whole table to find one row.
create or replace function record_events(happened new_event[]) returns integer language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_nestloop = on as $fn$
declare
  starts boolean;
  watched boolean;
  ends boolean := false;
  counts boolean := false;
  wakes boolean := false;
begin
  if cardinality(happened) = 0 then
    return 0;
  end if;

  insert into events (id, project_id, contact_id, email_id, name, data, mail_at, limited_by)
    select e.id, e.project_id, e.contact_id, e.email_id, e.name, e.data, e.mail_at, e.limited_by from unnest(happened) e;

  -- What happens to many contacts at once mostly has one name, which is looked up once. Contacts leave segments that are known by their IDs.
  select coalesce(bool_or(exists (
      select from automations l where l.project_id = e.project_id and l.event_name = e.name and l.enabled)), false),
    coalesce(bool_or(e.name like 'segment.%.exit' or exists (
      select from automation_watches w where w.project_id = e.project_id and w.event_name = e.name)), false)
  into starts, watched
  from unnest(happened) e
  where e.id = (happened[1]).id or e.name <> (happened[1]).name or e.project_id <> (happened[1]).project_id;

  if watched then
    select coalesce(bool_or(w.ends), false), coalesce(bool_or(w.counts), false), coalesce(bool_or(w.waits and exists (
        select from automation_step_runs s
        where s.project_id = e.project_id and s.event_name = e.name and s.status = 'WAITING' and s.outcome is null)), false)
    into ends, counts, wakes
    from unnest(happened) e cross join lateral (
      select bool_or(l.ends) as ends, bool_or(l.counts) as counts, bool_or(l.waits) as waits from automation_watches l
      where l.project_id = e.project_id
        and l.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
      offset 0) w
    where e.id = (happened[1]).id or e.name <> (happened[1]).name or e.project_id <> (happened[1]).project_id
      or e.name like 'segment.%.exit';
  end if;

  if starts then
    insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
      select a.id, e.project_id, e.contact_id, e.id
      from unnest(happened) e cross join lateral (
        select l.id from automations l
        where l.project_id = e.project_id and l.event_name = e.name and l.enabled
        offset 0) a
      where e.contact_id is not null
      on conflict (automation_id, event_id) do nothing;
    if found then
      perform pg_notify('fernpost_arrivals', '');
    end if;
  end if;

  if ends then
    with met as materialized (
      select distinct on (l.id) l.id, e.id as event_id
      from unnest(happened) e cross join lateral (
        select r.id from automation_watches w cross join lateral (
          select a.id from automation_runs a
          where a.automation_id = w.automation_id and a.contact_id = e.contact_id and a.version_id = w.version_id
            and a.status in ('RUNNING', 'WAITING') and (e.limited_by is null or a.limited_by @> array[e.limited_by])
          offset 0) r
        where w.project_id = e.project_id and w.ends
          and w.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
        offset 0) l
      order by l.id, e.id),
    held as materialized (
      select r.id from automation_runs r
      where r.id = any (array(select id from met)) and r.status in ('RUNNING', 'WAITING')
      order by r.id for update),
    leaving as (
      update automation_runs r set due_at = now(), updated_at = now(),
        exit_event_id = least(r.exit_event_id, (select met.event_id from met where met.id = r.id))
      where r.id = any (array(select id from held))
      returning r.seq, 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution,
        (select met.event_id from met where met.id = r.id) as event_id)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select uuidv7(), 'signal:' || execution || ':' || event_id, 'signal', execution,
        jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume', 'input', jsonb_build_object('seq', seq))
      from leaving
      on conflict (dedupe_key) do nothing;
    if found then
      perform pg_notify('fernpost_outbox', '');
    end if;
  end if;

  if wakes then
    with met as materialized (
      select distinct on (w.id) w.id, e.id as event_id
      from unnest(happened) e cross join lateral (
        select s.id from automation_step_runs s
        where s.project_id = e.project_id and s.event_name = e.name and s.contact_id = e.contact_id
          and s.status = 'WAITING' and s.outcome is null
          and (e.limited_by is null
            or exists (select from automation_runs r where r.id = s.run_id and r.limited_by @> array[e.limited_by]))
        offset 0) w
      order by w.id, e.id),
    held as materialized (
      select s.id from automation_step_runs s
      where s.id = any (array(select id from met)) and s.status = 'WAITING' and s.outcome is null
      order by s.id for update),
    claimed as (
      update automation_step_runs s set outcome = case when s.input ->> 'where' is null then 'EVENT' end, updated_at = now(),
        resume_event_id = least(s.resume_event_id, (select met.event_id from met where met.id = s.id))
      where s.id = any (array(select id from held))
      returning s.id, s.run_id, s.seq,
        case when s.outcome is null then ':' || (select met.event_id from met where met.id = s.id) else '' end as untested),
    woken as (
      select uuidv7() as id, c.id || c.untested as step_run_id, c.seq + 1 as seq,
        'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution
      from claimed c cross join lateral (
        select automation_id, contact_id, entry from automation_runs where automation_runs.id = c.run_id offset 0) r)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select id, 'signal:' || execution || ':' || step_run_id, 'signal', execution,
        jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume', 'input', jsonb_build_object('seq', seq))
      from woken
      on conflict (dedupe_key) do nothing;
    if found then
      perform pg_notify('fernpost_outbox', '');
    end if;
  end if;

  if counts then
    with held as materialized (
      select g.run_id from automation_goals g
      where g.check_at is not null and g.run_id = any (array(
        select l.run_id from unnest(happened) e cross join lateral (
          select o.run_id from automation_watches w cross join lateral (
            select a.run_id from automation_goals a
            where a.contact_id = e.contact_id and a.version_id = w.version_id and a.check_at is not null
            offset 0) o
          where w.project_id = e.project_id and w.counts
            and w.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
          offset 0) l))
      order by g.run_id for update)
    update automation_goals g set check_at = now() where g.run_id = any (array(select run_id from held));
  end if;
  return cardinality(happened);
end
$fn$;
