import { type Sql, statement } from '../core/database/sql.ts';
import {
  type AutomationRow,
  automationColumns,
  isActive,
  type StepRow,
  stepColumns,
  type TransitionRow,
  transitionColumns,
} from './rows.ts';

const find = statement(
  'automations.find',
  `select ${automationColumns} from automations a where a.project_id = $1 and a.id = $2`,
);
const lock = statement(
  'automations.lock',
  `select ${automationColumns} from automations a where a.project_id = $1 and a.id = $2 for no key update`,
);
const lockForDeletion = statement(
  'automations.lock_for_deletion',
  `select ${automationColumns} from automations a where a.project_id = $1 and a.id = any($2::uuid[]) order by a.id
   for update`,
);

/** One automation of the project, or null. */
export function findAutomation(sql: Sql, projectId: string, id: string): Promise<AutomationRow | null> {
  return sql.row<AutomationRow>(find, [projectId, id]);
}

/** Locks an automation of the project against other edits; starts go on. */
export function lockAutomation(sql: Sql, projectId: string, id: string): Promise<AutomationRow | null> {
  return sql.row<AutomationRow>(lock, [projectId, id]);
}

/** Locks automations of the project so that nobody can start a run either. */
export function lockAutomationsForDeletion(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<AutomationRow[]> {
  return sql.rows<AutomationRow>(lockForDeletion, [projectId, ids]);
}

const insert = statement(
  'automations.insert',
  `insert into automations as a (id, project_id, name, description, trigger_type, trigger_config, allow_reentry)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7) returning ${automationColumns}`,
);

/** What a new automation is made of. */
export interface NewAutomation {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  triggerType: AutomationRow['triggerType'];
  triggerConfig: Record<string, unknown> | null;
  allowReentry: boolean;
}

/** Writes a new automation, disabled and without steps. */
export async function insertAutomation(sql: Sql, automation: NewAutomation): Promise<AutomationRow> {
  const { id, projectId, name, description, triggerType, triggerConfig, allowReentry } = automation;
  return written(
    await sql.row<AutomationRow>(insert, [
      id,
      projectId,
      name,
      description,
      triggerType,
      triggerConfig && JSON.stringify(triggerConfig),
      allowReentry,
    ]),
  );
}

const update = statement(
  'automations.update',
  `update automations a set name = $2, description = $3, trigger_type = $4, trigger_config = $5::jsonb, enabled = $6,
     allow_reentry = $7, schedule_revision = schedule_revision + $8, updated_at = now(), revision = revision + 1,
     edited_at = now(), edited_by = $9
   where a.id = $1 returning ${automationColumns}, schedule_revision as "scheduleRevision"`,
);

/**
 * Writes what of an automation can be changed; the row must be locked. `reschedules` says that its schedule must follow,
 * `editedBy` whose session it was, null for a key.
 */
export async function updateAutomation(
  sql: Sql,
  { id, name, description, triggerType, triggerConfig, enabled, allowReentry }: AutomationRow,
  reschedules: boolean,
  editedBy: string | null,
): Promise<AutomationRow & { scheduleRevision: number }> {
  return written(
    await sql.row<AutomationRow & { scheduleRevision: number }>(update, [
      id,
      name,
      description,
      triggerType,
      triggerConfig && JSON.stringify(triggerConfig),
      enabled,
      allowReentry,
      reschedules ? 1 : 0,
      editedBy,
    ]),
  );
}

const markDirty = statement('automations.mark_dirty', 'update automations set graph_dirty = true where id = $1');
const reviseGraph = statement(
  'automations.revise_graph',
  `update automations set graph_dirty = true, updated_at = now(), revision = revision + 1, edited_at = now(), edited_by = $2
   where id = $1 returning revision`,
);

/** `markGraphDirty` of an edit: answers the new revision. `editedBy` says whose session it was, null for a key. */
export async function reviseGraphOf(sql: Sql, id: string, editedBy: string | null): Promise<number> {
  return written(await sql.row<{ revision: number }>(reviseGraph, [id, editedBy])).revision;
}

/** Says that the graph has changed: the next start pins a version that has the change. */
export async function markGraphDirty(sql: Sql, id: string): Promise<void> {
  await sql.count(markDirty, [id]);
}

const active = statement(
  'automations.has_active',
  `select exists (select from automation_runs where automation_id = any($1::uuid[]) and ${isActive}) as active`,
);
const activeAt = statement(
  'automations.has_active_at',
  `select exists (select from automation_runs
     where automation_id = $1 and current_step_id = any($2::uuid[]) and ${isActive}) as active`,
);

/** Whether anybody is inside one of the automations. */
export async function hasActiveRuns(sql: Sql, ids: readonly string[]): Promise<boolean> {
  return (await sql.row<{ active: boolean }>(active, [ids]))?.active ?? false;
}

/** Whether anybody stands at one of the steps. */
export async function hasActiveRunsAt(sql: Sql, id: string, stepIds: readonly string[]): Promise<boolean> {
  return (await sql.row<{ active: boolean }>(activeAt, [id, stepIds]))?.active ?? false;
}

/** Deletes automations with everything of them; their mail stays without the reference. Answers how many. */
export async function deleteAutomations(sql: Sql, ids: readonly string[]): Promise<number> {
  await sql.count(
    `update emails e set workflow_execution_id = null, workflow_step_execution_id = null
     from automation_step_runs x join automation_runs r on r.id = x.run_id
     where r.automation_id = any($1::uuid[]) and e.workflow_step_execution_id = x.id`,
    [ids],
  );
  return sql.count('delete from automations where id = any($1::uuid[])', [ids]);
}

const steps = statement(
  'automations.steps',
  `select ${stepColumns}, p.name as "templateName" from automation_steps s left join templates p on p.id = s.template_id
   where s.automation_id = $1 order by s.created_at, s.id`,
);
const transitions = statement(
  'automations.transitions',
  `select ${transitionColumns} from automation_transitions t where t.automation_id = $1
   order by t.priority, t.created_at, t.id`,
);

/** The steps of an automation in the order they were made, each with the name of its template. */
export function stepsOf(sql: Sql, automationId: string): Promise<(StepRow & { templateName: string | null })[]> {
  return sql.rows(steps, [automationId]);
}

/** The transitions of an automation in the order in which they are tried. */
export function transitionsOf(sql: Sql, automationId: string): Promise<TransitionRow[]> {
  return sql.rows<TransitionRow>(transitions, [automationId]);
}

/** The row a statement wrote. */
export function written<Row>(row: Row | null): Row {
  if (row === null) throw new Error('Postgres did not answer with the row it wrote');
  return row;
}
