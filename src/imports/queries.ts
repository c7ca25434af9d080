import { defineEntity } from '@mikro-orm/core';
import { type Cause, causeOf } from '../contacts/write.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { ofProject } from '../projects/queries.ts';
import { type StalledQuery, stalledRows } from '../store/outbox/recovery.ts';
import { recordingEvents } from '../store/record-events.ts';
import { type Database, limitingKey, raw, sql } from '../store/sql.ts';
import type { ShareReport } from './bulk.ts';
import { jobKinds, jobStates } from './schema.ts';

/** Most errors of one job that are kept; its counters go on. */
const mostErrors = 1_000;

const p = defineEntity.properties;

/** An import, a change of many contacts, or a simulation of a workflow. `JobRow` is how work on it reads it. */
export const Job = defineEntity({
  name: 'Job',
  tableName: 'jobs',
  properties: {
    id: p.text().primary(),
    projectId: ofProject().updateRule('no action'),
    kind: p.enum(jobKinds),
    spec: p.json<JsonObjectValue>(),
    state: p.enum(jobStates).default('waiting'),
    position: p.bigint().defaultRaw('0'),
    place: p.json<JsonObjectValue>().defaultRaw("'{}'::jsonb"),
    progress: p.smallint().default(0),
    totalCount: p.integer().default(0),
    createdCount: p.integer().default(0),
    updatedCount: p.integer().default(0),
    unchangedCount: p.integer().default(0),
    failureCount: p.integer().default(0),
    reasons: p.json<Record<string, number>>().defaultRaw("'{}'::jsonb"),
    failedReason: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    finishedAt: p.datetime(3).nullable(),
    cause: p.json<Cause>().nullable(),
    limitedBy: p.uuid().nullable(),
  },
  indexes: [
    { name: 'jobs_finished', properties: ['finishedAt'], where: 'finished_at IS NOT NULL' },
    { name: 'jobs_list', properties: ['projectId', 'createdAt', 'id'] },
    { name: 'jobs_unfinished', properties: ['id'], where: 'finished_at IS NULL' },
  ],
});

/** A job's row. */
export interface JobRow {
  id: string;
  projectId: string;
  kind: (typeof jobKinds)[number];
  /** The request. */
  spec: JsonObjectValue;
  state: (typeof jobStates)[number];
  /** How far the work is, in the units of its kind; moves with the rows that it describes. */
  position: string;
  place: JsonObjectValue;
  progress: number;
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** How many rows failed for which reason. */
  reasons: Record<string, number>;
  failedReason: string | null;
  createdAt: string;
  /** The key whose limits hold for what the job starts. */
  limitedBy: string | null;
}

/** One thing that could not be done: the row of a file or the number of a contact in the request, and why. */
export interface JobErrorRow {
  row: number;
  /** Id of a contact, where the job was given ids. */
  subject: string | null;
  email: string | null;
  error: string;
}

const columns = raw(`id, project_id as "projectId", kind, spec, state, position::text as position, place, progress,
  total_count as total, created_count as created, updated_count as updated, unchanged_count as unchanged,
  failure_count as failed, reasons, failed_reason as "failedReason", created_at as "createdAt", limited_by as "limitedBy"`);

/** Whether an ID has the form of job IDs: the kind of work, and a UUID. */
export function isJobId(id: string): boolean {
  return /^[a-z]+(-[a-z]+)*-[0-9a-f-]{36}$/.test(id);
}

export type NewJob = Pick<JobRow, 'id' | 'projectId' | 'kind' | 'spec'>;

/** Inserts a new job. */
export async function insertJob(db: Database, { id, projectId, kind, spec }: NewJob): Promise<void> {
  const type = spec.operation === 'undo' ? 'undo' : kind;
  // A simulation changes nothing.
  const cause = type === 'simulation' ? null : causeOf(db, type, id);
  await db.em.insert(Job, { id, projectId, kind, spec, cause, limitedBy: limitingKey(db) });
}

/** A job by its id, or null. */
export function findJob(db: Database, id: string): Promise<JobRow | null> {
  return db.row<JobRow>(sql`select ${columns} from jobs where id = ${id}`);
}

/** Returns the latest undo of each of the jobs by the ID of the job. All were created `since` then; an undo that failed does not count. */
export async function latestUndos(
  db: Database,
  projectId: string,
  ids: readonly string[],
  since: string,
): Promise<ReadonlyMap<string, Pick<JobRow, 'id' | 'state'>>> {
  const rows = await db.rows<Pick<JobRow, 'id' | 'state'> & { undoes: string }>(sql`
    select id, state, spec #>> '{selector,jobId}' as undoes from jobs
    where project_id = ${projectId} and created_at >= ${since}::timestamptz and spec ->> 'operation' = 'undo'
      and state <> 'failed' and spec #>> '{selector,jobId}' = any (${ids}::text[])
    order by created_at`);
  return new Map(rows.map(({ undoes, ...undo }) => [undoes, undo]));
}

