import * as v from 'valibot';
import { CursorParameter, PageFigures } from '../lib/pages.ts';
import {
  choice,
  choiceParameter,
  directionParameter,
  field,
  Instant,
  Integer,
  nameSchemas,
  Percentage,
  pageParameters,
  parameter,
  textField,
  Uuid,
  wholeNumber,
} from '../lib/validation/fields.ts';
import { rolloutStates, triggerTypes } from './entity.ts';
import { Exits, Goal } from './graph/exits.ts';
import { GivenConfig, Issue, StepBody, StoredPosition, TransitionBody } from './graph/schema.ts';

const Json = v.record(v.string(), v.unknown());
const Name = textField('name', 1, 255);
const Description = v.nullish(textField('description', 0, 2000));
const TriggerTypeField = choice(triggerTypes);

/** An automation in an answer: a "workflow" of the interface. */
export const WorkflowBody = v.object({
  id: field('ID of the workflow.', Uuid),
  projectId: field('ID of the project that the workflow belongs to.', Uuid),
  name: field('Name of the workflow.', v.string()),
  description: field('Description of the workflow; null if there is none.', v.nullable(v.string())),
  enabled: field('Whether the workflow is enabled, so that contacts can enter it.', v.boolean()),
  triggerType: field(
    'How contacts enter: `EVENT` at an event, `MANUAL` by a request, `SCHEDULE` at the times of a cron expression, `CONTACT_CREATED` when they are created, `DATE` at a date of theirs.',
    TriggerTypeField,
  ),
  triggerConfig: field(
    'Configuration of the trigger. `EVENT`: `eventName`, and `where` to test the data of the event. `SCHEDULE`: `schedule`, `timezone`, and `segmentId` or `audienceCondition`. `CONTACT_CREATED`: `audienceCondition` and `imports`. `DATE`: `field`, `offset`, `at`, `every`, `zone` and `fallback`. Null if there is none.',
    v.nullable(Json),
  ),
  allowReentry: field('Whether a contact can enter again after leaving.', v.boolean()),
  pausedAt: field('Since when the workflow is paused; null if it is not.', v.nullable(Instant)),
  createdAt: field('When the workflow was created.', Instant),
  updatedAt: field('When the workflow last changed.', Instant),
});
export type WorkflowBody = v.InferOutput<typeof WorkflowBody>;

/** `GET /workflows`; an unknown sort, direction or status falls back to the default. */
export const ListWorkflows = v.object({
  ...pageParameters(100),
  limit: parameter('Another name for `pageSize`.', { type: 'integer', minimum: 1, maximum: 100 }),
  cursor: CursorParameter,
  search: parameter('Text in the name or description, in any letter case.'),
  status: choiceParameter('Workflows that are enabled or disabled; all when absent.', ['enabled', 'disabled']),
  stepId: parameter('The workflow that has this step; none when the step was deleted.'),
  sort: choiceParameter('Field to sort by.', ['name', 'createdAt', 'updatedAt', 'steps'], 'createdAt'),
  dir: directionParameter,
});
export type ListWorkflows = v.InferOutput<typeof ListWorkflows>;

/** A page of automations with how many steps and executions each has. */
export const WorkflowPage = v.object({
  data: field(
    'Workflows on this page.',
    v.array(
      v.object({
        ...WorkflowBody.entries,
        _count: field(
          'Numbers of steps and executions of the workflow.',
          v.object({
            steps: field('Number of steps.', Integer),
            executions: field('Number of executions, including those that have ended.', Integer),
          }),
        ),
      }),
    ),
  ),
  ...PageFigures.entries,
  hasMore: field('Whether there is another page.', v.boolean()),
  cursor: field('Pass it as `cursor` to get the next page; null on the last page.', v.nullable(v.string())),
});

