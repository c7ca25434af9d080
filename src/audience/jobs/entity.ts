import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { jobKinds, jobStates } from './schema.ts';

const p = defineEntity.properties;

const JobSchema = defineEntity({
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
  },
  indexes: [
    { name: 'jobs_finished', properties: ['finishedAt'], where: 'finished_at IS NOT NULL' },
    { name: 'jobs_project', properties: ['projectId'] },
    { name: 'jobs_unfinished', properties: ['id'], where: 'finished_at IS NULL' },
  ],
});

/** An import or a bulk operation. `position` moves in the transaction that does the work it counts; its changes get `cause`. */
export class Job extends JobSchema.class {}
JobSchema.setClass(Job);

const JobErrorSchema = defineEntity({
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

/** A row of an import, or a subject of a bulk operation, that failed. */
export class JobError extends JobErrorSchema.class {}
JobErrorSchema.setClass(JobError);

const ImportFilePartSchema = defineEntity({
  name: 'ImportFilePart',
  tableName: 'import_files',
  properties: {
    jobId: p.text().primary(),
    part: p.integer().primary(),
    bytes: p.blob(),
    createdAt: baseColumns.createdAt,
  },
});

/** A part of an uploaded file. Parts are written before their job, so only the id ties them to it. */
export class ImportFilePart extends ImportFilePartSchema.class {}
ImportFilePartSchema.setClass(ImportFilePart);

const TrashedContactSchema = defineEntity({
  name: 'TrashedContact',
  tableName: 'contacts_trash',
  properties: {
    id: p.uuid().primary(),
    projectId: p.uuid(),
    jobId: p.text(),
    deletedAt: p.datetime(3).defaultRaw('now()'),
    email: p.text(),
    subscribed: p.boolean(),
    data: p.json<unknown>(),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'contacts_trash_deleted', properties: ['deletedAt'] },
    { name: 'contacts_trash_job', properties: ['jobId', 'id'] },
    { name: 'contacts_trash_project', properties: ['projectId'] },
  ],
});

/** A contact that an undo has deleted, for a week. */
export class TrashedContact extends TrashedContactSchema.class {}
TrashedContactSchema.setClass(TrashedContact);
