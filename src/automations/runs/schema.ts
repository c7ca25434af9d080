import * as v from 'valibot';
import { ConditionShape, EventWhere } from '../../contacts/conditions.ts';
import { runStatuses, stepRunStatuses } from '../../lib/enums.ts';
import { isUuid } from '../../lib/ids.ts';
import { PageFigures } from '../../lib/pages.ts';
import {
  choice,
  choiceParameter,
  codedAt,
  describedBy,
  field,
  GivenInstant,
  GivenUuid,
  Instant,
  Integer,
  nameSchemas,
  pageParameters,
  parameter,
  textField,
  Uuid,
  wholeNumber,
} from '../../lib/validation/fields.ts';
import { Goal } from '../graph/exits.ts';
import { StepBody, StepTypeField } from '../graph/schema.ts';
import { WorkflowBody } from '../schema.ts';

const Json = v.record(v.string(), v.unknown());

/** `POST /workflows/{id}/executions`; the context is checked after the workflow was found. */
export const StartExecution = v.object({
  contactId: field('ID of the contact to enroll.', textField('contactId', 1, 100)),
  context: field('Data that the steps can use as `event`, as a JSON object; absent for none.', v.optional(v.unknown())),
});
export type StartExecution = v.InferOutput<typeof StartExecution>;

/** `POST /workflows/{id}/enroll`. The condition is checked by its own grammar. */
export const EnrollContacts = v.pipe(
  v.object({
    segmentId: field('Enrolls the members of this segment.', v.optional(GivenUuid)),
    condition: field(
      'Enrolls contacts that match this condition.',
      v.optional(
        describedBy(
          v.custom<object>((given) => given !== null),
          ConditionShape,
        ),
      ),
    ),
    event: field(
      'Enrolls contacts that this event happened to. The data of their latest one is `trigger.<key>` and `event.<key>` in the workflow.',
      v.optional(
        v.object({
          name: field('Name of the event.', textField('name', 1, 255)),
          since: field('Events at this instant or later.', GivenInstant),
          where: field('Tests of the data of the event, 1 to 5; all must pass.', v.optional(EventWhere)),
        }),
      ),
    ),
    mostPerMinute: field(
      'Most contacts that enter within a minute, 1 to 100,000; no limit when absent.',
      v.optional(wholeNumber(1, 100_000)),
    ),
    dryRun: field('`true` returns how many contacts would enter, and changes nothing.', v.optional(v.boolean(), false)),
  }),
  codedAt(
    'custom',
    'segmentId',
    ({ segmentId, condition, event }) => [segmentId, condition, event].filter(Boolean).length === 1,
    'give exactly one of "segmentId", "condition" and "event"',
  ),
);
export type EnrollContacts = v.InferOutput<typeof EnrollContacts>;

/** Who would enter. */
export const EnrollPreview = v.strictObject({
  dryRun: field('Always `true`: nothing was changed.', v.literal(true)),
  contacts: field('Number of contacts that the request selects.', Integer),
  enters: field('Number of contacts that would enter.', Integer),
  reasons: field('Number of contacts that would not, by reason.', v.record(v.string(), Integer)),
});
export type EnrollPreview = v.InferOutput<typeof EnrollPreview>;

/** `GET /workflows/{id}/executions`. */
export const ListExecutions = v.object({
  ...pageParameters(100),
  status: parameter('Executions with one of these statuses, separated by commas; all when absent.'),
  contactId: parameter('Executions of this contact.'),
  stepId: parameter('Active executions whose contact is at this step.'),
  search: parameter(
    'Words of the address and the name of the contact, in any letter case, in the newest 10,000 executions of the workflow. Older ones are found by text in the address with at least 3 letters or digits in a row, which at most 1,000 contacts have.',
  ),
});
export type ListExecutions = v.InferOutput<typeof ListExecutions>;

/** A run in an answer: an "execution" of the interface. */
export const ExecutionBody = v.object({
  id: field('ID of the execution.', Uuid),
  workflowId: field('ID of the workflow.', Uuid),
  contactId: field('ID of the contact.', Uuid),
  status: field(
    '`RUNNING` or `WAITING` while it is active, then `COMPLETED`, `EXITED`, `FAILED` or `CANCELLED`.',
    v.picklist(runStatuses),
  ),
  currentStepId: field(
    'ID of the step that the contact is at, or at which the execution ended; null once it is `COMPLETED`.',
    v.nullable(Uuid),
  ),
  exitReason: field(
    'Why the execution ended as `EXITED`, `FAILED` or `CANCELLED`; null otherwise.',
    v.nullable(v.string()),
  ),
  context: field('Data of the event or request that started the execution; null if there was none.', v.nullable(Json)),
  startedAt: field('When the contact entered the workflow.', Instant),
  completedAt: field('When the execution ended; null while it is active.', v.nullable(Instant)),
  createdAt: field('When the execution was created.', Instant),
  updatedAt: field('When the execution last changed.', Instant),
});
export type ExecutionBody = v.InferOutput<typeof ExecutionBody>;

