import { type Sql, statement } from '../core/database/sql.ts';
import { outboxChannel } from '../core/outbox/enqueue.ts';
import { isActive, type RunRow, type RunStatus, runColumns, type StepRunRow, stepRunColumns } from './rows.ts';
import type { StepType } from './step-configs.ts';

/** A run with what lists show beside it; the step is null where it is no longer part of the automation. */
export interface ListedRun extends RunRow {
  email: string;
  stepName: string | null;
  stepType: StepType | null;
  /** When it came to its current step; null where the step's row is gone. */
  since: string | null;
}

const listed = `${runColumns}, c.email, s.name as "stepName", s.type as "stepType",
  (select x.started_at from automation_step_runs x where x.run_id = r.id and x.step_id = r.current_step_id
   order by x.seq desc limit 1) as since
  from automation_runs r join contacts c on c.id = r.contact_id left join automation_steps s on s.id = r.current_step_id`;

/** Which runs of an automation a list has. */
export interface RunFilter {
  status: RunStatus | null;
  contactId: string | null;
  /** Only active runs that stand at this step. */
  stepId: string | null;
}

function filtered(
  automationId: string,
  { status, contactId, stepId }: RunFilter,
): { where: string; values: unknown[] } {
  const values: unknown[] = [automationId];
  const where = ['r.automation_id = $1'];
  if (status !== null) {
    where.push(`r.status = $${values.push(status)}`);
    // Says which of the two indexes of states has them.
    where.push(status === 'RUNNING' || status === 'WAITING' ? `r.${isActive}` : `not (r.${isActive})`);
  }
  if (contactId !== null) where.push(`r.contact_id = $${values.push(contactId)}`);
  if (stepId !== null) where.push(`r.current_step_id = $${values.push(stepId)} and r.${isActive}`);
  return { where: where.join(' and '), values };
}

/** A page of runs, newest first. Only the rows of the page are looked at more closely than their index, however deep it lies. */
export function pageOfRuns(
  sql: Sql,
  automationId: string,
  filter: RunFilter,
  { pageSize, offset }: { pageSize: number; offset: number },
): Promise<ListedRun[]> {
  const { where, values } = filtered(automationId, filter);
  return sql.rows<ListedRun>(
    `select ${listed} where r.id in (
       select r.id from automation_runs r where ${where} order by r.started_at desc, r.id desc
       limit $${values.push(pageSize)} offset $${values.push(offset)})
     order by r.started_at desc, r.id desc`,
    values,
  );
}

/** How many runs the filter leaves. */
export async function countRuns(sql: Sql, automationId: string, filter: RunFilter): Promise<number> {
  const { where, values } = filtered(automationId, filter);
  const row = await sql.row<{ total: number }>(
    `select count(*)::int as total from automation_runs r where ${where}`,
    values,
  );
  return row?.total ?? 0;
}

const findOne = statement(
  'automations.find_run',
  `select ${listed} where r.project_id = $1 and r.automation_id = $2 and r.id = $3`,
);

/** One run of the automation, or null. */
export function findRun(sql: Sql, projectId: string, automationId: string, id: string): Promise<ListedRun | null> {
  return sql.row<ListedRun>(findOne, [projectId, automationId, id]);
}

const steps = statement(
  'automations.step_runs',
  `select ${stepRunColumns},
     extract(epoch from coalesce(x.completed_at, now()) - x.started_at)::float8 * 1000 as "durationMs"
   from automation_step_runs x where x.run_id = $1 order by x.seq`,
);

/** The steps of a run in their order, with how long each took, or has taken so far. */
export function stepRunsOf(sql: Sql, runId: string): Promise<(StepRunRow & { durationMs: number })[]> {
  return sql.rows(steps, [runId]);
}

// Rows are locked in the order of their ids, runs before their steps, as by everybody who changes many of them. The lock is
// a statement of its own: the next one then sees the steps that a transaction it waited for has made.
const lockActive = statement(
  'automations.lock_active_runs',
  `select r.id from automation_runs r
   where r.automation_id = $1 and ($2::uuid is null or r.id = $2) and r.${isActive} order by r.id for update`,
);
const cancel = statement(
  'automations.cancel_runs',
  `with open as materialized (
     select x.id from automation_step_runs x
     where x.run_id = any($1::uuid[]) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')
     order by x.id for update),
   skipped as (
     update automation_step_runs x set status = 'SKIPPED', completed_at = now(), updated_at = now()
     from open where x.id = open.id),
   gone as (
     update automation_runs r set status = 'CANCELLED', exit_reason = $2, completed_at = now(), updated_at = now(),
       due_at = null, next_version_id = null
     where r.id = any($1::uuid[]) and r.${isActive}
     returning r.id, r.automation_id, r.contact_id, r.entry),
   execution as (
     select uuidv7() as row_id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as id from gone),
   asked as (
     insert into outbox (id, dedupe_key, kind, workflow_id, payload)
     select row_id, 'cancel:' || id || ':' || row_id, 'cancel', id, jsonb_build_object('type', 'cancel', 'id', id)
     from execution)
   select (select count(*)::int from gone) as cancelled, pg_notify('${outboxChannel}', '')`,
);

/**
 * Ends active runs of an automation, in the caller's transaction: all of them, or one. No step of them starts after the
 * commit; their executions are cancelled through the outbox. Answers how many ended.
 */
export async function cancelRuns(sql: Sql, automationId: string, reason: string, runId?: string): Promise<number> {
  const runs = await sql.rows<{ id: string }>(lockActive, [automationId, runId ?? null]);
  if (runs.length === 0) return 0;
  const row = await sql.row<{ cancelled: number }>(cancel, [runs.map(({ id }) => id), reason]);
  return row?.cancelled ?? 0;
}

const people = statement(
  'automations.people',
  `select 'people' as what, current_step_id as "stepId", status as kind, count(*)::int as count from automation_runs
   where automation_id = $1 and ${isActive} group by current_step_id, status
   union all
   select 'arriving', null, '', count(*)::int from automation_arrivals where automation_id = $1`,
);

const pathCounts = statement(
  'automations.path_counts',
  `select s.id as "stepId", x.branch, count(*)::int as count
   from automation_steps s join automation_step_runs x on x.step_id = s.id and x.branch is not null
   where s.automation_id = $1 group by s.id, x.branch order by s.id, x.branch`,
);

/** How many left a step by a branch. */
export interface PathCount {
  stepId: string;
  branch: string;
  count: number;
}

/** How often each way out of each step was taken: the index is counted, one entry for each step that anybody ever took. */
export function countPaths(sql: Sql, automationId: string): Promise<PathCount[]> {
  return sql.rows<PathCount>(pathCounts, [automationId]);
}

/** How many are at a step in a status, or are arriving. */
export interface PeopleCount {
  what: 'people' | 'arriving';
  stepId: string | null;
  /** The status. */
  kind: string;
  count: number;
}

/** Who is where: counts by step and status, and the pending enrollments. Indexes answer it. */
export function countPeople(sql: Sql, automationId: string): Promise<PeopleCount[]> {
  return sql.rows<PeopleCount>(people, [automationId]);
}
