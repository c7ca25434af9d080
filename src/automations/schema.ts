import { describedBy, field, nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  choiceParameter,
  coded,
  directionParameter,
  Instant,
  JsonObject,
  pageParameters,
  parameter,
  textField,
  Uuid,
  wholeNumber,
} from '@fernpost/validation';
import { longestNote, longestStepName, waitOutcomes } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { CursorParameter } from '../core/lib/cursor.ts';
import { PageFigures } from '../core/lib/offset-page.ts';
import { StepConfigShape, stepTypes } from './graph/step-configs.ts';
import { triggerTypes } from './rows.ts';

const Json = v.record(v.string(), v.unknown());
const Name = textField('name', 1, 255);
const Description = v.nullish(textField('description', 0, 2000));
const maxConfigLength = 256 * 1024;

/** A config or a trigger's config: any object that is not too large. */
const Config = v.pipe(
  JsonObject,
  coded<Record<string, unknown>>(
    'too_big',
    (config) => JSON.stringify(config).length <= maxConfigLength,
    'must be at most 256 KiB of JSON',
  ),
);
const StepConfig = describedBy(v.pipe(Config), StepConfigShape);
const Position = v.object(
  {
    x: field('Pixels from the left.', v.number('must be a number')),
    y: field('Pixels from the top.', v.number('must be a number')),
  },
  'must be { x, y }',
);
/** The type of a step. */
export const StepTypeField = choice(stepTypes);
const TriggerTypeField = choice(triggerTypes);

/** An automation in an answer: a "workflow" of the interface. */
export const WorkflowBody = v.object({
  id: field('ID of the workflow.', Uuid),
  projectId: field('ID of the project that the workflow belongs to.', Uuid),
  name: field('Name of the workflow.', v.string()),
  description: field('Description of the workflow; null if there is none.', v.nullable(v.string())),
  enabled: field('Whether the workflow is enabled, so that contacts can enter it.', v.boolean()),
  triggerType: field(
    'How contacts enter: `EVENT` at an event, `MANUAL` by a request, `SCHEDULE` at the times of a cron expression.',
    TriggerTypeField,
  ),
  triggerConfig: field(
    'Configuration of the trigger. `EVENT`: `eventName`. `SCHEDULE`: `schedule`, `timezone`, and `segmentId` or `audienceCondition`. Null if there is none.',
    v.nullable(Json),
  ),
  allowReentry: field('Whether a contact can enter again after leaving.', v.boolean()),
  createdAt: field('When the workflow was created.', Instant),
  updatedAt: field('When the workflow last changed.', Instant),
});
export type WorkflowBody = v.InferOutput<typeof WorkflowBody>;

/** `GET /workflows`; an unknown sort, direction or status falls back to the default. */
export const ListWorkflows = v.object({
  ...pageParameters(100),
  limit: parameter('Another name of `pageSize`.', { type: 'integer', minimum: 1, maximum: 100 }),
  cursor: CursorParameter,
  search: parameter('Text in name or description, in any letter case.'),
  status: choiceParameter('All when absent.', ['enabled', 'disabled']),
  sort: choiceParameter('What to sort by.', ['name', 'createdAt', 'updatedAt', 'steps'], 'createdAt'),
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
            steps: field('Number of steps.', v.number()),
            executions: field('Number of executions, including those that have ended.', v.number()),
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
    'How contacts enter: `EVENT` at each event of a name, `MANUAL` by `POST /workflows/{id}/executions`, `SCHEDULE` at the times of a cron expression.',
    v.optional(TriggerTypeField, 'EVENT'),
  ),
  triggerConfig: field(
    'Configuration of the trigger, up to 256 KiB. `EVENT`: `eventName`. `SCHEDULE`: `schedule` (a cron expression of five fields), `timezone`, and `segmentId`, `audienceCondition` or both.',
    v.nullish(Config),
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
    'New trigger: `EVENT`, `MANUAL` or `SCHEDULE`. It cannot change while contacts are inside.',
    v.optional(TriggerTypeField),
  ),
  triggerConfig: field(
    'New configuration of the trigger, up to 256 KiB. It cannot change while contacts are inside.',
    v.nullish(Config),
  ),
  enabled: field(
    '`true` enables the workflow, which checks its whole graph; `false` disables it.',
    v.optional(v.boolean()),
  ),
  allowReentry: field('Whether a contact can enter again after leaving.', v.optional(v.boolean())),
});
export type PatchWorkflow = v.InferOutput<typeof PatchWorkflow>;

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

