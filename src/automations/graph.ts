import { branchesOf, type StepType } from './step-configs.ts';

/** A step as a version of a graph keeps it: without its place on the canvas. */
export interface GraphStep {
  id: string;
  type: StepType;
  name: string;
  /** As it was saved; `readStepConfig` checks it. */
  config: Record<string, unknown>;
  templateId: string | null;
}

/** How a wait ended, or which end of it a transition is for. */
export type WaitOutcome = 'EVENT' | 'TIMEOUT';

/** A way from one step to another. */
export interface GraphTransition {
  id: string;
  fromStepId: string;
  toStepId: string;
  /** The branch of a CONDITION it is for; null always matches. */
  branch: string | null;
  /** The end of a WAIT_FOR_EVENT it is for; null is for both. */
  waitOutcome: WaitOutcome | null;
  priority: number;
}

/** The steps of an automation and the ways between them. Transitions stand in the order in which they are tried. */
export interface Graph {
  steps: readonly GraphStep[];
  transitions: readonly GraphTransition[];
}

/** What a finished step says about the way out. */
export interface StepResult {
  branch?: string;
  waitOutcome?: WaitOutcome;
}

/** Most steps of an automation (contract page 2, 3.5). */
export const maxSteps = 200;

/** The step where runs begin; undefined for a graph without one. */
export function triggerOf(graph: Pick<Graph, 'steps'>): GraphStep | undefined {
  return graph.steps.find((step) => step.type === 'TRIGGER');
}

/** The step of this id, or undefined. */
export function stepOf(graph: Graph, stepId: string): GraphStep | undefined {
  return graph.steps.find((step) => step.id === stepId);
}

/**
 * The transition that a run takes out of a step, or null where its way ends. A wait prefers the transition for its own
 * end to one for either; a condition takes the first that has no branch or the right one.
 */
function wayOut(graph: Graph, stepId: string, result: StepResult = {}): GraphTransition | null {
  const ways = graph.transitions.filter((way) => way.fromStepId === stepId);
  if (result.waitOutcome !== undefined)
    return (
      ways.find((way) => way.waitOutcome === result.waitOutcome) ?? ways.find((way) => way.waitOutcome === null) ?? null
    );
  return ways.find((way) => way.branch === null || way.branch === result.branch) ?? null;
}

/** The step that follows, or null where the way ends. */
export function nextStep(graph: Graph, stepId: string, result: StepResult = {}): GraphStep | null {
  const way = wayOut(graph, stepId, result);
  return (way && stepOf(graph, way.toStepId)) ?? null;
}

type Ways = readonly { fromStepId: string; toStepId: string }[];

/** The ids of a step and of all steps that it leads to. */
export function reachableFrom(ways: Ways, stepId: string): Set<string> {
  const reached = new Set([stepId]);
  // A Set grows while it is walked, so this follows ways of ways.
  for (const id of reached) for (const way of ways) if (way.fromStepId === id) reached.add(way.toStepId);
  return reached;
}

/** Whether a way from one step to another would close a circle. */
export function closesCircle(ways: Ways, fromStepId: string, toStepId: string): boolean {
  return reachableFrom(ways, toStepId).has(fromStepId);
}

/** A step that lies on a circle, or null. */
export function stepOnCircle(graph: Graph): GraphStep | null {
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