const ContactRef = v.object({
  id: field('ID of the contact.', Uuid),
  email: field('Address of the contact.', v.string()),
  name: field(
    'Name of the contact by its data: first and last name, else `name`, `fullName` or `displayName`; null if it has none.',
    v.nullable(v.string()),
  ),
});
const StepRef = v.object({
  id: field('ID of the step.', Uuid),
  name: field('Name of the step.', v.string()),
  type: field('Type of the step.', StepTypeField),
});
const ListedExecution = v.object({
  ...ExecutionBody.entries,
  contact: field('The contact in the workflow.', ContactRef),
  currentStep: field('The step in `currentStepId`; null if there is none.', v.nullable(StepRef)),
  currentStepSince: field('When the contact reached that step; null if there is none.', v.nullable(Instant)),
});
export type ListedExecution = v.InferOutput<typeof ListedExecution>;

/** A page of runs; `data` is the same list as `executions`. */
export const ExecutionPage = v.object({
  executions: field('Executions on this page, newest first.', v.array(ListedExecution)),
  data: field('The same list as `executions`.', v.array(ListedExecution)),
  ...PageFigures.entries,
});

/** The latest executions of a contact, of any workflow. */
export const ContactExecutions = v.object({
  data: field(
    'The contact’s latest executions, newest first; up to 100.',
    v.array(
      v.object({
        ...ListedExecution.entries,
        workflow: field(
          'The workflow that the execution belongs to.',
          v.object({ id: field('ID of the workflow.', Uuid), name: field('Name of the workflow.', v.string()) }),
        ),
      }),
    ),
  ),
});
export type ContactExecutions = v.InferOutput<typeof ContactExecutions>;

/** One step of a run in an answer. */
export const StepExecutionBody = v.object({
  id: field('ID of the step execution.', Uuid),
  executionId: field('ID of the execution.', Uuid),
  stepId: field('ID of the step.', Uuid),
  status: field(
    '`PENDING`, `SCHEDULED`, `WAITING` or `RUNNING`, then `COMPLETED`, `SKIPPED` or `FAILED`.',
    v.picklist(stepRunStatuses),
  ),
  scheduledFor: field(
    'When a delay or a `WAIT_UNTIL` ends; null for other steps, and while the contact has no date to wait for.',
    v.nullable(Instant),
  ),
  executeAfter: field(
    'When a wait for an event times out; null for other steps and for waits without a timeout.',
    v.nullable(Instant),
  ),
  input: field('Data that the step started with; null if there was none.', v.nullable(Json)),
  output: field('Result of the step, which depends on its type; null before it ends.', v.nullable(Json)),
  error: field('Why the step failed or was skipped; null otherwise.', v.nullable(v.string())),
  startedAt: field('When the contact reached the step.', Instant),
  completedAt: field('When the step ended; null before.', v.nullable(Instant)),
  createdAt: field('When the step execution was created.', Instant),
  updatedAt: field('When the step execution last changed.', Instant),
  durationMs: field('How long the step took, or has taken so far, in milliseconds.', Integer),
  step: field('The step that was executed.', StepRef),
});
export type StepExecutionBody = v.InferOutput<typeof StepExecutionBody>;

/** The whole story of a run. */
export const ExecutionStory = v.object({
  ...ExecutionBody.entries,
  workflow: field('The workflow that the execution belongs to.', WorkflowBody),
  contact: field('The contact in the workflow.', ContactRef),
  currentStep: field('The step in `currentStepId`; null if there is none.', v.nullable(StepBody)),
  stepExecutions: field('Steps that the contact has reached, oldest first.', v.array(StepExecutionBody)),
  waitingFor: field(
    'What the execution is waiting for: `timer`, `event <name>`, `an answer to its webhook`, `the workflow to resume` or `a worker`; null once it has ended.',
    v.nullable(v.string()),
  ),
  waitingUntil: field(
    'When the wait ends at the latest; null if it has no end, or there is none.',
    v.nullable(Instant),
  ),
  waitingSince: field(
    'When the contact reached its current step; null once the execution has ended.',
    v.nullable(Instant),
  ),
  version: field('Number of the version of the graph that the execution follows.', Integer),
  nextVersion: field(
    'Number of the version that it continues with after the current step; null if it stays with its version.',
    v.nullable(Integer),
  ),
  temporal: field(
    'The execution in Temporal.',
    v.object({
      workflowId: field('Workflow ID in Temporal.', v.string()),
      url: field('URL of the execution in Temporal’s Web UI.', v.string()),
    }),
  ),
});
export type ExecutionStory = v.InferOutput<typeof ExecutionStory>;

