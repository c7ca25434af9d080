import { field, nameSchemas } from '@fernpost/openapi/names';
import { Instant, JsonObject } from '@fernpost/validation';
import * as v from 'valibot';
import { stepTypes } from '../graph/step-configs.ts';
import { PutGraph } from '../publishing/schema.ts';

/** `POST /workflows/{id}/test-run`. */
export const TestRun = v.object({
  contactId: field(
    'ID of the contact to test the workflow with.',
    v.pipe(v.string('is required'), v.uuid('must be a UUID')),
  ),
  data: field('Data of the event that starts the workflow; null or absent for none.', v.nullish(JsonObject)),
  waits: field(
    'Outcome of every wait for an event: `EVENT` if the event arrives at once, `TIMEOUT` if it never does.',
    v.optional(v.picklist(['EVENT', 'TIMEOUT'], 'must be one of EVENT, TIMEOUT'), 'EVENT'),
  ),
  waitData: field('Data of the awaited events, for `EVENT`; null or absent for none.', v.nullish(JsonObject)),
  graph: field(
    'Graph to test, as in `PUT /workflows/{id}/graph`; the saved one when absent.',
    v.optional(v.pick(PutGraph, ['steps', 'transitions'])),
  ),
});
export type TestRun = v.InferOutput<typeof TestRun>;

/** One step of a test run. */
const TestedStep = v.object({
  stepId: field('ID of the step; for a new step, its name in the request.', v.string()),
  name: field('Name of the step.', v.string()),
  type: field('Type of the step.', v.picklist(stepTypes)),
  at: field('When the contact would reach the step.', Instant),
  outcome: field(
    '`COMPLETED`; `SKIPPED` for an email that would not be sent to this contact; `FAILED`; or `WAITING` for an event that never comes, without a timeout.',
    v.picklist(['COMPLETED', 'SKIPPED', 'FAILED', 'WAITING']),
  ),
  output: field(
    'What the step would do, which depends on its type: the rendered subject, the compared values, the request, or the new data.',
    v.record(v.string(), v.unknown()),
  ),
  error: field('Why the step would fail; null otherwise.', v.nullable(v.string())),
});
export type TestedStep = v.InferOutput<typeof TestedStep>;

/** What would happen to a contact. */
export const TestRunBody = v.object({
  end: field(
    'How the execution would end: `COMPLETED`, `EXITED` or `FAILED`; `WAITING` if it would wait indefinitely.',
    v.picklist(['COMPLETED', 'EXITED', 'FAILED', 'WAITING']),
  ),
  reason: field('Why it would end so; null for `COMPLETED`.', v.nullable(v.string())),
  endsAt: field('When the contact would leave the workflow; null if it would wait indefinitely.', v.nullable(Instant)),
  steps: field('Steps that the contact would reach, in order.', v.array(TestedStep)),
});
export type TestRunBody = v.InferOutput<typeof TestRunBody>;

nameSchemas({ WorkflowTestRun: TestRunBody, WorkflowTestRunStep: TestedStep });
