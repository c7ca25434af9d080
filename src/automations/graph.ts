import type { WaitOutcome } from './rows.ts';
import type { StepBody, TransitionBody } from './schema.ts';
import { branchesOf } from './step-configs.ts';

/** A step as a version of a graph keeps it: without its place on the canvas. The config is as it was saved. */
export type GraphStep = Pick<StepBody, 'id' | 'type' | 'name' | 'config' | 'templateId'>;

/**
 * A path from one step to another: for the branch of a CONDITION, where null always matches, or for the end of a
 * WAIT_FOR_EVENT, where null is for both.
 */
export type GraphTransition = Pick<
  TransitionBody,
  'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome' | 'priority'
>;

/** The steps of an automation and the paths between them. Transitions are in the order in which they are tried. */
export interface Graph {
  steps: readonly GraphStep[];
  transitions: readonly GraphTransition[];
}

/** What a finished step says about the path to take. */
export interface StepResult {
  branch?: string;
  waitOutcome?: WaitOutcome;
}

/** Most steps and transitions of an automation (contract page 2, 3.5). */
export const maxSteps = 200;
export const maxTransitions = 1_000;

/** The step where runs begin; undefined for a graph without one. */
export function triggerOf(graph: Pick<Graph, 'steps'>): GraphStep | undefined {
  return graph.steps.find((step) => step.type === 'TRIGGER');
}

/** The step of this id, or undefined. */
export function stepOf(graph: Graph, stepId: string): GraphStep | undefined {
  return graph.steps.find((step) => step.id === stepId);
}

/**
 * The step that follows, or null where the path ends. A wait prefers the transition for its own end to one for either; a
 * condition takes the first that has no branch or the right one.
 */
export function nextStep(graph: Graph, stepId: string, { branch, waitOutcome }: StepResult = {}): GraphStep | null {
  const ways = graph.transitions.filter((way) => way.fromStepId === stepId);
  const way =
    waitOutcome === undefined
      ? ways.find((one) => one.branch === null || one.branch === branch)
      : (ways.find((one) => one.waitOutcome === waitOutcome) ?? ways.find((one) => one.waitOutcome === null));
  return (way && stepOf(graph, way.toStepId)) ?? null;
}

type Ways = readonly { fromStepId: string; toStepId: string }[];

/** The ids of a step and of all steps that it leads to. */
export function reachableFrom(ways: Ways, stepId: string): Set<string> {
  const reached = new Set([stepId]);
  // A Set grows while it is iterated, so this follows paths of paths.
  for (const id of reached) for (const way of ways) if (way.fromStepId === id) reached.add(way.toStepId);
  return reached;
}

/** Whether a path from one step to another would close a cycle. */
export function closesCycle(ways: Ways, fromStepId: string, toStepId: string): boolean {
  return reachableFrom(ways, toStepId).has(fromStepId);
}

/** A step that is part of a cycle, or null. */
export function stepOnCycle(graph: Graph): GraphStep | null {
  return (
    graph.steps.find((step) =>
      graph.transitions.some(
        (way) => way.fromStepId === step.id && reachableFrom(graph.transitions, way.toStepId).has(step.id),
      ),
    ) ?? null
  );
}

/** Transitions in the order in which they are tried: priority, then age, then id. */
export function inRoutingOrder<Way extends { priority: number; createdAt: string; id: string }>(
  ways: readonly Way[],
): Way[] {
  return [...ways].sort(
    (one, other) =>
      one.priority - other.priority || compare(one.createdAt, other.createdAt) || compare(one.id, other.id),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The branch that a transition out of a CONDITION may take, or a text that says which it may. */
export function branchProblem(config: unknown, branch: string): string | null {
  const known = branchesOf(config);
  return known.includes(branch) ? null : `must be one of ${known.join(', ')}`;
}