/** How many executions `cancel-all` ended. */
export const CancelledExecutions = v.object({ cancelled: field('Number of executions canceled.', Integer) });

/** `POST /workflows/{id}/executions/retry`. */
export const RetryExecutions = v.object({
  executionIds: field(
    'IDs of failed executions to retry, 1 to 1,000; the latest 1,000 when absent.',
    v.optional(
      v.pipe(
        v.array(Uuid, 'must be a list of IDs'),
        v.minLength(1, 'must name at least one execution'),
        v.maxLength(1_000, 'must name at most 1,000 executions'),
      ),
    ),
  ),
  where: field(
    'Only failed executions that all of these match.',
    v.optional(
      v.object({
        stepId: field('ID of the step that failed.', v.optional(GivenUuid)),
        since: field('Executions that failed at this instant or later.', v.optional(GivenInstant)),
        before: field(
          'Executions that failed before this instant. Repeat a request with it until `more` is false, and no execution is retried twice.',
          v.optional(GivenInstant),
        ),
        errorContains: field(
          'Text in the reason, up to 200 characters, in any letter case.',
          v.optional(textField('errorContains', 1, 200)),
        ),
      }),
    ),
  ),
  from: field(
    'Where they resume: `failedStep`, which is the default, or the ID of a step.',
    v.optional(
      v.pipe(
        v.string('must be "failedStep" or the ID of a step'),
        v.check((from) => from === 'failedStep' || isUuid(from), 'must be "failedStep" or the ID of a step'),
        v.transform((from) => (from === 'failedStep' ? from : from.toLowerCase())),
      ),
    ),
  ),
  version: field(
    '`newest`: in the current version, if that has the step; the default. `own`: in the version that they failed in.',
    v.optional(choice(['own', 'newest'])),
  ),
  sendAgain: field(
    'Whether a `SEND_EMAIL` sends again what the execution has sent before, or may have. `false` when absent and `where`, `from` or `version` is given.',
    v.optional(v.boolean()),
  ),
  dryRun: field(
    '`true` returns how many executions would resume, and changes nothing.',
    v.optional(v.boolean(), false),
  ),
});
export type RetryExecutions = Partial<v.InferOutput<typeof RetryExecutions>>;

/** The outcome of a request to retry. */
export const RetriedExecutions = v.strictObject({
  retried: field('Number of executions that resume at the step that failed.', Integer),
  skipped: field(
    'Number of executions that do not: they did not fail, or their contact is in the workflow again.',
    Integer,
  ),
  more: field('Whether there are more failed executions that can be retried.', v.boolean()),
});
export type RetriedExecutions = v.InferOutput<typeof RetriedExecutions>;

/** What a retry would do. */
export const RetryPreview = v.strictObject({
  dryRun: field('Always `true`: nothing was changed.', v.literal(true)),
  retried: field('Number of executions that would resume, however many requests that takes.', Integer),
  skipped: field(
    'Number of failed executions that would not: their contact is in the workflow again or has a later one that resumes, or their version lacks the step.',
    Integer,
  ),
  more: field('Always `false`: all are counted.', v.literal(false)),
  readAt: field('When they were counted. As `where.before` it retries these and no others.', Instant),
  steps: field(
    'Executions that would resume, by the step that failed; most first.',
    v.array(
      v.object({
        stepId: field('ID of the step that failed; null if none was reached.', v.nullable(Uuid)),
        stepName: field('Name of that step; null if it is unknown.', v.nullable(v.string())),
        executions: field('Number of executions.', Integer),
        failedSince: field('When the first of them failed.', Instant),
        lastError: field('Why the latest of them failed; null if that is unknown.', v.nullable(v.string())),
      }),
    ),
  ),
});
export type RetryPreview = v.InferOutput<typeof RetryPreview>;

/** `GET /workflows/{id}/people`. */
export const CountWorkflowPeople = v.object({
  days: parameter(
    'Counts paths of contacts that reached a step in the last this many days, 1 to 366; all time when absent.',
    {
      type: 'integer',
      minimum: 1,
      maximum: 366,
    },
  ),
});
export type CountWorkflowPeople = v.InferOutput<typeof CountWorkflowPeople>;

