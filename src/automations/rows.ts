import { checkKeySender } from '../domains/service.ts';
import { forbidden } from '../lib/errors.ts';
import { hasSeen, stale } from '../lib/ids.ts';
import { domainOf } from '../lib/validation/email-address.ts';
import { isoText } from '../store/columns.ts';
import { newEvent } from '../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import type { StepBody, TransitionBody } from './graph/schema.ts';
import type { ExecutionBody } from './runs/schema.ts';
import type { WorkflowBody, WorkflowWithGraph } from './schema.ts';

/** The workflow that a request edits. */
export interface EditTarget {
  db: Database;
  projectId: string;
  id: string;
  /** Whose session it is; null for a key. */
  userId: string | null;
  /** The header `If-Match`, which says what revision the editor has seen; empty edits whatever is there. */
  ifMatch: string;
}

/** An answer to an edit, with the revision that it made. */
export interface Edited<Body> {
  body: Body;
  revision: number;
}

/** Returns what a request edits, and who sends it. */
export function editOf(call: {
  db: Database;
  project: { id: string };
  params: { id: string };
  actor: { kind: 'key' } | { kind: 'user'; userId: string };
  header(name: string): string;
}): EditTarget {
  const { db, project, params, actor, header } = call;
  const userId = actor.kind === 'user' ? actor.userId : null;
  return { db, projectId: project.id, id: params.id, userId, ifMatch: header('if-match') };
}

/** When an automation was edited last, and by whom; both are null where it was never edited. */
export async function lastEditOf(
  db: Database,
  automationId: string,
): Promise<Pick<WorkflowWithGraph, 'editedAt' | 'editedBy'>> {
  const row = await db.row<{ editedAt: string | null; id: string | null; email: string | null }>(sql`
    select ${raw(isoText('a.edited_at'))} as "editedAt", a.edited_by as id, u.email
    from automations a left join users u on u.id = a.edited_by where a.id = ${automationId}`);
  if (!row?.editedAt) return { editedAt: null, editedBy: null };
  const { editedAt, id, email } = row;
  return { editedAt, editedBy: id && email ? { kind: 'user', id, email } : { kind: 'key' } };
}

const path = '/workflows/{id}';

/**
 * Checks that a key with limits changes no workflow whose mail reaches others: only one that the key itself enabled, or that is disabled
 * with nobody inside. The automation's row must be locked.
 * @throws 403 for a workflow that somebody else runs
 */
export async function keepLimits(tx: Database, id: string): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const row = await tx.row<{ isOpen: boolean }>(sql`
    select a.limited_by is distinct from ${key}::uuid and (a.enabled or exists (
        select from automation_runs r where r.automation_id = a.id and r.status in ('RUNNING', 'WAITING'))) as "isOpen"
      from automations a where a.id = ${id}`);
  if (row?.isOpen)
    throw forbidden(
      'This key may not send to everybody: it can only change workflows that it enabled itself, or disabled ones with no active executions',
      { reason: 'recipient' },
      'Use a key without limits, or sign in.',
    );
}

/**
 * Checks that a key which may send from some domains only lets no workflow send from another one.
 * @throws 403 for a workflow with mail from such a domain
 */
export async function keepSenders(tx: Database, id: string): Promise<void> {
  if (!tx.author?.senderDomains) return;
  const rows = await tx.rows<{ from: string }>(sql`
    select distinct t."from" from automation_steps s join templates t on t.id = s.template_id
    where s.automation_id = ${id} and s.type = 'SEND_EMAIL'`);
  for (const { from } of rows) checkKeySender(tx.author, domainOf(from));
}

/**
 * Refuses an edit by somebody who has seen another revision, and one that `keepLimits` refuses; the automation's row must be locked. The revision is that of
 * everything in the automation: a step or a transition has none of its own, because what it means depends on the others.
 * @throws 412 PRECONDITION_FAILED that says who changed it and when, 400 for an `If-Match` that is no list of tags
 */
export async function checkRevision(tx: Database, automation: AutomationRow, ifMatch: string): Promise<void> {
  const { id, revision } = automation;
  await keepLimits(tx, id);
  if (hasSeen(revision, ifMatch, path)) return;
  const { editedAt: changedAt, editedBy: changedBy } = await lastEditOf(tx, id);
  const who = changedBy === null ? '' : changedBy.kind === 'user' ? ` by ${changedBy.email}` : ' with an API key';
  const when = changedAt === null ? '' : ` (${changedAt})`;
  const details = { resource: 'workflow', id, revision, changedAt, changedBy };
  throw stale(`This workflow was changed${who} since you read it${when}`, path, revision, details);
}

/** The types of triggers. */
export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE'] as const;

/** The states of a run; the first two are active, the others final. */
export const runStatuses = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The states of a step's execution. */
export const stepRunStatuses = [
  'PENDING',
  'SCHEDULED',
  'WAITING',
  'RUNNING',
  'COMPLETED',
  'SKIPPED',
  'FAILED',
] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];

/** An automation as SQL answers it (`automationColumns`). `revision` counts the edits of it with its steps and transitions. */
export type AutomationRow = WorkflowBody & { revision: number };

/** A step as SQL answers it (`stepColumns`). */
export type StepRow = StepBody;

