import { isoText } from '../core/database/columns.ts';
import { newEvent } from '../core/database/record-events.ts';
import { type Query, raw, sql } from '../core/database/sql.ts';
import type { StepBody, TransitionBody } from './graph/schema.ts';
import type { ExecutionBody } from './runs/schema.ts';
import type { WorkflowBody } from './schema.ts';

/** What starts an automation. */
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
