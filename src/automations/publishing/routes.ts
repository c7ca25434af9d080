import * as v from 'valibot';
import { route, taggedReply } from '../../core/http/route.ts';
import { editorOf, etagOf } from '../revision.ts';
import { PutGraph, PutGraphDone, PutGraphPreview } from './schema.ts';
import { putGraph } from './service.ts';

/** Replacing the graph of an automation as a whole. */
export const automationPublishingRoutes = [
  route({
    method: 'PUT',
    path: '/workflows/:id/graph',
    access: 'dashboard',
    tag: 'workflows',
    summary: 'Replace the whole graph',
    description:
      'In one transaction, also while people are inside: they stay in the version that they are in, or move by `migrate`, a plan as of `POST /workflows/{id}/migrate`. Steps keep the ids that they have; other texts as `id` name new steps, and `ids` answers theirs. An enabled workflow takes only a graph without `issues`. With `dryRun` nothing is changed, and the answer says what would be.',
    ids: { id: 'workflow' },
    guarded: true,
    body: PutGraph,
    bodyLimit: 'document',
    reply: v.variant('dryRun', [PutGraphPreview, PutGraphDone]),
    async handle({ app, db, project, params, body, actor, header }) {
      const answer = await putGraph(db, project.id, params.id, body, editorOf(actor, header));
      app.outbox.dispatchSoon(...answer.tickets);
      return taggedReply(200, answer.body, etagOf(answer.revision));
    },
  }),
];
