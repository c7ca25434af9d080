import { type Sql, statement } from '../../core/database/sql.ts';
import { type StalledQuery, stalledBefore, stalledParams } from '../../core/outbox/recovery.ts';
import type { StepType } from '../step-configs.ts';
import type { MovePlan, WaitTimes } from './rules.ts';

/** The states of a migration. */
export const migrationStates = ['waiting', 'active', 'completed', 'cancelled', 'failed'] as const;
type MigrationState = (typeof migrationStates)[number];

/** A migration as SQL answers it. */
export interface MigrationRow {
  id: string;
  projectId: string;
  automationId: string;
  toVersionId: string;
  toVersion: number;
  rules: MovePlan;
  state: MigrationState;
  through: string | null;
  expected: number;
  finished: number;
  movedAtNextStep: number;
  movedNow: number;
  exited: number;
  passedOver: number;
  failedReason: string | null;
  createdAt: string;
  updatedAt: string;
  completedAt: string | null;
}

const columns = `m.id, m.project_id as "projectId", m.automation_id as "automationId", m.to_version_id as "toVersionId",
  v.version as "toVersion", m.rules, m.state, m.through, m.expected, m.finished, m.moved_at_next_step as "movedAtNextStep",
  m.moved_now as "movedNow", m.exited, m.passed_over as "passedOver", m.failed_reason as "failedReason",
  m.created_at::text as "createdAt", m.updated_at::text as "updatedAt", m.completed_at::text as "completedAt"`;
const from = 'from automation_migrations m join automation_versions v on v.id = m.to_version_id';

const find = statement(
  'automations.find_migration',
  `select ${columns} ${from} where m.project_id = $1 and m.automation_id = $2 and m.id = $3`,
);
const lock = statement('automations.lock_migration', `select ${columns} ${from} where m.id = $1 for update of m`);

/** One migration of an automation, or null. */
export function findMigration(
  sql: Sql,
  projectId: string,
  automationId: string,
  id: string,
): Promise<MigrationRow | null> {
  return sql.row<MigrationRow>(find, [projectId, automationId, id]);
}

/** Locks a migration, so that one worker at a time moves people by it; null when it is gone. */
export function lockMigration(sql: Sql, id: string): Promise<MigrationRow | null> {
  return sql.row<MigrationRow>(lock, [id]);
}

const insert = statement(
  'automations.insert_migration',
  `insert into automation_migrations (id, project_id, automation_id, to_version_id, rules, expected)
   values ($1, $2, $3, $4, $5::jsonb, $6) on conflict do nothing`,
);

/** Writes a new migration; false when another one of the automation is under way. */
export async function insertMigration(
  sql: Sql,
  migration: Pick<MigrationRow, 'id' | 'projectId' | 'automationId' | 'toVersionId' | 'rules' | 'expected'>,
): Promise<boolean> {
  const { id, projectId, automationId, toVersionId, rules, expected } = migration;
  const values = [id, projectId, automationId, toVersionId, JSON.stringify(rules), expected];
  return (await sql.count(insert, values)) > 0;
}

/** How many people a part of a migration met, by what became of them. */
export interface MoveCounts {
  finished: number;
  movedAtNextStep: number;
  movedNow: number;
  exited: number;
  passedOver: number;
}

const advance = statement(
  'automations.advance_migration',
  `update automation_migrations set state = $2, through = coalesce($3, through), finished = finished + $4,
     moved_at_next_step = moved_at_next_step + $5, moved_now = moved_now + $6, exited = exited + $7,
     passed_over = passed_over + $8, updated_at = now(), completed_at = case when $2 = 'completed' then now() end
   where id = $1 and state in ('waiting', 'active')`,
);

/** Moves the place of a migration on and adds to its counts. */
export async function advanceMigration(
  sql: Sql,
  id: string,
  state: 'active' | 'completed',
  through: string | null,
  { finished, movedAtNextStep, movedNow, exited, passedOver }: MoveCounts,
): Promise<void> {
  await sql.count(advance, [id, state, through, finished, movedAtNextStep, movedNow, exited, passedOver]);
}

const cancel = statement(
  'automations.cancel_migration',
  `update automation_migrations set state = 'cancelled', updated_at = now(), completed_at = now()
   where id = $1 and state in ('waiting', 'active')`,
);

/** Ends a migration that is under way; whom it has moved stays moved. False when it was over. */
export async function cancelMigrationRow(sql: Sql, id: string): Promise<boolean> {
  return (await sql.count(cancel, [id])) > 0;
}

const peopleAt = statement(
  'automations.people_elsewhere',
  `select r.current_step_id as "stepId", count(*)::int as people from automation_runs r
   where r.automation_id = $1 and r.status in ('RUNNING', 'WAITING') and r.version_id <> $2
   group by r.current_step_id`,
);

/** How many people of other versions than this one stand at which step. */
export function peopleOfOtherVersions(
  sql: Sql,
  automationId: string,
  versionId: string,
): Promise<{ stepId: string | null; people: number }[]> {
  return sql.rows(peopleAt, [automationId, versionId]);
}

const usedSteps = statement(
  'automations.used_steps',
  `select distinct on (step ->> 'id') step ->> 'id' as id, step ->> 'name' as name, step ->> 'type' as type
   from automation_versions v cross join lateral jsonb_array_elements(v.graph -> 'steps') step
   where v.automation_id = $1 order by step ->> 'id', v.version desc`,
);

