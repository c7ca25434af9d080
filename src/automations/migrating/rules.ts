import { stepOf } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { choice, field, GivenUuid, Instant, Integer, nameSchemas, textField } from '../../lib/validation/fields.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { delayMs, readStepConfig, type StepType, stepTypes } from '../graph/step-configs.ts';
import { inputOf } from '../runtime/steps.ts';
import { migrationStates } from './queries.ts';

/** A rule for contacts at a step of an old version. */
const moveActions = ['finish', 'moveAtNextStep', 'moveNow', 'exit'] as const;
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
interface ContactInside {
  currentStepId: string | null;
  /** The step execution that is open; null between two steps. */
  open: { stepType: StepType; startedAt: string; isOver: boolean } | null;
}

/** The result of a rule for one contact. */
type Move =
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
 * Decides about one contact. A webhook that is being called is never cut off: a run that is to leave it does so when it has
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
  // The execution, which is woken, finds the instant, because that depends on the contact.
  if (step.type === 'WAIT_UNTIL') return { ...common, scheduledFor: null, executeAfter: null, eventName: null };
  if (step.type !== 'WAIT_FOR_EVENT') return null;
  const { config } = readStepConfig('WAIT_FOR_EVENT', step.config);
  if (config === null) return null;
  const executeAfter = typeof config.timeout === 'number' ? after(Math.ceil(config.timeout * 1000)) : null;
  return { ...common, scheduledFor: null, executeAfter, eventName: config.eventName };
}

const Action = choice(moveActions);
/** A rule for each step of the old versions, and one for all others; `toStepId` says how a step of the new one is named. */
function rulesTo(toStepId: v.GenericSchema<string>) {
  const rule = {
    action: field(
      '`finish`: stay with the version to the end. `moveAtNextStep`: continue in the new graph after the current step. `moveNow`: move to `toStepId` at once. `exit`: leave the workflow.',
      Action,
    ),
    toStepId: field('Step of the new graph to move to. Required for `moveNow`.', v.nullish(toStepId)),
    reason: field(
      'Reason that executions end with, for `exit`; up to 200 characters.',
      v.nullish(textField('reason', 1, 200)),
    ),
  };
  return {
    plan: field(
      'Rules by the step that contacts are at, up to 1,000.',
      v.optional(
        v.pipe(
          v.array(
            v.object({ stepId: field('ID of the step in an older version that the rule is for.', GivenUuid), ...rule }),
            'must be a list of rules',
          ),
          v.maxLength(1000, 'must have at most 1000 rules'),
        ),
        [],
      ),
    ),
    otherwise: field('Rule for contacts at any other step.', v.optional(v.object(rule), { action: 'finish' })),
  };
}

/** The plan of a move to a graph that comes with the same request, whose new steps have no ids yet. */
export const MoveWithGraph = v.object(rulesTo(v.pipe(textField('toStepId', 1, 100), v.toLowerCase())));

/** `POST /workflows/{id}/migrate`. */
export const MigratePlan = v.object({
  dryRun: field(
    '`true` returns how many contacts each rule matches, and changes nothing.',
    v.optional(v.boolean(), false),
  ),
  ...rulesTo(GivenUuid),
});
export type MigratePlan = v.InferOutput<typeof MigratePlan>;

/** The effects of a plan. */
export const MigrationPreview = v.strictObject({
  dryRun: field('Always `true`: nothing was changed.', v.literal(true)),
  toVersion: field('Number of the version that contacts would be migrated to.', Integer),
  people: field('Number of contacts in the workflow that have another version.', Integer),
  rules: field(
    'Rules of the plan, with the number of contacts that each matches.',
    v.array(
      v.object({
        stepId: field(
          'ID of the step that contacts are at; null if they have not reached one.',
          v.nullable(v.string()),
        ),
        stepName: field('Name of that step; null if it is unknown.', v.nullable(v.string())),
        stepType: field('Type of that step; null if it is unknown.', v.nullable(v.picklist(stepTypes))),
        action: field('What the rule does: `finish`, `moveAtNextStep`, `moveNow` or `exit`.', Action),
        toStepId: field(
          'ID of the step that contacts would move to; null if the rule names none.',
          v.nullable(v.string()),
        ),
        people: field('Number of contacts at the step.', Integer),
      }),
    ),
  ),
});
export type MigrationPreview = v.InferOutput<typeof MigrationPreview>;

/** A migration in an answer. */
export const MigrationBody = v.object({
  id: field('ID of the migration.', v.string()),
  workflowId: field('ID of the workflow.', v.string()),
  state: field('`waiting`, `active`, then `completed`, `cancelled` or `failed`.', v.picklist(migrationStates)),
  toVersion: field('Number of the version that contacts are migrated to.', Integer),
  progress: field('Share of `expected` that has been processed, in percent; 100 when it is completed.', Integer),
  expected: field('Number of contacts that the plan matched when the migration began.', Integer),
  finished: field('Number of contacts that stay with their version to the end.', Integer),
  movedAtNextStep: field('Number of contacts that continue in the new graph after their current step.', Integer),
  movedNow: field('Number of contacts that were moved at once.', Integer),
  exited: field('Number of contacts that left the workflow by the plan.', Integer),
  passedOver: field(
    'Number of contacts that their rule could not be applied to. They stay with their version.',
    Integer,
  ),
  failedReason: field('Why the migration failed; null unless it did.', v.nullable(v.string())),
  createdAt: field('When the migration was requested.', Instant),
  updatedAt: field('When the migration last made progress.', Instant),
  completedAt: field('When the migration ended; null while it runs.', v.nullable(Instant)),
});
export type MigrationBody = v.InferOutput<typeof MigrationBody>;

nameSchemas({ WorkflowMigration: MigrationBody, WorkflowMigrationPreview: MigrationPreview });
