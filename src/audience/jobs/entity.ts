import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { jobKinds, jobStates } from './schema.ts';

const p = defineEntity.properties;

/**
 * An import or a bulk operation. `position` moves in the transaction that does the work it counts; its changes get `cause`, and what
 * they start keeps the limits of the key `limitedBy`.
 */
export const Job = defineEntity({
  name: 'Job',
  tableName: 'jobs',
  properties: {
    id: p.text().primary(),
    projectId: ofProject(),
    kind: p.enum(jobKinds),
    spec: p.json<unknown>(),
    state: p.enum(jobStates).default('waiting'),
    position: p.bigint().defaultRaw('0'),
    place: p.json<unknown>().defaultRaw("'{}'::jsonb"),
    progress: p.smallint().default(0),
    totalCount: p.integer().default(0),
    createdCount: p.integer().default(0),
    updatedCount: p.integer().default(0),
    unchangedCount: p.integer().default(0),
    failureCount: p.integer().default(0),
    reasons: p.json<unknown>().defaultRaw("'{}'::jsonb"),
    failedReason: p.text().nullable(),
    createdAt: baseColumns.createdAt,
    updatedAt: baseColumns.updatedAt,
    finishedAt: p.datetime(3).nullable(),
    cause: p.json<unknown>().nullable(),
    limitedBy: p.uuid().nullable(),
  },
  indexes: [
    { name: 'jobs_finished', properties: ['finishedAt'], where: 'finished_at IS NOT NULL' },
    { name: 'jobs_list', properties: ['projectId', 'createdAt', 'id'] },
    { name: 'jobs_unfinished', properties: ['id'], where: 'finished_at IS NULL' },
  ],
});

/** A row of an import, or a subject of a bulk operation, that failed. */
export const JobError = defineEntity({
  name: 'JobError',
  tableName: 'job_errors',
  properties: {
    jobId: p.manyToOne(Job).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    row: p.integer().primary(),
    subject: p.text().nullable(),
    email: p.text().nullable(),
    error: p.text(),
  },
});

/** A part of an uploaded file. Parts are written before their job, so only the id ties them to it. */
export const ImportFilePart = defineEntity({
  name: 'ImportFilePart',
  tableName: 'import_files',
  properties: {
    jobId: p.text().primary(),
    part: p.integer().primary(),
    bytes: p.blob(),
    createdAt: baseColumns.createdAt,
  },
});
