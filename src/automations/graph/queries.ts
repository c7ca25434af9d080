import { type Database, sql } from '../../store/sql.ts';
import { Template } from '../../templates/queries.ts';
import { AutomationStep, AutomationTransition } from '../entity.ts';
import { written } from '../queries.ts';
import { type StepRow, stepColumns, type TransitionRow, transitionColumns } from '../rows.ts';
import type { GraphStep, GraphTransition } from './graph.ts';

/** A step to be written. */
export type NewStep = GraphStep & Pick<StepRow, 'position' | 'note'>;

/** Writes new steps of an automation. */
export function insertSteps(tx: Database, automationId: string, steps: readonly NewStep[]): Promise<StepRow[]> {
  return tx.rows<StepRow>(sql`
    insert into automation_steps as s (id, automation_id, type, name, position, config, template_id, note)
    select id, ${automationId}::uuid, type, name, position, config, "templateId", note
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as r (
      id uuid, type text, name text, position jsonb, config jsonb, "templateId" uuid, note text)
    returning ${stepColumns}`);
}

/** Writes what of steps can be changed. */
export function updateSteps(tx: Database, automationId: string, steps: readonly NewStep[]): Promise<StepRow[]> {
  return tx.rows<StepRow>(sql`
    update automation_steps s set name = w.name, position = w.position, config = w.config, template_id = w."templateId",
      note = w.note, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as w (
      id uuid, name text, position jsonb, config jsonb, "templateId" uuid, note text)
    where s.automation_id = ${automationId} and s.id = w.id
    returning ${stepColumns}`);
}

/** Deletes steps with the transitions from and to them. */
export function deleteSteps(tx: Database, automationId: string, ids: readonly string[]): Promise<number> {
  return tx.em.nativeDelete(AutomationStep, { automationId, id: [...ids] });
}

/** Writes new transitions of an automation. */
export function insertTransitions(
  tx: Database,
  automationId: string,
  transitions: readonly GraphTransition[],
): Promise<TransitionRow[]> {
  return tx.rows<TransitionRow>(sql`
    insert into automation_transitions as t (id, automation_id, from_step_id, to_step_id, branch, wait_outcome, priority)
    select id, ${automationId}::uuid, "fromStepId", "toStepId", branch, "waitOutcome", priority
    from jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb) as r (
      id uuid, "fromStepId" uuid, "toStepId" uuid, branch text, "waitOutcome" text, priority integer)
    returning ${transitionColumns}`);
}

/** `insertTransitions` of one. */
export async function insertTransition(
  tx: Database,
  automationId: string,
  transition: GraphTransition,
): Promise<TransitionRow> {
  return written((await insertTransitions(tx, automationId, [transition]))[0] ?? null);
}

/** Lets every transition that leads to a step lead to another one. */
export async function redirect(tx: Database, toStepId: string, insteadTo: string): Promise<void> {
  await tx.em.nativeUpdate(AutomationTransition, { toStepId }, { toStepId: insteadTo, updatedAt: new Date() });
}

/** Lets one transition lead to another step. */
export async function redirectOne(tx: Database, transitionId: string, toStepId: string): Promise<void> {
  await tx.em.nativeUpdate(AutomationTransition, { id: transitionId }, { toStepId, updatedAt: new Date() });
}

/** Deletes transitions. */
export async function deleteTransitions(tx: Database, automationId: string, ids: readonly string[]): Promise<void> {
  await tx.em.nativeDelete(AutomationTransition, { automationId, id: [...ids] });
}

/** Which of the ids are templates of the project. */
export async function templatesAmong(db: Database, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.em.find(Template, { projectId, id: [...ids] }, { fields: ['id'] });
  return new Set(rows.map(({ id }) => id));
}

/** `templatesAmong`; the templates cannot be deleted until the transaction ends. */
export async function holdTemplates(tx: Database, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.rows<{ id: string }>(sql`
    select id from templates where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share`);
  return new Set(rows.map(({ id }) => id));
}
