import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { actorKinds } from './schema.ts';

const p = defineEntity.properties;

/** A change that somebody made. Positions of a project have no gaps, and `prevHash` is the hash of the entry before. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    id: baseColumns.id,
    projectId: p.uuid(),
    position: p.bigint(),
    at: p.datetime(3),
    actorKind: p.enum(actorKinds),
    actorId: p.text().nullable(),
    action: p.text(),
    target: p.text().nullable(),
    before: p.json().nullable(),
    after: p.json().nullable(),
    requestId: p.text().nullable(),
    ipHash: p.blob().nullable(),
    prevHash: p.blob(),
    redactedHash: p.blob().nullable(),
  },
  indexes: [{ name: 'audit_log_at', properties: ['at'] }],
  uniques: [{ name: 'audit_log_position', properties: ['projectId', 'position'] }],
});

/** The end of a project's log: position and hash of the last entry, and the last one that retention has removed. */
export const AuditHead = defineEntity({
  name: 'AuditHead',
  tableName: 'audit_heads',
  properties: {
    projectId: p.uuid().primary(),
    position: p.bigint(),
    removedThrough: p.bigint().defaultRaw('0'),
    hash: p.blob(),
  },
});
