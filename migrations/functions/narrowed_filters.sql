-- The filters of what is saved that ask for some events or mail of a contact only, or how often (`where`, `times`, `of`, `link`): those of segments, of campaigns
-- that are not sent yet, and of schedules. The last event of a name does not decide them, so that retention keeps all that they look at.
create or replace function narrowed_filters(projects uuid[]) returns table(project_id uuid, filter jsonb) language sql stable as $fn$
  select c.project_id, f.filter
  from (
    select s.project_id, s.condition from segments s where s.project_id = any (projects)
    union all
    select k.project_id, k.audience_condition from campaigns k where k.project_id = any (projects) and k.status in ('DRAFT', 'SCHEDULED')
    union all
    select a.project_id, a.trigger_config -> 'audienceCondition' from automations a where a.project_id = any (projects)) c (project_id, condition)
  cross join lateral jsonb_path_query(
    c.condition, 'strict $.** ? (exists(@.where) || exists(@.times) || exists(@.of) || exists(@.link))') f (filter)
  where jsonb_typeof(c.condition) = 'object'
$fn$;
