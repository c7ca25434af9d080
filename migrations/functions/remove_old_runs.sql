-- Removes runs of automations that ended before `cutoff`, with their steps, the next of a walk in the order of ids (retention_page); `before` is the first
-- id of that instant. Only removeByAge (src/store/columns.ts) calls it. Returns how many it looked at, and how many it removed. Runs stay that are under
-- way, whose goal is open, whose mail waits, or whose steps saved conditions name (narrowed_filters): mail is found by its step.
--
-- Who has been in an automation is known by its entries, which stay. Sums stay true: the trigger takes deleted runs off the counts by the hour, and the
-- statement that deletes them adds them again; what is counted from rows elsewhere is added up: runs of the automation, and paths by step and day.
create or replace function remove_old_runs(cutoff timestamptz, before uuid, again uuid, most integer, own integer default null)
returns table(walked integer, removed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  page uuid[];
  named text[];
begin
  select p.walked, p.page into walked, page from retention_page('runs', 'automation_runs', before, again, most, own, 'execution_retention_days') p;
  named := array(
    select f.filter #>> '{of,stepId}'
    from narrowed_filters(array(select distinct r.project_id from automation_runs r where r.id = any (page))) f
    where f.filter #>> '{of,stepId}' is not null);
  with gone as (
    delete from automation_runs r
    where r.id = any (page) and r.status not in ('RUNNING', 'WAITING') and coalesce(r.completed_at, r.updated_at) < cutoff
      and not exists (select from automation_goals g where g.run_id = r.id and g.check_at is not null)
      and not exists (
        select from automation_step_runs x
        where x.run_id = r.id and (x.step_id::text = any (named) or exists (
          select from emails m join email_queue q on q.email_id = m.id where m.workflow_step_execution_id = x.id)))
    returning r.*),
  hours as (
    insert into mail_count_changes (project_id, hour, runs_started, runs_completed)
    select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), sum(item.started), sum(item.completed)
    from gone r cross join lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
    where item.at is not null group by 1, 2),
  paths as (
    insert into automation_path_sums as p (automation_id, step_id, day, branch, runs)
    select r.automation_id, x.step_id, (x.started_at at time zone 'UTC')::date, coalesce(x.branch, ''), count(*)
    from gone r join automation_step_runs x on x.run_id = r.id
    where exists (select from automations a where a.id = r.automation_id)
      -- A step that was retried counts once.
      and not (x.status = 'FAILED' and exists (
        select from automation_step_runs again where again.run_id = r.id and again.step_id = x.step_id and again.seq > x.seq))
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (automation_id, step_id, day, branch) do update set runs = p.runs + excluded.runs),
  of_automations as (
    update automations a set removed_runs = a.removed_runs + n.runs
    from (select automation_id, count(*) as runs from gone group by automation_id order by automation_id) n
    where a.id = n.automation_id)
  select count(*) into removed from gone;
  return next;
end
$fn$;
