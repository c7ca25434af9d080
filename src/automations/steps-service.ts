import type { Database, Sql } from '../core/database/sql.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../core/lib/errors.ts';
import { isUuid, newId } from '../core/lib/ids.ts';
import { stepBody } from './bodies.ts';
import { maxSteps, reachableFrom } from './graph.ts';
import {
  deleteSteps,
  holdTemplate,
  insertStep,
  insertTransition,
  redirect,
  redirectOne,
  updateStep,
} from './graph-queries.ts';
import { hasActiveRuns, hasActiveRunsAt, lockAutomation, reviseGraphOf, stepsOf, transitionsOf } from './queries.ts';
import { checkRevision, type Edited, type Editor } from './revision.ts';
import type { AutomationRow, StepRow, TransitionRow } from './rows.ts';
import type { CreateStep, InsertStep, PatchStep, StepBody } from './schema.ts';
import { found } from './service.ts';
import { branchesOf } from './step-configs.ts';
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
  db: Database,
  projectId: string,
  id: string,
  editor: Editor,
  work: (sql: Sql, draft: Draft) => Promise<T>,
): Promise<Edited<T>> {
  return db.transaction(async (sql) => {
    const automation = found(await lockAutomation(sql, projectId, id), id);
    await checkRevision(sql, automation, editor.ifMatch);
    const draft = { automation, steps: await stepsOf(sql, id), transitions: await transitionsOf(sql, id) };
    const body = await work(sql, draft);
    return { body, revision: await reviseGraphOf(sql, id, editor.userId) };
  });
}

/**
 * Adds a step (contract page 2, 3.5). With `autoConnect` the newest step that leads nowhere leads to it.
 * @throws 404 for the automation or the template, 400 for a second TRIGGER and for more than 200 steps
 */
export function createStep(
  db: Database,
  projectId: string,
  id: string,
  body: CreateStep,
  editor: Editor,
): Promise<Edited<StepBody>> {
  return edit(db, projectId, id, editor, async (sql, draft) => {
    const step = await addStep(sql, draft, body, body.position);
    const source = body.autoConnect ? openEnd(draft) : undefined;
    if (source !== undefined) {
      const way = { id: newId(), automationId: id, branch: null, waitOutcome: null, priority: 0 };
      await insertTransition(sql, { ...way, fromStepId: source.id, toStepId: step.id });
    }
    return stepBody(step);
  });
}

function openEnd({ steps, transitions }: Draft): StepRow | undefined {
  return steps.findLast(
    ({ id, type }) => type !== 'EXIT' && type !== 'CONDITION' && transitions.every((way) => way.fromStepId !== id),
  );
}

async function addStep(
  sql: Sql,
  { automation, steps }: Draft,
  body: CreateStep | InsertStep,
  position: StepRow['position'],
): Promise<StepRow> {
  if (body.type === 'TRIGGER' && steps.some(({ type }) => type === 'TRIGGER'))
    throw badRequest('This workflow already has its TRIGGER step', { field: 'type' });
  if (steps.length >= maxSteps) throw badRequest(`A workflow has at most ${maxSteps} steps`);
  const content = await checkedContent(sql, automation.projectId, body.type, body, { config: {}, templateId: null });
  const { type, name } = body;
  return insertStep(sql, { id: newId(), automationId: automation.id, type, name, position, ...content });
}

/** What a step does. */
export type Content = Pick<StepRow, 'config' | 'templateId'>;

interface GivenContent {
  config?: Record<string, unknown> | undefined;
  templateId?: string | null | undefined;
}

