import { type Graph, reachableFrom, stepOnCycle, triggerOf } from './graph.ts';
import { maxSteps } from './limits.ts';
import { endsProblem, exitProblem, type PathCondition, secondPathProblem, unknownPathProblem } from './paths.ts';
import { cycleProblem } from './whole.ts';

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
 * What keeps a graph from being enabled. Steps that no run can reach are not checked. `problemsOf` says what is wrong with a
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
  const mayBranch = type === 'CONDITION' || type === 'WAIT_FOR_EVENT' || type === 'EXIT';
  if (!mayBranch && paths.length > 1) messages.add(secondPathProblem(type, name));
  return [...messages].map((message) => pathIssue(step, message));
}
