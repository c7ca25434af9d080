import { type Sql, statement } from '../db/sql.ts';

/** An automation that relies on something. */
export interface AutomationUse {
  id: string;
  name: string;
}

const event = statement(
  'automations.using_event',
  `select a.id, a.name from automations a
   where a.project_id = $1 and (a.event_name = $2 or exists (
     select from automation_steps s
     where s.automation_id = a.id and s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = $2))
   order by a.created_at, a.id`,
);

/** The automations that an event starts, or that wait for it in a step. */
export function automationsUsingEvent(sql: Sql, projectId: string, eventName: string): Promise<AutomationUse[]> {
  return eventName.includes('\0') ? Promise.resolve([]) : sql.rows<AutomationUse>(event, [projectId, eventName]);
}

const field = statement(
  'automations.using_field',
  `select a.id, a.name from automations a
   where a.project_id = $1 and exists (
     select from automation_steps s where s.automation_id = a.id and (
       s.type = 'CONDITION' and s.config ->> 'field' = any($2::text[])
       or s.type = 'UPDATE_CONTACT' and (s.config -> 'updates' ? $3 or s.config -> 'data' ? $3)))
   order by a.created_at, a.id`,
);

/** The automations with a CONDITION that asks for a contact's field, or an UPDATE_CONTACT that writes it: `data.plan`, `email`. */
export function automationsUsingField(sql: Sql, projectId: string, contactField: string): Promise<AutomationUse[]> {
  if (contactField.includes('\0')) return Promise.resolve([]);
  const key = contactField.startsWith('data.') ? contactField.slice('data.'.length) : '';
  return sql.rows<AutomationUse>(field, [
    projectId,
    key === '' ? [`contact.${contactField}`] : [contactField, `contact.${contactField}`],
    key,
  ]);
}

/** A step that sends a template. */
export interface TemplateStep {
  id: string;
  name: string;
  type: string;
  workflowId: string;
  workflowName: string;
}

const templateSteps = statement(
  'automations.template_steps',
  `select s.id, s.name, s.type, a.id as "workflowId", a.name as "workflowName"
   from automation_steps s join automations a on a.id = s.automation_id
   where s.template_id = any($1::uuid[]) order by a.created_at, a.id, s.created_at, s.id`,
);

/** The steps that refer to one of the templates. */
export function stepsUsingTemplates(sql: Sql, ids: readonly string[]): Promise<TemplateStep[]> {
  return sql.rows<TemplateStep>(templateSteps, [ids]);
}

// Whoever is inside sends by the graph it is pinned to, whatever became of the steps since.
const pinnedSteps = statement(
  'automations.pinned_template_steps',
  `select count(distinct step ->> 'id')::int as steps
   from automation_versions v cross join lateral jsonb_array_elements(v.graph -> 'steps') step
   where v.automation_id in (select id from automations where project_id = $1)
     and step ->> 'templateId' = any($2::text[])
     and exists (select from automation_runs r where r.automation_id = v.automation_id
       and r.status in ('RUNNING', 'WAITING') and v.id in (r.version_id, r.next_version_id))`,
);

/** How many steps of graphs that active runs are pinned to refer to one of the templates. */
export async function pinnedStepsUsingTemplates(sql: Sql, projectId: string, ids: readonly string[]): Promise<number> {
  return (await sql.row<{ steps: number }>(pinnedSteps, [projectId, ids]))?.steps ?? 0;
}

const segment = statement(
  'automations.using_segment',
  `select a.id, a.name from automations a
   where a.project_id = $1 and a.trigger_type = 'SCHEDULE' and a.trigger_config ->> 'segmentId' = $2
   order by a.created_at, a.id`,
);

/** The automations whose schedule lets a segment in. */
export function automationsUsingSegment(sql: Sql, projectId: string, segmentId: string): Promise<AutomationUse[]> {
  return sql.rows<AutomationUse>(segment, [projectId, segmentId]);
}
