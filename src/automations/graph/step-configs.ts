import * as v from 'valibot';
import { EventWhere } from '../../contacts/conditions.ts';
import { splitData } from '../../lib/contact-data.ts';
import { AppError } from '../../lib/errors.ts';
import { EmailField } from '../../lib/validation/email-address.ts';
import {
  choice,
  coded,
  codedAt,
  describedBy,
  field,
  JsonObject,
  nameSchemas,
  Percentage,
  textField,
  Uuid,
} from '../../lib/validation/fields.ts';
import { type FieldProblem, fieldProblems } from '../../lib/validation/problems.ts';
import { Exits, Goal, StepTree } from './exits.ts';
import { UntilDate, UntilTime, type WaitUntil } from './wait-until.ts';
import { WebhookConfig } from './webhook-config.ts';

/** The types of steps. A TRIGGER is made with its automation, never by callers. */
export const stepTypes = [
  'TRIGGER',
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'WAIT_UNTIL',
  'CONDITION',
  'SPLIT',
  'WEBHOOK',
  'UPDATE_CONTACT',
  'EXIT',
] as const;
export type StepType = (typeof stepTypes)[number];

/** The operators of a CONDITION step (docs/contract/campaigns-and-workflows.md#3-3). */
const conditionOperators = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
  'exists',
  'notExists',
] as const;

/** The longest DELAY and the longest timeout of a wait: 365 days, in milliseconds. */
const longestWaitMs = 365 * 86_400_000;

const unitMs = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const delayUnits = ['minutes', 'hours', 'days'] as const;
const eventName = textField('eventName', 1, 255);
const operator = choice(conditionOperators);
const conditionField = textField('field', 1, 500);

const TriggerConfig = v.object({
  eventName: field(
    'Name of the event that starts the workflow; null or absent for other triggers than `EVENT`.',
    v.nullish(eventName),
  ),
  where: field(
    'Tests of the data of the event, 1 to 5; an event that fails one starts nothing.',
    v.nullish(EventWhere),
  ),
  audienceCondition: field(
    'Condition tree of the trigger `CONTACT_CREATED`; new contacts that do not match it do not enter.',
    v.nullish(StepTree),
  ),
  imports: field(
    'Whether contacts that an import creates start a workflow with the trigger `CONTACT_CREATED`; `false` when absent.',
    v.optional(v.boolean('must be true or false')),
  ),
  exits: field('What ends executions early, up to 20; set by `exits` of the workflow.', v.nullish(Exits)),
  goal: field('What the workflow is for; set by `goal` of the workflow.', v.nullish(Goal)),
});

const SendEmailConfig = v.object({
  templateId: field('ID of the template to send.', v.nullish(Uuid)),
  recipient: field(
    'Recipient of the email; the contact when absent.',
    v.nullish(
      v.pipe(
        v.object({
          type: field(
            '`CONTACT`, or `CUSTOM` for the address in `customEmail`.',
            v.optional(v.picklist(['CONTACT', 'CUSTOM'], 'must be one of CONTACT, CUSTOM'), 'CONTACT'),
          ),
          customEmail: field('Address that receives the email. Required for `CUSTOM`.', v.nullish(EmailField)),
        }),
        codedAt(
          'invalid_type',
          'customEmail',
          ({ type, customEmail }) => type !== 'CUSTOM' || typeof customEmail === 'string',
          'is required for the recipient type CUSTOM',
        ),
      ),
    ),
  ),
});

const DelayConfig = v.pipe(
  v.object({
    amount: field(
      'Length of the delay in `unit`; more than 0, and up to 365 days in total.',
      v.pipe(
        v.number('must be a number'),
        coded<number>('too_small', (amount) => amount > 0, 'must be greater than 0'),
      ),
    ),
    unit: field('Unit of `amount`: `minutes`, `hours` or `days` of 24 hours.', choice(delayUnits)),
  }),
  codedAt('too_big', 'amount', (delay) => delayMs(delay) <= longestWaitMs, 'must be at most 365 days in total'),
);

const WaitForEventConfig = v.object({
  eventName: field('Name of the event to wait for.', eventName),
  timeout: field(
    'Seconds after which the wait ends, up to 31,536,000 (365 days); null or absent to wait indefinitely.',
    v.nullish(
      v.pipe(
        v.number('must be a number of seconds'),
        coded<number>('too_small', (seconds) => seconds > 0, 'must be greater than 0'),
        coded<number>('too_big', (seconds) => seconds <= longestWaitMs / 1000, 'must be at most 31536000 seconds'),
      ),
    ),
  ),
  where: field(
    'Tests of the data of the event, 1 to 5; an event that fails one does not end the wait.',
    v.nullish(EventWhere),
  ),
  countsFrom: field(
    '`step`, the default: only events after the wait has begun end it. `entry`: an event since the contact entered the workflow ends it at once.',
    v.nullish(choice(['step', 'entry'])),
  ),
});

