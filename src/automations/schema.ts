import { describedBy, nameSchemas } from '@fernpost/openapi/names';
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
const Position = v.object({ x: v.number('must be a number'), y: v.number('must be a number') }, 'must be { x, y }');
/** The type of a step. */
export const StepTypeField = choice(stepTypes);
const TriggerTypeField = choice(triggerTypes);

/** An automation in an answer: a "workflow" of the interface. */
export const WorkflowBody = v.object({
  id: Uuid,
  projectId: Uuid,
  name: v.string(),
  description: v.nullable(v.string()),
  enabled: v.boolean(),
  triggerType: TriggerTypeField,
  triggerConfig: v.nullable(Json),
  allowReentry: v.boolean(),
  createdAt: Instant,
  updatedAt: Instant,
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
  data: v.array(v.object({ ...WorkflowBody.entries, _count: v.object({ steps: v.number(), executions: v.number() }) })),
  ...PageFigures.entries,
  hasMore: v.boolean(),
  cursor: v.nullable(v.string()),
});

/** `POST /workflows`. The trigger EVENT needs `eventName`, or `triggerConfig.eventName`; the others ignore it. */
export const CreateWorkflow = v.object({
  name: Name,
  eventName: v.nullish(v.pipe(v.string(), v.trim(), textField('eventName', 0, 255))),
  triggerType: v.optional(TriggerTypeField, 'EVENT'),
  triggerConfig: v.nullish(Config),
  description: Description,
  allowReentry: v.optional(v.boolean(), false),
});
export type CreateWorkflow = v.InferOutput<typeof CreateWorkflow>;

/** `PATCH /workflows/{id}`. */
export const PatchWorkflow = v.object({
  name: v.optional(Name),
  description: Description,
  triggerType: v.optional(TriggerTypeField),
  triggerConfig: v.nullish(Config),
  enabled: v.optional(v.boolean()),
  allowReentry: v.optional(v.boolean()),
});
export type PatchWorkflow = v.InferOutput<typeof PatchWorkflow>;

/** `POST /workflows/bulk-update`. */
export const BulkUpdateWorkflows = v.object({
  ids: v.pipe(
    v.array(Uuid),
    v.minLength(1, 'must name at least one workflow'),
    v.maxLength(1000, 'must name at most 1000 workflows'),
  ),
  delete: v.optional(v.boolean()),
});
export type BulkUpdateWorkflows = v.InferOutput<typeof BulkUpdateWorkflows>;

/** A transition in an answer. */
export const TransitionBody = v.object({
  id: Uuid,
  fromStepId: Uuid,
  toStepId: Uuid,
  condition: v.nullable(v.object({ branch: v.string() })),
  branch: v.nullable(v.string()),
  waitOutcome: v.nullable(v.picklist(waitOutcomes)),
  priority: v.number(),
  createdAt: Instant,
  updatedAt: Instant,
});
export type TransitionBody = v.InferOutput<typeof TransitionBody>;

/** A step in an answer. */
export const StepBody = v.object({
  id: Uuid,
  workflowId: Uuid,
  type: StepTypeField,
  name: v.string(),
  position: v.object({ x: v.number(), y: v.number() }),
  config: describedBy(v.record(v.string(), v.unknown()), StepConfigShape),
  templateId: v.nullable(Uuid),
  note: v.pipe(v.nullable(v.string()), v.description('A note for the people who edit the workflow.')),
  createdAt: Instant,
  updatedAt: Instant,
});
export type StepBody = v.InferOutput<typeof StepBody>;

/** Something that enabling would refuse. */
export const Issue = v.object({ stepId: v.nullable(Uuid), field: v.string(), message: v.string() });
export type Issue = v.InferOutput<typeof Issue>;

const EditedByUser = v.object({ kind: v.literal('user'), id: Uuid, email: v.string() });
const EditedByKey = v.object({ kind: v.literal('key') });
nameSchemas({ EditedByUser, EditedByKey });
const EditedBy = v.nullable(v.variant('kind', [EditedByUser, EditedByKey]));

