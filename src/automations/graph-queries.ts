import { type Sql, statement } from '../core/database/sql.ts';
import { written } from './queries.ts';
import { type StepRow, stepColumns, type TransitionRow, transitionColumns } from './rows.ts';

/** A step to be written. */
export type NewStep = Pick<StepRow, 'id' | 'automationId' | 'type' | 'name' | 'position' | 'config' | 'templateId'>;

const insertSteps = statement(
  'automations.insert_steps',
  `insert into automation_steps as s (id, automation_id, type, name, position, config, template_id)
   select id, "automationId", type, name, position, config, "templateId"
   from jsonb_to_recordset($1::jsonb) as r (
     id uuid, "automationId" uuid, type text, name text, position jsonb, config jsonb, "templateId" uuid)
   returning ${stepColumns}`,
);

/** Writes new steps. */
export async function insertStep(sql: Sql, step: NewStep): Promise<StepRow> {
  return written(await sql.row<StepRow>(insertSteps, [JSON.stringify([step])]));
}

/** `insertStep` for many at once. */
export async function insertStepsTogether(sql: Sql, steps: readonly NewStep[]): Promise<void> {
  await sql.count(insertSteps, [JSON.stringify(steps)]);
}

const update = statement(
  'automations.update_step',
  `update automation_steps s set name = $2, position = $3::jsonb, config = $4::jsonb, template_id = $5, updated_at = now()
   where s.id = $1 returning ${stepColumns}`,
);

/** Writes what of a step can be changed. */
export async function updateStep(
  sql: Sql,
  { id, name, position, config, templateId }: Pick<StepRow, 'id' | 'name' | 'position' | 'config' | 'templateId'>,
): Promise<StepRow> {
  return written(
    await sql.row<StepRow>(update, [id, name, JSON.stringify(position), JSON.stringify(config), templateId]),
  );
}

/** Deletes steps with the transitions from and to them. */
export function deleteSteps(sql: Sql, automationId: string, ids: readonly string[]): Promise<number> {
  return sql.count('delete from automation_steps where automation_id = $1 and id = any($2::uuid[])', [
    automationId,
    ids,
  ]);
}

/** A transition to be written. */
export type NewTransition = Pick<
  TransitionRow,
  'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome' | 'priority'
> & { automationId: string };

const insertTransitions = statement(
  'automations.insert_transitions',
  `insert into automation_transitions as t (id, automation_id, from_step_id, to_step_id, branch, wait_outcome, priority)
   select id, "automationId", "fromStepId", "toStepId", branch, "waitOutcome", priority
   from jsonb_to_recordset($1::jsonb) as r (id uuid, "automationId" uuid, "fromStepId" uuid, "toStepId" uuid, branch text,
     "waitOutcome" text, priority integer)
   returning ${transitionColumns}`,
);

/** Writes a new transition. */
export async function insertTransition(sql: Sql, transition: NewTransition): Promise<TransitionRow> {
  return written(await sql.row<TransitionRow>(insertTransitions, [JSON.stringify([transition])]));
}

/** `insertTransition` for many at once. */
export async function insertTransitionsTogether(sql: Sql, transitions: readonly NewTransition[]): Promise<void> {
  await sql.count(insertTransitions, [JSON.stringify(transitions)]);
}

/** Lets every transition that leads to a step lead to another one. */
export async function redirect(sql: Sql, toStepId: string, insteadTo: string): Promise<void> {
  await sql.count('update automation_transitions set to_step_id = $2, updated_at = now() where to_step_id = $1', [
    toStepId,
    insteadTo,
  ]);
}

/** Lets one transition lead to another step. */
export async function redirectOne(sql: Sql, transitionId: string, toStepId: string): Promise<void> {
  await sql.count('update automation_transitions set to_step_id = $2, updated_at = now() where id = $1', [
    transitionId,
    toStepId,
  ]);
}

/** Deletes a transition; false when the automation has none of this id. */
export async function deleteTransitionRow(sql: Sql, automationId: string, id: string): Promise<boolean> {
  return (
    (await sql.count('delete from automation_transitions where automation_id = $1 and id = $2', [automationId, id])) > 0
  );
}

const knownTemplates = statement(
  'automations.known_templates',
  'select id from templates where project_id = $1 and id = any($2::uuid[])',
);
const heldTemplate = statement(
  'automations.held_template',
  'select id from templates where project_id = $1 and id = $2 for key share',
);

/** Which of the ids are templates of the project. */
export async function templatesAmong(sql: Sql, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await sql.rows<{ id: string }>(knownTemplates, [projectId, ids])).map(({ id }) => id));
}

/** Whether the project has this template; if so it cannot be deleted until the transaction ends. */
export async function holdTemplate(sql: Sql, projectId: string, id: string): Promise<boolean> {
  return (await sql.row(heldTemplate, [projectId, id])) !== null;
}
