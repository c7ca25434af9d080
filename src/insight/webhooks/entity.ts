import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { unseal } from '../../lib/seal.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';
import { deliveryStatuses, endpointStatuses, payloadKinds, replayKinds } from './schema.ts';

const p = defineEntity.properties;

/**
 * An address that is called with the events of a project. The feed moves `cursorAt`, `cursorId` and `sequence` by SQL: `cursorAt` has
 * microseconds, which a `Date` has not. Events from `countedFrom` on are expected to have a delivery.
 */
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
    secretSealed: p.text(),
    oldSecretSealed: p.text().nullable(),
    oldSecretUntil: p.datetime(3).nullable(),
    cursorAt: p.datetime().columnType('timestamptz'),
    cursorId: p.uuid(),
    sequence: p.bigint('number').defaultRaw('0'),
    countedFrom: p.datetime(3),
    failingSince: p.datetime(3).nullable(),
    restingUntil: p.datetime(3).nullable(),
    missing: p.integer().default(0),
    auditedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'webhook_endpoints_project', properties: ['projectId', 'createdAt'] }],
});
export type WebhookEndpoint = InferEntity<typeof WebhookEndpoint>;

const ofEndpoint = () => p.manyToOne(WebhookEndpoint).mapToPk().deleteRule('cascade');

/** An event that is queued for an endpoint, under the next number of its sequence. The feed writes and moves them by SQL. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: baseColumns.id,
    endpointId: ofEndpoint(),
    sequence: p.bigint('number'),
    eventId: p.uuid(),
    eventName: p.text(),
    eventAt: p.datetime(3),
    status: p.enum(deliveryStatuses).default('PENDING'),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: baseColumns.createdAt,
  },
  uniques: [
    { name: 'webhook_deliveries_event', properties: ['endpointId', 'eventId'] },
    { name: 'webhook_deliveries_sequence', properties: ['endpointId', 'sequence'] },
  ],
  indexes: [
    {
      name: 'webhook_deliveries_created',
      expression: 'create index webhook_deliveries_created on webhook_deliveries using brin (created_at)',
    },
    {
      name: 'webhook_deliveries_due',
      properties: ['endpointId', 'dueAt', 'sequence'],
      where: "status = 'PENDING'",
    },
    { name: 'webhook_deliveries_failed', properties: ['endpointId', 'sequence'], where: "status = 'FAILED'" },
    { name: 'webhook_deliveries_span', properties: ['endpointId', 'eventAt'] },
  ],
});

/** A call of an endpoint with a delivery, and how it went. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    id: baseColumns.id,
    deliveryId: p.manyToOne(WebhookDelivery).mapToPk().deleteRule('cascade'),
    at: p.datetime(3),
    statusCode: p.integer().nullable(),
    ms: p.integer(),
    answer: p.text().nullable(),
    error: p.text().nullable(),
  },
  indexes: [{ name: 'webhook_attempts_delivery', properties: ['deliveryId', 'at'] }],
});

/** A span of events that an endpoint gets again; `placeAt` and `placeId` say how far it is queued. */
export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    ...baseColumns,
    endpointId: ofEndpoint(),
    since: p.datetime(3),
    until: p.datetime(3),
    events: p.array(),
    only: p.enum(replayKinds),
    status: p.enum(['RUNNING', 'DONE'] as const).default('RUNNING'),
    placeAt: p.datetime(3),
    placeId: p.uuid(),
    requeued: p.integer().default(0),
  },
  uniques: [{ name: 'webhook_replays_running', properties: ['endpointId'], where: "status = 'RUNNING'" }],
  indexes: [{ name: 'webhook_replays_endpoint', properties: ['endpointId', 'createdAt'] }],
});

/** The secrets that sign calls of an endpoint: the current one, and the one before while it overlaps. @throws UnsealError */
export function secretsOf(
  { secretSealed, oldSecretSealed, oldSecretUntil }: WebhookEndpoint,
  encryptionKeys: readonly string[],
): string[] {
  const old = oldSecretSealed && oldSecretUntil && oldSecretUntil > new Date() ? [oldSecretSealed] : [];
  return [secretSealed, ...old].map((sealed) => unseal(sealed, encryptionKeys));
}
export type WebhookReplay = InferEntity<typeof WebhookReplay>;
