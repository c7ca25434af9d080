import { type Graph, stepOnCycle } from './graph.ts';
import { maxSteps, maxTransitions } from './limits.ts';
import { endsProblem, type PathCondition, pathProblem } from './paths.ts';

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

/** What is said of a step that is part of a cycle. */
export function cycleProblem(name: string): string {
  return `Step "${name}" leads back to itself`;
}
