import { nameSchemas } from '@fernpost/openapi/names';
import { textField } from '@fernpost/validation';
import { maxSteps, maxTransitions } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { MigrationBody, MigrationPreview, MoveWithGraph } from '../migrating/schema.ts';
import { CreateStep, CreateTransition, Issue, StepBody, TransitionBody, WorkflowWithGraph } from '../schema.ts';

const { type, name, position, config, templateId, note } = CreateStep.entries;

/** `PUT /workflows/{id}/graph`: the whole graph as it shall be. */
export const PutGraph = v.object({
  /** An id of a step that was there keeps it; any other text names a new step within this request. */
  steps: v.pipe(
    v.array(
      v.object({ id: textField('id', 1, 100), type, name, position, config, templateId, note }),
      'must be a list of steps',
    ),
    v.maxLength(maxSteps, `must have at most ${maxSteps} steps`),
  ),
  transitions: v.pipe(
    v.array(CreateTransition, 'must be a list of transitions'),
    v.maxLength(maxTransitions, `must have at most ${maxTransitions} transitions`),
  ),
  /** What becomes of the contacts inside; absent leaves all of them in the version that they are in. */
  migrate: v.nullish(MoveWithGraph),
  dryRun: v.optional(v.boolean(), false),
});
export type PutGraph = v.InferOutput<typeof PutGraph>;

/** What differs between two graphs. */
export const GraphChanges = v.object({
  steps: v.array(
    v.object({
      ...v.pick(StepBody, ['id', 'name', 'type']).entries,
      /** `moved` only has another place. */
      change: v.picklist(['added', 'removed', 'changed', 'moved']),
      /** Which of `name`, `config`, `templateId`, `note` changed. */
      fields: v.array(v.string()),
    }),
  ),
  transitions: v.array(
    v.object({
      ...v.pick(TransitionBody, ['fromStepId', 'toStepId', 'branch', 'waitOutcome']).entries,
      change: v.picklist(['added', 'removed']),
    }),
  ),
});
export type GraphChanges = v.InferOutput<typeof GraphChanges>;

const Told = {
  /** The ids of new steps, by what they were called in the request. */
  ids: v.record(v.string(), v.string()),
  changes: GraphChanges,
};

/** What replacing the graph would do. */
export const PutGraphPreview = v.object({
  dryRun: v.literal(true),
  revision: v.number(),
  ...Told,
  issues: v.array(Issue),
  /** Contacts of other versions than this graph's, and what their rules are. */
  people: MigrationPreview,
});
export type PutGraphPreview = v.InferOutput<typeof PutGraphPreview>;

/** The graph after it was replaced. */
export const PutGraphDone = v.object({
  dryRun: v.literal(false),
  ...Told,
  workflow: WorkflowWithGraph,
  migration: v.nullable(MigrationBody),
});
export type PutGraphDone = v.InferOutput<typeof PutGraphDone>;

nameSchemas({
  WorkflowGraphChanges: GraphChanges,
  WorkflowGraphPreview: PutGraphPreview,
  ReplacedWorkflowGraph: PutGraphDone,
});
