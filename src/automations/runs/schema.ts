import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, pageParameters, parameter, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { PageFigures } from '../../core/lib/offset-page.ts';
import { runStatuses, stepRunStatuses } from '../rows.ts';
import { StepBody, StepTypeField, WorkflowBody } from '../schema.ts';

const Json = v.record(v.string(), v.unknown());

/** `POST /workflows/{id}/executions`; the context is checked after the workflow was found. */
export const StartExecution = v.object({ contactId: textField('contactId', 1, 100), context: v.optional(v.unknown()) });
export type StartExecution = v.InferOutput<typeof StartExecution>;

/** `GET /workflows/{id}/executions`. */
export const ListExecutions = v.object({
  ...pageParameters(100),
  status: parameter('Statuses, separated by commas; all when absent.'),
  contactId: parameter('Executions of this contact.'),
  stepId: parameter('Active executions that are at this step.'),
});
export type ListExecutions = v.InferOutput<typeof ListExecutions>;

/** A run in an answer: an "execution" of the interface. */
export const ExecutionBody = v.object({
  id: Uuid,
  workflowId: Uuid,
  contactId: Uuid,
  status: v.picklist(runStatuses),
  currentStepId: v.nullable(Uuid),
  exitReason: v.nullable(v.string()),
  context: v.nullable(Json),
  startedAt: Instant,
  completedAt: v.nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
});
export type ExecutionBody = v.InferOutput<typeof ExecutionBody>;

const ContactRef = v.object({ id: Uuid, email: v.string() });
const StepRef = v.object({ id: Uuid, name: v.string(), type: StepTypeField });
const ListedExecution = v.object({
  ...ExecutionBody.entries,
  contact: ContactRef,
  currentStep: v.nullable(StepRef),
  /** When it came to its current step. */
  currentStepSince: v.nullable(Instant),
});
export type ListedExecution = v.InferOutput<typeof ListedExecution>;

/** A page of runs; `data` is the same list as `executions`. */
export const ExecutionPage = v.object({
  executions: v.array(ListedExecution),
  data: v.array(ListedExecution),
  ...PageFigures.entries,
});

/** The latest executions of a contact, of any workflow. */
export const ContactExecutions = v.object({
  data: v.array(v.object({ ...ListedExecution.entries, workflow: v.object({ id: Uuid, name: v.string() }) })),
});
export type ContactExecutions = v.InferOutput<typeof ContactExecutions>;

/** One step of a run in an answer. */
export const StepExecutionBody = v.object({
  id: Uuid,
  executionId: Uuid,
  stepId: Uuid,
  status: v.picklist(stepRunStatuses),
  scheduledFor: v.nullable(Instant),
  executeAfter: v.nullable(Instant),
  input: v.nullable(Json),
  output: v.nullable(Json),
  error: v.nullable(v.string()),
  startedAt: Instant,
  completedAt: v.nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
  /** Milliseconds it took, or has taken so far. */
  durationMs: v.number(),
  step: StepRef,
});
export type StepExecutionBody = v.InferOutput<typeof StepExecutionBody>;

/** The whole story of a run. */
export const ExecutionStory = v.object({
  ...ExecutionBody.entries,
  workflow: WorkflowBody,
  contact: ContactRef,
  currentStep: v.nullable(StepBody),
  stepExecutions: v.array(StepExecutionBody),
  /** What moves it on: `timer`, `event <name>`, `a worker`; null when it is over. */
  waitingFor: v.nullable(v.string()),
  /** When time moves it on. */
  waitingUntil: v.nullable(Instant),
  /** Since when it stands at its current step. */
  waitingSince: v.nullable(Instant),
  /** Number of the graph's version that it is pinned to, and of the one it takes over at its next step. */
  version: v.number(),
  nextVersion: v.nullable(v.number()),
  temporal: v.object({
    workflowId: v.string(),
    /** Its page in the Temporal Web UI. */
    url: v.string(),
  }),
});
export type ExecutionStory = v.InferOutput<typeof ExecutionStory>;

/** How many executions `cancel-all` ended. */
export const CancelledExecutions = v.object({ cancelled: v.number() });

/** `POST /workflows/{id}/executions/retry`. */
export const RetryExecutions = v.object({
  executionIds: v.optional(
    v.pipe(
      v.array(Uuid, 'must be a list of IDs'),
      v.minLength(1, 'must name at least one execution'),
      v.maxLength(1_000, 'must name at most 1,000 executions'),
      v.description('Failed executions; the latest 1,000 when absent.'),
    ),
  ),
});

/** What became of a request to retry. */
export const RetriedExecutions = v.object({
  retried: v.pipe(v.number(), v.description('How many resume at the step that failed.')),
  skipped: v.pipe(
    v.number(),
    v.description('How many do not: they did not fail, or their contact is in the workflow again.'),
  ),
  more: v.pipe(v.boolean(), v.description('Whether there are more failed executions that can be retried.')),
});
export type RetriedExecutions = v.InferOutput<typeof RetriedExecutions>;

/** `GET /workflows/{id}/people`. */
export const CountWorkflowPeople = v.object({
  days: parameter('Counts the paths of contacts that reached a step in this many last days; all time when absent.', {
    type: 'integer',
    minimum: 1,
    maximum: 366,
  }),
});
export type CountWorkflowPeople = v.InferOutput<typeof CountWorkflowPeople>;

/** How many contacts are at each step now, and what became of those who reached it. */
export const WorkflowPeople = v.object({
  active: v.number(),
  /** Starts by events or schedules that are not executions yet. */
  arriving: v.number(),
  steps: v.array(
    v.object({
      stepId: v.nullable(Uuid),
      name: v.nullable(v.string()),
      type: v.nullable(StepTypeField),
      running: v.number(),
      waiting: v.number(),
      reached: v.pipe(v.number(), v.description('How often the step was reached, in the time that `days` says.')),
      dropped: v.pipe(
        v.number(),
        v.description('How many of those took no path: the step failed, or they were canceled or migrated away.'),
      ),
      /**
       * The branch of a condition, `EVENT` or `TIMEOUT` of a wait, `success` or `failure` of a webhook, `next` of every other
       * step. Counted anew no more often than the counting can be afforded; see `countPaths`.
       */
      branches: v.array(v.object({ branch: v.string(), count: v.number() })),
    }),
  ),
});
export type WorkflowPeople = v.InferOutput<typeof WorkflowPeople>;

nameSchemas({
  WorkflowExecution: ExecutionBody,
  ListedWorkflowExecution: ListedExecution,
  WorkflowExecutionStory: ExecutionStory,
  WorkflowStepExecution: StepExecutionBody,
});
