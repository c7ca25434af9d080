import { stepText } from '../../../words/events.ts';
import type { ShownWay } from '../canvas/Canvas.tsx';
import type { ShownStep } from '../canvas/StepNode.tsx';
import { type DraftStep, type Graph, isSameStep } from '../graph/draft.ts';
import { figuresOf } from '../graph/figures.ts';
import { wayOf } from '../graph/graph.ts';
import type { Step, Transition } from '../graph/shapes.ts';
import type { Issue, People, Workflow } from '../workflow.ts';
import type { Editing } from './editing.ts';

/** A graph as the canvas shows it. */
export interface Drawing {
  steps: ShownStep[];
  ways: ShownWay[];
}

/** The path of a test run, or the counts of a simulation, which are of one state of the graph. */
export interface ShownTest {
  graph: Graph;
  /** What ends it: `Hide test`. */
  hide: string;
  draw: (drawing: Drawing) => Drawing;
}

/** The steps of an edit as the canvas shows them: with who is there, what is wrong, and how they differ from the published ones. */
export function shownSteps(
  workflow: Workflow,
  { graph, conflicts, settings }: Pick<Editing, 'graph' | 'conflicts' | 'settings'>,
  issues: readonly Issue[],
  people: People | undefined,
): ShownStep[] {
  const published = new Map(workflow.steps.map((each) => [each.id, each]));
  const undecided = new Set(conflicts.map(({ stepId }) => stepId));
  const markOf = (each: DraftStep) => {
    const before = published.get(each.id);
    if (undecided.has(each.id)) return 'Conflict';
    if (before === undefined) return 'New';
    return isSameStep(each, before) && !(each.type === 'TRIGGER' && settings) ? undefined : 'Changed';
  };
  return graph.steps.map((each) => ({
    step: { ...each, name: stepText(each.name), triggerType: workflow.triggerType },
    people: people?.steps.find(({ stepId }) => stepId === each.id),
    issues: issues.filter(({ stepId }) => stepId === each.id),
    mark: markOf(each),
  }));
}

/** The paths of a graph with their labels: branch or outcome, and how many of those who reached its step took it. */
export function shownWays(
  steps: readonly Pick<Step, 'id' | 'type' | 'name' | 'config'>[],
  transitions: readonly Pick<Transition, 'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome'>[],
  people?: People,
): ShownWay[] {
  return transitions.map((transition) => {
    const { id, fromStepId, toStepId, branch, waitOutcome } = transition;
    const from = steps.find((step) => step.id === fromStepId);
    const { label } = wayOf(from, transition);
    const siblings = transitions.filter((each) => each.fromStepId === fromStepId && each.id !== id);
    const figures = figuresOf(transition, siblings, people, stepText(from?.name ?? ''));
    return { id, fromStepId, toStepId, branch, waitOutcome, label, figures };
  });
}
