import { isoText } from '../../store/columns.ts';
import { isStalled, type StalledQuery, stalledPage } from '../../store/outbox/recovery.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import type { StepType } from '../graph/step-configs.ts';
import { isActive, runEvents } from '../rows.ts';
import type { MigrationBody, MovePlan, WaitTimes } from './rules.ts';

/** The states of a migration. */
export const migrationStates = ['waiting', 'active', 'completed', 'cancelled', 'failed'] as const;

/** A migration as SQL answers it. */
export interface MigrationRow extends Omit<MigrationBody, 'progress'> {
  projectId: string;
  toVersionId: string;
  rules: MovePlan;
  /** The last run that was read. */
  through: string | null;
}

const migration = sql`
  select m.id, m.automation_id as "workflowId", m.state, v.version as "toVersion", m.expected, m.finished,
    m.moved_at_next_step as "movedAtNextStep", m.moved_now as "movedNow", m.exited, m.passed_over as "passedOver",
    m.failed_reason as "failedReason", ${raw(isoText('m.created_at'))} as "createdAt",
    ${raw(isoText('m.updated_at'))} as "updatedAt", ${raw(isoText('m.completed_at'))} as "completedAt",
    m.project_id as "projectId", m.to_version_id as "toVersionId", m.rules, m.through
  from automation_migrations m join automation_versions v on v.id = m.to_version_id`;