/** A transition in an answer. */
export const TransitionBody = v.object({
  id: field('ID of the transition.', Uuid),
  fromStepId: field('ID of the step that the transition leaves.', Uuid),
  toStepId: field('ID of the step that the transition leads to.', Uuid),
  condition: field(
    '`branch` in the form of earlier clients; null if there is none.',
    v.nullable(v.object({ branch: field('Branch of the condition that takes this transition.', v.string()) })),
  ),
  branch: field(
    'Branch of a condition that takes this transition, such as `yes`; null for other steps.',
    v.nullable(v.string()),
  ),
  waitOutcome: field(
    'Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null for both, and for other steps.',
    v.nullable(v.picklist(waitOutcomes)),
  ),
  priority: field('Position among the transitions of the step: lower numbers are tried first.', v.number()),
  createdAt: field('When the transition was created.', Instant),
  updatedAt: field('When the transition last changed.', Instant),
});
export type TransitionBody = v.InferOutput<typeof TransitionBody>;

const StoredPosition = v.object({
  x: field('Pixels from the left.', v.number()),
  y: field('Pixels from the top.', v.number()),
});

/** A step in an answer. */
export const StepBody = v.object({
  id: field('ID of the step.', Uuid),
  workflowId: field('ID of the workflow that the step belongs to.', Uuid),
  type: field('Type of the step. `config` depends on it.', StepTypeField),
  name: field('Name of the step.', v.string()),
  position: field('Position of the step on the canvas.', StoredPosition),
  config: field(
    'Configuration of the step, which depends on its type.',
    describedBy(v.record(v.string(), v.unknown()), StepConfigShape),
  ),
  templateId: field(
    'ID of the template that a `SEND_EMAIL` step sends; null for other steps, and until one is chosen.',
    v.nullable(Uuid),
  ),
  note: field('Note for the people who edit the workflow; null if there is none.', v.nullable(v.string())),
  createdAt: field('When the step was created.', Instant),
  updatedAt: field('When the step last changed.', Instant),
});
export type StepBody = v.InferOutput<typeof StepBody>;

/** Something that enabling would refuse. */
export const Issue = v.object({
  stepId: field(
    'ID of the step that the issue is about; null if it is about the workflow as a whole.',
    v.nullable(Uuid),
  ),
  field: field('Path of the field that the issue is about, such as `steps.<id>.config.amount`.', v.string()),
  message: field('What has to be fixed, as a sentence.', v.string()),
});
export type Issue = v.InferOutput<typeof Issue>;

const EditedByUser = v.object({
  kind: field('`user`: a member of the project.', v.literal('user')),
  id: field('ID of the user.', Uuid),
  email: field('Address of the user.', v.string()),
});
const EditedByKey = v.object({ kind: field('`key`: an API key.', v.literal('key')) });
nameSchemas({ EditedByUser, EditedByKey });
const EditedBy = v.nullable(v.variant('kind', [EditedByUser, EditedByKey]));

/** An automation with its whole graph. */
export const WorkflowWithGraph = v.object({
  ...WorkflowBody.entries /** Counts every edit; the `ETag`, without its quotes. */,
  revision: field(
    'Increases with every edit of the workflow, its steps and transitions. The `ETag` header carries the same value; send it as `If-Match` to avoid overwriting somebody else’s edit.',
    v.number(),
  ) /** Null where nothing was changed since it was created. */,
  editedAt: field(
    'When the workflow was last edited; null if it has not been edited since it was created.',
    v.nullable(Instant),
  ),
  editedBy: field('Who last edited the workflow; null if that is not known.', EditedBy),
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
  issues: field('What has to be fixed before the workflow can be enabled; empty if nothing.', v.array(Issue)),
});
export type WorkflowWithGraph = v.InferOutput<typeof WorkflowWithGraph>;

/** `GET /workflows/{id}/versions`. */
export const ListVersions = v.object(pageParameters(100));
export type ListVersions = v.InferOutput<typeof ListVersions>;

const Version = {
  version: field('Version number, counting from 1.', v.number()),
  createdAt: field('When the version was published.', Instant) /** Whether new executions are pinned to it. */,
  isCurrent: field('Whether contacts that enter now get this version.', v.boolean()),
};

