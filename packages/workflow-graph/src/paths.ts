import { closesCycle, type Graph, maxSteps, maxTransitions, reachableFrom, stepOnCycle, triggerOf } from './graph.ts';

/** How a wait ends, or which end of it a path is for. */
export const waitOutcomes = ['EVENT', 'TIMEOUT'] as const;
export type WaitOutcome = (typeof waitOutcomes)[number];

/**
 * When a path is taken: for the branch of a CONDITION, where null always matches, or of a SPLIT, or for the end of a
 * WAIT_FOR_EVENT, where null is for both.
 */
export interface PathCondition {
  branch: string | null;
  waitOutcome: WaitOutcome | null;
}

/** Why there can be no such path, for people, and which part of its condition is in the way. */
export interface PathProblem {
  message: string;
  field: keyof PathCondition | null;
}

/** A step that paths leave. Types without a rule of their own have one path. */
interface Source {
  id: string;
  type: string;
  name: string;
  config: Readonly<Record<string, unknown>>;
}

type End = Pick<Source, 'id' | 'type' | 'name'>;

/** Whether the paths out of a step of this type are for its branches. */
export function hasBranches(type: string): boolean {
  return type === 'CONDITION' || type === 'SPLIT';
}

/** The branches that lead out of a CONDITION: `yes` and `no`, or the ids of its own and `default`. Of a SPLIT the ids of its own. */
export function branchNames({ type, config }: { type: string; config: unknown }): string[] {
  const { mode, branches } = (config ?? {}) as { mode?: unknown; branches?: unknown };
  if (type !== 'SPLIT' && mode !== 'multi') return ['yes', 'no'];
  const own = Array.isArray(branches) ? branches : [];
  const ids = own.flatMap((branch: { id?: unknown }) => (typeof branch?.id === 'string' ? [branch.id] : []));
  return type === 'SPLIT' ? ids : [...ids, 'default'];
}

/** Why no path can lead from one step to another, whatever other paths there are; or null. */
export function endsProblem(from: End, to: End): string | null {
  if (from.id === to.id) return `Step "${from.name}" cannot lead to itself`;
  return to.type === 'TRIGGER' ? 'No step can lead to the trigger' : null;
}

/** Why no path can lead from one step to another beside those that there are; or null. */
export function connectionProblem(
  paths: readonly { fromStepId: string; toStepId: string }[],
  from: End,
  to: End,
): string | null {
  const problem = endsProblem(from, to);
  if (problem !== null || !closesCycle(paths, from.id, to.id)) return problem;
  return `Step "${to.name}" already leads to "${from.name}": this would create a cycle`;
}

/** Why the type of a step allows no such path beside the `others` that leave it already; or null. */
export function pathProblem(
  { type, name }: Pick<Source, 'type' | 'name'>,
  { branch, waitOutcome }: PathCondition,
  others: readonly PathCondition[],
): PathProblem | null {
  const step = `Step "${name}"`;
  switch (type) {
    case 'EXIT':
      return { message: exitProblem(name), field: null };
    case 'CONDITION':
    case 'SPLIT':
      if (waitOutcome !== null)
        return {
          message: `${step} is a ${type.toLowerCase()}: its paths have a branch, not a "waitOutcome"`,
          field: null,
        };
      if (branch === null || others.every((other) => other.branch !== branch)) return null;
      return { message: `${step} already has a path for the branch "${branch}"`, field: 'branch' };
    case 'WAIT_FOR_EVENT':
      if (others.every((other) => other.waitOutcome !== null && other.waitOutcome !== waitOutcome)) return null;
      return { message: `${step} already has a path for this outcome`, field: 'waitOutcome' };
    default:
      if (branch !== null || waitOutcome !== null)
        return {
          message: `${step} is a ${type} and has one path, without branch or outcome`,
          field: branch === null ? 'waitOutcome' : 'branch',
        };
      return others.length > 0 ? { message: secondPathProblem(type, name), field: null } : null;
  }
}

/** Why the config of a step knows no such path; or null. */
export function unknownPathProblem(
  { type, name, config }: Pick<Source, 'type' | 'name' | 'config'>,
  { branch, waitOutcome }: PathCondition,
): PathProblem | null {
  if (type === 'SPLIT' && branch === null)
    return { message: `Step "${name}" is a split: each of its paths has a branch`, field: 'branch' };
  if (hasBranches(type) && branch !== null) {
    const known = branchNames({ type, config });
    if (!known.includes(branch)) {
      const message = `Step "${name}" has no branch "${branch}": it must be one of ${known.join(', ')}`;
      return { message, field: 'branch' };
    }
  }
  if (type === 'WAIT_FOR_EVENT' && waitOutcome === 'TIMEOUT' && typeof config.timeout !== 'number')
    return { message: `Step "${name}" has no timeout, so no step can follow it`, field: 'waitOutcome' };
  return null;
}

