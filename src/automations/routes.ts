import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { reply, route } from '../http/route.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { workflowFields } from './fields-service.ts';
import {
  BulkUpdateWorkflows,
  CreateWorkflow,
  ListWorkflowFields,
  ListWorkflows,
  PatchWorkflow,
  WorkflowBody,
  WorkflowFields,
  WorkflowPage,
  WorkflowWithGraph,
} from './schema.ts';
import {
  bulkUpdateAutomations,
  type Changed,
  createAutomation,
  deleteAutomation,
  duplicateAutomation,
  getAutomation,
  listAutomations,
  patchAutomation,
} from './service.ts';

const ids = { id: 'workflow' };

function dispatched<Body>(app: App, { body, tickets }: Changed<Body>): Body {
  app.outbox.dispatchSoon(...tickets);
  return body;
}

/** Automations: the "workflows" of the interface. */
export const automationRoutes = [
  route({
    method: 'GET',
    path: '/workflows',
    access: 'dashboard',
    summary: 'List workflows',
    description: 'By page number, or with `limit` and `cursor`.',
    query: ListWorkflows,
    reply: WorkflowPage,
    handle: ({ db, project, query }) => listAutomations(db, project.id, query),
  }),
  route({
    method: 'GET',
    path: '/workflows/fields',
    access: 'dashboard',
    summary: 'List what conditions can ask for',
    query: ListWorkflowFields,
    reply: WorkflowFields,
    handle: ({ db, project, query }) => workflowFields(db, project.id, query.eventName),
  }),
  route({
    method: 'POST',
    path: '/workflows',
    access: 'dashboard',
    summary: 'Create a workflow',
    description: 'It is created disabled, with its TRIGGER step.',
    status: 201,
    body: CreateWorkflow,
    bodyError(_, body) {
      const { name, eventName } = body as Record<string, unknown>;
      if (name === undefined || name === null || name === '') return bareBadRequest('"name" is required');
      const blank = typeof eventName === 'string' && eventName.trim() === '';
      if (eventName === undefined || eventName === null || blank) return bareBadRequest('"eventName" is required');
      return null;
    },
    reply: WorkflowBody,
    handle: ({ db, project, body }) => createAutomation(db, project.id, body),
  }),
  route({
    method: 'POST',
    path: '/workflows/bulk-update',
    access: 'dashboard',
    summary: 'Delete several workflows',
    body: BulkUpdateWorkflows,
    reply: v.union([v.object({ deleted: v.number() }), v.object({ updated: v.number() })]),
    handle: async ({ app, db, project, body }) => dispatched(app, await bulkUpdateAutomations(db, project.id, body)),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id',
    access: 'dashboard',
    summary: 'Get a workflow with its graph',
    description: '`issues` lists what keeps it from being enabled.',
    ids,
    reply: WorkflowWithGraph,
    handle: ({ db, project, params }) => getAutomation(db, project.id, params.id ?? ''),
  }),
  route({
    method: 'PATCH',
    path: '/workflows/:id',
    access: 'dashboard',
    summary: 'Change, enable or disable a workflow',
    ids,
    body: PatchWorkflow,
    reply: WorkflowBody,
    handle: async ({ app, db, project, params, body }) =>
      dispatched(app, await patchAutomation(db, project.id, params.id ?? '', body)),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id',
    access: 'dashboard',
    summary: 'Delete a workflow',
    ids,
    status: 204,
    async handle({ app, db, project, params }) {
      app.outbox.dispatchSoon(...(await deleteAutomation(db, project.id, params.id ?? '')));
      return reply(204);
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/duplicate',
    access: 'dashboard',
    summary: 'Copy a workflow',
    ids,
    status: 201,
    reply: WorkflowBody,
    handle: ({ db, project, params }) => duplicateAutomation(db, project.id, params.id ?? ''),
  }),
];
