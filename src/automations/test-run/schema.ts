import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, JsonObject } from '@fernpost/validation';
import * as v from 'valibot';
import { stepTypes } from '../graph/step-configs.ts';
import { PutGraph } from '../publishing/schema.ts';

/** `POST /workflows/{id}/test-run`. */
export const TestRun = v.object({
  contactId: v.pipe(v.string('is required'), v.uuid('must be a UUID'), v.description('The contact to try it with.')),
  data: v.pipe(v.nullish(JsonObject), v.description('The data of the event that starts it.')),
  waits: v.pipe(
    v.optional(v.picklist(['EVENT', 'TIMEOUT'], 'must be one of EVENT, TIMEOUT'), 'EVENT'),
    v.description('How every wait for an event ends: the event arrives at once, or never.'),
  ),
  waitData: v.pipe(v.nullish(JsonObject), v.description('The data of the awaited events.')),
  graph: v.pipe(
    v.optional(v.pick(PutGraph, ['steps', 'transitions'])),
    v.description('A graph that is not saved, as in `PUT /workflows/{id}/graph`; absent takes the saved one.'),
  ),
});
export type TestRun = v.InferOutput<typeof TestRun>;

/** One step of a test run. */
const TestedStep = v.object({
  stepId: v.pipe(v.string(), v.description('The ID of the step; of a new one, what the request calls it.')),
  name: v.string(),
  type: v.picklist(stepTypes),
  at: v.pipe(Instant, v.description('When the contact would enter it.')),
  outcome: v.pipe(
    v.picklist(['COMPLETED', 'SKIPPED', 'FAILED', 'WAITING']),
    v.description(
      '`SKIPPED`: an email that would not be sent to this contact. `WAITING`: an event that never comes, without a timeout.',
    ),
  ),
  output: v.pipe(
    v.record(v.string(), v.unknown()),
    v.description('What the step would do: the rendered subject, the values compared, the request, the new data.'),
  ),
  error: v.nullable(v.string()),
});
export type TestedStep = v.InferOutput<typeof TestedStep>;

/** What would happen to a contact. */
export const TestRunBody = v.object({
  end: v.picklist(['COMPLETED', 'EXITED', 'FAILED', 'WAITING']),
  reason: v.pipe(v.nullable(v.string()), v.description('Why it would end so; null for `COMPLETED`.')),
  endsAt: v.pipe(
    v.nullable(Instant),
    v.description('When the contact would leave; null if it would stay indefinitely.'),
  ),
  steps: v.array(TestedStep),
});
export type TestRunBody = v.InferOutput<typeof TestRunBody>;

nameSchemas({ WorkflowTestRun: TestRunBody, WorkflowTestRunStep: TestedStep });