/** An automation with its whole graph. */
export const WorkflowWithGraph = v.object({
  ...WorkflowBody.entries /** Counts every edit; the `ETag`, without its quotes. */,
  revision: v.number() /** Null where nothing was changed since it was created. */,
  editedAt: v.nullable(Instant),
  editedBy: EditedBy,
  steps: v.array(
    v.object({
      ...StepBody.entries,
      template: v.nullable(v.object({ id: Uuid, name: v.string() })),
      outgoingTransitions: v.array(TransitionBody),
      incomingTransitions: v.array(TransitionBody),
    }),
  ),
  transitions: v.array(TransitionBody),
  issues: v.array(Issue),
});
export type WorkflowWithGraph = v.InferOutput<typeof WorkflowWithGraph>;

/** `GET /workflows/{id}/versions`. */
export const ListVersions = v.object(pageParameters(100));
export type ListVersions = v.InferOutput<typeof ListVersions>;

const Version = {
  version: v.number(),
  createdAt: Instant /** Whether new executions are pinned to it. */,
  isCurrent: v.boolean(),
};

/** A page of versions. */
export const VersionPage = v.object({
  data: v.array(
    v.object({
      ...Version,
      steps: v.number() /** Contacts that are inside and pinned to it. */,
      active: v.number(),
    }),
  ),
  ...PageFigures.entries,
});
export type VersionPage = v.InferOutput<typeof VersionPage>;

/** A version of a graph, which never changes. */
export const VersionWithGraph = v.object({
  ...Version,
  steps: v.array(
    v.object({
      ...v.pick(StepBody, ['id', 'type', 'name', 'config', 'templateId', 'note'])
        .entries /** Null where no place was kept. */,
      position: v.nullable(StepBody.entries.position) /** By its name of today. */,
      template: v.nullable(v.object({ id: Uuid, name: v.string() })),
    }),
  ),
  transitions: v.array(
    v.object(v.pick(TransitionBody, ['id', 'fromStepId', 'toStepId', 'branch', 'waitOutcome', 'priority']).entries),
  ),
});
export type VersionWithGraph = v.InferOutput<typeof VersionWithGraph>;

const step = {
  type: StepTypeField,
  name: textField('name', 1, longestStepName),
  position: Position,
  config: StepConfig,
  templateId: v.nullish(v.string()),
  note: v.pipe(
    v.nullish(textField('note', 0, longestNote)),
    v.description('For the people who edit the workflow; null or empty removes it.'),
  ),
};

/** `POST /workflows/{id}/steps`. */
export const CreateStep = v.object({ ...step, autoConnect: v.optional(v.boolean(), true) });
export type CreateStep = v.InferOutput<typeof CreateStep>;

/** `PATCH /workflows/{id}/steps/{stepId}`. */
export const PatchStep = v.partial(v.omit(v.object(step), ['type']));
export type PatchStep = v.InferOutput<typeof PatchStep>;

/** `DELETE /workflows/{id}/steps/{stepId}`; only the literal `true` splices. */
export const DeleteStep = v.object({ splice: choiceParameter('`true` deletes this step alone.', ['true']) });

/** `POST /workflows/{id}/transitions/{transitionId}/insert-step`. */
export const InsertStep = v.object({ ...step, position: v.nullish(Position) });
export type InsertStep = v.InferOutput<typeof InsertStep>;

/** `POST /workflows/{id}/transitions`. */
export const CreateTransition = v.object({
  fromStepId: textField('fromStepId', 1, 100),
  toStepId: textField('toStepId', 1, 100),
  condition: v.nullish(v.object({ branch: v.nullish(textField('branch', 1, 40)) })),
  branch: v.nullish(textField('branch', 1, 40)),
  waitOutcome: v.nullish(choice(waitOutcomes)),
  priority: v.optional(wholeNumber(0, 1_000_000), 0),
});
export type CreateTransition = v.InferOutput<typeof CreateTransition>;

/** `GET /workflows/fields`. */
export const ListWorkflowFields = v.object({ eventName: parameter('Adds the fields of the data of this event.') });
/** What conditions can ask for. */
export const WorkflowFields = v.object({
  fields: v.array(v.string()),
  typedFields: v.array(v.object({ field: v.string(), type: v.string(), category: v.string() })),
  count: v.number(),
});

nameSchemas({
  Workflow: WorkflowBody,
  WorkflowStep: StepBody,
  WorkflowTransition: TransitionBody,
  WorkflowIssue: Issue,
  WorkflowWithGraph,
  WorkflowVersion: VersionWithGraph,
});
