import { branchNames, canSplice, maxSteps, reachableFrom } from '@posthorn/workflow-graph';
import type { Database } from '../core/database/sql.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../core/lib/errors.ts';
import { isUuid, newId } from '../core/lib/ids.ts';
import { recordChange } from '../platform/audit/index.ts';
import {
  deleteSteps,
  holdTemplates,
  insertSteps,
  insertTransition,
  redirect,
  redirectOne,
  updateSteps,
} from './graph-queries.ts';
import { hasActiveRuns, lockAutomation, reviseGraphOf, stepsOf, transitionsOf, written } from './queries.ts';
import { checkRevision, type Edited, type EditTarget } from './revision.ts';
import type { AutomationRow, StepRow, TransitionRow } from './rows.ts';
import type { CreateStep, InsertStep, PatchStep, StepBody } from './schema.ts';
import { found } from './service.ts';
import { webhookSyntaxError } from './webhook-config.ts';

/** An automation that is being edited: its row is locked, so that edits come one after the other. */
export interface Draft {
  automation: AutomationRow;
  steps: StepRow[];
  transitions: TransitionRow[];
}

/**
 * Runs an edit of a graph in a transaction; the next start sees it.
 * @throws 404, 412 where the editor has seen another revision
 */
export function edit<T>(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  work: (tx: Database, draft: Draft) => Promise<T>,
): Promise<Edited<T>> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
    const draft = { automation, steps: await draftSteps(tx, id), transitions: await transitionsOf(tx, id) };
    const body = await work(tx, draft);
    const revision = await reviseGraphOf(tx, id, userId);
    const change = { before: { revision: automation.revision }, after: { revision } };
    await recordChange(tx, projectId, { action: 'workflow.graph_edited', target: id, ...change });
    return { body, revision };
  });
}

/** The steps of a draft, in the order they were made. */
export async function draftSteps(tx: Database, id: string): Promise<StepRow[]> {
  return (await stepsOf(tx, id)).map(({ templateName: _, ...step }) => step);
}

/**
 * Adds a step (contract page 2, 3.5). With `autoConnect` the newest step that leads nowhere leads to it.
 * @throws 404 for the automation or the template, 400 for a second TRIGGER and for more than 200 steps
 */
export function createStep(target: EditTarget, body: CreateStep): Promise<Edited<StepBody>> {
  return edit(target, async (tx, draft) => {
    const step = await addStep(tx, draft, body, body.position);
    const source = body.autoConnect ? openEnd(draft) : undefined;
    if (source !== undefined) await connect(tx, draft, source.id, step.id, null);
    return step;
  });
}

function connect(tx: Database, { automation }: Draft, fromStepId: string, toStepId: string, branch: string | null) {
  const way = { id: newId(), fromStepId, toStepId, branch, waitOutcome: null, priority: 0 };
  return insertTransition(tx, automation.id, way);
}

function openEnd({ steps, transitions }: Draft): StepRow | undefined {
  return steps.findLast(
    ({ id, type }) => type !== 'EXIT' && type !== 'CONDITION' && transitions.every((way) => way.fromStepId !== id),
  );
}

async function addStep(
  tx: Database,
  { automation, steps }: Draft,
  body: CreateStep | InsertStep,
  position: StepRow['position'],
): Promise<StepRow> {
  if (body.type === 'TRIGGER' && steps.some(({ type }) => type === 'TRIGGER'))
    throw badRequest('This workflow already has its TRIGGER step', { field: 'type' });
  if (steps.length >= maxSteps) throw badRequest(`A workflow has at most ${maxSteps} steps`);
  const content = await checkedContent(tx, automation.projectId, body.type, body, { config: {}, templateId: null });
  const { type, name } = body;
  const note = noteOf(body, null);
  const [step] = await insertSteps(tx, automation.id, [{ id: newId(), type, name, position, note, ...content }]);
  return written(step ?? null);
}

/** The note of a step as a write leaves it: one that the write does not name stays. */
export function noteOf({ note }: { note?: string | null | undefined }, before: string | null): string | null {
  return note === undefined ? before : note || null;
}

/** What a step does. */
export type Content = Pick<StepRow, 'config' | 'templateId'>;

interface GivenContent {
  config?: Record<string, unknown> | undefined;
  templateId?: string | null | undefined;
}

// `stepContent` that also checks the template. @throws 404 for one that is none of the project, 400 as `stepContent`
async function checkedContent(
  tx: Database,
  projectId: string,
  type: StepRow['type'],
  given: GivenContent,
  before: Content,
): Promise<Content> {
  const content = stepContent(type, given, before, (templateId) => {
    if (!isUuid(templateId)) throw notFound('template', templateId);
  });
  const { templateId } = content;
  if (templateId !== null && templateId !== before.templateId)
    if ((await holdTemplates(tx, projectId, [templateId])).size === 0) throw notFound('template', templateId);
  return content;
}

/**
 * Config and template of a step as a write leaves them. Of a SEND_EMAIL both name the same template; `templateId` wins.
 * @throws 400 for a webhook's template that does not parse, 422 for a template's id that is none
 */
