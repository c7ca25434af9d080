import type { PathCondition, WaitOutcome } from './paths.ts';

/** Most steps and transitions of a workflow. */
export const maxSteps = 200;
export const maxTransitions = 1_000;

/** Most characters of a step's name, and of its note. */
export const longestStepName = 255;
export const longestNote = 2000;

/** A step, as far as its place in a graph depends on it. `TRIGGER` is where runs begin. */
interface AnyStep {
  id: string;
  type: string;
}

/** A path from one step to another. */
interface AnyPath {
  fromStepId: string;
  toStepId: string;
}

/** The steps of a workflow and the paths between them. Paths are in the order in which they are tried. */
export interface Graph<Step extends AnyStep, Path extends AnyPath = AnyPath> {
  steps: readonly Step[];
  transitions: readonly Path[];
}

/** The result of a finished step, which decides the path to take. */
export interface StepResult {
  branch?: string;
  waitOutcome?: WaitOutcome;
}

/** The step where runs begin; undefined for a graph without one. */
export function triggerOf<Step extends AnyStep>({ steps }: { steps: readonly Step[] }): Step | undefined {
  return steps.find((step) => step.type === 'TRIGGER');
}

/** The step of this id, or undefined. */
export function stepOf<Step extends AnyStep>({ steps }: { steps: readonly Step[] }, stepId: string): Step | undefined {
  return steps.find((step) => step.id === stepId);
}

/**
 * The step that follows, or null where the path ends. A wait prefers the path for its own end to one for either; a
 * condition takes the first that has no branch or the right one.
 */
export function nextStep<Step extends AnyStep>(
  graph: Graph<Step, AnyPath & PathCondition>,
  stepId: string,
  { branch, waitOutcome }: StepResult = {},
): Step | null {
  const paths = graph.transitions.filter((path) => path.fromStepId === stepId);
  const path =
    waitOutcome === undefined
      ? paths.find((one) => one.branch === null || one.branch === branch)
      : (paths.find((one) => one.waitOutcome === waitOutcome) ?? paths.find((one) => one.waitOutcome === null));
  return (path && stepOf(graph, path.toStepId)) ?? null;
}

/** The ids of a step and of all steps that it leads to. */
export function reachableFrom(paths: readonly AnyPath[], stepId: string): Set<string> {
  return followed(targetsOf(paths), [stepId]);
}

/** Whether a path from one step to another would close a cycle. */
export function closesCycle(paths: readonly AnyPath[], fromStepId: string, toStepId: string): boolean {
  return reachableFrom(paths, toStepId).has(fromStepId);
}

/** A step that is part of a cycle, or null. */
export function stepOnCycle<Step extends AnyStep>({ steps, transitions }: Graph<Step>): Step | null {
  const targets = targetsOf(transitions);
  return steps.find(({ id }) => followed(targets, targets.get(id) ?? []).has(id)) ?? null;
}

// Looking through all paths for each step would take a second for the largest graph.
function targetsOf(paths: readonly AnyPath[]): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  for (const { fromStepId, toStepId } of paths) {
    const known = targets.get(fromStepId);
    if (known) known.push(toStepId);
    else targets.set(fromStepId, [toStepId]);
  }
  return targets;
}

function followed(targets: ReadonlyMap<string, readonly string[]>, ids: readonly string[]): Set<string> {
  const reached = new Set(ids);
  // A Set grows while it is iterated, so this follows paths of paths.
  for (const id of reached) for (const target of targets.get(id) ?? []) reached.add(target);
  return reached;
}

/** Whether two JSON values say the same, whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown): boolean {
  return one === other || ordered(one) === ordered(other);
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A path as a text: two that mean the same have the same, whatever their ids. */
export function pathMeaning({
  fromStepId,
  toStepId,
  branch,
  waitOutcome,
  priority,
}: PathCondition & { fromStepId: string; toStepId: string; priority: number }): string {
  return JSON.stringify([fromStepId, toStepId, branch, waitOutcome, priority]);
}

/**
 * The part of a segment's event names that comes from its name (docs/contract/core.md#4-2): `VIP Users!` is `vip-users`.
 * A name of which nothing is left gives the segment's id.
 */
export function segmentSlug(segment: { id: string; name: string }): string {
  const slug = segment.name
    .toLowerCase()
    .trim()
    .replaceAll(/[^a-z0-9_\-\s]/g, '')
    .replaceAll(/\s+/g, '-')
    .replaceAll(/-+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? segment.id : slug;
}

/** The event of contacts that enter or leave the segment of this slug, which workflows can start with. */
export function segmentEvent(slug: string, kind: 'entry' | 'exit'): string {
  return `segment.${slug}.${kind}`;
}
