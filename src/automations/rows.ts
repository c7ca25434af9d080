import { User } from '../accounts/entity.ts';
import { checkKeySender } from '../domains/service.ts';
import { activeStatuses, openStepStatuses } from '../lib/enums.ts';
import { beyondRecipients } from '../lib/errors.ts';
import { hasSeen, stale } from '../lib/ids.ts';
import { domainOf } from '../lib/validation/email-address.ts';
import { isoText } from '../store/columns.ts';
import type { NewEvent } from '../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import { Template } from '../templates/queries.ts';
import { Automation, AutomationRun, AutomationStep, type AutomationTransition } from './entity.ts';
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
  const found = await db.em.findOne(Automation, { id: automationId }, { disableIdentityMap: true });
  if (!found?.editedAt) return { editedAt: null, editedBy: null };
  const { editedAt, editedBy: id } = found;
  const user = id ? await db.em.findOne(User, { id }, { fields: ['email'] }) : null;
  return {
    editedAt: editedAt.toISOString(),
    editedBy: user ? { kind: 'user', id: user.id, email: user.email } : { kind: 'key' },
  };
}

const path = '/workflows/{id}';

/** Whether contacts are inside one of the automations; with `stepIds` at one of these steps. */
export async function hasActiveRuns(
  db: Database,
  ids: readonly string[],
  stepIds?: readonly string[],
): Promise<boolean> {
  const where = {
    automationId: [...ids],
    status: [...activeStatuses.all],
    ...(stepIds && { currentStepId: [...stepIds] }),
  };
  return (await db.em.findOne(AutomationRun, where, { fields: ['id'], disableIdentityMap: true })) !== null;
}

/**
 * Checks that a key with limits changes no workflow whose mail reaches others: only one that the key itself enabled, or that is disabled
 * with nobody inside. The automation's row must be locked.
 * @throws 403 for a workflow that somebody else runs
 */
export async function keepLimits(tx: Database, id: string): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const others = { id, $or: [{ limitedBy: null }, { limitedBy: { $ne: key } }] };
  const automation = await tx.em.findOne(Automation, others, { fields: ['enabled'], disableIdentityMap: true });
  if (automation && (automation.enabled || (await hasActiveRuns(tx, [id]))))
    throw beyondRecipients(
      'can only change workflows that it enabled itself, or disabled ones with no active executions',
    );
}

/**
 * Checks that a key which may send from some domains only lets no workflow send from another one.
 * @throws 403 for a workflow with mail from such a domain
 */
export async function keepSenders(tx: Database, id: string): Promise<void> {
  if (!tx.author?.senderDomains) return;
  const steps = await tx.em.find(AutomationStep, { automationId: id, type: 'SEND_EMAIL' }, { fields: ['templateId'] });
  const ids = steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await tx.em.find(Template, { id: ids }, { fields: ['from'] });
  for (const { from } of templates) checkKeySender(tx.author, domainOf(from));
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

/** An automation, with the number of its edits, those of its steps and transitions included. */
export type AutomationRow = WorkflowBody & { revision: number };

/** A step of the graph that is being edited. */
export type StepRow = StepBody;

/** A transition of the graph that is being edited. */
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

/** An automation as code passes it on. */
export function automationRow(automation: Automation): AutomationRow {
  const { id, projectId, name, description, enabled, triggerType, triggerConfig, allowReentry, revision } = automation;
  const pausedAt = automation.pausedAt?.toISOString() ?? null;
  const settings = { triggerType, triggerConfig: triggerConfig ?? null, allowReentry, pausedAt, revision };
  return { id, projectId, name, description: description ?? null, enabled, ...settings, ...instantsOf(automation) };
}

/** A step as code passes it on. */
export function stepRow(step: AutomationStep): StepRow {
  const { id, automationId: workflowId, type, name, position, config, templateId, note } = step;
  const optional = { templateId: templateId ?? null, note: note ?? null };
  return { id, workflowId, type, name, position, config, ...optional, ...instantsOf(step) };
}

/** A transition as code passes it on. */
export function transitionRow(transition: AutomationTransition): TransitionRow {
  const { id, fromStepId, toStepId, branch = null, waitOutcome = null, priority } = transition;
  const condition = branch === null ? null : { branch };
  return { id, fromStepId, toStepId, condition, branch, waitOutcome, priority, ...instantsOf(transition) };
}

function instantsOf({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }) {
  return { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Select list of `RunRow` over the alias `r` of `automation_runs`. */
export const runColumns = raw(`r.id, r.automation_id as "workflowId", r.contact_id as "contactId", r.status,
  r.current_step_id as "currentStepId", r.exit_reason as "exitReason", r.context,
  ${instants('r', ['started_at', 'startedAt'], ['completed_at', 'completedAt'])}, r.project_id as "projectId",
  r.version_id as "versionId", r.next_version_id as "nextVersionId", r.entry`);

/** SQL of when a delay ends, or a wait for an instant at the turn of its contact, over the alias `x` of `automation_step_runs`. */
export const endOfWait = "(x.scheduled_for + x.turn_ms * interval '1 millisecond')";

/** Select list of a step execution in an answer, over the alias `x` of `automation_step_runs` and `s` of its step. */
export const stepRunColumns = raw(`x.id, x.run_id as "executionId", x.step_id as "stepId", x.status,
  ${isoText(endOfWait)} as "scheduledFor", ${isoText('x.execute_after')} as "executeAfter", x.input, x.output, x.error,
  ${instants('x', ['started_at', 'startedAt'], ['completed_at', 'completedAt'])},
  greatest(0, round(extract(epoch from coalesce(x.completed_at, now()) - x.started_at) * 1000))::float8 as "durationMs",
  jsonb_build_object('id', x.step_id, 'name', coalesce(s.name, x.step_name), 'type', x.step_type) as step`);

/** SQL that holds for active runs, without an alias. */
export const isActive = raw(`status in ${activeStatuses.sql}`);

/** SQL that holds for step executions that are not over, without an alias. */
export const isOpenStep = raw(`status in ${openStepStatuses.sql}`);

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
export function runEvents(ended: string): NewEvent {
  const data = sql`jsonb_build_object('executionId', r.id, 'workflowId', r.automation_id,
    'workflowName', (select name from automations where id = r.automation_id), 'contactId', r.contact_id, 'status', r.status,
    'reason', r.exit_reason)`;
  const from = sql`
    ${raw(ended)} r cross join lateral (
      select case when r.status = 'FAILED' then 'workflow.failed' else 'workflow.finished' end as name) kind
    where r.status in ('COMPLETED', 'EXITED', 'FAILED') and exists (
      select from webhook_endpoints w where w.project_id = r.project_id and w.events && array['*', 'workflow.*', kind.name])`;
  return { projectId: raw('r.project_id'), name: raw('kind.name'), data, from };
}
