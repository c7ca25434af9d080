import type { Database } from '../core/database/sql.ts';
import { decodeCursor, encodeCursor, isInstant } from '../core/lib/cursor.ts';
import {
  badRequest,
  bareBadRequest,
  conflict,
  type FieldProblem,
  invalid,
  invalidField,
  notFound,
} from '../core/lib/errors.ts';
import { isUuid, newId } from '../core/lib/ids.ts';
import { offsetAnswer, offsetPage } from '../core/lib/offset-page.ts';
import { enqueue, type OutboxTicket } from '../core/outbox/enqueue.ts';
import { recordChange } from '../platform/audit/index.ts';
import type { Changed } from './changed.ts';
import { enablingIssues } from './checks.ts';
import type { Graph } from './graph.ts';
import { insertSteps, insertTransitions, templatesAmong, updateSteps } from './graph-queries.ts';
import { type AutomationFilter, countAutomations, pageOfAutomations } from './list-queries.ts';
import {
  deleteAutomations,
  findAutomation,
  hasActiveRuns,
  insertAutomation,
  lockAutomation,
  lockAutomationsForDeletion,
  markGraphDirty,
  stepsOf,
  transitionsOf,
  updateAutomation,
} from './queries.ts';
import { checkRevision, type Edited, type EditTarget, lastEditOf } from './revision.ts';
import { type AutomationRow, workflowBody } from './rows.ts';
import type {
  BulkUpdateWorkflows,
  CreateWorkflow,
  Issue,
  ListWorkflows,
  PatchWorkflow,
  WorkflowBody,
  WorkflowWithGraph,
} from './schema.ts';
import { eventNameOf, scheduleCommand, triggerIssues, triggerStep } from './triggers.ts';

const sorts = ['name', 'createdAt', 'updatedAt', 'steps'] as const;

/** A page of automations, newest first unless asked otherwise; by number, or after a cursor (contract page 2, 3.5). */
export async function listAutomations(db: Database, projectId: string, query: ListWorkflows) {
  const place = query.cursor === undefined ? null : decodeCursor(query.cursor, 4);
  const page = offsetPage({ page: query.page, pageSize: query.limit ?? query.pageSize }, 100);
  // A cursor keeps the sort it was made with, so it says which one that was.
  const [sort, dir] = place ? [place[2], place[3]] : [query.sort, query.dir];
  const filter: AutomationFilter = {
    search: query.search?.trim().replaceAll('\0', '') || null,
    enabled: query.status === 'active' ? true : query.status === 'disabled' ? false : null,
    sort: sorts.find((known) => known === sort) ?? 'createdAt',
    dir: dir === 'asc' ? 'asc' : 'desc',
  };
  if (place && !(isUuid(String(place[1])) && isPlaceOf(filter.sort, String(place[0]))))
    throw badRequest('"cursor" is not a cursor of this list');
  const start = place ? { after: { place: String(place[0]), id: String(place[1]) } } : { offset: page.offset };
  const [rows, total] = await Promise.all([
    pageOfAutomations(db, projectId, filter, start, page.pageSize + 1),
    countAutomations(db, projectId, filter),
  ]);
  const shown = rows.slice(0, page.pageSize);
  const last = shown.at(-1);
  const hasMore = rows.length > page.pageSize;
  const data = shown.map(({ place: _, steps, executions, ...row }) => ({
    ...workflowBody(row),
    _count: { steps, executions },
  }));
  return {
    ...offsetAnswer(data, page, total),
    hasMore,
    cursor: hasMore && last ? encodeCursor([last.place, last.id, filter.sort, filter.dir]) : null,
  };
}

function isPlaceOf(sort: AutomationFilter['sort'], place: string): boolean {
  if (sort === 'name') return !place.includes('\0');
  return sort === 'steps' ? /^\d{1,9}$/.test(place) : isInstant(place);
}

/**
 * Creates a disabled automation with its TRIGGER step.
 * @throws bare 400 for the trigger EVENT without an event, 422 for two different ones
 */
export async function createAutomation(db: Database, projectId: string, body: CreateWorkflow): Promise<WorkflowBody> {
  const triggerConfig = newTriggerConfig(body);
  return db.transaction(async (tx) => {
    const automation = await insertAutomation(tx, {
      id: newId(),
      projectId,
      name: body.name,
      description: body.description ?? null,
      triggerType: body.triggerType,
      triggerConfig,
      allowReentry: body.allowReentry,
    });
    const step = { id: newId(), type: 'TRIGGER', templateId: null, note: null, position: { x: 100, y: 100 } } as const;
    await insertSteps(tx, automation.id, [{ ...step, ...triggerStep(automation) }]);
    return workflowBody(automation);
  });
}

