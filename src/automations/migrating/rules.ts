import { stepOf } from '@fernpost/workflow-graph';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { delayMs, readStepConfig, type StepType } from '../graph/step-configs.ts';
import { inputOf } from '../runtime/steps.ts';

/** What becomes of contacts at a step of an old version. */
export const moveActions = ['finish', 'moveAtNextStep', 'moveNow', 'exit'] as const;
type MoveAction = (typeof moveActions)[number];

/** A rule of a plan. */
export interface MoveRule {
  action: MoveAction;
  /** Where `moveNow` leads; the step itself gives runs that wait there its new times. */
  toStepId: string | null;
  /** The exit reason of `exit`. */
  reason: string | null;
}

/** A plan as a migration keeps it: a rule for each step, and one for all others. */
export interface MovePlan {
  steps: Record<string, MoveRule>;
  otherwise: MoveRule;
}

/** A contact inside, whose rows are locked. Instants are ISO 8601. */
export interface ContactInside {
  currentStepId: string | null;
  /** The step execution that is open; null between two steps. */
  open: { stepType: StepType; startedAt: string; isOver: boolean } | null;
}

/** What a rule comes to for one contact. */
export type Move =
  /** Stays with the old version to the end. */
  | { kind: 'finished' }
  /** The rule cannot reach this contact, which stays with the old version. */
  | { kind: 'passedOver' }
  /** Takes the new version over: at once where nothing is open, else when leaving the current step. */
  | { kind: 'movedAtNextStep'; atOnce: boolean }
  /** Goes to another step and enters it. */
  | { kind: 'movedNow'; to: string }
  /** Stays in the wait and gets its new times. */
  | { kind: 'retimed'; times: WaitTimes }
  | { kind: 'exited'; reason: string };

/** A wait under a new config. */
export interface WaitTimes {
  stepName: string;
  input: Record<string, unknown>;
  scheduledFor: string | null;
  executeAfter: string | null;
  eventName: string | null;
}

/** The rule of a plan for contacts at a step. */
export function ruleAt(plan: MovePlan, stepId: string | null): MoveRule {
  return (stepId !== null && Object.hasOwn(plan.steps, stepId) ? plan.steps[stepId] : undefined) ?? plan.otherwise;
}

/**
 * What becomes of one contact. A webhook that is being called is never cut off: a run that is to leave it does so when it has
 * answered, if the new version knows the step.
 */
export function moveOf(person: ContactInside, rule: MoveRule, target: Graph): Move {
  const { currentStepId, open } = person;
  const known = currentStepId === null ? undefined : stepOf(target, currentStepId);
  const atNextStep: Move = known ? { kind: 'movedAtNextStep', atOnce: open === null } : { kind: 'passedOver' };
  switch (rule.action) {
    case 'finish':
      return { kind: 'finished' };
    case 'moveAtNextStep':
      return atNextStep;
    case 'exit':
      return { kind: 'exited', reason: rule.reason ?? 'migrated' };
    case 'moveNow': {
      const { toStepId } = rule;
      if (toStepId === null || !stepOf(target, toStepId)) return { kind: 'passedOver' };
      if (known && open?.stepType === 'WEBHOOK') return atNextStep;
      if (toStepId !== currentStepId || !known) return { kind: 'movedNow', to: toStepId };
      // A run whose wait is over is about to leave by itself; every other at the step waits by its new config.
      const times = open === null || open.isOver ? null : newTimes(known, open.startedAt);
      return times === null ? atNextStep : { kind: 'retimed', times };
    }
  }
}

/** The times of a wait that began at an instant, by the config that a step has now; null for steps that do not wait. */
function newTimes(step: GraphStep, startedAt: string): WaitTimes | null {
  const begun = Date.parse(startedAt);
  const after = (ms: number) => new Date(begun + ms).toISOString();
  const common = { stepName: step.name, input: inputOf(step) };
  if (step.type === 'DELAY') {
    const { config } = readStepConfig('DELAY', step.config);
    return config && { ...common, scheduledFor: after(delayMs(config)), executeAfter: null, eventName: null };
  }
  if (step.type !== 'WAIT_FOR_EVENT') return null;
  const { config } = readStepConfig('WAIT_FOR_EVENT', step.config);
  if (config === null) return null;
  const executeAfter = typeof config.timeout === 'number' ? after(Math.ceil(config.timeout * 1000)) : null;
  return { ...common, scheduledFor: null, executeAfter, eventName: config.eventName };
}