/** `POST /workflows`. The trigger EVENT needs `eventName`, or `triggerConfig.eventName`; the others ignore it. */
export const CreateWorkflow = v.object({
  name: field('Name of the workflow, 1 to 255 characters.', Name),
  eventName: field(
    'Name of the event that starts the workflow, up to 255 characters. Required for `EVENT` unless it is in `triggerConfig`; ignored otherwise.',
    v.nullish(v.pipe(v.string(), v.trim(), textField('eventName', 0, 255))),
  ),
  triggerType: field(
    'How contacts enter: `EVENT` at each event of a name, `MANUAL` by `POST /workflows/{id}/executions`, `SCHEDULE` at the times of a cron expression, `CONTACT_CREATED` when they are created, once each, `DATE` at a date of theirs, such as a birthday.',
    v.optional(TriggerTypeField, 'EVENT'),
  ),
  triggerConfig: field(
    'Configuration of the trigger, up to 256 KiB. `EVENT`: `eventName`, and `where` to test the data of the event. `SCHEDULE`: `schedule` (a cron expression of five fields), `timezone`, and `segmentId`, `audienceCondition` or both. `CONTACT_CREATED`: `audienceCondition`, a condition tree that new contacts must match, and `imports`, `true` for those that an import creates too. `DATE`: `field` with the date, such as `data.birthday`, `offset` and `at` as in `WAIT_UNTIL`, `every` (`year` for each year), `zone` and `fallback`.',
    v.nullish(GivenConfig),
  ),
  description: field('Description of the workflow, up to 2,000 characters; null or absent for none.', Description),
  allowReentry: field('Whether a contact can enter again after leaving.', v.optional(v.boolean(), false)),
});
export type CreateWorkflow = v.InferOutput<typeof CreateWorkflow>;

/** `PATCH /workflows/{id}`. */
export const PatchWorkflow = v.object({
  name: field('New name, 1 to 255 characters.', v.optional(Name)),
  description: field('New description, up to 2,000 characters; null removes it.', Description),
  triggerType: field(
    'New trigger: `EVENT`, `MANUAL`, `SCHEDULE`, `CONTACT_CREATED` or `DATE`. It cannot change while contacts are inside.',
    v.optional(TriggerTypeField),
  ),
  triggerConfig: field(
    'New configuration of the trigger, up to 256 KiB. It cannot change while contacts are inside.',
    v.nullish(GivenConfig),
  ),
  enabled: field(
    '`true` enables the workflow, which checks its whole graph; `false` disables it.',
    v.optional(v.boolean()),
  ),
  allowReentry: field('Whether a contact can enter again after leaving.', v.optional(v.boolean())),
  exits: field(
    'What ends executions early, up to 20, in place of what was there; null removes all. It holds for contacts who enter from now on.',
    v.nullish(Exits),
  ),
  goal: field(
    'What the workflow is for, in place of what was there; null removes it. It counts for contacts who enter from now on.',
    v.nullish(Goal),
  ),
});
export type PatchWorkflow = v.InferOutput<typeof PatchWorkflow>;

/** `POST /workflows/{id}/resume`. */
export const ResumeWorkflow = v.object({
  spreadMinutes: field(
    'Contacts whom the pause held continue evenly over this many minutes, 0 to 10,080; 0 continues all at once.',
    v.optional(wholeNumber(0, 10_080), 0),
  ),
});

/** `POST /workflows/bulk-update`. */
export const BulkUpdateWorkflows = v.object({
  ids: field(
    'IDs of the workflows to delete, 1 to 1,000. All of them are deleted, or none.',
    v.pipe(
      v.array(Uuid),
      v.minLength(1, 'must name at least one workflow'),
      v.maxLength(1000, 'must name at most 1000 workflows'),
    ),
  ),
  delete: field(
    '`true` deletes the workflows. Otherwise the request only checks that they exist.',
    v.optional(v.boolean()),
  ),
});
export type BulkUpdateWorkflows = v.InferOutput<typeof BulkUpdateWorkflows>;

const EditedByUser = v.object({
  kind: field('`user`: a member of the project.', v.literal('user')),
  id: field('ID of the user.', Uuid),
  email: field('Address of the user.', v.string()),
});
const EditedByKey = v.object({ kind: field('`key`: an API key.', v.literal('key')) });
nameSchemas({ EditedByUser, EditedByKey });
const EditedBy = v.nullable(v.variant('kind', [EditedByUser, EditedByKey]));

