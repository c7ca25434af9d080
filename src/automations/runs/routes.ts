import * as v from 'valibot';
import { inProject, reply, route } from '../../http/route.ts';
import { QueuedJob } from '../../imports/schema.ts';
import type { Config } from '../../lib/config/config.ts';
import { bareBadRequest } from '../../lib/errors.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import { enrollPast } from '../enrollment/past.ts';
import { startExecution } from '../enrollment/schedule.ts';
import { dispatched } from '../list-service.ts';
import { goalFigures } from '../runtime/goals.ts';
import { cancelExecution, cancelExecutions, retryExecutions } from './actions.ts';
import { executionsOfContact } from './queries.ts';
import {
  CancelledExecutions,
  ContactExecutions,
  CountWorkflowPeople,
  EnrollContacts,
  EnrollPreview,
  ExecutionBody,
  ExecutionPage,
  ExecutionStory,
  GetGoalFigures,
  ListExecutions,
  RetriedExecutions,
  RetryExecutions,
  RetryPreview,
  StartExecution,
  WorkflowGoalFigures,
  WorkflowPeople,
} from './schema.ts';
import { getExecution, listExecutions } from './service.ts';
import { countInside } from './upcoming.ts';

const ids = { id: 'workflow' };
/** The page of an execution in the Temporal Web UI. */
function temporalUrl({ TEMPORAL_UI_URL, TEMPORAL_NAMESPACE }: Config, workflowId: string): string {
  const path = `namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflowId)}`;
  return `${TEMPORAL_UI_URL.replace(/\/$/, '')}/${path}`;
}

const executionIds = { ...ids, executionId: 'execution' };
const tag = 'workflows';