function newTriggerConfig({ triggerType, triggerConfig, eventName }: CreateWorkflow): AutomationRow['triggerConfig'] {
  const given = triggerConfig ?? null;
  if (triggerType !== 'EVENT') return given;
  const inConfig = typeof given?.eventName === 'string' ? given.eventName.trim() : '';
  const named = eventName || inConfig;
  if (named === '') throw bareBadRequest('"eventName" is required');
  if (inConfig !== '' && inConfig !== named)
    throw invalidField('triggerConfig.eventName', 'must be the same as "eventName", or absent', 'custom');
  if (eventNameOf({ eventName: named }) === null)
    throw invalidField('triggerConfig.eventName', 'must have at most 255 characters', 'too_big');
  return { ...given, eventName: named };
}

/** One automation with its whole graph, and what enabling it would refuse. @throws 404 */
export function getAutomation(db: Database, projectId: string, id: string): Promise<WorkflowWithGraph> {
  return db.transaction(async (tx) => workflowWithGraph(tx, found(await findAutomation(tx, projectId, id), id)));
}

/** An automation as `getAutomation` answers it. */
export async function workflowWithGraph(db: Database, automation: AutomationRow): Promise<WorkflowWithGraph> {
  const { id } = automation;
  const [steps, transitions] = [await stepsOf(db, id), await transitionsOf(db, id)];
  return {
    ...automation,
    ...(await lastEditOf(db, id)),
    steps: steps.map(({ templateName, ...step }) => ({
      ...step,
      template: step.templateId === null ? null : { id: step.templateId, name: templateName ?? '' },
      outgoingTransitions: transitions.filter((way) => way.fromStepId === step.id),
      incomingTransitions: transitions.filter((way) => way.toStepId === step.id),
    })),
    transitions,
    issues: await issuesOf(db, automation, { steps, transitions }),
  };
}

/** What enabling would refuse, as the entries of a 422. */
export function issuesAsProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues.map(({ stepId, field, message }) => ({
    field: stepId === null ? field : `steps.${stepId}.${field}`,
    message,
    code: 'custom',
  }));
}

/** What enabling would refuse: problems of the trigger, then of the graph. */
export async function issuesOf(db: Database, automation: AutomationRow, graph: Graph): Promise<Issue[]> {
  const named = graph.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await templatesAmong(db, automation.projectId, named);
  const ofTrigger = await triggerIssues(db, automation);
  return [...ofTrigger.map((issue) => ({ stepId: null, ...issue })), ...enablingIssues(graph, templates)];
}

/**
 * Changes an automation (contract page 2, 3.5).
 * @throws 404; 409 for its trigger while it is enabled and has active executions; 412 where the editor has seen another
 * revision; 422 for what keeps it from being enabled
 */
export async function patchAutomation(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  body: PatchWorkflow,
): Promise<Changed<WorkflowBody> & Edited<WorkflowBody>> {
  return db.transaction(async (tx) => {
    const before = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, before, ifMatch);
    const retriggers = body.triggerType !== undefined || body.triggerConfig !== undefined;
    if (retriggers && before.enabled && (await hasActiveRuns(tx, [id])))
      throw conflict(
        'The trigger cannot change while executions are active: cancel them or disable the workflow first',
      );
    const after = changedBy(before, body);
    if (retriggers && after.triggerType === 'EVENT' && eventNameOf(after.triggerConfig) === null)
      throw invalidField('triggerConfig.eventName', 'is required for the trigger EVENT', 'invalid_type');
    await checkEnabling(tx, before, after, retriggers);
    if (retriggers) await followTrigger(tx, after);
    const scheduled = [before, after].some(({ enabled, triggerType }) => enabled && triggerType === 'SCHEDULE');
    const reschedules = scheduled && (retriggers || before.enabled !== after.enabled || before.name !== after.name);
    const row = await updateAutomation(tx, after, reschedules, userId);
    const tickets = reschedules ? [await enqueue(tx, scheduleCommand(row, row.scheduleRevision))] : [];
    const { scheduleRevision: _, ...changed } = row;
    const verb = before.enabled === after.enabled ? 'updated' : after.enabled ? 'enabled' : 'disabled';
    await recordChange(tx, projectId, {
      action: `workflow.${verb}`,
      target: id,
      before: settingsOf(before),
      after: settingsOf(after),
    });
    return { body: workflowBody(changed), revision: row.revision, tickets };
  });
}

function settingsOf({ name, description, triggerType, triggerConfig, enabled, allowReentry }: AutomationRow) {
  return { name, description, triggerType, triggerConfig, enabled, allowReentry };
}

