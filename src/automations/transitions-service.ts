import { badRequest, conflict, invalidField, notFound } from '../core/lib/errors.ts';
import { newId } from '../core/lib/ids.ts';
import { branchProblem, closesCycle, maxTransitions, reachableFrom } from './graph.ts';
import { deleteTransitions, insertTransition } from './graph-queries.ts';
import { hasActiveRuns } from './queries.ts';
import type { Edited, EditTarget } from './revision.ts';
import type { StepRow, TransitionRow, WaitOutcome } from './rows.ts';
import type { CreateTransition, TransitionBody } from './schema.ts';
import { type Draft, edit } from './steps-service.ts';

/**
 * Connects two steps (contract page 2, 3.5).
 * @throws 404 for steps that are not both of this automation, 400 for what the type of the first step does not allow and
 * for a cycle, 422 for two branches that differ
 */
export function createTransition(target: EditTarget, body: CreateTransition): Promise<Edited<TransitionBody>> {
  return edit(target, async (tx, draft) => {
    const [from, to] = [endOf(draft, body.fromStepId), endOf(draft, body.toStepId)];
    if (from.id === to.id) throw badRequest(`Step "${from.name}" cannot lead to itself`);
    if (to.type === 'TRIGGER') throw badRequest('No step can lead to the TRIGGER step');
    if (closesCycle(draft.transitions, from.id, to.id))
      throw badRequest(`Step "${to.name}" leads to "${from.name}" already: the steps would form a cycle`);
    if (draft.transitions.length >= maxTransitions)
      throw badRequest(`A workflow has at most ${maxTransitions} transitions`);
    const condition = conditionOf(from, body);
    refuseUnknownPath(from, condition);
    refuseSecondPath(
      from,
      condition,
      draft.transitions.filter((way) => way.fromStepId === from.id),
    );
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

function refuseUnknownPath(from: StepRow, { branch, waitOutcome }: PathCondition): void {
  const problem = from.type === 'CONDITION' && branch !== null ? branchProblem(from.config, branch) : null;
  if (problem !== null)
    throw badRequest(`Step "${from.name}" has no branch "${branch}": it ${problem}`, { field: 'branch' });
  if (from.type === 'WAIT_FOR_EVENT' && waitOutcome === 'TIMEOUT' && typeof from.config.timeout !== 'number')
    throw badRequest(`Step "${from.name}" has no timeout, so no step can follow it`, { field: 'waitOutcome' });
}

/** Refuses a path that the type of a step does not allow beside those that it has. @throws 400 */
export function refuseSecondPath(
  from: Pick<StepRow, 'type' | 'name'>,
  { branch, waitOutcome }: PathCondition,
  ways: readonly PathCondition[],
): void {
  const step = `Step "${from.name}"`;
  switch (from.type) {
    case 'EXIT':
      throw badRequest(`${step} is an EXIT: no step can follow it`);
    case 'CONDITION': {
      if (waitOutcome !== null)
        throw badRequest(`${step} is a condition: its paths have a branch, not a "waitOutcome"`);
      if (branch === null) return;
      if (ways.some((way) => way.branch === branch))
        throw badRequest(`${step} already has a path for the branch "${branch}"`, { field: 'branch' });
      return;
    }
    case 'WAIT_FOR_EVENT': {
      if (ways.some((way) => way.waitOutcome === null || way.waitOutcome === waitOutcome))
        throw badRequest(`${step} already has a path for this outcome`, { field: 'waitOutcome' });
      return;
    }
    default:
      if (branch !== null || waitOutcome !== null)
        throw badRequest(`${step} is a ${from.type} and has one path, without branch or outcome`, {
          field: branch === null ? 'waitOutcome' : 'branch',
        });
      if (ways.length > 0) throw badRequest(`${step} is a ${from.type} and already leads to another step`);
  }
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