/** The errors of a job that were kept, in the order of their rows. */
export function errorsOf(db: Database, jobId: string): Promise<JobErrorRow[]> {
  return db.rows<JobErrorRow>(
    sql`select row, subject, email, error from job_errors where job_id = ${jobId} order by row limit ${mostErrors}`,
  );
}

/** Marks a job as being worked on. False when there is no such job, or it has ended. */
export async function markActive(db: Database, id: string): Promise<boolean> {
  const active = { state: 'active', updatedAt: new Date() } as const;
  return (await db.session().em.nativeUpdate(Job, { id, finishedAt: null }, active)) > 0;
}

/** Marks a job as waiting for another attempt. */
export async function markDelayed(db: Database, id: string): Promise<void> {
  const delayed = { state: 'delayed', updatedAt: new Date() } as const;
  await db.session().em.nativeUpdate(Job, { id, state: 'active' }, delayed);
}

/** Locks a job that is at a position until the transaction ends; null when it has ended or another worker moved it. */
export function lockJobAt(tx: Database, id: string, position: string): Promise<JobRow | null> {
  return tx.row<JobRow>(sql`
    select ${columns} from jobs where id = ${id} and position = ${position} and finished_at is null for update`);
}

/** The result of one step of a job. */
export interface JobStep extends Pick<JobRow, 'position' | 'place' | 'progress' | 'created' | 'updated' | 'unchanged'> {
  errors: readonly JobErrorRow[];
}

/** Records a step of a job that this transaction has locked; progress never falls. Returns the report after it. */
export async function advanceJob(tx: Database, job: JobRow, step: JobStep): Promise<ShareReport> {
  const { position, place, progress, created, updated, unchanged, errors } = step;
  const reasons = { ...job.reasons };
  for (const { error } of errors) reasons[error] = (reasons[error] ?? 0) + 1;
  const rows = created + updated + unchanged + errors.length;
  const kept = JSON.stringify(errors.slice(0, Math.max(0, mostErrors - job.failed)));
  await tx.count(sql`
    with noted as (
      insert into job_errors (job_id, row, subject, email, error)
      select ${job.id}, row, subject, email, error
      from jsonb_to_recordset(${kept}::jsonb) as r (row integer, subject text, email text, error text))
    update jobs set position = ${position}, place = ${place}, progress = greatest(progress, ${progress}),
      total_count = total_count + ${rows}, created_count = created_count + ${created},
      updated_count = updated_count + ${updated}, unchanged_count = unchanged_count + ${unchanged},
      failure_count = failure_count + ${errors.length}, reasons = ${reasons}, updated_at = now()
    where id = ${job.id}`);
  return {
    state: 'unfinished',
    rows: job.total + rows,
    failed: job.failed + errors.length,
    progress: Math.max(job.progress, progress),
  };
}

/** Ends a job, as failed when there is a reason, and removes its file; of an import it is an event of the project. False when it had ended before. */
export async function finishJob(db: Database, id: string, failedReason: string | null): Promise<boolean> {
  const state = failedReason === null ? 'completed' : 'failed';
  const given = sql`
    ended as (
      update jobs set state = ${state}, failed_reason = ${failedReason}, updated_at = now(), finished_at = now(),
        progress = case when ${failedReason}::text is null then 100 else progress end
      where id = ${id} and finished_at is null returning *),
    emptied as (delete from import_files where job_id in (select id from ended))`;
  const result = sql`select id from ended`;
  return (await db.row(recordingEvents({ given, events: [importFinished], result }))) !== null;
}

const importFinished = {
  projectId: sql`project_id`,
  name: 'import.finished',
  data: sql`jsonb_build_object('importId', id, 'filename', spec ->> 'filename', 'state', state, 'total', total_count,
    'created', created_count, 'updated', updated_count, 'failed', failure_count, 'error', failed_reason)`,
  from: sql`ended where kind = 'import'`,
};

/** Jobs that are not over and have not moved for a while. */
export function stalledJobs(
  db: Database,
  query: StalledQuery,
): Promise<(Pick<JobRow, 'id' | 'projectId' | 'kind'> & { at: string })[]> {
  const columns = 'id, project_id as "projectId", kind';
  return stalledRows(db, { table: 'jobs', open: 'finished_at is null', columns }, query);
}

/** Removes up to `limit` jobs that ended more than so many hours ago; simulations, which nothing can undo, after a week. */
export function removeOldJobs(db: Database, hours: number, limit: number): Promise<number> {
  return db.count(sql`
    delete from jobs where id in (
      select id from jobs where finished_at < now() - make_interval(hours => case kind when 'simulation' then least(168, ${hours}) else ${hours} end)
      limit ${limit})`);
}