// `stepContent` with a look at the template. @throws 404 for one that is none of the project, 400 as `stepContent`
async function checkedContent(
  sql: Sql,
  projectId: string,
  type: StepRow['type'],
  given: GivenContent,
  before: Content,
): Promise<Content> {
  const content = stepContent(type, given, before, (templateId) => {
    if (!isUuid(templateId)) throw notFound('template', templateId);
  });
  const { templateId } = content;
  if (templateId !== null && templateId !== before.templateId && !(await holdTemplate(sql, projectId, templateId)))
    throw notFound('template', templateId);
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
export function patchStep(
  db: Database,
  projectId: string,
  id: string,
  stepId: string,
  body: PatchStep,
  editor: Editor,
): Promise<Edited<StepBody>> {
  return edit(db, projectId, id, editor, async (sql, draft) => {
    const step = stepIn(draft, stepId);
    if (body.config !== undefined && step.type === 'TRIGGER')
      throw badRequest('The TRIGGER step follows the trigger of the workflow: change that with PATCH /workflows/{id}');
    const changesContent = body.config !== undefined || body.templateId !== undefined;
    if (changesContent && draft.automation.enabled && (await hasActiveRuns(sql, [id])))
      throw conflict(
        'Config and template of a step cannot change while the workflow is enabled and executions are active',
      );
    const content = await checkedContent(sql, projectId, step.type, body, step);
    const { name = step.name, position = step.position } = body;
    return stepBody(await updateStep(sql, { ...step, ...content, name, position }));
  });
}

/**
 * Deletes a step: with everything that it leads to, or with `splice` alone, its predecessors then leading to what followed.
 * @throws 404; 400 for the TRIGGER and for splicing a step with branches; 409 while executions stand there
 */
export function deleteStep(
  db: Database,
  projectId: string,
  id: string,
  stepId: string,
  splice: boolean,
  editor: Editor,
): Promise<Edited<void>> {
  return edit(db, projectId, id, editor, async (sql, draft) => {
    const step = stepIn(draft, stepId);
    if (step.type === 'TRIGGER') throw badRequest('The TRIGGER step can only be deleted with its workflow');
    const standing = 'Executions are at this step: cancel them, or wait until they have left it';
    if (splice) {
      const ways = draft.transitions.filter((way) => way.fromStepId === stepId);
      if (step.type === 'CONDITION' || new Set(ways.map((way) => way.toStepId)).size > 1)
        throw badRequest(`Step "${step.name}" leads to several steps and cannot be removed with splice`);
      if (await hasActiveRunsAt(sql, id, [stepId])) throw conflict(standing);
      const [successor] = ways;
      if (successor) await redirect(sql, stepId, successor.toStepId);
      await deleteSteps(sql, id, [stepId]);
      return;
    }
    const gone = [...reachableFrom(draft.transitions, stepId)];
    if (draft.automation.enabled && (await hasActiveRunsAt(sql, id, gone)))
      throw conflict(
        gone.length === 1 ? standing : 'Executions are at this step or at one that would be deleted with it',
      );
    await deleteSteps(sql, id, gone);
  });
}

/** Puts a new step between the two of a transition. @throws 404, 400 for TRIGGER and EXIT */
export function insertStepInto(
  db: Database,
  projectId: string,
  id: string,
  transitionId: string,
  body: InsertStep,
  editor: Editor,
): Promise<Edited<StepBody>> {
  return edit(db, projectId, id, editor, async (sql, draft) => {
    const way = draft.transitions.find((one) => one.id === transitionId);
    if (way === undefined) throw notFound('transition', transitionId);
    if (body.type === 'TRIGGER' || body.type === 'EXIT')
      throw badRequest(`A step of type ${body.type} cannot be inserted between two others`, { field: 'type' });
    const [from, to] = [stepIn(draft, way.fromStepId), stepIn(draft, way.toStepId)];
    const between = { x: (from.position.x + to.position.x) / 2, y: (from.position.y + to.position.y) / 2 };
    const step = await addStep(sql, draft, body, body.position ?? between);
    await redirectOne(sql, way.id, step.id);
    const branch = step.type === 'CONDITION' ? (branchesOf(step.config).includes('yes') ? 'yes' : 'default') : null;
    const onward = { id: newId(), automationId: id, branch, waitOutcome: null, priority: 0 };
    await insertTransition(sql, { ...onward, fromStepId: step.id, toStepId: to.id });
    return stepBody(step);
  });
}

/** A step of the draft. @throws 404 */
function stepIn({ steps }: Draft, stepId: string): StepRow {
  const step = steps.find(({ id }) => id === stepId);
  if (step === undefined) throw notFound('step', stepId);
  return step;
}
