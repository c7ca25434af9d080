import { eventData } from '../../audience/events/index.ts';
import { isoInstant, isoInstantOrNull } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { WaitOutcome } from '../graph.ts';
import type { RunStatus, StepRunStatus } from '../rows.ts';
import type { StepType } from '../step-configs.ts';
import { contextOf, type StepContact } from './values.ts';

/** A run as it is advanced, with what its steps need to know of project and automation. */
export interface LockedRun {
  id: string;
  projectId: string;
  automationId: string;
  automationName: string;
  versionId: string;
  nextVersionId: string | null;
  contactId: string;
  status: RunStatus;
  currentStepId: string | null;
  exitReason: string | null;
  context: JsonObjectValue | null;
  /** Number of the next step execution to make. */
  seq: number;
  startedAt: string;
  project: {
    name: string;
    disabled: boolean;
  };
  /** The database's clock. */
  now: string;
}

/** A step execution as it is written. Instants are ISO 8601. */
export interface StepRun {
  id: string;
  stepId: string;
  seq: number;
  stepType: StepType;
  stepName: string;
  status: StepRunStatus;
  scheduledFor: string | null;
  executeAfter: string | null;
  eventName: string | null;
  outcome: WaitOutcome | null;
  resumeEventId: string | null;
  input: JsonObjectValue | null;
  output: JsonObjectValue | null;
  error: string | null;
  startedAt: string;
  completedAt: string | null;
}

// The same kind of lock that a change of the contact takes. It comes before the run's: so whoever changes the contact and
// then wakes one of its runs, as every recorded event does, can never wait for us while we wait for it.
const lockContact = statement(
  'automation_runs.lock_contact',
  `select c.id, c.email, c.subscribed, c.data, c.created_at::text as "createdAt", c.updated_at::text as "updatedAt"
   from contacts c where c.id = (select r.contact_id from automation_runs r where r.id = $1) for no key update`,
);

/** Locks the contact of a run and reads it; null when it, or the run, is gone. */
export async function lockContactOf(sql: Sql, runId: string): Promise<StepContact | null> {
  const row = await sql.row<StepContact>(lockContact, [runId]);
  return row && { ...row, createdAt: isoInstant(row.createdAt), updatedAt: isoInstant(row.updatedAt) };
}

const lock = statement(
  'automation_runs.lock',
  `select r.id, r.project_id as "projectId", r.automation_id as "automationId", a.name as "automationName",
     r.version_id as "versionId", r.next_version_id as "nextVersionId", r.contact_id as "contactId", r.status,
     r.current_step_id as "currentStepId", r.exit_reason as "exitReason", r.context, r.seq, r.started_at::text as "startedAt",
     jsonb_build_object('name', p.name, 'disabled', p.disabled) as project, clock_timestamp()::text as now
   from automation_runs r join automations a on a.id = r.automation_id join projects p on p.id = r.project_id
   where r.id = $1 for update of r`,
);

/** Locks a run; null when it is gone. Read its step execution by a statement of its own, which sees what the lock waited for. */
export async function lockRun(sql: Sql, runId: string): Promise<LockedRun | null> {
  const row = await sql.row<LockedRun>(lock, [runId]);
  return row && { ...row, startedAt: isoInstant(row.startedAt), now: isoInstant(row.now) };
}

const stepRunSelection = `id, step_id as "stepId", seq, step_type as "stepType", step_name as "stepName", status,
  scheduled_for::text as "scheduledFor", execute_after::text as "executeAfter", event_name as "eventName", outcome,
  resume_event_id as "resumeEventId", input, output, error, started_at::text as "startedAt",
  completed_at::text as "completedAt"`;
const lockOpen = statement(
  'automation_runs.lock_open_step',
  `select ${stepRunSelection} from automation_step_runs
   where run_id = $1 and seq = $2 and status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING') for update`,
);

/** Locks the step execution that a run is in the middle of; null when it is between two steps. */
export async function lockOpenStepRun(sql: Sql, runId: string, nextSeq: number): Promise<StepRun | null> {
  if (nextSeq === 0) return null;
  const row = await sql.row<StepRun>(lockOpen, [runId, nextSeq - 1]);
  return (
    row && {
      ...row,
      scheduledFor: isoInstantOrNull(row.scheduledFor),
      executeAfter: isoInstantOrNull(row.executeAfter),
      startedAt: isoInstant(row.startedAt),
      completedAt: isoInstantOrNull(row.completedAt),
    }
  );
}

/** What a step of a run leaves behind. */
export interface RunChange {
  id: string;
  projectId: string;
  contactId: string;
  versionId: string;
  nextVersionId: string | null;
  status: RunStatus;
  currentStepId: string | null;
  exitReason: string | null;
  context: JsonObjectValue | null;
  seq: number;
  dueAt: string | null;
  completedAt: string | null;
}

const save = statement(
  'automation_runs.save',
  `with written as (
     insert into automation_step_runs as x (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status,
       scheduled_for, execute_after, event_name, outcome, resume_event_id, input, output, error, started_at, completed_at)
     select s.id, $1::uuid, $2::uuid, $3::uuid, s."stepId", s.seq, s."stepType", s."stepName", s.status, s."scheduledFor",
       s."executeAfter", s."eventName", s.outcome, s."resumeEventId", s.input, s.output, s.error, s."startedAt", s."completedAt"
     from jsonb_to_recordset($4::jsonb) as s (id uuid, "stepId" uuid, seq integer, "stepType" text, "stepName" text,
       status text, "scheduledFor" timestamptz, "executeAfter" timestamptz, "eventName" text, outcome text,
       "resumeEventId" uuid, input jsonb, output jsonb, error text, "startedAt" timestamptz, "completedAt" timestamptz)
     on conflict (id) do update set status = excluded.status, outcome = excluded.outcome, output = excluded.output,
       error = excluded.error, completed_at = excluded.completed_at, updated_at = now())
   update automation_runs set version_id = $5, next_version_id = $6, status = $7, current_step_id = $8, exit_reason = $9,
     context = $10::jsonb, seq = $11, due_at = $12, completed_at = $13, updated_at = now()
   where id = $1::uuid`,
);

/** Writes a run and the step executions that were made or changed, in one statement. */
export async function saveRun(sql: Sql, run: RunChange, stepRuns: readonly StepRun[]): Promise<void> {
  await sql.count(save, [
    run.id,
    run.projectId,
    run.contactId,
    JSON.stringify(stepRuns),
    run.versionId,
    run.nextVersionId,
    run.status,
    run.currentStepId,
    run.exitReason,
    run.context === null ? null : JSON.stringify(run.context),
    run.seq,
    run.dueAt,
    run.completedAt,
  ]);
}

const findEvent = statement(
  'automation_runs.resuming_event',
  `select e.name, ${eventData('e')} as data, e.created_at::text as "createdAt" from events e where e.id = $1`,
);

/** The event that ended a wait, its values unwrapped; null when it has been deleted since. */
export async function resumingEvent(
  sql: Sql,
  id: string,
): Promise<{ data: JsonObjectValue | null; receivedAt: string } | null> {
  const row = await sql.row<{ data: JsonObjectValue | null; createdAt: string }>(findEvent, [id]);
  return row && { data: row.data === null ? null : contextOf(row.data), receivedAt: isoInstant(row.createdAt) };
}
