import type { WaitOutcome } from '@fernpost/workflow-graph';
import { eventQuery } from '../../contacts/conditions.ts';
import { eventData } from '../../contacts/events/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { RunStatus, StepRunStatus } from '../../lib/enums.ts';
import { cancellingMail } from '../../mail/emails/queries.ts';
import { storedReason } from '../../mail/ledger/reasons.ts';
import type { Holdout, QuietHours } from '../../projects/schema.ts';
import { isoText } from '../../store/columns.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import type { StepType } from '../graph/step-configs.ts';
import { countingRuns, isOpenStep, runEvents } from '../rows.ts';
import { contextOf, type StepContact } from './condition.ts';

/** A run as it is advanced, with what its steps need to know of project and automation. */
export interface LockedRun extends Omit<RunChange, 'completedAt'> {
  automationId: string;
  automationName: string;
  /** The event that started it; null where none did. */
  sourceEventId: string | null;
  /** Keys whose limits hold for its mail; null for none. */
  limitedBy: string[] | null;
  /** After a retry that sends nothing again: the output of each SEND_EMAIL whose mail was handed over before it, or may have been, by step. */
  sentBefore: Record<string, JsonObjectValue> | null;
  /** The first event that may end the run and was not tested. */
  exitEventId: string | null;
  startedAt: string;
  /** The goal of the version that it entered by, null where that has none; `isOpen` while it may be reached. */
  goal: { versionId: string; isOpen: boolean } | null;
  /** Whether its automation is paused. */
  paused: boolean;
  /** Whether those whom a pause held go on one after the other now: a run that has not begun waits until it is due. */
  spreads: boolean;
  project: {
    name: string;
    disabled: boolean;
    /** The control group; null for none. */
    holdout: Holdout | null;
    quietHours: QuietHours | null;
    timeZone: string | null;
  };
  /** The database's clock. */
  now: string;
}

/** The state of a run after a step. Instants are ISO 8601. */
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
  /** Number of the next step execution to make. */
  seq: number;
  dueAt: string | null;
  completedAt: string | null;
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
  /** How long after `scheduledFor` it is the turn of the contact, in milliseconds; 0 where nobody else waits for that instant. */
  turnMs: number;
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

/** What a SEND_EMAIL says that passed because its mail of this run is sent. */
export const alreadySent = 'already sent';

const iso = (column: string) => raw(isoText(column));

/** Select list of `StepRun`. */
export const stepRunFields =
  raw(`id, step_id as "stepId", seq, step_type as "stepType", step_name as "stepName", status,
  ${isoText('scheduled_for')} as "scheduledFor", turn_ms as "turnMs", ${isoText('execute_after')} as "executeAfter", event_name as "eventName", outcome,
  resume_event_id as "resumeEventId", input, output, error, ${isoText('started_at')} as "startedAt",
  ${isoText('completed_at')} as "completedAt"`);

/**
 * Locks the contact of a run and reads it; null when it, or the run, is gone. It is the same kind of lock that a change of the
 * contact takes, and comes before the run's: so whoever changes the contact and then wakes one of its runs, as every recorded
 * event does, can never wait for us while we wait for it.
 */
export function lockContactOf(tx: Database, runId: string): Promise<StepContact | null> {
  return tx.row<StepContact>(sql`
    select c.id, c.email, c.subscribed, c.data, ${iso('c.created_at')} as "createdAt", ${iso('c.updated_at')} as "updatedAt"
    from contacts c where c.id = (select r.contact_id from automation_runs r where r.id = ${runId}) for no key update`);
}