function changedBy(before: AutomationRow, body: PatchWorkflow): AutomationRow {
  const triggerType = body.triggerType ?? before.triggerType;
  const given = body.triggerConfig === undefined ? before.triggerConfig : body.triggerConfig;
  const eventName = typeof given?.eventName === 'string' ? given.eventName.trim() : undefined;
  return {
    ...before,
    name: body.name ?? before.name,
    description: body.description === undefined ? before.description : body.description,
    triggerType,
    triggerConfig: given && (eventName === undefined ? given : { ...given, eventName }),
    enabled: body.enabled ?? before.enabled,
    allowReentry: body.allowReentry ?? before.allowReentry,
  };
}

async function checkEnabling(
  tx: Database,
  before: AutomationRow,
  after: AutomationRow,
  retriggers: boolean,
): Promise<void> {
  if (!after.enabled) return;
  let issues: Issue[] = [];
  if (!before.enabled) {
    const [steps, transitions] = [await stepsOf(tx, after.id), await transitionsOf(tx, after.id)];
    const trigger = triggerStep(after);
    const graph = {
      steps: steps.map((step) => (step.type === 'TRIGGER' ? { ...step, ...trigger } : step)),
      transitions,
    };
    issues = await issuesOf(tx, after, graph);
  } else if (retriggers) issues = (await triggerIssues(tx, after)).map((issue) => ({ stepId: null, ...issue }));
  if (issues.length === 0) return;
  throw invalid(
    issuesAsProblems(issues),
    'GET /workflows/{id} lists under "issues" what keeps the workflow from being enabled.',
  );
}

async function followTrigger(tx: Database, automation: AutomationRow): Promise<void> {
  const step = (await stepsOf(tx, automation.id)).find(({ type }) => type === 'TRIGGER');
  if (step) await updateSteps(tx, automation.id, [{ ...step, ...triggerStep(automation) }]);
  await markGraphDirty(tx, automation.id);
}

/**
 * Deletes automations with everything of them but their mail: all or none.
 * @throws 404 for an unknown id, 409 while executions are active, 412 where another revision was seen
 */
export function deleteAutomationsOf(db: Database, projectId: string, ids: readonly string[], ifMatch = '') {
  return db.transaction(async (tx) => {
    const automations = await lockAutomationsForDeletion(tx, projectId, ids);
    const known = new Set(automations.map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw notFound('workflow', unknown);
    for (const automation of automations) await checkRevision(tx, automation, ifMatch);
    if (await hasActiveRuns(tx, ids))
      throw conflict('A workflow with active executions cannot be deleted: cancel them first');
    const deleted = await deleteAutomations(tx, ids);
    const tickets: OutboxTicket[] = [];
    for (const automation of automations)
      if (automation.triggerType === 'SCHEDULE' && automation.enabled)
        tickets.push(await enqueue(tx, scheduleCommand({ ...automation, enabled: false }, 0)));
    for (const { id, name } of automations)
      await recordChange(tx, projectId, { action: 'workflow.deleted', target: id, before: { name } });
    return { deleted, tickets };
  });
}

/** Deletes several automations, all or none. @throws 404 for an unknown id, 409 while executions are active */
export async function bulkUpdateAutomations(
  db: Database,
  projectId: string,
  body: BulkUpdateWorkflows,
): Promise<Changed<{ deleted: number } | { updated: number }>> {
  const ids = [...new Set(body.ids)];
  if (body.delete === true) {
    const { deleted, tickets } = await deleteAutomationsOf(db, projectId, ids);
    return { body: { deleted }, tickets };
  }
  for (const id of ids) found(await findAutomation(db, projectId, id), id);
  return { body: { updated: 0 }, tickets: [] };
}

/** Copies an automation with its graph, disabled, under the name `<name> (Copy)`. @throws 404 */
export async function duplicateAutomation(db: Database, projectId: string, id: string): Promise<WorkflowBody> {
  return db.transaction(async (tx) => {
    const original = found(await lockAutomation(tx, projectId, id), id);
    const suffix = ' (Copy)';
    const name = `${original.name.slice(0, 255 - suffix.length)}${suffix}`;
    const copy = await insertAutomation(tx, { ...original, id: newId(), name });
    const [steps, transitions] = [await stepsOf(tx, id), await transitionsOf(tx, id)];
    const idOf = new Map(steps.map((step) => [step.id, newId()]));
    const renamed = (stepId: string) => idOf.get(stepId) ?? stepId;
    await insertSteps(
      tx,
      copy.id,
      steps.map((step) => ({ ...step, id: renamed(step.id) })),
    );
    const copied = transitions.map((way) => ({
      ...way,
      id: newId(),
      fromStepId: renamed(way.fromStepId),
      toStepId: renamed(way.toStepId),
    }));
    await insertTransitions(tx, copy.id, copied);
    return workflowBody(copy);
  });
}

/** The automation that was asked for. @throws 404 WORKFLOW_NOT_FOUND */
export function found(automation: AutomationRow | null, id: string): AutomationRow {
  if (automation === null) throw notFound('workflow', id);
  return automation;
}
