-- The filters of what is saved that ask for some events or mail of a contact only, or how often (`where`, `times`, `of`, `link`): those of segments, of campaigns
-- that are not sent yet, of schedules, and of CONDITION steps, exits and goals as they are edited and as the contacts inside, or whose goal is open, know them. The last event of a name does
-- not decide them, so that retention keeps all that they look at.
create or replace function narrowed_filters(projects uuid[]) returns table(project_id uuid, filter jsonb) language sql stable as $fn$
  with steps (project_id, config) as (
    select a.project_id, s.config
    from automations a join automation_steps s on s.automation_id = a.id
    where a.project_id = any (projects)
      and (s.type = 'CONDITION' and s.config ->> 'mode' in ('tree', 'multi') or s.type = 'TRIGGER' and s.config ?| array['exits', 'goal'])
    union all
    select pinned.project_id, pinned.config
    from (
      select a.id, a.project_id, v.id as version, step.value -> 'config' as config
      from automations a join automation_versions v on v.automation_id = a.id
        cross join lateral jsonb_array_elements(v.graph -> 'steps') step (value)
      where a.project_id = any (projects) and (step.value ->> 'type' = 'CONDITION' and step.value #>> '{config,mode}' in ('tree', 'multi')
        or step.value ->> 'type' = 'TRIGGER' and step.value -> 'config' ?| array['exits', 'goal'])
      -- Contacts are looked for only where there is something to keep for them.
      offset 0) pinned
    where exists (
      select from automation_runs r
      where r.automation_id = pinned.id and r.status in ('RUNNING', 'WAITING') and pinned.version in (r.version_id, r.next_version_id))
      or exists (select from automation_goals g where g.version_id = pinned.version and g.check_at is not null))
  select c.project_id, f.filter
  from (
    select s.project_id, s.condition from segments s where s.project_id = any (projects)
    union all
    select k.project_id, k.audience_condition from campaigns k where k.project_id = any (projects) and k.status in ('DRAFT', 'SCHEDULED')
    union all
    select a.project_id, a.trigger_config -> 'audienceCondition' from automations a where a.project_id = any (projects)
    union all
    select s.project_id, s.config -> 'condition' from steps s where s.config ->> 'mode' = 'tree'
    union all
    select s.project_id, jsonb_path_query(s.config, 'lax $.branches[*].condition') from steps s where s.config ->> 'mode' = 'multi'
    union all
    select s.project_id, jsonb_path_query(s.config, 'lax $.exits[*].on.condition') from steps s where s.config ? 'exits'
    union all
    select s.project_id, s.config #> '{goal,on,condition}' from steps s where s.config ? 'goal') c (project_id, condition)
  cross join lateral jsonb_path_query(
    -- Steps that are being edited may have anything in their conditions.
    c.condition, 'strict $.** ? (@.field.type() == "string" && (exists(@.where) || exists(@.times) || exists(@.of) || exists(@.link)))') f (filter)
  where jsonb_typeof(c.condition) = 'object'
$fn$;
