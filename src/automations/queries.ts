import { notFound } from '../lib/errors.ts';
import { likeText } from '../lib/text.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import { Automation } from './entity.ts';
import {
  type AutomationRow,
  automationColumns,
  isActive,
  type StepRow,
  stepColumns,
  type TransitionRow,
  transitionColumns,
} from './rows.ts';
import type { WorkflowBody } from './schema.ts';

/** Which automations a list has, and in which order. */
export interface AutomationFilter {
  search: string | null;
  enabled: boolean | null;
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

function filtered(projectId: string, { search, enabled }: AutomationFilter): Query {
  const pattern = search === null ? null : `%${likeText(search)}%`;
  return sql`a.project_id = ${projectId} and (${enabled}::boolean is null or a.enabled = ${enabled})
    and (${pattern}::text is null or a.name ilike ${pattern} or a.description ilike ${pattern})`;
}

/** Where a page begins: at an offset, or after the place that a cursor names. */
type PageStart = { offset: number } | { after: { place: string; id: string } };

/** Up to `limit` automations of a page. Executions are counted for those of the page only. */
export function pageOfAutomations(
  db: Database,
  projectId: string,
  filter: AutomationFilter,
  start: PageStart,
  limit: number,
): Promise<ListedAutomation[]> {
  const [column, type, dir] = [raw(sortColumns[filter.sort]), raw(sortTypes[filter.sort]), raw(filter.dir)];
  const beyond = raw(filter.dir === 'asc' ? '>' : '<');
  const after =
    'after' in start
      ? sql`and (${column}, a.id) ${beyond} (${start.after.place}::${type}, ${start.after.id}::uuid)`
      : raw('');
  return db.rows<ListedAutomation>(sql`
    select ${automationColumns}, counted.steps, ${column}::text as place,
      (select count(*)::int from automation_runs r where r.automation_id = a.id) as executions
    from automations a cross join lateral (
      select count(*)::int as steps from automation_steps s where s.automation_id = a.id) counted
    where ${filtered(projectId, filter)} ${after}
    order by ${column} ${dir}, a.id ${dir} limit ${limit} offset ${'offset' in start ? start.offset : 0}`);
}

/** How many automations the filter leaves. */
export async function countAutomations(db: Database, projectId: string, filter: AutomationFilter): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from automations a where ${filtered(projectId, filter)}`);
  return row?.total ?? 0;
}

/** One automation of the project, or null. */
export function findAutomation(db: Database, projectId: string, id: string): Promise<AutomationRow | null> {
  return db.row<AutomationRow>(sql`
    select ${automationColumns} from automations a where a.project_id = ${projectId} and a.id = ${id}`);
}

/** Locks an automation of the project against other edits; starts go on. */
export function lockAutomation(tx: Database, projectId: string, id: string): Promise<AutomationRow | null> {
  return tx.row<AutomationRow>(sql`
    select ${automationColumns} from automations a where a.project_id = ${projectId} and a.id = ${id} for no key update`);
}

/** Locks automations of the project so that nobody can start a run either. */
export function lockAutomationsForDeletion(
  tx: Database,
  projectId: string,
  ids: readonly string[],
): Promise<AutomationRow[]> {
  return tx.rows<AutomationRow>(sql`
    select ${automationColumns} from automations a where a.project_id = ${projectId} and a.id = any(${ids}::uuid[])
    order by a.id for update`);
}

/** The values of a new automation. */
type NewAutomation = Omit<WorkflowBody, 'enabled' | 'createdAt' | 'updatedAt'>;

/** Writes a new automation, disabled and without steps. */
export async function insertAutomation(tx: Database, automation: NewAutomation): Promise<AutomationRow> {
  const { id, projectId, name, description, triggerType, triggerConfig, allowReentry } = automation;
  return written(
    await tx.row<AutomationRow>(sql`
      with a as (
        insert into automations (id, project_id, name, description, trigger_type, trigger_config, allow_reentry)
        values (${id}, ${projectId}, ${name}, ${description}, ${triggerType}, ${triggerConfig}, ${allowReentry})
        returning *),
      switched as (insert into automation_switches (automation_id, enabled) select a.id, a.enabled from a)
      select ${automationColumns} from a`),
  );
}

/**
 * Writes what of an automation can be changed; the row must be locked. That it is enabled or disabled is noted, because an event of a
 * contact may be asked about months later. An enabled one keeps the limits of the key that changes it, or none. `reschedules` says that its schedule must follow,
 * `editedBy` whose session it was, null for a key.
 */
export async function updateAutomation(
  tx: Database,
  { id, name, description, triggerType, triggerConfig, enabled, allowReentry }: AutomationRow,
  reschedules: boolean,
  editedBy: string | null,
): Promise<AutomationRow & { scheduleRevision: number }> {
  return written(
    await tx.row<AutomationRow & { scheduleRevision: number }>(sql`
      with before as (select enabled from automations where id = ${id}),
      a as (
        update automations set name = ${name}, description = ${description}, trigger_type = ${triggerType},
        trigger_config = ${triggerConfig}, enabled = ${enabled}, allow_reentry = ${allowReentry},
        schedule_revision = schedule_revision + ${reschedules ? 1 : 0}, updated_at = now(), revision = revision + 1,
        edited_at = now(), edited_by = ${editedBy},
        limited_by = case when ${enabled} then ${limitingKey(tx)}::uuid else limited_by end
        where id = ${id} returning *),
      switched as (
        insert into automation_switches (automation_id, enabled)
        select a.id, a.enabled from a, before where a.enabled <> before.enabled)
      select ${automationColumns}, a.schedule_revision as "scheduleRevision" from a`),
  );
}

/** `markGraphDirty` of an edit: answers the new revision. `editedBy` says whose session it was, null for a key. */
export async function reviseGraphOf(tx: Database, id: string, editedBy: string | null): Promise<number> {
  const row = await tx.row<{ revision: number }>(sql`
    update automations set graph_dirty = true, updated_at = now(), revision = revision + 1, edited_at = now(),
      edited_by = ${editedBy}
    where id = ${id} returning revision`);
  return written(row).revision;
}

/** Says that the graph has changed: the next start pins a version that has the change. */
export async function markGraphDirty(tx: Database, id: string): Promise<void> {
  await tx.em.nativeUpdate(Automation, { id }, { graphDirty: true });
}

/** Whether contacts are inside one of the automations; with `stepIds` at one of these steps. */
export async function hasActiveRuns(
  db: Database,
  ids: readonly string[],
  stepIds?: readonly string[],
): Promise<boolean> {
  const atSteps = stepIds === undefined ? raw('') : sql`and current_step_id = any(${stepIds}::uuid[])`;
  const row = await db.row(sql`
    select from automation_runs where automation_id = any(${ids}::uuid[]) and ${isActive} ${atSteps} limit 1`);
  return row !== null;
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
export function stepsOf(db: Database, automationId: string): Promise<(StepRow & { templateName: string | null })[]> {
  return db.rows(sql`
    select ${stepColumns}, p.name as "templateName" from automation_steps s left join templates p on p.id = s.template_id
    where s.automation_id = ${automationId} order by s.created_at, s.id`);
}

/** The transitions of an automation in the order in which they are tried. */
export function transitionsOf(db: Database, automationId: string): Promise<TransitionRow[]> {
  return db.rows<TransitionRow>(sql`
    select ${transitionColumns} from automation_transitions t where t.automation_id = ${automationId}
    order by t.priority, t.created_at, t.id`);
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
