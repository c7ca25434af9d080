import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { auditEndpoint, getDelivery, listDeliveries, redeliver, withHealth } from './log.ts';
import {
  AuditSpan,
  CreateEndpoint,
  DeliveriesPage,
  DeliveryWithAttempts,
  EndpointAudit,
  EndpointBody,
  EndpointWithSecret,
  ListDeliveries,
  ListEndpoints,
  PatchEndpoint,
  ReplayBody,
  ReplayEvents,
  RotateSecret,
  TestEndpoint,
  TestedEndpoint,
} from './schema.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  listReplays,
  patchEndpoint,
  rotateSecret,
  startReplay,
  testEndpoint,
} from './service.ts';

const shared = { access: 'dashboard', role: 'ADMIN', tag: 'webhook endpoints' } as const;
const ids = { id: 'webhook endpoint' };

/** Webhooks out (docs/contract/reach.md#2): endpoints, and what became of each delivery. */
export const webhookEndpointRoutes = [
  route.get('/webhook-endpoints', {
    ...shared,
    scope: 'webhooks',
    summary: 'List webhook endpoints',
    query: ListEndpoints,
    returns: 'All webhook endpoints of the project, oldest first.',
    reply: v.array(EndpointBody),
    async handle({ db, project, query }) {
      const endpoints = await listEndpoints(db, project.id);
      return query.include === 'health' ? withHealth(db, endpoints) : endpoints;
    },
  }),
  route.post('/webhook-endpoints', {
    ...shared,
    refusals: [409],
    scope: 'webhooks',
    summary: 'Create a webhook endpoint',
    description:
      'Returns the signing secret once. Calls follow Standard Webhooks: verify `webhook-signature` with any of its libraries.',
    status: 201,
    body: CreateEndpoint,
    example: { url: 'https://acme.com/webhooks/fernpost', events: ['email.bounce', 'contact.*'] },
    returns: 'The new endpoint, with the signing `secret`, which is shown only here.',
    reply: EndpointWithSecret,
    handle: ({ app, db, project, body }) => createEndpoint(db, app.config, project.id, body, app.clock()),
  }),
  route.get('/webhook-endpoints/:id', {
    ...shared,
    scope: 'webhooks',
    summary: 'Get a webhook endpoint',
    ids,
    returns: 'The endpoint with its `status`.',
    reply: EndpointBody,
    handle: ({ db, project, params }) => getEndpoint(db, project.id, params.id),
  }),
  route.patch('/webhook-endpoints/:id', {
    ...shared,
    scope: 'webhooks',
    summary: 'Update, pause or enable a webhook endpoint',
    ids,
    body: PatchEndpoint,
    example: { paused: true },
    returns: 'The endpoint with its changes.',
    reply: EndpointBody,
    handle: ({ app, db, project, params, body }) => patchEndpoint(db, app.config, project.id, params.id, body),
  }),
  route.delete('/webhook-endpoints/:id', {
    ...shared,
    scope: 'webhooks',
    summary: 'Delete a webhook endpoint with its log',
    ids,
    status: 204,
    returns: 'The endpoint and the log of its deliveries are deleted.',
    handle: ({ db, project, params }) => deleteEndpoint(db, project.id, params.id),
  }),
  route.post('/webhook-endpoints/:id/rotate-secret', {
    ...shared,
    scope: 'webhooks',
    summary: 'Replace the signing secret',
    description: 'Returns the new secret once. Until the overlap ends, calls carry a signature of each.',
    ids,
    body: RotateSecret,
    example: { overlapHours: 24 },
    returns: 'The endpoint, with the new signing `secret`, which is shown only here.',
    reply: EndpointWithSecret,
    handle: ({ app, db, project, params, body }) =>
      rotateSecret(db, app.config, project.id, params.id, body.overlapHours),
  }),
  route.post('/webhook-endpoints/:id/test', {
    ...shared,
    scope: 'webhooks',
    summary: 'Call a webhook endpoint with a test event',
    description:
      'Waits for the response, up to 15 seconds. The event has no sequence number, and is not logged or retried.',
    ids,
    body: TestEndpoint,
    example: { type: 'email.bounce' },
    returns: 'How the endpoint responded; `delivered` is false for anything but a 2xx status.',
    reply: TestedEndpoint,
    handle: ({ app, db, project, params, body }) =>
      testEndpoint({ db, connect: app.connectOut, clock: app.clock }, app.config, project.id, params.id, body.type),
  }),
  route.post('/webhook-endpoints/:id/replay', {
    ...shared,
    scope: 'webhooks',
    summary: 'Replay the events of a time span',
    description: 'They keep their `webhook-id`. `only: "failed"` repeats failed deliveries.',
    ids,
    status: 202,
    body: ReplayEvents,
    example: { since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z', only: 'failed' },
    returns: 'The replay, which runs in the background; `GET /webhook-endpoints/{id}/replays` shows its `status`.',
    reply: ReplayBody,
    handle: ({ app, db, project, params, body }) => startReplay(db, project.id, params.id, body, app.clock()),
  }),
  route.get('/webhook-endpoints/:id/replays', {
    ...shared,
    scope: 'webhooks',
    summary: 'List the replays of a webhook endpoint',
    ids,
    returns: 'The latest 20 replays, newest first.',
    reply: v.array(ReplayBody),
    handle: ({ db, project, params }) => listReplays(db, project.id, params.id),
  }),
  route.get('/webhook-endpoints/:id/deliveries', {
    ...shared,
    scope: 'webhooks',
    summary: 'List deliveries',
    ids,
    query: ListDeliveries,
    returns: 'The page of deliveries, newest first.',
    reply: DeliveriesPage,
    async handle({ db, project, params, query }) {
      await getEndpoint(db, project.id, params.id);
      return listDeliveries(db, params.id, query);
    },
  }),
  route.get('/webhook-endpoints/:id/deliveries/:eventId', {
    ...shared,
    scope: 'webhooks',
    summary: 'Get a delivery with its attempts',
    ids: { ...ids, eventId: 'delivery' },
    returns: 'The delivery with the `body` of its calls and every attempt in `log`, oldest first.',
    reply: DeliveryWithAttempts,
    async handle({ db, project, params }) {
      await getEndpoint(db, project.id, params.id);
      return getDelivery(db, params.id, params.eventId);
    },
  }),
  route.post('/webhook-endpoints/:id/deliveries/:eventId/redeliver', {
    ...shared,
    scope: 'webhooks',
    summary: 'Deliver an event again',
    ids: { ...ids, eventId: 'delivery' },
    status: 202,
    returns: 'The delivery, which is queued again; get it to see the next attempt in `log`.',
    reply: DeliveryWithAttempts,
    async handle({ db, project, params }) {
      await getEndpoint(db, project.id, params.id);
      await redeliver(db, params.id, params.eventId);
      return getDelivery(db, params.id, params.eventId);
    },
  }),
  route.get('/webhook-endpoints/:id/audit', {
    heavy: true,
    ...shared,
    scope: 'webhooks',
    summary: 'Compare events with deliveries',
    description:
      'Counts the events that the endpoint subscribes to and what was delivered of them, since its subscription last changed and at most 31 days.',
    ids,
    query: AuditSpan,
    queryExample: { from: '2026-11-01T00:00:00Z', until: '2026-11-08T00:00:00Z' },
    returns: 'The number of events in the period by the status of their delivery; `addsUp` is true if none is missing.',
    reply: EndpointAudit,
    async handle({ db, project, params, query }) {
      await getEndpoint(db, project.id, params.id);
      return auditEndpoint(db, params.id, query);
    },
  }),
];
