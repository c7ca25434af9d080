import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../projects/index.ts';

const p = defineEntity.properties;

/**
 * A request that was made with an `Idempotency-Key`, and its answer. `core/http` writes it; it is described here because
 * it belongs to a project.
 */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    id: p.uuid().primary(),
    projectId: ofProject(),
    key: p.text().collation('C'),
    method: p.text(),
    path: p.text(),
    statusCode: p.integer().nullable(),
    requestHash: p.text().nullable(),
    answer: p.text().nullable(),
    emailIds: p.array().columnType('uuid[]').nullable(),
    createdAt: baseColumns.createdAt,
    expiresAt: p.datetime(3),
  },
  uniques: [{ properties: ['projectId', 'key'] }],
  indexes: [{ name: 'idempotency_keys_expiry', properties: ['expiresAt'] }],
});

/**
 * Requests of a project in the current window of its rate limit, and those of its public key where that has a window of its own.
 * `core/http` writes it; it is described here because it
 * belongs to a project.
 */
export const RateWindow = defineEntity({
  name: 'RateWindow',
  tableName: 'rate_windows',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    startedAt: p.datetime().columnType('timestamptz').nullable(),
    used: p.integer().default(0),
    publicStartedAt: p.datetime().columnType('timestamptz').nullable(),
    publicUsed: p.integer().default(0),
  },
});
