import { LockMode } from '@mikro-orm/core';
import { notFound } from '../lib/errors.ts';
import { likeText } from '../lib/text.ts';
import { lockRow } from '../store/columns.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import { Template } from '../templates/queries.ts';
import { Automation, AutomationStep, AutomationSwitch, AutomationTransition } from './entity.ts';
import { type AutomationRow, automationRow, type StepRow, stepRow, type TransitionRow, transitionRow } from './rows.ts';
import type { WorkflowBody } from './schema.ts';

/** Which automations a list has, and in which order. */
export interface AutomationFilter {
  search: string | null;
  enabled: boolean | null;
  /** Only the automation that has this step. */
  stepId: string | null;
  sort: 'name' | 'createdAt' | 'updatedAt' | 'steps';
  dir: 'asc' | 'desc';
}

/** An automation of a list. */
interface ListedAutomation extends AutomationRow {
  steps: number;
  executions: number;
  /** The value it is sorted by, as text. */
  place: string;
}

const sortColumns = { name: 'a.name', createdAt: 'a.created_at', updatedAt: 'a.updated_at', steps: 'counted.steps' };
const sortTypes = { name: 'text', createdAt: 'timestamptz', updatedAt: 'timestamptz', steps: 'integer' };

function filtered(projectId: string, { search, enabled, stepId }: AutomationFilter): Query {
  const pattern = search === null ? null : `%${likeText(search)}%`;
  return sql`a.project_id = ${projectId} and (${enabled}::boolean is null or a.enabled = ${enabled})
    and (${pattern}::text is null or a.name ilike ${pattern} or a.description ilike ${pattern})
    and (${stepId}::uuid is null or a.id = (select s.automation_id from automation_steps s where s.id = ${stepId}))`;
}

/** Where a page begins: at an offset, or after the place that a cursor names. */
type PageStart = { offset: number } | { after: { place: string; id: string } };

/** Up to `limit` automations of a page. Executions are counted for those of the page only. */
export async function pageOfAutomations(
  db: Database,
  projectId: string,
  filter: AutomationFilter,
  start: PageStart,
  limit: number,
): Promise<ListedAutomation[]> {
  const [column, type, dir] = [raw(sortColumns[filter.sort]), raw(sortTypes[filter.sort]), raw(filter.dir)];
  const beyond = raw(filter.dir === 'asc' ? '>' : '<');
  const { offset, after } = { offset: 0, after: null, ...start };
  const rows = await db.rows<Pick<ListedAutomation, 'id' | 'steps' | 'executions' | 'place'>>(sql`
    select a.id, counted.steps, ${column}::text as place,
      a.removed_runs + (select count(*)::int from automation_runs r where r.automation_id = a.id) as executions
    from automations a cross join lateral (
      select count(*)::int as steps from automation_steps s where s.automation_id = a.id) counted
    where ${filtered(projectId, filter)} and (${after?.id}::uuid is null
      or (${column}, a.id) ${beyond} (${after?.place}::${type}, ${after?.id}::uuid))
    order by ${column} ${dir}, a.id ${dir} limit ${limit} offset ${offset}`);
  const ids = rows.map(({ id }) => id);
  const found = await db.em.find(Automation, { projectId, id: ids }, { disableIdentityMap: true });
  const automations = new Map(found.map((automation) => [automation.id, automationRow(automation)]));
  return rows.flatMap((row) => {
    const automation = automations.get(row.id);
    return automation === undefined ? [] : { ...automation, ...row };
  });
}