/** How many contacts are at each step now, and what became of those who reached it. */
export const WorkflowPeople = v.object({
  active: field('Number of contacts in the workflow now.', Integer),
  arriving: field(
    'Number of contacts that are about to enter, by an event, a schedule, a date or their creation.',
    Integer,
  ),
  invalidDates: field(
    'Number of contacts whose value in the field of the trigger `DATE` is not a date, so that they do not enter; 0 for other triggers.',
    Integer,
  ),
  steps: field(
    'Steps of the graph, and of older versions that contacts are still in.',
    v.array(
      v.object({
        stepId: field('ID of the step.', v.nullable(Uuid)),
        name: field('Name of the step; null if only an older version has it.', v.nullable(v.string())),
        type: field('Type of the step; null if only an older version has it.', v.nullable(StepTypeField)),
        running: field('Number of contacts for which the step is running now.', Integer),
        waiting: field('Number of contacts waiting at the step now.', Integer),
        reached: field(
          'Number of times the step was reached, within `days`. A step that was retried counts once.',
          Integer,
        ),
        dropped: field(
          'Number of these that took no path: the step failed, or the contact was canceled or migrated away.',
          Integer,
        ),
        invalidZones: field(
          '`WAIT_UNTIL`: number of waits that ended by `fallback` because `data.timezone` was invalid, within `days` and the retention of executions. Contacts who still wait are not among them.',
          Integer,
        ),
        branches: field(
          'Number of times each path out of the step was taken, within `days`. May be up to a minute old.',
          v.array(
            v.object({
              branch: field(
                'Branch of a condition, `EVENT` or `TIMEOUT` of a wait, `success` or `failure` of a webhook, `next` of other steps; `exit:<id>` where an exit of the workflow was met at the step.',
                v.string(),
              ),
              count: field('Number of times the path was taken.', Integer),
            }),
          ),
        ),
      }),
    ),
  ),
});
export type WorkflowPeople = v.InferOutput<typeof WorkflowPeople>;

/** `GET /workflows/{id}/goal`. */
export const GetGoalFigures = v.object({
  by: choiceParameter(
    '`version`: also for each version that contacts have entered by; `branch`: also for each branch of a SPLIT that they took.',
    ['version', 'branch'],
  ),
});

/** The figures of a goal, over the contacts who have entered. */
export const GoalFigures = v.object({
  entered: field('Number of times a contact has entered and is counted: without `metOnEntry`.', Integer),
  met: field('Number of these that have reached the goal in time, each at most once.', Integer),
  metOnEntry: field('Number of times a contact entered who met the condition already; not counted.', Integer),
  open: field('Number of those counted that have not reached the goal, and still have time.', Integer),
  rate: field('`met` as a percentage of `entered`; null if nobody is counted.', v.nullable(v.number())),
  interval: field(
    '95 % confidence interval of `rate` (Wilson), in percent; null if nobody is counted.',
    v.nullable(v.object({ low: field('Lower bound.', v.number()), high: field('Upper bound.', v.number()) })),
  ),
  medianSeconds: field(
    'Median time from entering to the goal, in seconds; null if nobody reached it.',
    v.nullable(Integer),
  ),
  since: field('When the first of them entered; null if nobody has.', v.nullable(Instant)),
});
export type GoalFigures = v.InferOutput<typeof GoalFigures>;

/** How many of those who have entered have reached the goal. */
export const WorkflowGoalFigures = v.object({
  goal: field('Goal of the workflow as it is now; null if it has none.', v.nullable(Goal)),
  ...GoalFigures.entries,
  groups: field(
    'The same for each version or branch, with `by`; newest version first.',
    v.array(
      v.object({
        version: field('Version that the contacts have entered by; null for a branch.', v.nullable(Integer)),
        stepId: field('ID of the SPLIT step; null for a version.', v.nullable(Uuid)),
        branch: field('ID of the branch; null for a version.', v.nullable(v.string())),
        goal: field('Goal of the version; null for a branch.', v.nullable(Goal)),
        ...GoalFigures.entries,
      }),
    ),
  ),
});
export type WorkflowGoalFigures = v.InferOutput<typeof WorkflowGoalFigures>;

nameSchemas({
  WorkflowGoalFigures,
  WorkflowExecution: ExecutionBody,
  ListedWorkflowExecution: ListedExecution,
  WorkflowExecutionStory: ExecutionStory,
  WorkflowStepExecution: StepExecutionBody,
  WorkflowRetryPreview: RetryPreview,
  WorkflowEnrollPreview: EnrollPreview,
});