/** Locks a run; null when it is gone. Read its step execution by a statement of its own, which sees what the lock waited for. */
export function lockRun(tx: Database, runId: string): Promise<LockedRun | null> {
  return tx.row<LockedRun>(sql`
    select r.id, r.project_id as "projectId", r.automation_id as "automationId", a.name as "automationName",
      r.version_id as "versionId", r.next_version_id as "nextVersionId", r.contact_id as "contactId", r.status,
      r.current_step_id as "currentStepId", r.exit_reason as "exitReason", r.context, r.seq,
      r.source_event_id as "sourceEventId", r.limited_by as "limitedBy", r.exit_event_id as "exitEventId", ${iso('r.started_at')} as "startedAt",
      ${iso('r.due_at')} as "dueAt", a.paused_at is not null as paused, coalesce(a.spread_until > clock_timestamp(), false) as spreads,
      case when r.sent_before is not null then (
        select jsonb_object_agg(x.step_id, x.output) from automation_step_runs x left join emails m on m.id = (x.output ->> 'emailId')::uuid
        where x.run_id = r.id and x.seq < r.sent_before and x.step_type = 'SEND_EMAIL' and x.output ? 'emailId'
          and coalesce(x.output ->> 'skipped', ${alreadySent}::text) = ${alreadySent}
          and (m.id is null or m.sent_at is not null or m.status not in ('FAILED', 'SUPPRESSED', 'CANCELLED')
            or m.reason ->> 'code' = 'submission_unknown')) end as "sentBefore",
      (select jsonb_build_object('versionId', g.version_id, 'isOpen', g.check_at is not null and g.until >= clock_timestamp())
        from automation_goals g where g.run_id = r.id) as goal,
      jsonb_build_object('name', p.name, 'disabled', p.disabled, 'holdout', p.holdout,
        'quietHours', p.quiet_hours, 'timeZone', p.time_zone) as project,
      ${iso('clock_timestamp()')} as now
    from automation_runs r join automations a on a.id = r.automation_id join projects p on p.id = r.project_id
    where r.id = ${runId} for update of r`);
}

/** How long ago a run began. */
export function elapsedMs({ now, startedAt }: Pick<LockedRun, 'now' | 'startedAt'>): number {
  return Date.parse(now) - Date.parse(startedAt);
}

/** Locks the step execution that a run is in the middle of; null when it is between two steps. */
export function lockOpenStepRun(tx: Database, runId: string, nextSeq: number): Promise<StepRun | null> {
  return tx.row<StepRun>(sql`
    select ${stepRunFields} from automation_step_runs
    where run_id = ${runId} and seq = ${nextSeq - 1} and ${isOpenStep}
    for update`);
}

/**
 * The latest turn of those in a project who wait for an instant, in milliseconds after it, as far as it is committed; null for none. It is one look-up
 * in an index.
 */
export async function lastTurn(tx: Database, projectId: string, until: string): Promise<number | null> {
  const row = await tx.row<{ ms: number }>(sql`
    select x.turn_ms as ms from automation_step_runs x
    where x.project_id = ${projectId} and x.step_type = 'WAIT_UNTIL' and x.status = 'SCHEDULED' and x.scheduled_for = ${until}::timestamptz
    order by x.turn_ms desc limit 1`);
  return row?.ms ?? null;
}

/** The events that a run asks for. */
export interface Awaited {
  eventName: string;
  /** Tests of the event's data; null or absent for none. */
  where?: unknown;
  /** The run's entry, or an event: the first that counts, whatever came before it. */
  since: 'entry' | { eventId: string };
  /** The open wait that the event ends. One without an event waits on, and has tested all that came. */
  wait: string | null;
}

/**
 * Returns the ID of the first event of a run's contact that it asks for, null for none; what limits the run's mail limits which events
 * it has. The event that started the run is none of those since the entry. The transactions of events may take an hour.
 */
export async function awaitedEvent(
  tx: Database,
  run: Pick<LockedRun, 'projectId' | 'contactId' | 'sourceEventId' | 'startedAt' | 'limitedBy' | 'now'>,
  { eventName, where, since, wait }: Awaited,
): Promise<string | null> {
  const { projectId, contactId, sourceEventId, startedAt, limitedBy, now } = run;
  const from = since === 'entry' ? { id: sourceEventId, slack: '0' } : { id: since.eventId, slack: '1 hour' };
  const row = await tx.row<{ id: string | null }>(sql`
    with met as materialized (
      select t.id from events t
      where t.contact_id = ${contactId} and ${eventQuery(projectId, eventName, where, new Date(now))}
        and t.created_at >= coalesce((select e.created_at from events e where e.id = ${from.id}::uuid), ${startedAt}::timestamptz)
          - ${from.slack}::interval
        and t.id is distinct from ${sourceEventId}::uuid and (${since === 'entry'}::boolean or t.id >= ${from.id}::uuid)
        and (t.limited_by is null or t.limited_by = any (${limitedBy}::uuid[]))
      order by t.id limit 1),
    tested as (
      update automation_step_runs set resume_event_id = (select id from met), updated_at = now(),
        outcome = case when exists (select from met) then 'EVENT' end
      where id = ${wait}::uuid)
    select (select id from met) as id`);
  return row?.id ?? null;
}