/** A page of versions. */
export const VersionPage = v.object({
  data: field(
    'Versions on this page, newest first.',
    v.array(
      v.object({
        ...Version,
        steps: field('Number of steps in the version.', v.number()) /** Contacts that are inside and pinned to it. */,
        active: field('Number of contacts in the workflow that have this version.', v.number()),
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
        ...v.pick(StepBody, ['id', 'type', 'name', 'config', 'templateId', 'note'])
          .entries /** Null where no place was kept. */,
        position: field(
          'Position of the step on the canvas; null if none was stored.',
          v.nullable(StoredPosition),
        ) /** By its name of today. */,
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
  transitions: field(
    'Transitions of the version.',
    v.array(
      v.object(v.pick(TransitionBody, ['id', 'fromStepId', 'toStepId', 'branch', 'waitOutcome', 'priority']).entries),
    ),
  ),
});
export type VersionWithGraph = v.InferOutput<typeof VersionWithGraph>;

const step = {
  type: field('Type of the step. `TRIGGER` is created with the workflow and cannot be added.', StepTypeField),
  name: field('Name of the step.', textField('name', 1, longestStepName)),
  position: field('Position of the step on the canvas.', Position),
  config: field(
    'Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled.',
    StepConfig,
  ),
  templateId: field(
    'ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`.',
    v.nullish(v.string()),
  ),
  note: field(
    'Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it.',
    v.nullish(textField('note', 0, longestNote)),
  ),
};

/** `POST /workflows/{id}/steps`. */
export const CreateStep = v.object({
  ...step,
  autoConnect: field(
    'Whether the step is connected to the newest open end of the graph.',
    v.optional(v.boolean(), true),
  ),
});
export type CreateStep = v.InferOutput<typeof CreateStep>;

/** `PATCH /workflows/{id}/steps/{stepId}`. */
export const PatchStep = v.partial(v.omit(v.object(step), ['type']));
export type PatchStep = v.InferOutput<typeof PatchStep>;

/** `DELETE /workflows/{id}/steps/{stepId}`; only the literal `true` splices. */
export const DeleteStep = v.object({ splice: choiceParameter('`true` deletes this step alone.', ['true']) });

/** `POST /workflows/{id}/transitions/{transitionId}/insert-step`. */
export const InsertStep = v.object({
  ...step,
  position: field(
    'Position of the step on the canvas; halfway between its neighbors when absent.',
    v.nullish(Position),
  ),
});
export type InsertStep = v.InferOutput<typeof InsertStep>;

/** `POST /workflows/{id}/transitions`. */
export const CreateTransition = v.object({
  fromStepId: field('ID of the step that the transition leaves.', textField('fromStepId', 1, 100)),
  toStepId: field('ID of the step that the transition leads to.', textField('toStepId', 1, 100)),
  condition: field(
    '`branch` in the form of earlier clients. Use `branch` instead.',
    v.nullish(
      v.object({
        branch: field('Branch of the condition that takes this transition.', v.nullish(textField('branch', 1, 40))),
      }),
    ),
  ),
  branch: field(
    'Branch of a condition that takes this transition: `yes`, `no`, or with `mode: "multi"` the `id` of a branch or `default`. Required for conditions.',
    v.nullish(textField('branch', 1, 40)),
  ),
  waitOutcome: field(
    'Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null or absent for both.',
    v.nullish(choice(waitOutcomes)),
  ),
  priority: field(
    'Position among the transitions of the step, 0 to 1,000,000: lower numbers are tried first.',
    v.optional(wholeNumber(0, 1_000_000), 0),
  ),
});
export type CreateTransition = v.InferOutput<typeof CreateTransition>;

/** `GET /workflows/fields`. */
export const ListWorkflowFields = v.object({ eventName: parameter('Adds the fields of the data of this event.') });
/** What conditions can ask for. */
export const WorkflowFields = v.object({
  fields: field('Names of the fields.', v.array(v.string())),
  typedFields: field(
    'The same fields with their types.',
    v.array(
      v.object({
        field: field('Name of the field, such as `contact.email` or `event.total`.', v.string()),
        type: field('Type of the values: `string`, `number`, `boolean` or `date`.', v.string()),
        category: field('`Contact Fields`, `Custom Data` for data of the contact, or `Event Data`.', v.string()),
      }),
    ),
  ),
  count: field('Number of fields.', v.number()),
});

nameSchemas({
  Workflow: WorkflowBody,
  WorkflowStep: StepBody,
  WorkflowTransition: TransitionBody,
  WorkflowIssue: Issue,
  WorkflowWithGraph,
  WorkflowVersion: VersionWithGraph,
});
