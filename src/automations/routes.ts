import * as v from 'valibot';
import { inProject, route, tagged, taggedReply } from '../http/route.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { field, Integer } from '../lib/validation/fields.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { workflowFields } from './graph/graph.ts';
import { ListWorkflowFields, WorkflowFields } from './graph/schema.ts';
import {
  bulkUpdateAutomations,
  deleteAutomationsOf,
  dispatched,
  listAutomations,
  pauseAutomation,
  resumeAutomation,
} from './list-service.ts';
import { editOf } from './rows.ts';
import {
  BulkUpdateWorkflows,
  CreateWorkflow,
  ListVersions,
  ListWorkflows,
  PatchWorkflow,
  ResumeWorkflow,
  VersionPage,
  VersionWithGraph,
  WorkflowBody,
  WorkflowPage,
  WorkflowWithGraph,
} from './schema.ts';
import { createAutomation, duplicateAutomation, getAutomation, patchAutomation } from './service.ts';
import { getVersion, listVersions } from './versions.ts';

const ids = { id: 'workflow' };

/** Automations: the "workflows" of the interface. */
export const automationRoutes = [
  route.get('/workflows', {
    ...inProject('workflows:read'),
    summary: 'List workflows',
    description: 'By page number, or with `limit` and `cursor`.',
    query: ListWorkflows,
    returns: 'The page of workflows, newest first unless `sort` or `dir` says otherwise.',
    reply: WorkflowPage,
    handle: ({ db, project, query }) => listAutomations(db, project.id, query),
  }),
  route.get('/workflows/fields', {
    ...inProject('workflows:read'),
    summary: 'List the fields of conditions',
    query: ListWorkflowFields,
    returns: 'The fields of contacts and of recent events, each with its type.',
    reply: WorkflowFields,
    handle: ({ db, project, query }) => workflowFields(db, project.id, query.eventName),
  }),
  route.post('/workflows', {
    ...inProject('workflows:write'),
    summary: 'Create a workflow',
    description:
      'It is created disabled, with its TRIGGER step. `triggerType` is EVENT when absent, which needs `eventName`; MANUAL, SCHEDULE, CONTACT_CREATED and DATE take their `triggerConfig` and no event.',
    status: 201,
    body: CreateWorkflow,
    example: { name: 'Welcome', eventName: 'signup' },
    bodyLimit: 'data',
    bodyError(_, body) {
      const { name, eventName, triggerType = 'EVENT', triggerConfig } = body as Record<string, unknown>;
      if (name === undefined || name === null || name === '') return bareBadRequest('"name" is required');
      const isUnnamed = (eventName === undefined || eventName === null || eventName === '') && !triggerConfig;
      return triggerType === 'EVENT' && isUnnamed ? bareBadRequest('"eventName" is required') : null;
    },
    returns: 'The new workflow, which is disabled.',
    reply: WorkflowBody,
    handle: ({ db, project, body }) => createAutomation(db, project.id, body),
  }),
  route.post('/workflows/bulk-update', {
    refusals: [404, 409],
    ...inProject('workflows:write'),
    summary: 'Delete several workflows',
    operationId: 'deleteWorkflows',
    body: BulkUpdateWorkflows,
    example: { ids: ['9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d'], delete: true },
    bodyLimit: 'data',
    returns: 'The number of workflows `deleted`; without `delete`, nothing changes and `updated` is 0.',
    reply: v.union([
      v.strictObject({ deleted: field('Number of workflows deleted, for a request with `delete`.', Integer) }),
      v.strictObject({
        updated: field('Always 0. No workflow was changed, because the request did not set `delete`.', Integer),
      }),
    ]),
    handle: async ({ app, db, project, body }) => dispatched(app, await bulkUpdateAutomations(db, project.id, body)),
  }),
  route.get('/workflows/:id', {
    ...inProject('workflows:read'),
    summary: 'Get a workflow with its graph',
    description:
      '`issues` lists what keeps it from being enabled. The header `ETag` names the `revision`: an edit that sends it as `If-Match` is refused (412) if somebody else has edited since.',
    ids,
    returns: 'The workflow with its steps, transitions and `issues`.',
    reply: WorkflowWithGraph,
    guarded: true,
    async handle({ db, project, params }) {
      const body = await getAutomation(db, project.id, params.id);
      return tagged(body);
    },
  }),
  route.patch('/workflows/:id', {
    refusals: [409],
    ...inProject('workflows:write'),
    summary: 'Update, enable or disable a workflow',
    ids,
    body: PatchWorkflow,
    example: { enabled: true },
    bodyLimit: 'data',
    returns: 'The workflow with its changes.',
    reply: WorkflowBody,
    guarded: true,
    async handle(call) {
      if (call.body.enabled === true) checkUnplanned(call.actor.kind === 'key' ? call.actor.scoped : null, Infinity);
      const patched = await patchAutomation(editOf(call), call.body);
      return taggedReply(dispatched(call.app, patched), patched.revision);
    },
  }),
  route.delete('/workflows/:id', {
    refusals: [409],
    ...inProject('workflows:write'),
    summary: 'Delete a workflow',
    ids,
    status: 204,
    returns: 'The workflow is deleted.',
    guarded: true,
    async handle({ app, db, project, params, header }) {
      const { tickets } = await deleteAutomationsOf(db, project.id, [params.id], header('if-match'));
      app.outbox.dispatchSoon(...tickets);
    },
  }),
  route.get('/workflows/:id/versions', {
    ...inProject('workflows:read'),
    summary: 'List the versions of a graph',
    description: 'The versions that contacts have entered, with the number of contacts in each.',
    ids,
    query: ListVersions,
    returns: 'The page of versions, newest first, each with the number of contacts in it.',
    reply: VersionPage,
    handle: ({ db, project, params, query }) => listVersions(db, project.id, params.id, query),
  }),
  route.get('/workflows/:id/versions/:version', {
    pathTexts: { version: 'Number of the version.' },
    ...inProject('workflows:read'),
    summary: 'Get a version of a graph',
    description: 'The graph as executions pinned to this version run it; an execution names its `version`.',
    ids,
    returns: 'The version with its steps and transitions.',
    reply: VersionWithGraph,
    handle: ({ db, project, params }) => getVersion(db, project.id, params.id, params.version),
  }),
  route.post('/workflows/:id/pause', {
    ...inProject('workflows:write'),
    summary: 'Pause a workflow',
    description:
      'Contacts inside stay at their step: timers may pass and wait, and events are taken. Contacts who would enter are queued. A step that is running finishes, and emails that are queued are sent.',
    ids,
    returns: 'The workflow, which is paused.',
    reply: WorkflowBody,
    handle: ({ db, project, params }) => pauseAutomation(db, project.id, params.id),
  }),
  route.post('/workflows/:id/resume', {
    ...inProject('workflows:write'),
    summary: 'Resume a paused workflow',
    description: 'Contacts whom the pause held continue, and those who were queued enter, evenly over `spreadMinutes`.',
    ids,
    body: ResumeWorkflow,
    example: { spreadMinutes: 30 },
    returns: 'The workflow, which is no longer paused.',
    reply: WorkflowBody,
    handle({ db, project, actor, params, body }) {
      checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
      return resumeAutomation(db, project.id, params.id, body.spreadMinutes);
    },
  }),
  route.post('/workflows/:id/duplicate', {
    ...inProject('workflows:write'),
    summary: 'Duplicate a workflow',
    ids,
    status: 201,
    returns: 'The new workflow, a disabled copy of this one.',
    reply: WorkflowBody,
    handle: ({ db, project, params }) => duplicateAutomation(db, project.id, params.id),
  }),
];