// A field says that a date is waited for.
const WaitUntilConfig = v.lazy((given): v.GenericSchema<unknown, WaitUntil> => {
  const { field = null } = (given ?? {}) as { field?: unknown };
  return (field === null ? UntilTime : UntilDate) as v.GenericSchema<unknown, WaitUntil>;
});

/** The config of a CONDITION with one comparison. */
export const BinaryCondition = v.object({
  mode: field(
    '`binary`: one comparison with the branches `yes` and `no`. The default.',
    v.optional(v.literal('binary')),
  ),
  field: field('Field to compare, such as `data.plan`, up to 500 characters.', conditionField),
  operator: field('How the field is compared with `value`.', operator),
  value: field('Value to compare the field with; ignored for `exists` and `notExists`.', v.optional(v.unknown())),
});

/** The config of a CONDITION with a condition tree. */
export const TreeCondition = v.object({
  mode: field('`tree`: a condition tree with the branches `yes` and `no`.', v.literal('tree')),
  condition: field(
    'Condition tree, as segments have it. `trigger.<key>` is the data of the event that started the execution, `event.<name>` the history of the contact.',
    StepTree,
  ),
});

const BranchId = v.pipe(
  textField('id', 1, 40),
  coded<string>('custom', (id) => id !== 'default', 'must not be "default", which is what matches otherwise'),
);
const branch = {
  id: field('ID of the branch, which transitions name in `branch`; 1 to 40 characters, except `default`.', BranchId),
  name: field('Name of the branch, for the people who edit the workflow.', v.nullish(textField('name', 0, 255))),
};
const ComparedBranch = v.object({
  ...branch,
  operator: field('How the field is compared with `value`.', operator),
  value: field('Value to compare the field with; ignored for `exists` and `notExists`.', v.optional(v.unknown())),
});
const TreeBranch = v.object({ ...branch, condition: StepTree });
type Branch = v.InferOutput<typeof ComparedBranch> | v.InferOutput<typeof TreeBranch>;
// Beside an operator a `condition` is one of the unknown keys that configs may have.
function hasTree(branch: unknown): boolean {
  const { operator, condition } = (branch ?? {}) as { operator?: unknown; condition?: unknown };
  return condition !== undefined && operator === undefined;
}
const BranchShape = v.object({
  ...ComparedBranch.entries,
  operator: field('How the field is compared with `value`; absent with a `condition`.', v.optional(operator)),
  condition: field(
    'Condition tree of the branch in place of a comparison, as with `mode: "tree"`.',
    v.optional(StepTree),
  ),
  percent: field(
    '`SPLIT`: share of contacts that take the branch, in percent with up to 2 decimals; 100 in total.',
    v.optional(v.number()),
  ),
});
nameSchemas({ WorkflowStepBranch: BranchShape });
const Branch: v.GenericSchema<Branch> = describedBy(
  v.lazy((given): v.GenericSchema<Branch> => (hasTree(given) ? TreeBranch : ComparedBranch)),
  BranchShape,
);

/** A list of 1 to `most` branches with different ids. */
const branchList = <One extends { id: string }>(one: v.GenericSchema<unknown, One>, most: number) =>
  v.pipe(
    v.array(one, 'must be a list of branches'),
    v.minLength(1, 'must have at least one branch'),
    v.maxLength(most, `must have at most ${most} branches`),
    coded<One[]>(
      'custom',
      (branches) => new Set(branches.map(({ id }) => id)).size === branches.length,
      'must have branches with different ids',
    ),
  );

/** The config of a CONDITION with a branch for each comparison. */
export const MultiCondition = v.object({
  mode: field('`multi`: one branch for each comparison, and `default` if none matches.', v.literal('multi')),
  field: field('Field to compare, such as `data.plan`, up to 500 characters.', conditionField),
  branches: field('Branches in the order in which they are tried, 1 to 20.', branchList(Branch, 20)),
});

/** The config of a CONDITION all of whose branches have trees, so that it compares no field. */
const MultiTreeCondition = v.object({
  ...MultiCondition.entries,
  field: v.nullish(conditionField),
});

/** The share of a SPLIT's branch in whole hundredths of a percent. */
export function hundredths({ percent }: { percent: number }): number {
  return Math.round(percent * 100);
}

const SplitBranch = v.object({
  ...branch,
  percent: field('Share of contacts that take the branch, in percent with up to 2 decimals.', Percentage),
});

/** The config of a SPLIT. */
const SplitConfig = v.pipe(
  v.object({
    branches: field(
      'Branches with the share of contacts that each gets, 1 to 10; 100 percent in total.',
      v.pipe(
        branchList(SplitBranch, 10),
        coded<v.InferOutput<typeof SplitBranch>[]>(
          'custom',
          (branches) => branches.reduce((sum, one) => sum + hundredths(one), 0) === 10_000,
          'must add up to 100 percent',
        ),
      ),
    ),
    holdout: field(
      'ID of the branch whose contacts are the control group, which the other branches are compared with; null or absent for none.',
      v.nullish(textField('holdout', 1, 40)),
    ),
    key: field(
      'Contacts are assigned by a hash of this key and their ID, up to 100 characters; the ID of the step when absent. Steps with the same key send a contact the same way.',
      v.nullish(textField('key', 1, 100)),
    ),
  }),
  codedAt(
    'custom',
    'holdout',
    ({ branches, holdout }) => !holdout || branches.some(({ id }) => id === holdout),
    'must be the id of a branch',
  ),
);