/**
 * Writes a run, its end as an event and in the counts too, and the step executions that were made or changed, in one statement. `exit` is the
 * reason for which it left early: its mail that still waits is cancelled.
 */
export async function saveRun(
  tx: Database,
  run: RunChange,
  stepRuns: readonly StepRun[],
  exit: string | null = null,
): Promise<void> {
  const written = sql`
    run as (
      update automation_runs set version_id = ${run.versionId}, next_version_id = ${run.nextVersionId},
        status = ${run.status}, current_step_id = ${run.currentStepId}, exit_reason = ${run.exitReason},
        context = ${run.context}, seq = ${run.seq}, due_at = ${run.dueAt}, completed_at = ${run.completedAt},
        exit_event_id = null, updated_at = now()
      where id = ${run.id} returning *),
    steps as (
    insert into automation_step_runs as x (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status,
      scheduled_for, turn_ms, execute_after, event_name, outcome, resume_event_id, input, output, error, started_at, completed_at)
    select s.id, ${run.id}::uuid, ${run.projectId}::uuid, ${run.contactId}::uuid, s."stepId", s.seq, s."stepType",
      s."stepName", s.status, s."scheduledFor", s."turnMs", s."executeAfter", s."eventName", s.outcome, s."resumeEventId", s.input,
      s.output, s.error, s."startedAt", s."completedAt"
    from jsonb_to_recordset(${JSON.stringify(stepRuns)}::jsonb) as s (id uuid, "stepId" uuid, seq integer, "stepType" text,
      "stepName" text, status text, "scheduledFor" timestamptz, "turnMs" integer, "executeAfter" timestamptz, "eventName" text, outcome text,
      "resumeEventId" uuid, input jsonb, output jsonb, error text, "startedAt" timestamptz, "completedAt" timestamptz)
    on conflict (id) do update set status = excluded.status, scheduled_for = excluded.scheduled_for, turn_ms = excluded.turn_ms,
      outcome = excluded.outcome, output = excluded.output, error = excluded.error, completed_at = excluded.completed_at, updated_at = now())`;
  const reason = storedReason({ code: 'left_workflow', words: exit ?? '' });
  const cancelling = exit === null ? raw('') : cancellingMail(mailOf(run.id, stepRuns), reason);
  await tx.count(
    run.completedAt === null
      ? sql`with ${written} select`
      : recordingEvents({
          given: sql`${written}, ${cancelling} ${raw(exit === null ? '' : ',')} counted as (${countingRuns('run', 'ended')})`,
          events: [runEvents('run')],
        }),
  );
}

// Mail of steps that this transaction has entered is there before its steps are.
const mailOf = (runId: string, entered: readonly StepRun[]) => sql`
  email_id in (select m.id from emails m where m.workflow_step_execution_id in (
    select id from automation_step_runs where run_id = ${runId} union all select unnest(${entered.map(({ id }) => id)}::uuid[])))`;

/** Locks the usage of a run's project where mail of the run waits, before anything else: to cancel mail gives back its quota. */
export async function lockUsageOf(tx: Database, runId: string): Promise<void> {
  await tx.rows(sql`
    select from usage_counters u
    where u.project_id = (select project_id from automation_runs where id = ${runId})
      and exists (select from automation_step_runs x join emails m on m.workflow_step_execution_id = x.id
        join email_queue q on q.email_id = m.id where x.run_id = ${runId})
    order by u.month, u.category for no key update`);
}

/** The event that started a run or ended a wait, its values unwrapped; null when it has been deleted since. */
export async function resumingEvent(
  tx: Database,
  id: string,
): Promise<{ data: JsonObjectValue | null; receivedAt: string } | null> {
  const row = await tx.row<{ data: JsonObjectValue | null; receivedAt: string }>(sql`
    select ${raw(eventData('e'))} as data, ${iso('e.created_at')} as "receivedAt" from events e where e.id = ${id}`);
  return row && { ...row, data: row.data && contextOf(row.data) };
}
