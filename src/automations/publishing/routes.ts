import * as v from 'valibot';
import { needScope } from '../../http/errors.ts';
import { inProject, route, taggedReply } from '../../http/route.ts';
import { QueuedJob } from '../../imports/schema.ts';
import { dispatched } from '../list-service.ts';
import { editOf } from '../rows.ts';
import { PatchRollout, RolloutBody, WorkflowWithGraph } from '../schema.ts';
import { ListSimulated, SimulatedPage, SimulateWorkflow, SimulationBody } from '../simulation/schema.ts';
import { cancelSimulation, getSimulation, listSimulated, queueSimulation } from '../simulation/service.ts';
import { TestRun, TestRunBody, testRun } from '../test-run/service.ts';
import { changeRollout, endRollout, reportRollout } from './rollout.ts';
import { PutGraph, PutGraphDone, PutGraphPreview, RolloutReport } from './schema.ts';
import { putGraph } from './service.ts';

const simulationIds = { id: 'workflow' };

/** Trying and simulating a graph, replacing the graph of an automation as a whole, and how far a new one is rolled out. */
export const automationPublishingRoutes = [
  route.put('/workflows/:id/graph', {
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Replace the whole graph',
    operationId: 'replaceWorkflowGraph',
    description:
      'In one transaction, also while contacts are inside: they stay in their version, or are migrated by `migrate`, a plan as in `POST /workflows/{id}/migrate`. Steps keep their IDs; any other text as `id` names a new step, and `ids` returns its ID. An enabled workflow accepts only a graph without `issues`. `rollout` gives the graph to a share of new contacts first; without it the graph is for all, and a rollout under way ends. `dryRun` changes nothing and returns what would change.',
    ids: { id: 'workflow' },
    guarded: true,
    refusals: [409],
    body: PutGraph,
    example: {
      steps: [
        {
          id: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d',
          type: 'TRIGGER',
          name: 'Signed up',
          position: { x: 0, y: 0 },
          config: { eventName: 'signup' },
        },
        {
          id: 'wait',
          type: 'DELAY',
          name: 'Wait a day',
          position: { x: 0, y: 160 },
          config: { amount: 1, unit: 'days' },
        },
      ],
      transitions: [{ fromStepId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d', toStepId: 'wait' }],
      dryRun: true,
    },
    bodyLimit: 'document',
    returns:
      'The workflow with its new graph, and the `migration` that was started; with `dryRun`, only what would change.',
    reply: v.variant('dryRun', [PutGraphPreview, PutGraphDone]),
    async handle(call) {
      const answer = await putGraph(editOf(call), call.body);
      return taggedReply(dispatched(call.app, answer), answer.revision);
    },
  }),
  route.get('/workflows/:id/rollout', {
    ...inProject('workflows:read'),
    tag: 'workflows',
    summary: 'Get the rollout of a version',
    operationId: 'getWorkflowRollout',
    description: 'The latest rollout, which may be over.',
    ids: { id: 'workflow' },
    returns:
      'The rollout, and what became of the contacts who entered each version since it started, or until it ended.',
    reply: RolloutReport,
    handle: ({ db, project, params }) => reportRollout(db, project.id, params.id),
  }),
  route.patch('/workflows/:id/rollout', {
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Change the rollout of a version',
    operationId: 'updateWorkflowRollout',
    description:
      'Whoever would get the new version still does at a larger share. Contacts inside stay in their version.',
    refusals: [409],
    ids: { id: 'workflow' },
    body: PatchRollout,
    example: { percent: 50 },
    returns: 'The rollout with its changes.',
    reply: RolloutBody,
    handle: ({ db, project, params, body }) => changeRollout(db, project.id, params.id, body),
  }),
  route.post('/workflows/:id/rollout/finish', {
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Give a version to all new contacts',
    operationId: 'finishWorkflowRollout',
    description: 'Contacts inside stay in their version; `POST /workflows/{id}/migrate` migrates them.',
    refusals: [409],
    ids: { id: 'workflow' },
    guarded: true,
    returns: 'The workflow, whose rollout is `FINISHED`.',
    reply: WorkflowWithGraph,
    async handle(call) {
      const { body, revision } = await endRollout(editOf(call), 'FINISHED');
      return taggedReply(body, revision);
    },
  }),
  route.post('/workflows/:id/rollout/back', {
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Take a version back',
    operationId: 'takeWorkflowRolloutBack',
    description:
      'New contacts get the previous version again, and the workflow has its graph again; the new one stays in the list of versions. Contacts inside stay in their version. A step whose template was deleted meanwhile has none, and is in `issues`.',
    refusals: [409],
    ids: { id: 'workflow' },
    guarded: true,
    returns: 'The workflow with its previous graph, whose rollout is `BACK`.',
    reply: WorkflowWithGraph,
    async handle(call) {
      const { body, revision } = await endRollout(editOf(call), 'BACK');
      return taggedReply(body, revision);
    },
  }),
  route.post('/workflows/:id/test-run', {
    refusals: [404],
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Try a workflow with a contact',
    operationId: 'testWorkflow',
    description:
      'Shows step by step what would happen to a contact: conditions are evaluated with its data, emails and requests are rendered, delays pass at once. Nothing is sent, called, changed or stored. Takes the graph as it is saved, or one that is not, in `graph`.',
    ids: { id: 'workflow' },
    body: TestRun,
    example: { contactId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d', data: { plan: 'pro' }, waits: 'TIMEOUT' },
    bodyLimit: 'document',
    returns: 'The steps that the contact would take, in order, with what each would do. Nothing is sent or stored.',
    reply: TestRunBody,
    handle({ app, db, project, actor, params, body }) {
      needScope(actor, 'contacts:read');
      const { DASHBOARD_URI: pagesUrl, API_URI: apiUrl, LINK_SECRET: secret } = app.config;
      return testRun({ db, project, links: { pagesUrl, apiUrl, secret }, now: app.clock() }, params.id, body);
    },
  }),
  route.post('/workflows/:id/simulations', {
    heavy: true,
    refusals: [404, 409],
    ...inProject('workflows:write'),
    tag: 'simulations',
    summary: 'Simulate a workflow',
    operationId: 'simulateWorkflow',
    description:
      'Takes up to 10,000 contacts through a graph as it is saved, published, or in `graph`, with their data and events as of then. Executions run in their own time and do nothing: no email is sent, no webhook is called, no contact changes. Webhooks are taken to succeed, and limits of emails are not applied. `compareWith` compares with another version, or with what was recorded. Kept for 7 days.',
    ids: simulationIds,
    status: 202,
    body: SimulateWorkflow,
    example: {
      over: { event: { from: '2026-10-01T00:00:00Z', until: '2026-11-01T00:00:00Z' } },
      horizon: '30d',
      compareWith: 'actual',
    },
    bodyLimit: 'document',
    returns:
      'The simulation is queued; poll `GET /workflows/{id}/simulations/{jobId}` until its `state` is `completed`, `failed` or `canceled`.',
    reply: QueuedJob,
    async handle({ app, db, project, actor, params, body }) {
      needScope(actor, 'contacts:read');
      return dispatched(app, await queueSimulation(db, project.id, params.id, body));
    },
  }),
  route.get('/workflows/:id/simulations/:jobId', {
    bareRefusals: [404],
    ...inProject('workflows:read'),
    tag: 'simulations',
    summary: 'Get a simulation',
    operationId: 'getWorkflowSimulation',
    ids: simulationIds,
    returns: 'The simulation with its `state` and `progress`; `result` is null until it is completed.',
    reply: SimulationBody,
    handle: ({ db, project, params }) => getSimulation(db, project.id, params.id, params.jobId),
  }),
  route.delete('/workflows/:id/simulations/:jobId', {
    bareRefusals: [404],
    ...inProject('workflows:write'),
    tag: 'simulations',
    summary: 'Cancel a simulation',
    operationId: 'cancelWorkflowSimulation',
    description: 'The contacts simulated so far are removed. A simulation that has ended stays as it is.',
    ids: simulationIds,
    returns: 'The simulation, which is `canceled` unless it had ended before.',
    reply: SimulationBody,
    handle: async ({ app, db, project, params }) =>
      dispatched(app, await cancelSimulation(db, project.id, params.id, params.jobId)),
  }),
  route.get('/workflows/:id/simulations/:jobId/contacts', {
    bareRefusals: [404],
    ...inProject('workflows:read'),
    tag: 'simulations',
    summary: 'List the contacts of a simulation',
    operationId: 'listSimulatedContacts',
    description: 'All that were simulated so far, or those that match every filter.',
    ids: simulationIds,
    query: ListSimulated,
    returns: 'The page of contacts, with their executions.',
    reply: SimulatedPage,
    handle: ({ db, project, params, query }) => listSimulated(db, project.id, params.id, params.jobId, query),
  }),
];