/** Every step that a version of the automation has had, by its newest name. */
export function stepsOfVersions(
  sql: Sql,
  automationId: string,
): Promise<{ id: string; name: string; type: StepType }[]> {
  return sql.rows(usedSteps, [automationId]);
}

/** A run that a migration looks at. */
export interface RunToMove {
  id: string;
  contactId: string;
  entry: number;
  seq: number;
  currentStepId: string | null;
}

// Rows are locked in the order of their ids, runs before their steps, as by everybody who changes many of them.
const nextRuns = statement(
  'automations.runs_to_move',
  `select r.id, r.contact_id as "contactId", r.entry, r.seq, r.current_step_id as "currentStepId"
   from automation_runs r
   where r.automation_id = $1 and r.status in ('RUNNING', 'WAITING') and r.version_id <> $2
     and r.id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
   order by r.id limit $4 for update`,
);

/** Locks the next active runs of other versions. */
export function lockRunsToMove(
  sql: Sql,
  automationId: string,
  toVersionId: string,
  after: string | null,
  limit: number,
): Promise<RunToMove[]> {
  return sql.rows<RunToMove>(nextRuns, [automationId, toVersionId, after, limit]);
}

/** The open step execution of a run. */
export interface OpenStep {
  id: string;
  runId: string;
  stepType: StepType;
  startedAt: string;
  /** Its event has come, or its time. */
  isOver: boolean;
}

const openSteps = statement(
  'automations.open_steps_to_move',
  `select x.id, x.run_id as "runId", x.step_type as "stepType", x.started_at::text as "startedAt",
     x.outcome is not null or coalesce(x.scheduled_for, x.execute_after) <= clock_timestamp() as "isOver"
   from automation_step_runs x
   where x.run_id = any($1::uuid[]) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')
   order by x.id for update`,
);

/** Locks the open step executions of runs. */
export async function lockOpenSteps(sql: Sql, runIds: readonly string[]): Promise<OpenStep[]> {
  const rows = await sql.rows<OpenStep & { isOver: boolean | null }>(openSteps, [runIds]);
  return rows.map((row) => ({ ...row, isOver: row.isOver ?? false }));
}

/** What a migration writes into a run; `stepId` null leaves the current one. */
export interface MovedRun {
  id: string;
  versionId: string | null;
  nextVersionId: string | null;
  stepId: string | null;
  status: 'RUNNING' | 'EXITED' | null;
  reason: string | null;
  /** Whether `dueAt` is written. */
  redue: boolean;
  dueAt: string | null;
}

const writeRuns = statement(
  'automations.write_moved_runs',
  `update automation_runs r set version_id = coalesce(w."versionId", r.version_id), next_version_id = w."nextVersionId",
     current_step_id = coalesce(w."stepId", r.current_step_id), status = coalesce(w.status, r.status),
     exit_reason = coalesce(w.reason, r.exit_reason),
     due_at = case when w.status = 'EXITED' then null when w.status = 'RUNNING' then now()
       when w.redue then w."dueAt" else r.due_at end,
     completed_at = case when w.status = 'EXITED' then now() else r.completed_at end, updated_at = now()
   from jsonb_to_recordset($1::jsonb) as w (id uuid, "versionId" uuid, "nextVersionId" uuid, "stepId" uuid, status text,
     reason text, redue boolean, "dueAt" timestamptz)
   where r.id = w.id`,
);

/** Writes runs that were moved. */
export async function writeMovedRuns(sql: Sql, runs: readonly MovedRun[]): Promise<void> {
  if (runs.length > 0) await sql.count(writeRuns, [JSON.stringify(runs)]);
}

const skip = statement(
  'automations.skip_moved_steps',
  `update automation_step_runs x set status = 'SKIPPED', output = w.output, completed_at = now(), updated_at = now()
   from jsonb_to_recordset($1::jsonb) as w (id uuid, output jsonb) where x.id = w.id`,
);

/** Ends step executions that people were moved out of. */
export async function skipSteps(sql: Sql, steps: readonly { id: string; output: object }[]): Promise<void> {
  if (steps.length > 0) await sql.count(skip, [JSON.stringify(steps)]);
}

const retime = statement(
  'automations.retime_steps',
  `update automation_step_runs x set scheduled_for = w."scheduledFor", execute_after = w."executeAfter",
     event_name = w."eventName", input = w.input, step_name = w."stepName", updated_at = now()
   from jsonb_to_recordset($1::jsonb) as w (id uuid, "scheduledFor" timestamptz, "executeAfter" timestamptz,
     "eventName" text, input jsonb, "stepName" text)
   where x.id = w.id`,
);

/** Gives waits their new times. */
export async function retimeSteps(sql: Sql, steps: readonly ({ id: string } & WaitTimes)[]): Promise<void> {
  if (steps.length > 0) await sql.count(retime, [JSON.stringify(steps)]);
}

const stalled = statement(
  'automations.stalled_migrations',
  `select id, project_id as "projectId", automation_id as "automationId", updated_at::text as at from automation_migrations
   where state in ('waiting', 'active') and updated_at < ${stalledBefore}
     and (updated_at, id) > ($3::timestamptz, $4::uuid)
   order by updated_at, id limit $5`,
);

/** Migrations that are not over and have not moved for some time. */
export function stalledMigrations(
  sql: Sql,
  query: StalledQuery,
): Promise<(Pick<MigrationRow, 'id' | 'projectId' | 'automationId'> & { at: string })[]> {
  return sql.rows(stalled, stalledParams(query));
}