/** One migration of an automation, or null. */
export function findMigration(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<MigrationRow | null> {
  return db.row<MigrationRow>(sql`
    ${migration} where m.project_id = ${projectId} and m.automation_id = ${automationId} and m.id = ${id}`);
}

/** Locks a migration, so that one worker at a time moves contacts by it; null when it is gone. */
export function lockMigration(tx: Database, id: string): Promise<MigrationRow | null> {
  return tx.row<MigrationRow>(sql`${migration} where m.id = ${id} for update of m`);
}

/** Writes a new migration; false when another one of the automation is under way. */
export async function insertMigration(
  tx: Database,
  row: Pick<MigrationRow, 'id' | 'projectId' | 'workflowId' | 'toVersionId' | 'rules' | 'expected'>,
): Promise<boolean> {
  const inserted = await tx.count(sql`
    insert into automation_migrations (id, project_id, automation_id, to_version_id, rules, expected)
    values (${row.id}, ${row.projectId}, ${row.workflowId}, ${row.toVersionId}, ${row.rules}, ${row.expected})
    on conflict do nothing`);
  return inserted > 0;
}

/** How many contacts a part of a migration met, by what became of them. */
export type MoveCounts = Pick<MigrationRow, 'finished' | 'movedAtNextStep' | 'movedNow' | 'exited' | 'passedOver'>;

/** Moves the place of a migration on and adds to its counts. */
export async function advanceMigration(
  tx: Database,
  id: string,
  isCompleted: boolean,
  through: string | null,
  { finished, movedAtNextStep, movedNow, exited, passedOver }: MoveCounts,
): Promise<void> {
  await tx.count(sql`
    update automation_migrations set state = ${isCompleted ? 'completed' : 'active'},
      through = coalesce(${through}, through), finished = finished + ${finished},
      moved_at_next_step = moved_at_next_step + ${movedAtNextStep}, moved_now = moved_now + ${movedNow},
      exited = exited + ${exited}, passed_over = passed_over + ${passedOver}, updated_at = now(),
      completed_at = case when ${isCompleted} then now() end
    where id = ${id} and state in ('waiting', 'active')`);
}

/** Ends a migration that is under way; contacts that it has migrated stay migrated. False when it was over. */
export async function cancelMigrationRow(db: Database, id: string): Promise<boolean> {
  const cancelled = await db.count(sql`
    update automation_migrations set state = 'cancelled', updated_at = now(), completed_at = now()
    where id = ${id} and state in ('waiting', 'active')`);
  return cancelled > 0;
}

/** How many contacts of other versions than this one stand at which step. */
export function contactsOfOtherVersions(
  db: Database,
  automationId: string,
  versionId: string,
): Promise<{ stepId: string | null; people: number }[]> {
  return db.rows(sql`
    select r.current_step_id as "stepId", count(*)::int as people from automation_runs r
    where r.automation_id = ${automationId} and r.${isActive} and r.version_id <> ${versionId}
    group by r.current_step_id`);
}

/** Every step that a version of the automation has had, by its newest name. */
export function stepsOfVersions(
  db: Database,
  automationId: string,
): Promise<{ id: string; name: string; type: StepType }[]> {
  return db.rows(sql`
    select distinct on (step ->> 'id') step ->> 'id' as id, step ->> 'name' as name, step ->> 'type' as type
    from automation_versions v cross join lateral jsonb_array_elements(v.graph -> 'steps') step
    where v.automation_id = ${automationId} order by step ->> 'id', v.version desc`);
}

/** A run that a migration decides about. */
export interface RunToMove {
  id: string;
  contactId: string;
  entry: number;
  seq: number;
  currentStepId: string | null;
}

/**
 * Locks the next active runs of other versions: in the order of their ids, runs before their steps, as by everybody who
 * changes many of them.
 */
export function lockRunsToMove(
  tx: Database,
  { workflowId, toVersionId, through }: MigrationRow,
  limit: number,
): Promise<RunToMove[]> {
  return tx.rows<RunToMove>(sql`
    select r.id, r.contact_id as "contactId", r.entry, r.seq, r.current_step_id as "currentStepId"
    from automation_runs r
    where r.automation_id = ${workflowId} and r.${isActive} and r.version_id <> ${toVersionId}
      and r.id > coalesce(${through}::uuid, '00000000-0000-0000-0000-000000000000')
    order by r.id limit ${limit} for update`);
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

/** Locks the open step executions of runs. */
export function lockOpenSteps(tx: Database, runIds: readonly string[]): Promise<OpenStep[]> {
  return tx.rows<OpenStep>(sql`
    select x.id, x.run_id as "runId", x.step_type as "stepType", ${raw(isoText('x.started_at'))} as "startedAt",
      coalesce(x.outcome is not null or coalesce(x.scheduled_for, x.execute_after) <= clock_timestamp(), false) as "isOver"
    from automation_step_runs x
    where x.run_id = any(${runIds}::uuid[]) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')
    order by x.id for update`);
}

/** The changes that a migration makes to a run; what is absent stays as it is, but for the version at the next step. */
export interface MovedRun {
  id: string;
  versionId?: string;
  nextVersionId?: string;
  stepId?: string;
  status?: 'RUNNING' | 'EXITED';
  reason?: string;
  /** The times of a wait have changed: the run is due at `dueAt`. */
  redue?: true;
  dueAt?: string | null;
}

/** Writes runs that were moved; the end of one is an event too. */
export async function writeMovedRuns(tx: Database, runs: readonly MovedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const given = sql`
    moved as (
    update automation_runs r set version_id = coalesce(w."versionId", r.version_id), next_version_id = w."nextVersionId",
      current_step_id = coalesce(w."stepId", r.current_step_id), status = coalesce(w.status, r.status),
      exit_reason = coalesce(w.reason, r.exit_reason),
      due_at = case when w.status = 'EXITED' then null when w.status = 'RUNNING' then now()
        when w.redue then w."dueAt" else r.due_at end,
      completed_at = case when w.status = 'EXITED' then now() else r.completed_at end, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(runs)}::jsonb) as w (id uuid, "versionId" uuid, "nextVersionId" uuid,
      "stepId" uuid, status text, reason text, redue boolean, "dueAt" timestamptz)
    where r.id = w.id returning r.*),
    ended as (select * from moved where status = 'EXITED')`;
  await tx.count(recordingEvents({ given, events: runEvents('ended') }));
}

/** Ends step executions that contacts were moved out of. */
export async function skipSteps(tx: Database, steps: readonly { id: string; output: object }[]): Promise<void> {
  if (steps.length === 0) return;
  await tx.count(sql`
    update automation_step_runs x set status = 'SKIPPED', output = w.output, completed_at = now(), updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as w (id uuid, output jsonb) where x.id = w.id`);
}

/** Gives waits their new times. */
export async function retimeSteps(tx: Database, steps: readonly ({ id: string } & WaitTimes)[]): Promise<void> {
  if (steps.length === 0) return;
  await tx.count(sql`
    update automation_step_runs x set scheduled_for = w."scheduledFor", execute_after = w."executeAfter",
      event_name = w."eventName", input = w.input, step_name = w."stepName", updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as w (id uuid, "scheduledFor" timestamptz,
      "executeAfter" timestamptz, "eventName" text, input jsonb, "stepName" text)
    where x.id = w.id`);
}

/** Migrations that are not over and have not moved for some time. */
export function stalledMigrations(
  db: Database,
  query: StalledQuery,
): Promise<(Pick<MigrationRow, 'id' | 'projectId' | 'workflowId'> & { at: string })[]> {
  return db.rows(sql`
    select id, project_id as "projectId", automation_id as "workflowId", updated_at::text as at from automation_migrations
    where state in ('waiting', 'active') and ${isStalled(raw('updated_at'), query)}
      and ${stalledPage(raw('updated_at'), raw('id'), query)}`);
}
