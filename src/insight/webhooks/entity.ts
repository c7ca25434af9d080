import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { unseal } from '../../lib/seal.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';
import { endpointStatuses, payloadKinds } from './schema.ts';

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

/** The secrets that sign calls of an endpoint: the current one, and the one before while it overlaps. @throws UnsealError */
export function secretsOf(
  { secretSealed, oldSecretSealed, oldSecretUntil }: WebhookEndpoint,
  encryptionKeys: readonly string[],
): string[] {
  const old = oldSecretSealed && oldSecretUntil && oldSecretUntil > new Date() ? [oldSecretSealed] : [];
  return [secretSealed, ...old].map((sealed) => unseal(sealed, encryptionKeys));
}
