import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { type StalledQuery, stalledBefore, stalledParams } from '../../core/outbox/recovery.ts';

/** Kinds of jobs; each has its own addresses, and an id of one kind is unknown under the other's. */
export type JobKind = 'import' | 'bulk';
/** Where a job is; the last two are final. */
type JobState = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed';

/** Most errors of one job that are kept; its counters go on. */
const mostErrors = 1_000;

/** A job's row. */
export interface JobRow {
  id: string;
  projectId: string;
  kind: JobKind;
  /** What was asked for. */
  spec: JsonObjectValue;
  state: JobState;
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
}

/** One thing that could not be done: the row of a file or the number of a contact in the request, and why. */
export interface JobErrorRow {
  row: number;
  /** Id of a contact, where the job was given ids. */
  subject: string | null;
  email: string | null;
  error: string;
}

const columns = `id, project_id as "projectId", kind, spec, state, position::text as position, place, progress,
  total_count as total, created_count as created, updated_count as updated, unchanged_count as unchanged,
  failure_count as failed, reasons, failed_reason as "failedReason"`;

/** Writes a new job down. */
export async function insertJob(
  sql: Sql,
  job: { id: string; projectId: string; kind: JobKind; spec: JsonObjectValue },
): Promise<void> {
  await sql.count('insert into jobs (id, project_id, kind, spec) values ($1, $2, $3, $4::jsonb)', [
    job.id,
    job.projectId,
    job.kind,
    JSON.stringify(job.spec),
  ]);
}

const find = statement('jobs.find', `select ${columns} from jobs where id = $1`);

/** A job by its id, or null. */
export function findJob(sql: Sql, id: string): Promise<JobRow | null> {
  return sql.row<JobRow>(find, [id]);
}

const errors = statement(
  'jobs.errors',
  'select row, subject, email, error from job_errors where job_id = $1 order by row limit $2',
);

/** The errors of a job that were kept, in the order of their rows. */
export function errorsOf(sql: Sql, jobId: string): Promise<JobErrorRow[]> {
  return sql.rows<JobErrorRow>(errors, [jobId, mostErrors]);
}

/** Says that a job is being worked on. Answers false when there is no such job, or it has ended. */
export async function markActive(sql: Sql, id: string): Promise<boolean> {
  return (
    (await sql.count(`update jobs set state = 'active', updated_at = now() where id = $1 and finished_at is null`, [
      id,
    ])) > 0
  );
}

/** Says that a job waits for another attempt. */
export async function markDelayed(sql: Sql, id: string): Promise<void> {
  await sql.count(`update jobs set state = 'delayed', updated_at = now() where id = $1 and state = 'active'`, [id]);
}

const lockAt = statement(
  'jobs.lock_at',
  `select ${columns}, set_config('posthorn.set_based', 'on', true) as "setBased"
   from jobs where id = $1 and position = $2 and finished_at is null for update`,
);

/**
 * Locks a job that stands at a position until the transaction ends; null when it has ended or somebody else moved it.
 * Tells the triggers of contacts that what follows writes many of them.
 */
export function lockJobAt(sql: Sql, id: string, position: string): Promise<JobRow | null> {
  return sql.row<JobRow>(lockAt, [id, position]);
}

/** What one step of a job did. */
export interface JobStep {
  position: string;
  place: JsonObjectValue;
  progress: number;
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  errors: readonly JobErrorRow[];
}

const advance = statement(
  'jobs.advance',
  `with noted as (
     insert into job_errors (job_id, row, subject, email, error)
     select $1, row, subject, email, error
     from jsonb_to_recordset($10::jsonb) as r (row integer, subject text, email text, error text))
   update jobs set position = $2, place = $3::jsonb, progress = greatest(progress, $4),
     total_count = total_count + $5, created_count = created_count + $6, updated_count = updated_count + $7,
     unchanged_count = unchanged_count + $8, failure_count = failure_count + $9, reasons = $11::jsonb, updated_at = now()
   where id = $1`,
);

/** Records a step of a job that this transaction has locked. Progress never falls. */
export async function advanceJob(sql: Sql, job: JobRow, step: JobStep): Promise<void> {
  const reasons = { ...job.reasons };
  for (const { error } of step.errors) reasons[error] = (reasons[error] ?? 0) + 1;
  await sql.count(advance, [
    job.id,
    step.position,
    JSON.stringify(step.place),
    step.progress,
    step.rows,
    step.created,
    step.updated,
    step.unchanged,
    step.errors.length,
    JSON.stringify(step.errors.slice(0, Math.max(0, mostErrors - job.failed))),
    JSON.stringify(reasons),
  ]);
}

const finish = statement(
  'jobs.finish',
  `with ended as (
     update jobs set state = case when $2::text is null then 'completed' else 'failed' end, failed_reason = $2,
       progress = case when $2::text is null then 100 else progress end, updated_at = now(), finished_at = now()
     where id = $1 and finished_at is null returning id),
   emptied as (delete from import_files where job_id in (select id from ended))
   select id from ended`,
);

/** Ends a job, as failed when there is a reason, and removes its file. Answers whether it had not ended before. */
export async function finishJob(sql: Sql, id: string, failedReason: string | null): Promise<boolean> {
  return (await sql.row(finish, [id, failedReason])) !== null;
}

const stalled = statement(
  'jobs.stalled',
  `select id, project_id as "projectId", kind, updated_at::text as at from jobs
   where finished_at is null and updated_at < ${stalledBefore} and (updated_at, id) > ($3::timestamptz, $4::text)
   order by updated_at, id limit $5`,
);

/** Jobs that are not over and have not moved for a while. */
export function stalledJobs(
  sql: Sql,
  query: StalledQuery,
): Promise<(Pick<JobRow, 'id' | 'projectId' | 'kind'> & { at: string })[]> {
  return sql.rows(stalled, stalledParams(query));
}

/** Removes up to `limit` jobs that ended more than so many hours ago. */
export function removeOldJobs(sql: Sql, hours: number, limit: number): Promise<number> {
  return sql.count(
    `delete from jobs where id in (
       select id from jobs where finished_at < now() - make_interval(hours => $1) limit $2)`,
    [hours, limit],
  );
}
