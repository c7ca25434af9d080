import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { endpointStatuses, payloadKinds } from './schema.ts';

const p = defineEntity.properties;

/** An address that is called with the events of a project. `cursor` is the last event that was queued for it. */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    url: p.text(),
    description: p.text().nullable(),
    events: p.array(),
    payload: p.enum(payloadKinds).default('full'),
    ordered: p.boolean().default(false),
    status: p.enum(endpointStatuses).default('ENABLED'),
    disabledReason: p.text().nullable(),
    secretSealed: p.text().lazy(),
    oldSecretSealed: p.text().nullable().lazy(),
    oldSecretUntil: p.datetime(3).nullable().lazy(),
    cursorAt: p.datetime().columnType('timestamptz').lazy(),
    cursorId: p.uuid().lazy(),
    sequence: p.bigint().defaultRaw('0'),
    countedFrom: p.datetime(3),
    failingSince: p.datetime(3).nullable(),
    restingUntil: p.datetime(3).nullable(),
    missing: p.integer().default(0),
    auditedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'webhook_endpoints_project', properties: ['projectId', 'createdAt'] }],
});

const ofEndpoint = () => p.manyToOne(WebhookEndpoint).mapToPk().deleteRule('cascade');

/** One event for one endpoint. Sequences of an endpoint have no gaps. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: baseColumns.id,
    endpointId: ofEndpoint(),
    sequence: p.bigint(),
    eventId: p.uuid(),
    eventName: p.text(),
    eventAt: p.datetime(3),
    status: p.enum(['PENDING', 'DELIVERED', 'FAILED'] as const).default('PENDING'),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: baseColumns.createdAt,
  },
  indexes: [
    { name: 'webhook_deliveries_due', properties: ['endpointId', 'dueAt', 'sequence'], where: "status = 'PENDING'" },
    { name: 'webhook_deliveries_failed', properties: ['endpointId', 'sequence'], where: "status = 'FAILED'" },
    { name: 'webhook_deliveries_span', properties: ['endpointId', 'eventAt'] },
    {
      name: 'webhook_deliveries_created',
      expression: 'create index webhook_deliveries_created on webhook_deliveries using brin (created_at)',
    },
  ],
  uniques: [
    { name: 'webhook_deliveries_sequence', properties: ['endpointId', 'sequence'] },
    { name: 'webhook_deliveries_event', properties: ['endpointId', 'eventId'] },
  ],
});

/** One call of an endpoint, with the first 4 KB of what it answered. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    id: p.uuid().primary(),
    deliveryId: p.manyToOne(WebhookDelivery).mapToPk().deleteRule('cascade'),
    at: p.datetime(3),
    statusCode: p.integer().nullable(),
    ms: p.integer(),
    answer: p.text().nullable(),
    error: p.text().nullable(),
  },
  indexes: [{ name: 'webhook_attempts_delivery', properties: ['deliveryId', 'at'] }],
});

/** A span of events that is delivered again; `place` is the last one that was queued. */
export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    ...baseColumns,
    endpointId: ofEndpoint(),
    since: p.datetime(3),
    until: p.datetime(3),
    events: p.array(),
    only: p.enum(['failed', 'all'] as const),
    status: p.enum(['RUNNING', 'DONE'] as const).default('RUNNING'),
    placeAt: p.datetime(3),
    placeId: p.uuid(),
    requeued: p.integer().default(0),
  },
  indexes: [{ name: 'webhook_replays_endpoint', properties: ['endpointId', 'createdAt'] }],
  uniques: [{ name: 'webhook_replays_running', properties: ['endpointId'], where: "status = 'RUNNING'" }],
});
