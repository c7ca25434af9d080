import {
  branchNames,
  canSplice,
  connectionProblem,
  hasBranches,
  type PathProblem,
  pathProblem,
  reachableFrom,
  sizeProblem,
  unknownPathProblem,
  type WaitOutcome,
} from '@fernpost/workflow-graph';
import { badRequest, conflict, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Database } from '../../store/sql.ts';
import { written } from '../queries.ts';
import { type Edited, type EditTarget, hasActiveRuns, type StepRow, type TransitionRow } from '../rows.ts';
import { type Draft, edit } from './drafts.ts';
import {
  deleteSteps,
  deleteTransitions,
  insertSteps,
  insertTransition,
  redirect,
  redirectOne,
  updateSteps,
} from './queries.ts';
import type { CreateStep, CreateTransition, InsertStep, PatchStep, StepBody, TransitionBody } from './schema.ts';
import { checkedContent, noteOf } from './step-content.ts';

/**
 * Adds a step (docs/contract/campaigns-and-workflows.md#3-5). With `autoConnect` the newest step that leads nowhere leads to it.
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
    ({ id, type }) => type !== 'EXIT' && !hasBranches(type) && transitions.every((way) => way.fromStepId !== id),
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
  const size = sizeProblem(steps.length + 1, 0);
  if (size !== null) throw badRequest(size);
  const content = await checkedContent(tx, automation.projectId, body.type, body, { config: {}, templateId: null });
  const { type, name } = body;
  const note = noteOf(body, null);
  const [step] = await insertSteps(tx, automation.id, [{ id: newId(), type, name, position, note, ...content }]);
  return written(step ?? null);
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
      if (await hasActiveRuns(tx, [id], [step.id])) throw conflict(standing);
      const successor = draft.transitions.find((way) => way.fromStepId === step.id);
      if (successor) await redirect(tx, step.id, successor.toStepId);
      await deleteSteps(tx, id, [step.id]);
      return;
    }
    const gone = [...reachableFrom(draft.transitions, step.id)];
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
    const names = hasBranches(step.type) ? branchNames(step) : [];
    const branch = ['yes', 'default'].find((name) => names.includes(name)) ?? names[0] ?? null;
    await connect(tx, draft, step.id, to.id, branch);
    return step;
  });
}

/** A step of the draft, whose ID may come in capitals: go on with that of the step. @throws 404 */
function stepIn({ steps }: Draft, stepId: string): StepRow {
  const step = steps.find(({ id }) => id === stepId.toLowerCase());
  if (step === undefined) throw notFound('step', stepId);
  return step;
}

/**
 * Connects two steps (docs/contract/campaigns-and-workflows.md#3-5).
 * @throws 404 for steps that are not both of this automation, 400 for what the type of the first step does not allow and
 * for a cycle, 422 for two branches that differ
 */
export function createTransition(target: EditTarget, body: CreateTransition): Promise<Edited<TransitionBody>> {
  return edit(target, async (tx, draft) => {
    const [from, to] = [stepIn(draft, body.fromStepId), stepIn(draft, body.toStepId)];
    const ends = connectionProblem(draft.transitions, from, to);
    if (ends !== null) throw badRequest(ends);
    const size = sizeProblem(draft.steps.length, draft.transitions.length + 1);
    if (size !== null) throw badRequest(size);
    const condition = conditionOf(from, body);
    refuse(unknownPathProblem(from, condition));
    const siblings = draft.transitions.filter((way) => way.fromStepId === from.id);
    refuse(pathProblem(from, condition, siblings));
    const way = { id: newId(), fromStepId: from.id, toStepId: to.id, priority: body.priority };
    return insertTransition(tx, draft.automation.id, { ...way, ...condition });
  });
}

type PathCondition = Pick<TransitionRow, 'branch' | 'waitOutcome'>;

/** The condition of a transition, in whichever form the request has it. @throws 400, 422 */
export function conditionOf(from: Pick<StepRow, 'type' | 'name'>, body: CreateTransition): PathCondition {
  const inner = body.condition?.branch ?? null;
  const outer = body.branch ?? null;
  if (inner !== null && outer !== null && inner !== outer)
    throw invalidField('branch', 'differs from "condition.branch"', 'custom', outer);
  const branch = inner ?? outer;
  if (from.type !== 'WAIT_FOR_EVENT') return { branch, waitOutcome: body.waitOutcome ?? null };
  const named = branch === null ? null : waitOutcomeNamed(branch);
  if (branch !== null && named === null)
    throw badRequest(`Step "${from.name}" waits for an event: its paths are "event" and "timeout"`, {
      field: 'branch',
    });
  if (named !== null && body.waitOutcome && named !== body.waitOutcome)
    throw invalidField('waitOutcome', 'differs from "condition.branch"', 'custom', body.waitOutcome);
  return { branch: null, waitOutcome: body.waitOutcome ?? named };
}

function waitOutcomeNamed(branch: string): WaitOutcome | null {
  const name = branch.toUpperCase();
  return name === 'EVENT' || name === 'TIMEOUT' ? name : null;
}

function refuse(problem: PathProblem | null): void {
  if (problem === null) return;
  const { message, field } = problem;
  throw field === null ? badRequest(message) : badRequest(message, { field });
}

/** Removes a transition. @throws 404, 409 while executions stand at its target or below */
export function deleteTransition(target: EditTarget, transitionId: string): Promise<Edited<void>> {
  return edit(target, async (tx, draft) => {
    const way = draft.transitions.find((one) => one.id === transitionId);
    if (way === undefined) throw notFound('transition', transitionId);
    const { id, enabled } = draft.automation;
    const below = [...reachableFrom(draft.transitions, way.toStepId)];
    if (enabled && (await hasActiveRuns(tx, [id], below)))
      throw conflict('Executions are at the step that this transition leads to, or at a step after it');
    await deleteTransitions(tx, id, [transitionId]);
  });
}