/** How many automations the filter leaves. */
export async function countAutomations(db: Database, projectId: string, filter: AutomationFilter): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from automations a where ${filtered(projectId, filter)}`);
  return row?.total ?? 0;
}

/** One automation of the project, or null. */
export async function findAutomation(db: Database, projectId: string, id: string): Promise<AutomationRow | null> {
  const automation = await db.em.findOne(Automation, { projectId, id }, { disableIdentityMap: true });
  return automation && automationRow(automation);
}

/** Locks an automation of the project against other edits; starts go on. */
export async function lockAutomation(tx: Database, projectId: string, id: string): Promise<AutomationRow | null> {
  await tx.rows(sql`select from automations where project_id = ${projectId} and id = ${id} for no key update`);
  return findAutomation(tx, projectId, id);
}

/** Locks an automation as `lockAutomation` does, for its schedule, which knows no project; null when it is gone. */
export async function lockAutomationOfSchedule(tx: Database, id: string): Promise<Automation | null> {
  await lockRow(tx, 'automations', id);
  return tx.em.findOne(Automation, { id });
}

/** Locks automations of the project so that nobody can start a run either. */
export async function lockAutomationsForDeletion(
  tx: Database,
  projectId: string,
  ids: readonly string[],
): Promise<AutomationRow[]> {
  const lock = { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return (await tx.em.find(Automation, { projectId, id: [...ids] }, lock)).map(automationRow);
}

/** The values of a new automation. */
type NewAutomation = Omit<WorkflowBody, 'enabled' | 'pausedAt' | 'createdAt' | 'updatedAt'>;

/** Writes a new automation, disabled and without steps. */
export async function insertAutomation(tx: Database, automation: NewAutomation): Promise<AutomationRow> {
  const { id, projectId, name, description, triggerType, triggerConfig, allowReentry } = automation;
  const given = { id, projectId, name, description, triggerType, triggerConfig, allowReentry };
  const created = tx.em.create(Automation, given);
  tx.em.create(AutomationSwitch, { automationId: id, enabled: created.enabled });
  await tx.em.flush();
  return automationRow(created);
}

/**
 * Writes what of an automation can be changed; the row must be locked. That it is enabled or disabled is noted, because an event of a
 * contact may be asked about months later. An enabled one keeps the limits of the key that changes it, or none. `reschedules` says that its schedule, or its dates, must follow,
 * `editedBy` whose session it was, null for a key.
 */
export async function updateAutomation(
  tx: Database,
  { id, name, description, triggerType, triggerConfig, enabled, allowReentry }: AutomationRow,
  reschedules: boolean,
  editedBy: string | null,
): Promise<{ row: AutomationRow; scheduleRevision: number }> {
  const automation = await tx.em.findOneOrFail(Automation, { id });
  if (automation.enabled !== enabled) tx.em.create(AutomationSwitch, { automationId: id, enabled });
  const { revision, scheduleRevision } = automation;
  tx.em.assign(automation, {
    ...{ name, description, triggerType, triggerConfig, enabled, allowReentry, editedAt: new Date(), editedBy },
    revision: revision + 1,
    scheduleRevision: scheduleRevision + (reschedules ? 1 : 0),
    ...(enabled && { limitedBy: limitingKey(tx) }),
  });
  await tx.em.flush();
  return { row: automationRow(automation), scheduleRevision: automation.scheduleRevision };
}

/** `markGraphDirty` of an edit, whose automation is locked: answers the new revision. `editedBy` says whose session it was, null for a key. */
export async function reviseGraphOf(
  tx: Database,
  { id, revision: seen }: Pick<AutomationRow, 'id' | 'revision'>,
  editedBy: string | null,
): Promise<number> {
  const [now, revision] = [new Date(), seen + 1];
  const edit = { graphDirty: true, revision, editedAt: now, editedBy, updatedAt: now };
  await tx.em.nativeUpdate(Automation, { id }, edit);
  return revision;
}

/** Says that the graph has changed: the next start pins a version that has the change. */
export async function markGraphDirty(tx: Database, id: string): Promise<void> {
  await tx.em.nativeUpdate(Automation, { id }, { graphDirty: true });
}

/** Deletes automations with everything of them; their mail stays without the reference. Answers how many. */
export async function deleteAutomations(tx: Database, ids: readonly string[]): Promise<number> {
  await tx.count(sql`
    update emails e set workflow_execution_id = null, workflow_step_execution_id = null
    from automation_step_runs x join automation_runs r on r.id = x.run_id
    where r.automation_id = any(${ids}::uuid[]) and e.workflow_step_execution_id = x.id`);
  return tx.em.nativeDelete(Automation, { id: [...ids] });
}

/** The steps of an automation in the order they were made, each with the name of its template. */
export async function stepsOf(
  db: Database,
  automationId: string,
): Promise<(StepRow & { templateName: string | null })[]> {
  const inOrder = { orderBy: { createdAt: 'asc', id: 'asc' }, disableIdentityMap: true } as const;
  const steps = (await db.em.find(AutomationStep, { automationId }, inOrder)).map(stepRow);
  const ids = steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await db.em.find(Template, { id: ids }, { fields: ['name'], disableIdentityMap: true });
  const names = new Map(templates.map(({ id, name }) => [id, name]));
  return steps.map((step) => ({ ...step, templateName: names.get(step.templateId ?? '') ?? null }));
}

/** The transitions of an automation in the order in which they are tried. */
export async function transitionsOf(db: Database, automationId: string): Promise<TransitionRow[]> {
  const inOrder = { orderBy: { priority: 'asc', createdAt: 'asc', id: 'asc' }, disableIdentityMap: true } as const;
  return (await db.em.find(AutomationTransition, { automationId }, inOrder)).map(transitionRow);
}

/** The automation that was asked for. @throws 404 WORKFLOW_NOT_FOUND */
export function found(automation: AutomationRow | null, id: string): AutomationRow {
  if (automation === null) throw notFound('workflow', id);
  return automation;
}

/** The row a statement wrote. */
export function written<Row>(row: Row | null): Row {
  if (row === null) throw new Error('Postgres did not answer with the row it wrote');
  return row;
}
