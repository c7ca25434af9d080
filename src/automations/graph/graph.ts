import type { Graph as GraphOf } from '@fernpost/workflow-graph';
import type { StepBody, TransitionBody } from './schema.ts';

/** A step as a version of a graph keeps it: without its place on the canvas. The config is as it was saved. */
export type GraphStep = Pick<StepBody, 'id' | 'type' | 'name' | 'config' | 'templateId'>;

/** A path from one step to another; see `PathCondition` for when it is taken. */
export type GraphTransition = Pick<
  TransitionBody,
  'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome' | 'priority'
>;

/** The graph of an automation; `packages/workflow-graph` has its rules. */
export type Graph = GraphOf<GraphStep, GraphTransition>;

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
