import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { Email } from '../ledger/index.ts';

const p = defineEntity.properties;

/** Mail that belongs to no campaign and waits for the provider; the row goes once it is settled. */
export const QueuedEmail = defineEntity({
  name: 'QueuedEmail',
  tableName: 'email_queue',
  properties: {
    emailId: p.manyToOne(Email).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    projectId: p.uuid(),
    claimId: p.text().nullable(),
    claimedAt: p.datetime(3).nullable(),
    lookups: p.integer().default(0),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: baseColumns.createdAt,
    bytes: p.integer().default(0),
    lastRefusal: p.text().nullable(),
  },
  indexes: [
    { name: 'email_queue_claims', properties: ['claimId'], where: 'claim_id IS NOT NULL' },
    { name: 'email_queue_due', properties: ['projectId', 'dueAt', 'emailId'], where: 'claim_id IS NULL' },
  ],
});

/** A token bucket of a project, or of the provider account (the nil UUID). */
export const SendBucket = defineEntity({
  name: 'SendBucket',
  tableName: 'send_buckets',
  properties: {
    id: p.uuid().primary(),
    tokens: p.double(),
    refilledAt: p.datetime().columnType('timestamptz').defaultRaw('clock_timestamp()'),
  },
});

/** The circuit breaker of a provider: while `heldUntil` lies ahead, nobody calls it. */
export const ProviderHold = defineEntity({
  name: 'ProviderHold',
  tableName: 'provider_holds',
  properties: {
    provider: p.text().primary(),
    failures: p.integer().default(0),
    reason: p.text().nullable(),
    heldSince: p.datetime(3).nullable(),
    heldUntil: p.datetime(3).nullable(),
  },
});