const subscriptionActions = ['none', 'subscribe', 'unsubscribe'] as const;

const UpdateContactConfig = v.pipe(
  v.object({
    updates: field('Contact data to set; `null` deletes a key.', v.nullish(JsonObject)),
    data: field('Another name for `updates`, which takes precedence.', v.nullish(JsonObject)),
    subscriptionAction: field(
      '`subscribe` or `unsubscribe` changes the subscription; `none` leaves it.',
      v.optional(choice(subscriptionActions), 'none'),
    ),
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { subscriptionAction } = dataset.value;
    const updates = dataset.value.updates ?? dataset.value.data ?? {};
    try {
      const { set, remove } = splitData(updates);
      if (subscriptionAction !== 'none' || remove.length > 0 || Object.keys(set).length > 0)
        return { updates, subscriptionAction };
      addIssue({ message: 'must change at least one field, or "subscriptionAction" must subscribe or unsubscribe' });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      addIssue({ message: error.message });
    }
    return NEVER;
  }),
);

/** The reason of an EXIT step that names none. */
export const unnamedExit = 'exit_step';

const ExitConfig = v.object({
  reason: field(
    'Reason that executions end with, up to 200 characters; null or absent for none.',
    v.nullish(textField('reason', 0, 200)),
  ),
});

/** The config of each type of step but CONDITION. */
export const stepConfigs = {
  TRIGGER: TriggerConfig,
  SEND_EMAIL: SendEmailConfig,
  DELAY: DelayConfig,
  WAIT_FOR_EVENT: WaitForEventConfig,
  WAIT_UNTIL: WaitUntilConfig,
  SPLIT: SplitConfig,
  WEBHOOK: WebhookConfig,
  UPDATE_CONTACT: UpdateContactConfig,
  EXIT: ExitConfig,
} as const;

/** The shapes of a CONDITION step. */
type ConditionConfig =
  | v.InferOutput<typeof BinaryCondition>
  | v.InferOutput<typeof MultiTreeCondition>
  | v.InferOutput<typeof TreeCondition>;

/** The checked config of each type of step. */
export type StepConfigs = {
  [Type in keyof typeof stepConfigs]: v.InferOutput<(typeof stepConfigs)[Type]>;
} & { CONDITION: ConditionConfig };

/** A config that was read: its checked form, or its problems, each `field` within the config. */
export type StepConfigReading<Type extends StepType> =
  | { config: StepConfigs[Type]; problems: null }
  | { config: null; problems: FieldProblem[] };

/**
 * Reads the config of a step by its type: the one source of what a config may be, for enabling, for the API and for the
 * step itself when it runs.
 */
export function readStepConfig<Type extends StepType>(type: Type, config: unknown): StepConfigReading<Type> {
  const parsed = v.safeParse(schemaOf(type, config), config);
  if (parsed.success) return { config: parsed.output as StepConfigs[Type], problems: null };
  return { config: null, problems: fieldProblems(parsed.issues) };
}

function schemaOf(type: StepType, config: unknown): v.GenericSchema {
  if (type !== 'CONDITION') return stepConfigs[type];
  const { mode, branches } = (config ?? {}) as { mode?: unknown; branches?: unknown };
  if (mode === 'tree') return TreeCondition;
  if (mode !== 'multi') return BinaryCondition;
  return Array.isArray(branches) && branches.length > 0 && branches.every(hasTree)
    ? MultiTreeCondition
    : MultiCondition;
}

/** The condition trees of the config of a CONDITION, or of a TRIGGER with exits or a goal, each with its place; none for other configs. */
export function treesOf(config: unknown): { field: string; tree: unknown }[] {
  const { mode, condition, branches, exits, goal } = (config ?? {}) as Record<string, unknown>;
  if (Array.isArray(exits) || goal) {
    const ends = (Array.isArray(exits) ? exits : []).map((exit, place) => ({ field: `exits.${place}`, end: exit }));
    return [...ends, { field: 'goal', end: goal }].flatMap(({ field, end }) => {
      const tree = (end as { on?: { condition?: unknown } } | null | undefined)?.on?.condition;
      return tree ? [{ field: `${field}.on.condition`, tree }] : [];
    });
  }
  if (mode === 'tree') return [{ field: 'condition', tree: condition }];
  if (mode !== 'multi' || !Array.isArray(branches)) return [];
  return branches.flatMap((one: unknown, place) =>
    hasTree(one) ? [{ field: `branches.${place}.condition`, tree: (one as { condition: unknown }).condition }] : [],
  );
}

/** The length of a DELAY in milliseconds; a day has 24 hours. */
export function delayMs({ amount, unit }: { amount: number; unit: keyof typeof unitMs }): number {
  return Math.round(amount * unitMs[unit]);
}
