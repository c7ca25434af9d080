import {
  connectionProblem,
  type PathProblem,
  pathProblem,
  reachableFrom,
  sizeProblem,
  unknownPathProblem,
  type WaitOutcome,
} from '@fernpost/workflow-graph';
import { badRequest, conflict, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Edited, type EditTarget, hasActiveRuns, type StepRow, type TransitionRow } from '../rows.ts';
import { type Draft, edit } from './drafts.ts';
import { deleteTransitions, insertTransition } from './queries.ts';
import type { CreateTransition, TransitionBody } from './schema.ts';

/**
 * Connects two steps (docs/contract/campaigns-and-workflows.md#3-5).
 * @throws 404 for steps that are not both of this automation, 400 for what the type of the first step does not allow and
 * for a cycle, 422 for two branches that differ
 */
export function createTransition(target: EditTarget, body: CreateTransition): Promise<Edited<TransitionBody>> {
  return edit(target, async (tx, draft) => {
    const [from, to] = [endOf(draft, body.fromStepId), endOf(draft, body.toStepId)];
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

function endOf({ steps }: Draft, stepId: string): StepRow {
  const step = steps.find(({ id }) => id === stepId.toLowerCase());
  if (step === undefined) throw notFound('step', stepId);
  return step;
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
