import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;

/** A start, signal or schedule that Temporal must receive, written in the transaction that decided it. */
export const OutboxMessage = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.uuid().primary(),
    dedupeKey: p.text().unique(),
    kind: p.enum(['start', 'signal', 'cancel', 'schedule', 'unschedule'] as const),
    workflowType: p.text().nullable(),
    workflowId: p.text(),
    payload: p.json<unknown>(),
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime(3).defaultRaw('now()'),
    lastError: p.text().nullable(),
    doneAt: p.datetime(3).nullable(),
    createdAt: baseColumns.createdAt,
  },
  indexes: [
    { name: 'outbox_done', properties: ['doneAt'], where: 'done_at IS NOT NULL' },
    {
      name: 'outbox_open_others',
      properties: ['nextAttemptAt', 'id'],
      where: "(done_at IS NULL) AND ((kind <> 'signal') OR (workflow_id !~~ 'automation/%'))",
    },
    {
      name: 'outbox_open_wakes',
      properties: ['nextAttemptAt', 'id'],
      where: "(done_at IS NULL) AND (kind = 'signal') AND (workflow_id ~~ 'automation/%')",
    },
    { name: 'outbox_open_workflow', properties: ['workflowId', 'id'], where: 'done_at IS NULL' },
  ],
});

/**
 * The last execution of the reconciler by task queue prefix: a Temporal store that does not know it has lost executions.
 * `seenAt` is when it ran, which it does every minute as long as Temporal can write. Rows written before `changedAt` may belong to executions that are gone or behind.
 */
export const TemporalStore = defineEntity({
  name: 'TemporalStore',
  tableName: 'temporal_stores',
  properties: {
    taskQueue: p.text().primary(),
    workflowId: p.text(),
    runId: p.text(),
    changedAt: p.datetime(3).nullable(),
    seenAt: p.datetime(3).nullable(),
  },
});