/** Whether a step can be taken out of its place, what led to it then leading to what followed. */
export function canSplice(
  { id, type }: Pick<Source, 'id' | 'type'>,
  paths: readonly { fromStepId: string; toStepId: string }[],
): boolean {
  const targets = paths.filter(({ fromStepId }) => fromStepId === id).map(({ toStepId }) => toStepId);
  return type !== 'TRIGGER' && !hasBranches(type) && new Set(targets).size <= 1;
}

/** Returns the problem of an EXIT that leads on. */
function exitProblem(name: string): string {
  return `Step "${name}" is an EXIT: no step can follow it`;
}

/** Returns the problem of a step with more paths than its type has. */
function secondPathProblem(type: string, name: string): string {
  return `Step "${name}" is a ${type} and already leads to another step`;
}

/** Something that keeps a graph from being enabled. */
export interface GraphIssue {
  /** Null where it concerns the whole graph. */
  stepId: string | null;
  /** Within the step, or within the graph. */
  field: string;
  /** For people; names the step. */
  message: string;
}

interface CheckedStep {
  id: string;
  type: string;
  name: string;
  config: Readonly<Record<string, unknown>>;
}

type CheckedPath = PathCondition & { fromStepId: string; toStepId: string };

/**
 * Finds the problems that keep a graph from being enabled. Steps that no run can reach are not checked. `problemsOf` says what is wrong with a
 * step by itself, such as in its config; its messages go on from the name of the step.
 */
export function graphIssues<Step extends CheckedStep>(
  graph: Graph<Step, CheckedPath>,
  problemsOf: (step: Step) => readonly { field: string; message: string }[],
): GraphIssue[] {
  const issues: GraphIssue[] = [];
  const ofGraph = (message: string) => issues.push({ stepId: null, field: 'steps', message });
  if (graph.steps.filter(({ type }) => type === 'TRIGGER').length !== 1) ofGraph('must have exactly one TRIGGER step');
  if (graph.steps.length > maxSteps) ofGraph(`must have at most ${maxSteps} steps`);
  const onCycle = stepOnCycle(graph);
  if (onCycle) issues.push(pathIssue(onCycle, cycleProblem(onCycle.name)));
  const trigger = triggerOf(graph);
  const reached = trigger ? reachableFrom(graph.transitions, trigger.id) : new Set<string>();
  for (const step of graph.steps) {
    if (!reached.has(step.id)) continue;
    for (const { field, message } of problemsOf(step))
      issues.push({ stepId: step.id, field, message: `Step "${step.name}": ${message}` });
    issues.push(...pathIssues(step, graph));
  }
  return issues;
}

function pathIssue({ id }: CheckedStep, message: string): GraphIssue {
  return { stepId: id, field: 'transitions', message };
}

function pathIssues(step: CheckedStep, { steps, transitions }: Graph<CheckedStep, CheckedPath>): GraphIssue[] {
  const { type, name } = step;
  const paths = transitions.filter((path) => path.fromStepId === step.id);
  const messages = new Set<string>();
  if (type === 'EXIT' && paths.length > 0) messages.add(exitProblem(name));
  for (const path of paths) {
    const target = steps.find(({ id }) => id === path.toStepId);
    const problem = target?.type === 'TRIGGER' ? endsProblem(step, target) : null;
    if (problem !== null) messages.add(problem);
    const unknown = unknownPathProblem(step, path);
    if (unknown !== null) messages.add(unknown.message);
  }
  const mayBranch = hasBranches(type) || type === 'WAIT_FOR_EVENT' || type === 'EXIT';
  if (!mayBranch && paths.length > 1) messages.add(secondPathProblem(type, name));
  return [...messages].map((message) => pathIssue(step, message));
}

interface PlacedStep {
  id: string;
  type: string;
  name: string;
}

type PlacedPath = PathCondition & { fromStepId: string; toStepId: string };

/** Why a workflow cannot have so many steps and paths; or null. */
export function sizeProblem(steps: number, transitions: number): string | null {
  if (steps > maxSteps) return `A workflow has at most ${maxSteps} steps`;
  return transitions > maxTransitions ? `A workflow has at most ${maxTransitions} transitions` : null;
}

/** Why steps with the paths among them cannot be saved, whatever their configs say; the first reason, or null. */
export function graphProblem({ steps, transitions }: Graph<PlacedStep, PlacedPath>): string | null {
  const size = sizeProblem(steps.length, transitions.length);
  if (size !== null) return size;
  const byId = new Map(steps.map((step) => [step.id, step]));
  const known = new Map<string, PathCondition[]>();
  for (const path of transitions) {
    const [from, to] = [byId.get(path.fromStepId), byId.get(path.toStepId)];
    if (!from || !to) return 'A path leads to a step that is not there';
    const others = known.get(from.id) ?? [];
    const problem = endsProblem(from, to) ?? pathProblem(from, path, others)?.message;
    if (problem) return problem;
    known.set(from.id, [...others, path]);
  }
  const onCycle = stepOnCycle({ steps, transitions });
  return onCycle && cycleProblem(onCycle.name);
}

/** Returns the problem of a step that is part of a cycle. */
export function cycleProblem(name: string): string {
  return `Step "${name}" leads back to itself`;
}
