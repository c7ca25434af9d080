import { type Condition, parseCondition } from '../lib/conditions/condition.ts';
import { ConditionFault } from '../lib/conditions/dates.ts';
import { mentionsEvent, mentionsField } from '../lib/conditions/segments.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { refusing } from './conditions.ts';

/** A segment, campaign or workflow that relies on something. */
export interface Use {
  id: string;
  name: string;
}

/** Everything in a project that relies on a field or an event. */
export interface Uses {
  segments: Use[];
  campaigns: Use[];
  workflows: Use[];
}

/** Returns everything that relies on a contact field: `data.plan`, `email`. Campaigns that are sent or cancelled do not count. */
export async function usesOfField(db: Database, projectId: string, field: string): Promise<Uses> {
  const mentions = (condition: Condition) => mentionsField(condition, field);
  const [asking, campaigns, workflows] = await Promise.all([
    usesInConditions(db, projectId, mentions),
    // A condition that came with another type of audience is stored as it was sent, and has no effect.
    db.rows<Use & { condition: unknown }>(sql`select id, name, audience_condition as condition from campaigns
        where project_id = ${projectId} and audience_type = 'FILTERED' and audience_condition is not null
          and status not in ('SENT', 'CANCELLED')
        order by created_at, id`),
    automationsUsingField(db, projectId, field),
  ]);
  return {
    segments: asking.segments,
    campaigns: campaigns.filter(({ condition }) => mentions(refusing(() => parseCondition(condition)))).map(use),
    workflows: together(workflows, asking.workflows),
  };
}

/** Returns everything that relies on an event: conditions that ask for it, and workflows that it starts or that wait for it. */
export async function usesOfEvent(db: Database, projectId: string, name: string): Promise<Uses> {
  const [asking, workflows] = await Promise.all([
    usesInConditions(db, projectId, (condition) => mentionsEvent(condition, name)),
    name.includes('\0')
      ? []
      : db.rows<Use>(sql`
          select a.id, a.name from automations a
          where a.project_id = ${projectId} and (a.event_name = ${name} or exists (
            select from automation_steps s
            where s.automation_id = a.id and (s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = ${name}
              or s.type = 'TRIGGER' and jsonb_path_exists(
                s.config, 'lax $.* ? (exists(@.on)).on ? (@.event == $name)', jsonb_build_object('name', ${name}::text)))))
          order by a.created_at, a.id`),
  ]);
  return { segments: asking.segments, campaigns: [], workflows: together(workflows, asking.workflows) };
}

/** Refuses to delete what is in use, with the first five names. @throws bare 400 */
export function refuseInUse(name: string, { segments, campaigns, workflows }: Uses): void {
  const uses = [
    ...segments.map((segment) => `segment "${segment.name}"`),
    ...campaigns.map((campaign) => `campaign "${campaign.name}"`),
    ...workflows.map((workflow) => `workflow "${workflow.name}"`),
  ];
  if (uses.length > 0) throw bareBadRequest(`"${name}" is in use by ${uses.slice(0, 5).join(', ')}`);
}

// Every condition tree of the draft of an automation `a`: whom its trigger enrolls, its steps, exits and goal.
const treesOfAutomation = raw(`(
  select a.trigger_config -> 'audienceCondition' as tree where a.trigger_type in ('SCHEDULE', 'CONTACT_CREATED')
  union all
  select t.tree from automation_steps s cross join lateral (
    select s.config -> 'condition' as tree where s.type = 'CONDITION' and s.config ->> 'mode' = 'tree'
    union all select jsonb_path_query(s.config, 'lax $.branches[*] ? (!exists(@.operator)).condition')
      where s.type = 'CONDITION' and s.config ->> 'mode' = 'multi'
    union all select jsonb_path_query(s.config, 'lax $.exits[*].on.condition') where s.type = 'TRIGGER'
    union all select jsonb_path_query(s.config, 'lax $.goal.on.condition') where s.type = 'TRIGGER'
    union all select jsonb_path_query(s.config, 'lax $.audienceCondition') where s.type = 'TRIGGER') t
  where s.automation_id = a.id)`);

