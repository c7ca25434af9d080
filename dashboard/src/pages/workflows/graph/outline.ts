import { byStep, wayKey, wayOf, waysOut } from './graph.ts';
import type { Step, Transition } from './shapes.ts';

type OutlinedStep = Pick<Step, 'id' | 'type' | 'name' | 'config'>;
type Way = Pick<Transition, 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome'>;

/** A line of the outline. */
export interface OutlineLine<Found extends OutlinedStep> {
  step: Found;
  /** The branches or outcomes that lead there; empty where plain paths do. */
  by: string;
}

/**
 * Every step in the order in which contacts reach it: a branch to its end before the next one, and a step where branches meet
 * after all of them. Steps that nothing leads to come last.
 */
export function outlineOf<Found extends OutlinedStep>(
  steps: readonly Found[],
  ways: readonly Way[],
): OutlineLine<Found>[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const out = byStep(ways);
  const done = new Set<string>();
  const reversed: Found[] = [];
  const visit = (step: Found) => {
    if (done.has(step.id)) return;
    done.add(step.id);
    const keys = waysOut(step).map(({ key }) => key);
    const own = [...(out.get(step.id) ?? [])].sort(
      (one, other) => keys.indexOf(wayKey(other)) - keys.indexOf(wayKey(one)),
    );
    for (const { toStepId } of own) {
      const next = byId.get(toStepId);
      if (next) visit(next);
    }
    reversed.push(step);
  };
  const entered = new Set(ways.map(({ toStepId }) => toStepId));
  const entries = steps.filter(({ id }) => !entered.has(id));
  // What is visited last comes first: the trigger.
  for (const step of entries.filter(({ type }) => type !== 'TRIGGER').reverse()) visit(step);
  for (const step of entries) visit(step);
  const inOrder = [...reversed.reverse(), ...steps.filter(({ id }) => !done.has(id))];
  return inOrder.map((step) => ({ step, by: labelsInto(step, ways, byId) }));
}

function labelsInto(step: OutlinedStep, ways: readonly Way[], byId: ReadonlyMap<string, OutlinedStep>): string {
  const labels = ways
    .filter(({ toStepId }) => toStepId === step.id)
    .map((way) => wayOf(byId.get(way.fromStepId), way).label)
    .filter(Boolean);
  return [...new Set(labels)].join(', ');
}