/** A transition as SQL answers it (`transitionColumns`). */
export type TransitionRow = TransitionBody;

/** One execution of an automation for a contact, as SQL answers it (`runColumns`). */
export interface RunRow extends ExecutionBody {
  projectId: string;
  versionId: string;
  /** The version that the run takes over when it leaves its current step; null stays with the one it has. */
  nextVersionId: string | null;
  entry: number;
}

const instants = (alias: string, ...names: [column: string, field: string][]) =>
  [...names, ['created_at', 'createdAt'], ['updated_at', 'updatedAt']]
    .map(([column, field]) => `${isoText(`${alias}.${column}`)} as "${field}"`)
    .join(', ');

/** Select list of `AutomationRow` over the alias `a` of `automations`. */
export const automationColumns = raw(`a.id, a.project_id as "projectId", a.name, a.description, a.enabled,
  a.trigger_type as "triggerType", a.trigger_config as "triggerConfig", a.allow_reentry as "allowReentry",
  ${instants('a')}, a.revision`);

/** Select list of `StepRow` over the alias `s` of `automation_steps`. */
export const stepColumns = raw(`s.id, s.automation_id as "workflowId", s.type, s.name, s.position, s.config,
  s.template_id as "templateId", s.note, ${instants('s')}`);

/** Select list of `TransitionRow` over the alias `t` of `automation_transitions`. */
export const transitionColumns = raw(`t.id, t.from_step_id as "fromStepId", t.to_step_id as "toStepId",
  case when t.branch is not null then jsonb_build_object('branch', t.branch) end as condition, t.branch,
  t.wait_outcome as "waitOutcome", t.priority, ${instants('t')}`);

/** Select list of `RunRow` over the alias `r` of `automation_runs`. */
export const runColumns = raw(`r.id, r.automation_id as "workflowId", r.contact_id as "contactId", r.status,
  r.current_step_id as "currentStepId", r.exit_reason as "exitReason", r.context,
  ${instants('r', ['started_at', 'startedAt'], ['completed_at', 'completedAt'])}, r.project_id as "projectId",
  r.version_id as "versionId", r.next_version_id as "nextVersionId", r.entry`);

/** Select list of a step execution in an answer, over the alias `x` of `automation_step_runs` and `s` of its step. */
export const stepRunColumns = raw(`x.id, x.run_id as "executionId", x.step_id as "stepId", x.status,
  ${isoText('x.scheduled_for')} as "scheduledFor", ${isoText('x.execute_after')} as "executeAfter", x.input, x.output, x.error,
  ${instants('x', ['started_at', 'startedAt'], ['completed_at', 'completedAt'])},
  greatest(0, round(extract(epoch from coalesce(x.completed_at, now()) - x.started_at) * 1000))::float8 as "durationMs",
  jsonb_build_object('id', x.step_id, 'name', coalesce(s.name, x.step_name), 'type', x.step_type) as step`);

/** SQL that holds for active runs, without an alias. */
export const isActive = raw(`status in ('RUNNING', 'WAITING')`);

/** An automation as the API shows it. */
export function workflowBody({ revision: _, ...body }: AutomationRow): WorkflowBody {
  return body;
}

/** A run as the API shows it, with whatever was read beside it. */
export function executionBody<Row extends RunRow>({
  projectId: _,
  versionId: _version,
  nextVersionId: _next,
  entry: _entry,
  ...body
}: Row): Omit<Row, Exclude<keyof RunRow, keyof ExecutionBody>> {
  return body;
}

/**
 * The statement that counts runs by the hour in which they started or ended; `reopened` takes those that continue off the hour in which they had
 * ended. `rows` names a CTE with their `project_id` and that instant: `started_at`, else `completed_at`. Deleted runs are taken off by the trigger
 * `forget_runs`, and `forget_contacts` counts what it ends.
 */
export function countingRuns(rows: string, change: 'started' | 'ended' | 'reopened'): Query {
  const [count, at] = change === 'started' ? ['runs_started', 'started_at'] : ['runs_completed', 'completed_at'];
  return raw(`
    insert into mail_count_changes (project_id, hour, ${count})
    select project_id, date_bin('1 hour', ${at}, timestamptz 'epoch'), ${change === 'reopened' ? '-' : ''}count(*)
    from ${rows} where ${at} is not null group by 1, 2`);
}

/**
 * The events of runs that have ended, for `recordingEvents`; `ended` names rows of `automation_runs`. Runs end by the million, so that theirs
 * are written only while an endpoint subscribes to them.
 */
export function runEvents(ended: string): Query {
  const name = sql`case when r.status = 'FAILED' then 'workflow.failed' else 'workflow.finished' end`;
  const data = sql`jsonb_build_object('executionId', r.id, 'workflowId', r.automation_id,
    'workflowName', (select name from automations where id = r.automation_id), 'contactId', r.contact_id, 'status', r.status,
    'reason', r.exit_reason)`;
  return sql`
    select ${newEvent({ projectId: sql`r.project_id`, name, data })} from ${raw(ended)} r
    where r.status in ('COMPLETED', 'EXITED', 'FAILED') and exists (
      select from webhook_endpoints w where w.project_id = r.project_id and w.events && array['*', 'workflow.*', ${name}])`;
}