/**
 * The automations whose schedule enrolls a segment, or that ask for it in a condition or leave by it; without those that the key `except`
 * has enabled.
 */
export function automationsUsingSegment(
  db: Database,
  projectId: string,
  segmentId: string,
  except: string | null = null,
): Promise<(Use & { enrolls: boolean })[]> {
  return db.rows<Use & { enrolls: boolean }>(sql`
    select a.id, a.name, enrolls from automations a
      cross join lateral (select a.trigger_type = 'SCHEDULE' and coalesce(a.trigger_config ->> 'segmentId' = ${segmentId}, false) as enrolls) schedule
    where a.project_id = ${projectId} and (${except}::uuid is null or a.limited_by is distinct from ${except}::uuid) and (enrolls or exists (
      select from ${treesOfAutomation} asking cross join lateral jsonb_path_query(asking.tree, 'strict $.** ? (exists(@.field))') f (filter)
      where lower(f.filter ->> 'field') = 'segment.' || lower(${segmentId}))
      or exists (select from automation_steps s where s.automation_id = a.id and s.type = 'TRIGGER'
        and jsonb_path_exists(s.config, 'lax $.* ? (exists(@.on)).on ? (@.leavesSegment == $id)', jsonb_build_object('id', lower(${segmentId})))))
    order by a.created_at, a.id`);
}

/** The segments whose condition passes a test, and the automations that have such a one in their steps. */
async function usesInConditions(
  db: Database,
  projectId: string,
  test: (condition: Condition) => boolean,
): Promise<Pick<Uses, 'segments' | 'workflows'>> {
  const rows = await db.rows<Use & { kind: 'segment' | 'workflow'; condition: unknown }>(sql`
    select kind, id, name, condition
    from (
      select 'segment' as kind, id, name, condition, created_at from segments where project_id = ${projectId} and condition is not null
      union all
      select 'workflow', a.id, a.name, trees.tree, a.created_at
      from automations a cross join lateral ${treesOfAutomation} trees
      where a.project_id = ${projectId} and trees.tree is not null) asking
    order by created_at, id`);
  const found = rows.filter(({ kind, condition }) => {
    const tree = kind === 'segment' ? refusing(() => parseCondition(condition)) : readable(condition);
    return tree !== null && test(tree);
  });
  return {
    segments: found.filter(({ kind }) => kind === 'segment').map(use),
    workflows: found.filter(({ kind }) => kind === 'workflow').map(use),
  };
}

const use = ({ id, name }: Use): Use => ({ id, name });

function together(...lists: Use[][]): Use[] {
  return [...new Map(lists.flat().map((use) => [use.id, use])).values()];
}

// A CONDITION, a WAIT_UNTIL or the trigger DATE asks for a field, an UPDATE_CONTACT writes it.
async function automationsUsingField(db: Database, projectId: string, field: string): Promise<Use[]> {
  if (field.includes('\0')) return [];
  const key = field.startsWith('data.') ? field.slice('data.'.length) : '';
  const names = key === '' ? [`contact.${field}`] : [field, `contact.${field}`];
  return db.rows<Use>(sql`
    select a.id, a.name from automations a
    where a.project_id = ${projectId} and exists (
      select from automation_steps s where s.automation_id = a.id and (
        s.type in ('CONDITION', 'WAIT_UNTIL', 'TRIGGER') and s.config ->> 'field' = any(${names}::text[])
        or s.type = 'UPDATE_CONTACT' and (s.config -> 'updates' ? ${key} or s.config -> 'data' ? ${key})))
    order by a.created_at, a.id`);
}

// Drafts may hold conditions that are not finished, which ask for nothing yet.
function readable(condition: unknown): Condition | null {
  try {
    return parseCondition(condition, true);
  } catch (error) {
    if (error instanceof ConditionFault) return null;
    throw error;
  }
}
