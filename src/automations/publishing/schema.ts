import { maxSteps, maxTransitions } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { field, Integer, nameSchemas, textField } from '../../lib/validation/fields.ts';
import { Exits, Goal } from '../graph/exits.ts';
import { CreateStep, CreateTransition, Issue, StepBody, TransitionBody } from '../graph/schema.ts';
import { MigrationBody, MigrationPreview, MoveWithGraph } from '../migrating/rules.ts';
import { GoalFigures } from '../runs/schema.ts';
import { Rate, RolloutBody, RolloutOptions, VersionCounts, WorkflowWithGraph } from '../schema.ts';

const { type, name, position, config, templateId, note } = CreateStep.entries;

/** `PUT /workflows/{id}/graph`: the whole graph as it shall be. */
export const PutGraph = v.object({
  steps: field(
    'All steps of the new graph. Steps that are left out are deleted.',
    v.pipe(
      v.array(
        v.object({
          id: field(
            'ID of an existing step to keep it; any other text names a new step within this request. 1 to 100 characters.',
            textField('id', 1, 100),
          ),
          type: field('Type of the step. The graph needs its `TRIGGER`.', type),
          name,
          position,
          config,
          templateId,
          note,
        }),
        'must be a list of steps',
      ),
      v.maxLength(maxSteps, `must have at most ${maxSteps} steps`),
    ),
  ),
  transitions: field(
    'All transitions of the new graph.',
    v.pipe(
      v.array(CreateTransition, 'must be a list of transitions'),
      v.maxLength(maxTransitions, `must have at most ${maxTransitions} transitions`),
    ),
  ),
  exits: field('What ends executions early, up to 20; absent leaves it, null removes all.', v.nullish(Exits)),
  goal: field('What the workflow is for; absent leaves it, null removes it.', v.nullish(Goal)),
  migrate: field(
    'Plan for contacts that are already in the workflow; null or absent leaves them in their version.',
    v.nullish(MoveWithGraph),
  ),
  rollout: field(
    'Gives the new graph to a share of new contacts first, while the others get the version that was published before; null or absent publishes it for all.',
    v.nullish(RolloutOptions),
  ),
  dryRun: field('`true` returns what would happen, and changes nothing.', v.optional(v.boolean(), false)),
});
export type PutGraph = v.InferOutput<typeof PutGraph>;

/** The differences between two graphs. */
export const GraphChanges = v.object({
  steps: field(
    'Steps that differ.',
    v.array(
      v.object({
        ...v.pick(StepBody, ['id', 'name', 'type']).entries,
        change: field(
          '`added`, `removed`, `changed`, or `moved` if only the position differs.',
          v.picklist(['added', 'removed', 'changed', 'moved']),
        ),
        fields: field('Fields that changed: `name`, `config`, `templateId` or `note`.', v.array(v.string())),
      }),
    ),
  ),
  transitions: field(
    'Transitions that differ.',
    v.array(
      v.object({
        ...v.pick(TransitionBody, ['fromStepId', 'toStepId', 'branch', 'waitOutcome']).entries,
        change: field('`added` or `removed`.', v.picklist(['added', 'removed'])),
      }),
    ),
  ),
});
export type GraphChanges = v.InferOutput<typeof GraphChanges>;

const Outcome = {
  ids: field('IDs of new steps, by the names that the request gave them.', v.record(v.string(), v.string())),
  changes: field('What the new graph changes.', GraphChanges),
};

/** The effects of replacing the graph. */
export const PutGraphPreview = v.object({
  dryRun: field('`true`: nothing was changed.', v.literal(true)),
  revision: field('Current revision of the workflow, for `If-Match`.', Integer),
  ...Outcome,
  issues: field(
    'What has to be fixed before the workflow can be enabled with this graph; empty if nothing.',
    v.array(Issue),
  ),
  people: field('How the plan applies to the contacts in the workflow.', MigrationPreview),
});
export type PutGraphPreview = v.InferOutput<typeof PutGraphPreview>;

/** The graph after it was replaced. */
export const PutGraphDone = v.object({
  dryRun: field('`false`: the graph was replaced.', v.literal(false)),
  ...Outcome,
  workflow: field('The workflow with its new graph.', WorkflowWithGraph),
  migration: field(
    'The job that migrates the contacts in the workflow; null without `migrate`.',
    v.nullable(MigrationBody),
  ),
});
export type PutGraphDone = v.InferOutput<typeof PutGraphDone>;

const Percent = (of: string) => field(`${of}, as a percentage of \`entered\`; null while nobody has entered.`, Rate);

/** `GET /workflows/{id}/rollout`. */
export const RolloutReport = v.object({
  ...RolloutBody.entries,
  versions: field(
    'The new version and the previous one, side by side.',
    v.array(
      v.object({
        ...VersionCounts.entries,
        completedRate: Percent('Contacts who reached the end'),
        exitedRate: Percent('Contacts who left early'),
        failureRate: Percent('Contacts whose execution failed'),
        unsubscribeRate: Percent('Contacts who unsubscribed'),
        goal: field(
          'Results of the goal among the contacts who entered it; they may still reach the goal when the rollout has ended. Null if the version has no goal.',
          v.nullable(GoalFigures),
        ),
      }),
    ),
  ),
});
export type RolloutReport = v.InferOutput<typeof RolloutReport>;

nameSchemas({
  WorkflowRolloutReport: RolloutReport,
  WorkflowGraphChanges: GraphChanges,
  WorkflowGraphPreview: PutGraphPreview,
  ReplacedWorkflowGraph: PutGraphDone,
});