export function stepContent(
  type: StepRow['type'],
  given: GivenContent,
  before: Content,
  checkId: (templateId: string) => void = refuseMalformed,
): Content {
  const config = given.config ?? before.config;
  const named = type === 'SEND_EMAIL' ? templateNamed(config) : undefined;
  const templateId = given.templateId === undefined ? (given.config && named) || before.templateId : given.templateId;
  if (templateId !== null && templateId !== before.templateId) checkId(templateId);
  if (type === 'WEBHOOK') refuseSyntax(config);
  if (type !== 'SEND_EMAIL') return { config, templateId };
  const { templateId: _, ...rest } = config;
  return { config: templateId === null ? rest : { ...rest, templateId }, templateId };
}

function refuseMalformed(templateId: string): void {
  if (!isUuid(templateId)) throw invalidField('templateId', 'must be a UUID', 'invalid_string');
}

function templateNamed({ templateId }: Record<string, unknown>): string | undefined {
  return typeof templateId === 'string' && templateId !== '' ? templateId : undefined;
}

function refuseSyntax(config: Record<string, unknown>): void {
  const problem = webhookSyntaxError(config);
  if (problem === null) return;
  const { line, column, message } = problem;
  const field = `config.${problem.field}`;
  throw new AppError(
    400,
    'VALIDATION_ERROR',
    `"${field}" does not parse at line ${line}, column ${column}: ${message}`,
    { details: { field, line, column } },
  );
}

/** Changes a step. @throws 404, 400 for the config of the TRIGGER, 409 for content while executions are active */
export function patchStep(target: EditTarget, stepId: string, body: PatchStep): Promise<Edited<StepBody>> {
  return edit(target, async (tx, draft) => {
    const step = stepIn(draft, stepId);
    const { id, projectId, enabled } = draft.automation;
    if (body.config !== undefined && step.type === 'TRIGGER')
      throw badRequest('The TRIGGER step follows the trigger of the workflow: change that with PATCH /workflows/{id}');
    const changesContent = body.config !== undefined || body.templateId !== undefined;
    if (changesContent && enabled && (await hasActiveRuns(tx, [id])))
      throw conflict(
        'Config and template of a step cannot change while the workflow is enabled and executions are active',
      );
    const content = await checkedContent(tx, projectId, step.type, body, step);
    const { name = step.name, position = step.position } = body;
    const [changed] = await updateSteps(tx, id, [
      { ...step, ...content, name, position, note: noteOf(body, step.note) },
    ]);
    return written(changed ?? null);
  });
}

/**
 * Deletes a step: with everything that it leads to, or with `splice` alone, its predecessors then leading to what followed.
 * @throws 404; 400 for the TRIGGER and for splicing a step with branches; 409 while executions stand there
 */
export function deleteStep(target: EditTarget, stepId: string, splice: boolean): Promise<Edited<void>> {
  return edit(target, async (tx, draft) => {
    const step = stepIn(draft, stepId);
    const { id, enabled } = draft.automation;
    if (step.type === 'TRIGGER') throw badRequest('The TRIGGER step can only be deleted with its workflow');
    const standing = 'Executions are at this step: cancel them, or wait until they have left it';
    if (splice) {
      if (!canSplice(step, draft.transitions))
        throw badRequest(`Step "${step.name}" leads to several steps and cannot be removed with splice`);
      if (await hasActiveRuns(tx, [id], [stepId])) throw conflict(standing);
      const successor = draft.transitions.find((way) => way.fromStepId === stepId);
      if (successor) await redirect(tx, stepId, successor.toStepId);
      await deleteSteps(tx, id, [stepId]);
      return;
    }
    const gone = [...reachableFrom(draft.transitions, stepId)];
    if (enabled && (await hasActiveRuns(tx, [id], gone)))
      throw conflict(
        gone.length === 1 ? standing : 'Executions are at this step or at one that would be deleted with it',
      );
    await deleteSteps(tx, id, gone);
  });
}

/** Inserts a new step between the two of a transition. @throws 404, 400 for TRIGGER and EXIT */
export function insertStepInto(target: EditTarget, transitionId: string, body: InsertStep): Promise<Edited<StepBody>> {
  return edit(target, async (tx, draft) => {
    const way = draft.transitions.find((one) => one.id === transitionId);
    if (way === undefined) throw notFound('transition', transitionId);
    if (body.type === 'TRIGGER' || body.type === 'EXIT')
      throw badRequest(`A step of type ${body.type} cannot be inserted between two others`, { field: 'type' });
    const [from, to] = [stepIn(draft, way.fromStepId), stepIn(draft, way.toStepId)];
    const between = { x: (from.position.x + to.position.x) / 2, y: (from.position.y + to.position.y) / 2 };
    const step = await addStep(tx, draft, body, body.position ?? between);
    await redirectOne(tx, way.id, step.id);
    const branch = step.type === 'CONDITION' ? (branchNames(step.config).includes('yes') ? 'yes' : 'default') : null;
    await connect(tx, draft, step.id, to.id, branch);
    return step;
  });
}

/** A step of the draft. @throws 404 */
function stepIn({ steps }: Draft, stepId: string): StepRow {
  const step = steps.find(({ id }) => id === stepId);
  if (step === undefined) throw notFound('step', stepId);
  return step;
}
