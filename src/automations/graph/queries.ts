import { type Database, sql } from '../../store/sql.ts';
import { Template } from '../../templates/queries.ts';
import { AutomationStep, AutomationTransition } from '../entity.ts';
import { written } from '../queries.ts';
import { type StepRow, stepRow, type TransitionRow, transitionRow } from '../rows.ts';
import type { GraphStep, GraphTransition } from './graph.ts';

/** A step to be written. */
export type NewStep = GraphStep & Pick<StepRow, 'position' | 'note'>;

/** Writes new steps of an automation. */
export async function insertSteps(tx: Database, automationId: string, steps: readonly NewStep[]): Promise<StepRow[]> {
  const createdAt = new Date();
  const created = steps.map(({ id, type, name, position, config, templateId, note }) => {
    const content = { type, name, position, config, templateId, note };
    return tx.em.create(AutomationStep, { id, automationId, ...content, createdAt, updatedAt: createdAt });
  });
  await tx.em.flush();
  return created.map(stepRow);
}

/** Writes what of steps can be changed. */
export async function updateSteps(tx: Database, automationId: string, steps: readonly NewStep[]): Promise<StepRow[]> {
  const given = new Map(steps.map((step) => [step.id, step]));
  const found = await tx.em.find(AutomationStep, { automationId, id: [...given.keys()] });
  const updatedAt = new Date();
  for (const step of found) {
    const { name, position, config, templateId, note } = given.get(step.id) ?? step;
    tx.em.assign(step, { name, position, config, templateId, note, updatedAt });
  }
  await tx.em.flush();
  return found.map(stepRow);
}

/** Deletes steps with the transitions from and to them. */
export function deleteSteps(tx: Database, automationId: string, ids: readonly string[]): Promise<number> {
  return tx.em.nativeDelete(AutomationStep, { automationId, id: [...ids] });
}

/** Writes new transitions of an automation. */
export async function insertTransitions(
  tx: Database,
  automationId: string,
  transitions: readonly GraphTransition[],
): Promise<TransitionRow[]> {
  const createdAt = new Date();
  const created = transitions.map(({ id, fromStepId, toStepId, branch, waitOutcome, priority }) => {
    const path = { fromStepId, toStepId, branch, waitOutcome, priority };
    return tx.em.create(AutomationTransition, { id, automationId, ...path, createdAt, updatedAt: createdAt });
  });
  await tx.em.flush();
  return created.map(transitionRow);
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
