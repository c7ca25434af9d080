import * as v from 'valibot';
import { inProject, route, taggedReply } from '../../http/route.ts';
import { dispatched } from '../list-service.ts';
import { editOf } from '../rows.ts';
import { PutGraph, PutGraphDone, PutGraphPreview } from './schema.ts';
import { putGraph } from './service.ts';

/** Replacing the graph of an automation as a whole. */
export const automationPublishingRoutes = [
  route.put('/workflows/:id/graph', {
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Replace the whole graph',
    operationId: 'replaceWorkflowGraph',
    description:
      'In one transaction, also while contacts are inside: they stay in their version, or are migrated by `migrate`, a plan as in `POST /workflows/{id}/migrate`. Steps keep their IDs; any other text as `id` names a new step, and `ids` returns its ID. An enabled workflow accepts only a graph without `issues`. `dryRun` changes nothing and returns what would change.',
    ids: { id: 'workflow' },
    guarded: true,
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
];