/** The runs of automations: the "executions" of the interface. */
export const automationRunRoutes = [
  route.post('/workflows/:id/executions', {
    refusals: [409],
    ...inProject('workflows:write'),
    tag,
    summary: 'Enroll a contact in a workflow',
    operationId: 'startWorkflowExecution',
    ids,
    status: 201,
    body: StartExecution,
    example: { contactId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d' },
    bodyLimit: 'data',
    bodyError(_, body) {
      const { contactId } = body as { contactId?: unknown };
      if (contactId === undefined || contactId === null || contactId === '')
        return bareBadRequest('"contactId" is required');
      return null;
    },
    returns: 'The new execution; get it to see how far the contact has come.',
    reply: ExecutionBody,
    async handle({ app, db, project, actor, params, body }) {
      checkUnplanned(actor.kind === 'key' ? actor.scoped : null, 1);
      const limit = app.config.WORKFLOW_STARTS_PER_CONTACT_PER_HOUR;
      return dispatched(app, await startExecution(db, project.id, params.id, body, limit));
    },
  }),
  route.post('/workflows/:id/enroll', {
    heavy: true,
    ...inProject('workflows:write'),
    tag,
    summary: 'Enroll contacts of the past in a workflow',
    operationId: 'enrollContacts',
    description:
      'The members of a segment, contacts that match a condition, or contacts that an event happened to: give one of the three. Each enters at most once, by the rules of the workflow: without re-entry, contacts that have been in it do not. With `dryRun` it returns how many would enter; without, it returns 202 and a bulk job.',
    ids,
    body: EnrollContacts,
    example: { event: { name: 'order.placed', since: '2026-11-01T00:00:00Z' }, mostPerMinute: 600, dryRun: true },
    bodyLimit: 'data',
    returns: {
      200: 'How many contacts would enter, for a dry run. Nothing changes.',
      202: 'The job that enrolls them; poll `GET /contacts/bulk/{jobId}` until its `state` is `completed` or `failed`. `successCount` of its `result` have entered, and `reasons` says why others have not.',
    },
    reply: v.union([EnrollPreview, QueuedJob]),
    async handle({ app, db, project, actor, params, body }) {
      if (!body.dryRun) checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
      const limit = app.config.WORKFLOW_STARTS_PER_CONTACT_PER_HOUR;
      const asked = await enrollPast(db, project.id, params.id, body, limit);
      return reply(body.dryRun ? 200 : 202, dispatched(app, asked));
    },
  }),
  route.get('/workflows/:id/executions', {
    ...inProject('workflows:read'),
    tag,
    summary: 'List the executions of a workflow',
    description: '`stepId` filters by the current step.',
    ids,
    query: ListExecutions,
    returns: 'The page of executions, newest first.',
    reply: ExecutionPage,
    handle: ({ db, project, params, query }) => listExecutions(db, project.id, params.id, query),
  }),
  route.post('/workflows/:id/executions/cancel-all', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Cancel every active execution of a workflow',
    operationId: 'cancelWorkflowExecutions',
    ids,
    returns: 'The number of executions that were canceled.',
    reply: CancelledExecutions,
    handle: ({ db, project, params }) => cancelExecutions(db, project.id, params.id),
  }),
  route.post('/workflows/:id/executions/retry', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Retry failed executions',
    operationId: 'retryWorkflowExecutions',
    description:
      'Each resumes at the step that failed, in the current version if that has the step: fix the step, publish, and retry. A step that sends an email or calls a webhook does so again. With `where`, `from` or `version` an email that the execution has sent, or may have, is not sent again unless `sendAgain` is `true`.',
    ids,
    body: RetryExecutions,
    example: {},
    returns:
      'The number of executions that resume, and whether there are `more` to retry; for a dry run what would resume, by the step that failed.',
    reply: v.union([RetryPreview, RetriedExecutions]),
    async handle({ app, db, project, actor, params, body }) {
      const { dryRun, executionIds } = body;
      if (!dryRun) checkUnplanned(actor.kind === 'key' ? actor.scoped : null, executionIds?.length ?? Infinity);
      return dispatched(app, await retryExecutions(db, project.id, params.id, body));
    },
  }),
  route.get('/workflows/:id/executions/:executionId', {
    ...inProject('workflows:read'),
    tag,
    summary: 'Get an execution with all its steps',
    ids: executionIds,
    returns: 'The execution with the steps that the contact has reached, oldest first, and what it waits for.',
    reply: ExecutionStory,
    handle: ({ app, db, project, params }) =>
      getExecution(db, project.id, params.id, params.executionId, (id) => temporalUrl(app.config, id)),
  }),
  route.delete('/workflows/:id/executions/:executionId', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Cancel an execution',
    operationId: 'cancelWorkflowExecution',
    ids: executionIds,
    returns: 'The execution, which is canceled; one that is over stays as it is.',
    reply: ExecutionBody,
    handle: async ({ app, db, project, params }) =>
      dispatched(app, await cancelExecution(db, project.id, params.id, params.executionId)),
  }),
  route.get('/workflows/:id/people', {
    heavy: true,
    ...inProject('workflows:read'),
    tag,
    summary: 'Count the contacts at each step of a workflow',
    operationId: 'countWorkflowContacts',
    description:
      'Beside the contacts who are there now, what happened to all who reached a step: how many took each path, and how many dropped off.',
    ids,
    query: CountWorkflowPeople,
    returns: 'The number of contacts at each step now, and of those that took each path.',
    reply: WorkflowPeople,
    handle: ({ db, project, params, query }) => countInside(db, project.id, params.id, query),
  }),
  route.get('/workflows/:id/goal', {
    heavy: true,
    ...inProject('workflows:read'),
    tag,
    summary: 'Get the results of a workflow’s goal',
    operationId: 'getWorkflowGoal',
    description:
      'Over all contacts who have entered a version with a goal, by the goal of that version, also after their executions are removed. Updated within seconds.',
    ids,
    query: GetGoalFigures,
    returns: 'How many have entered and reached the goal, the rate with its interval, and the median time.',
    reply: WorkflowGoalFigures,
    handle: ({ db, project, params, query }) => goalFigures(db, project.id, params.id, query.by),
  }),
  route.get('/contacts/:id/executions', {
    ...inProject('contacts:read'),
    tag,
    summary: 'List the executions of a contact',
    operationId: 'listContactExecutions',
    description: 'The latest 100, of any workflow.',
    ids: { id: 'contact' },
    returns: 'The executions of the contact, newest first; up to 100.',
    reply: ContactExecutions,
    handle: ({ db, project, params }) => executionsOfContact(db, project.id, params.id),
  }),
];