/** A percentage, or null where there is nothing to divide by. */
export const Rate = v.nullable(v.number());

/** The rollout of a new version to a share of new contacts. */
export const RolloutBody = v.object({
  id: field('ID of the rollout.', Uuid),
  state: field(
    '`RUNNING`: new contacts are shared out. `FINISHED`: all new contacts get the new version. `BACK`: all get the previous one again. `STOPPED`: the same, by a limit that was broken. `REPLACED`: another graph was published meanwhile.',
    choice(rolloutStates),
  ),
  percent: field('Share of new contacts who get the new version, in percent.', v.number()),
  version: field('Number of the new version.', Integer),
  previousVersion: field('Number of the version that the other new contacts get.', Integer),
  stopIf: field(
    'Limits that stop the rollout.',
    v.object({
      failureRate: field('Highest share of executions that fail, in percent; null for no limit.', Rate),
      unsubscribeRate: field('Highest share of contacts who unsubscribe, in percent; null for no limit.', Rate),
    }),
  ),
  leastEntered: field('Limits count once this many contacts have entered the new version.', Integer),
  days: field('Length of the rollout in days.', Integer),
  startedAt: field('When the rollout started.', Instant),
  endsAt: field('When all new contacts get the new version, unless a limit is broken before.', Instant),
  endedAt: field('When the rollout ended; null while it is under way.', v.nullable(Instant)),
  stopped: field(
    'The limit that was broken; null if none.',
    v.nullable(
      v.object({
        limit: field('`failureRate` or `unsubscribeRate`.', v.picklist(['failureRate', 'unsubscribeRate'])),
        count: field('Number of executions that failed, or of contacts who unsubscribed.', Integer),
        of: field('Number of contacts who had entered the new version.', Integer),
        percent: field('Highest percentage that was allowed.', v.number()),
      }),
    ),
  ),
});
export type RolloutBody = v.InferOutput<typeof RolloutBody>;

/** What became of the contacts who entered one version during a rollout. */
export const VersionCounts = v.object({
  version: field('Number of the version.', Integer),
  isNew: field('Whether it is the new version.', v.boolean()),
  entered: field('Number of contacts who entered it since the rollout started.', Integer),
  active: field('Number of them who are still inside.', Integer),
  completed: field('Number of them who reached the end.', Integer),
  exited: field('Number of them who left early.', Integer),
  failed: field('Number of them whose execution failed.', Integer),
  cancelled: field('Number of them whose execution was canceled.', Integer),
  unsubscribed: field('Number of them who unsubscribed by an email of the workflow.', Integer),
});
export type VersionCounts = v.InferOutput<typeof VersionCounts>;

const StopIf = v.object({
  failureRate: field(
    'Highest share of the new version’s executions that may fail, in percent with at most two decimals; null or absent for no limit.',
    v.nullish(Percentage),
  ),
  unsubscribeRate: field(
    'Highest share of its contacts who may unsubscribe by one of its emails, in percent with at most two decimals; null or absent for no limit.',
    v.nullish(Percentage),
  ),
});
const Share = field(
  'Share of new contacts who get the new version, above 0 and below 100 percent, with at most two decimals.',
  v.pipe(
    Percentage,
    v.check((percent) => percent > 0 && percent < 100, 'must be above 0 and below 100'),
  ),
);
const Days = wholeNumber(1, 90);

/** `rollout` of `PUT /workflows/{id}/graph`. */
export const RolloutOptions = v.object({
  percent: Share,
  stopIf: field(
    'Limits for the new version. The first that is broken takes it back. 5% failures and 2% unsubscribes when absent.',
    v.optional(StopIf, { failureRate: 5, unsubscribeRate: 2 }),
  ),
  days: field('Days until all new contacts get the new version, 1 to 90.', v.optional(Days, 7)),
});
export type RolloutOptions = v.InferOutput<typeof RolloutOptions>;

/** `PATCH /workflows/{id}/rollout`. */
export const PatchRollout = v.object({
  percent: v.optional(Share),
  stopIf: field('New limits, in place of all that were there.', v.optional(StopIf)),
  days: field('New length in days from the start of the rollout, 1 to 90.', v.optional(Days)),
});
export type PatchRollout = v.InferOutput<typeof PatchRollout>;

