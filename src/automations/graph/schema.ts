import { longestNote, longestStepName, waitOutcomes } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import {
  choice,
  choiceParameter,
  coded,
  describedBy,
  describedFields,
  field,
  Instant,
  Integer,
  JsonObject,
  nameSchemas,
  parameter,
  textField,
  Uuid,
  wholeNumber,
} from '../../lib/validation/fields.ts';
import { BinaryCondition, MultiCondition, stepConfigs, stepTypes, TreeCondition } from './step-configs.ts';
import { UntilTime, untilDate } from './wait-until.ts';

const maxConfigLength = 256 * 1024;

/** A config or a trigger's config: any object that is not too large. */
export const GivenConfig = v.pipe(
  JsonObject,
  coded<Record<string, unknown>>(
    'too_big',
    (config) => JSON.stringify(config).length <= maxConfigLength,
    'must be at most 256 KiB of JSON',
  ),
);
/**
 * How the API reference describes the config of a request: one object with the fields of every type of step, because nothing in a
 * config says of what type it is.
 */
const StepConfigShape = v.object({
  ...of('TRIGGER', stepConfigs.TRIGGER.entries),
  ...of('SEND_EMAIL', stepConfigs.SEND_EMAIL.entries),
  ...of('DELAY', stepConfigs.DELAY.entries),
  ...of('WAIT_FOR_EVENT', stepConfigs.WAIT_FOR_EVENT.entries),
  ...of('WAIT_UNTIL', { ...UntilTime.entries, ...untilDate }),
  ...of('SPLIT', stepConfigs.SPLIT.entries),
  ...of('WEBHOOK', stepConfigs.WEBHOOK.entries),
  ...of('UPDATE_CONTACT', stepConfigs.UPDATE_CONTACT.entries),
  ...of('EXIT', stepConfigs.EXIT.entries),
  ...of('CONDITION', { ...BinaryCondition.entries, ...MultiCondition.entries, ...TreeCondition.entries }),
  eventName: field(
    '`TRIGGER`: name of the event that starts the workflow; null or absent for other triggers than `EVENT`. `WAIT_FOR_EVENT`: name of the event to wait for.',
    stepConfigs.TRIGGER.entries.eventName,
  ),
  field: field(
    '`CONDITION`: field to compare, such as `data.plan`. `WAIT_UNTIL`: field that holds the date to wait for, such as `data.trialEnds`.',
    v.optional(BinaryCondition.entries.field),
  ),
  branches: field(
    '`CONDITION`: branches in the order in which they are tried, 1 to 20. `SPLIT`: branches with the share of contacts that each gets, 1 to 10.',
    v.optional(MultiCondition.entries.branches),
  ),
  where: field(
    '`TRIGGER` and `WAIT_FOR_EVENT`: tests of the data of the event, 1 to 5, as in `event.<name>` filters of segments; an event that fails one does not count.',
    stepConfigs.WAIT_FOR_EVENT.entries.where,
  ),
  mode: field(
    '`CONDITION`: `binary`, the default, is one comparison with the branches `yes` and `no`; `multi` has one branch for each comparison or condition tree, and `default` if none matches; `tree` is a condition tree with the branches `yes` and `no`.',
    v.optional(v.picklist(['binary', 'multi', 'tree'])),
  ),
});
// Each field says of what type of step it is.
function of(type: string, entries: v.ObjectEntries): v.ObjectEntries {
  const texts = describedFields();
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      field(`\`${type}\`: ${texts.get(entry)?.text ?? ''}`, v.optional(entry)),
    ]),
  );
}

const StepConfig = describedBy(v.pipe(GivenConfig), StepConfigShape);
const Position = v.object(
  {
    x: field('Pixels from the left.', v.number('must be a number')),
    y: field('Pixels from the top.', v.number('must be a number')),
  },
  'must be { x, y }',
);
/** The type of a step. */
export const StepTypeField = choice(stepTypes);

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
  priority: field('Position among the transitions of the step: lower numbers are tried first.', Integer),
  createdAt: field('When the transition was created.', Instant),
  updatedAt: field('When the transition last changed.', Instant),
});
export type TransitionBody = v.InferOutput<typeof TransitionBody>;

/** The position of a step in an answer. */
export const StoredPosition = v.object({
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
    'Configuration of the step: a `WorkflowStepConfig`, or what was stored of one that is not finished yet.',
    v.record(v.string(), v.unknown()),
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
export const DeleteStep = v.object({
  splice: choiceParameter(
    '`true` deletes only this step and connects its neighbors. Otherwise the steps after it are deleted too.',
    ['true'],
  ),
});

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
export const ListWorkflowFields = v.object({
  eventName: parameter('Name of the event whose data fields are included; those of recent events when absent.'),
});
/** The fields that conditions can ask for. */
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
  count: field('Number of fields.', Integer),
});

nameSchemas({
  WorkflowStepConfig: StepConfigShape,
  WorkflowStep: StepBody,
  WorkflowTransition: TransitionBody,
  WorkflowIssue: Issue,
});
