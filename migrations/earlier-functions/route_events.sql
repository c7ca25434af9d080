-- Events start automations and end waits in the transaction of whoever writes them, by whatever statement. Most statements write
-- events that nobody listens for: those cost two steps into an index for each name and project. The planner is held to that: it does
-- not know the size of a transition table, and where everybody waits for the same event it would read the whole table to find one row.
-- An event of a key with limits ends only waits of executions that keep them.
-- A wait is claimed by the first event; the timeout makes the same conditional update. Rows are locked in the order of their ids, so
-- that two statements never deadlock.
create or replace function route_events() returns trigger language plpgsql
  set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  starts boolean;
  wakes boolean;
begin
  select coalesce(bool_or(a.project_id is not null), false), coalesce(bool_or(w.project_id is not null), false)
  into starts, wakes
  from (select distinct e.project_id, e.name from came e where e.contact_id is not null) told
    left join lateral (
      select l.project_id from automations l
      where l.project_id = told.project_id and l.event_name = told.name and l.enabled limit 1) a on true
    left join lateral (
      select s.project_id from automation_step_runs s
      where s.project_id = told.project_id and s.event_name = told.name and s.status = 'WAITING'
        and s.outcome is null limit 1) w on true;

  if starts then
    insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
      select a.id, e.project_id, e.contact_id, e.id
      from came e cross join lateral (
        select l.id from automations l
        where l.project_id = e.project_id and l.event_name = e.name and l.enabled
        offset 0) a
      where e.contact_id is not null
      on conflict (automation_id, event_id) do nothing;
    if found then
      perform pg_notify('fernpost_arrivals', '');
    end if;
  end if;

  if not wakes then
    return null;
  end if;
  with met as materialized (
    select distinct on (w.id) w.id, e.id as event_id
    from came e cross join lateral (
      select s.id from automation_step_runs s
      where s.project_id = e.project_id and s.event_name = e.name and s.contact_id = e.contact_id
        and s.status = 'WAITING' and s.outcome is null
        and (e.limited_by is null
          or exists (select from automation_runs r where r.id = s.run_id and r.limited_by @> array[e.limited_by]))
      offset 0) w
    order by w.id, e.created_at, e.id),
  held as materialized (
    select s.id from automation_step_runs s
    where s.id = any (array(select id from met)) and s.status = 'WAITING' and s.outcome is null
    order by s.id for update),
  claimed as (
    update automation_step_runs s set outcome = 'EVENT', updated_at = now(), resume_event_id = (
      select met.event_id from met where met.id = s.id)
    where s.id = any (array(select id from held))
    returning s.id, s.run_id, s.seq),
  woken as (
    select uuidv7() as id, c.id as step_run_id, c.seq + 1 as seq,
      'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution
    from claimed c cross join lateral (
      select automation_id, contact_id, entry from automation_runs where automation_runs.id = c.run_id offset 0) r)
  insert into outbox (id, dedupe_key, kind, workflow_id, payload)
    select id, 'signal:' || execution || ':' || step_run_id, 'signal', execution,
      jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume',
        'input', jsonb_build_object('seq', seq))
    from woken
    on conflict (dedupe_key) do nothing;
  if found then
    perform pg_notify('fernpost_outbox', '');
  end if;
  return null;
end
$fn$;

create or replace trigger events_routed after insert on events referencing new table as came
  for each statement execute function route_events();