/** An automation with its whole graph. */
export const WorkflowWithGraph = v.object({
  ...WorkflowBody.entries,
  revision: field(
    'Increases with every edit of the workflow, its steps and transitions. The `ETag` header carries the same value; send it as `If-Match` to avoid overwriting somebody else’s edit.',
    Integer,
  ),
  editedAt: field(
    'When the workflow was last edited; null if it has not been edited since it was created.',
    v.nullable(Instant),
  ),
  editedBy: field(
    'User or key that last edited the workflow; null if it has not been edited since it was created.',
    EditedBy,
  ),
  steps: field(
    'Steps of the graph with their transitions.',
    v.array(
      v.object({
        ...StepBody.entries,
        template: field(
          'Template that the step sends; null for other steps.',
          v.nullable(
            v.object({ id: field('ID of the template.', Uuid), name: field('Name of the template.', v.string()) }),
          ),
        ),
        outgoingTransitions: field(
          'Transitions that leave the step, in the order in which they are tried.',
          v.array(TransitionBody),
        ),
        incomingTransitions: field('Transitions that lead to the step.', v.array(TransitionBody)),
      }),
    ),
  ),
  transitions: field('All transitions of the graph.', v.array(TransitionBody)),
  exits: field('What ends executions early, whatever step they are at.', Exits),
  goal: field('What the workflow is for; null if it has no goal.', v.nullable(Goal)),
  rollout: field(
    'The latest rollout of a new version, which may be over; null if there was none.',
    v.nullable(RolloutBody),
  ),
  issues: field('What has to be fixed before the workflow can be enabled; empty if nothing.', v.array(Issue)),
});
export type WorkflowWithGraph = v.InferOutput<typeof WorkflowWithGraph>;

/** `GET /workflows/{id}/versions`. */
export const ListVersions = v.object(pageParameters(100));
export type ListVersions = v.InferOutput<typeof ListVersions>;

const Version = {
  version: field('Version number, counting from 1.', Integer),
  createdAt: field('When the version was published.', Instant),
  isCurrent: field('Whether contacts that enter now get this version.', v.boolean()),
};

/** A page of versions. */
export const VersionPage = v.object({
  data: field(
    'Versions on this page, newest first.',
    v.array(
      v.object({
        ...Version,
        steps: field('Number of steps in the version.', Integer),
        active: field('Number of contacts in the workflow that have this version.', Integer),
        share: field('Share of new contacts who get this version, in percent.', v.number()),
      }),
    ),
  ),
  ...PageFigures.entries,
});
export type VersionPage = v.InferOutput<typeof VersionPage>;

/** A version of a graph, which never changes. */
export const VersionWithGraph = v.object({
  ...Version,
  steps: field(
    'Steps of the version.',
    v.array(
      v.object({
        ...v.pick(StepBody, ['id', 'type', 'name', 'config', 'templateId', 'note']).entries,
        position: field('Position of the step on the canvas; null if none was stored.', v.nullable(StoredPosition)),
        template: field(
          'Template that the step sends, with its current name; null for other steps and deleted templates.',
          v.nullable(
            v.object({
              id: field('ID of the template.', Uuid),
              name: field('Current name of the template.', v.string()),
            }),
          ),
        ),
      }),
    ),
  ),
  exits: field('What ends executions of the version early.', Exits),
  goal: field('Goal of the version; null if it has none.', v.nullable(Goal)),
  transitions: field(
    'Transitions of the version.',
    v.array(
      v.object(v.pick(TransitionBody, ['id', 'fromStepId', 'toStepId', 'branch', 'waitOutcome', 'priority']).entries),
    ),
  ),
});
export type VersionWithGraph = v.InferOutput<typeof VersionWithGraph>;

nameSchemas({ WorkflowRollout: RolloutBody, RolloutOptions });
nameSchemas({ Workflow: WorkflowBody, WorkflowWithGraph, WorkflowVersion: VersionWithGraph });
