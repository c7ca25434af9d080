import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import { activeStatuses } from '../../lib/enums.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns, isoText } from '../../store/columns.ts';
import { type StalledQuery, stalledRows } from '../../store/outbox/recovery.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { Automation, AutomationRun, AutomationVersion } from '../entity.ts';
import type { StepType } from '../graph/step-configs.ts';
import { isActive, isOpenStep, runEvents } from '../rows.ts';
import type { MovePlan, WaitTimes } from './rules.ts';

/** The states of a migration. */
export const migrationStates = ['waiting', 'active', 'completed', 'cancelled', 'failed'] as const;

const p = defineEntity.properties;

const whereOpen = "state IN ('waiting', 'active')";

/** A move of the contacts inside an automation to another version of its graph. `through` is the last run that was read. */
export const AutomationMigration = defineEntity({
  name: 'AutomationMigration',
  tableName: 'automation_migrations',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    toVersionId: p.manyToOne(AutomationVersion).mapToPk().deleteRule('no action'),
    rules: p.json<MovePlan>(),
    state: p.enum(migrationStates).default('waiting'),
    through: p.uuid().nullable(),
    expected: p.integer(),
    finished: p.integer().default(0),
    movedAtNextStep: p.integer().default(0),
    movedNow: p.integer().default(0),
    exited: p.integer().default(0),
    passedOver: p.integer().default(0),
    failedReason: p.text().nullable(),
    completedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'automation_migrations_open', properties: ['automationId'], where: whereOpen }],
  indexes: [
    {
      name: 'automation_migrations_automation',
      columns: [{ name: 'automation_id' }, { name: 'created_at', sort: 'desc' }],
    },
    { name: 'automation_migrations_stalled', properties: ['updatedAt'], where: whereOpen },
  ],
});
export type AutomationMigration = InferEntity<typeof AutomationMigration>;

/** One migration of an automation, or null. */
export function findMigration(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<AutomationMigration | null> {
  return db.em.findOne(AutomationMigration, { projectId, automationId, id }, { disableIdentityMap: true });
}

/** Locks a migration, so that one worker at a time moves contacts by it; null when it is gone. */
export function lockMigration(tx: Database, id: string): Promise<AutomationMigration | null> {
  return tx.em.findOne(AutomationMigration, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** How many contacts a part of a migration met, by what became of them. */
export type MoveCounts = Pick<
  AutomationMigration,
  'finished' | 'movedAtNextStep' | 'movedNow' | 'exited' | 'passedOver'
>;

/** Ends a migration that is under way; contacts that it has migrated stay migrated. */
export async function cancelMigrationRow(db: Database, id: string): Promise<void> {
  const now = new Date();
  const cancelled = { state: 'cancelled', updatedAt: now, completedAt: now } as const;
  await db.em.nativeUpdate(AutomationMigration, { id, state: ['waiting', 'active'] }, cancelled);
}

/** How many contacts of other versions than this one stand at which step. */
export async function contactsOfOtherVersions(
  db: Database,
  automationId: string,
  versionId: string,
): Promise<{ stepId: string | null; people: number }[]> {
  const where = { automationId, status: [...activeStatuses.all], versionId: { $ne: versionId } };
  const counts = await db.em.countBy(AutomationRun, 'currentStepId', { where });
  return Object.entries(counts).map(([key, people]) => ({ stepId: key === 'null' ? null : key, people }));
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
  { automationId, toVersionId, through }: AutomationMigration,
  limit: number,
): Promise<RunToMove[]> {
  return tx.rows<RunToMove>(sql`
    select r.id, r.contact_id as "contactId", r.entry, r.seq, r.current_step_id as "currentStepId"
    from automation_runs r
    where r.automation_id = ${automationId} and r.${isActive} and r.version_id <> ${toVersionId}
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
    where x.run_id = any(${runIds}::uuid[]) and x.${isOpenStep}
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
  await tx.count(recordingEvents({ given, events: [runEvents('ended')] }));
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
): Promise<(Pick<AutomationMigration, 'id' | 'projectId' | 'automationId'> & { at: string })[]> {
  const columns = 'id, project_id as "projectId", automation_id as "automationId"';
  return stalledRows(db, { table: 'automation_migrations', open: "state in ('waiting', 'active')", columns }, query);
}
