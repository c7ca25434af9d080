import type { WaitOutcome } from './graph.ts';
import type { StepType } from './step-configs.ts';

/** What starts an automation. */
export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE'] as const;
type TriggerType = (typeof triggerTypes)[number];

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

/** An automation as SQL answers it (`automationColumns`); instants are Postgres's text. */
export interface AutomationRow {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  enabled: boolean;
  triggerType: TriggerType;
  triggerConfig: Record<string, unknown> | null;
  allowReentry: boolean;
  /** Counts the edits of the automation with its steps and transitions. */
  revision: number;
  createdAt: string;
  updatedAt: string;
}

/** A step as SQL answers it (`stepColumns`). */
export interface StepRow {
  id: string;
  automationId: string;
  type: StepType;
  name: string;
  position: { x: number; y: number };
  config: Record<string, unknown>;
  templateId: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A transition as SQL answers it (`transitionColumns`). */
export interface TransitionRow {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  waitOutcome: WaitOutcome | null;
  priority: number;
  createdAt: string;
  updatedAt: string;
}

/** A person's way through an automation as SQL answers it (`runColumns`). */
export interface RunRow {
  id: string;
  projectId: string;
  automationId: string;
  versionId: string;
  /** The version that the run takes over when it leaves its current step; null stays with the one it has. */
  nextVersionId: string | null;
  contactId: string;
  entry: number;
  status: RunStatus;
  currentStepId: string | null;
  exitReason: string | null;
  context: Record<string, unknown> | null;
  /** Number of the next step execution to make. */
  seq: number;
  /** When time moves it on; null when nothing but an event does. */
  dueAt: string | null;
  sourceEventId: string | null;
  startedAt: string;
  completedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

/** One step of a run as SQL answers it (`stepRunColumns`). */
export interface StepRunRow {
  id: string;
  runId: string;
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
  input: Record<string, unknown> | null;
  output: Record<string, unknown> | null;
  error: string | null;
  startedAt: string;
  completedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

/** Select list of `AutomationRow` over the alias `a` of `automations`. */
export const automationColumns = `a.id, a.project_id as "projectId", a.name, a.description, a.enabled,
  a.trigger_type as "triggerType", a.trigger_config as "triggerConfig", a.allow_reentry as "allowReentry", a.revision,
  a.created_at::text as "createdAt", a.updated_at::text as "updatedAt"`;

/** Select list of `StepRow` over the alias `s` of `automation_steps`. */
export const stepColumns = `s.id, s.automation_id as "automationId", s.type, s.name, s.position, s.config,
  s.template_id as "templateId", s.created_at::text as "createdAt", s.updated_at::text as "updatedAt"`;

/** Select list of `TransitionRow` over the alias `t` of `automation_transitions`. */
export const transitionColumns = `t.id, t.from_step_id as "fromStepId", t.to_step_id as "toStepId", t.branch,
  t.wait_outcome as "waitOutcome", t.priority, t.created_at::text as "createdAt", t.updated_at::text as "updatedAt"`;

/** Select list of `RunRow` over the alias `r` of `automation_runs`. */
export const runColumns = `r.id, r.project_id as "projectId", r.automation_id as "automationId",
  r.version_id as "versionId", r.next_version_id as "nextVersionId", r.contact_id as "contactId", r.entry, r.status,
  r.current_step_id as "currentStepId", r.exit_reason as "exitReason", r.context, r.seq, r.due_at::text as "dueAt",
  r.source_event_id as "sourceEventId", r.started_at::text as "startedAt", r.completed_at::text as "completedAt",
  r.created_at::text as "createdAt", r.updated_at::text as "updatedAt"`;

/** Select list of `StepRunRow` over the alias `x` of `automation_step_runs`. */
export const stepRunColumns = `x.id, x.run_id as "runId", x.step_id as "stepId", x.seq, x.step_type as "stepType",
  x.step_name as "stepName", x.status, x.scheduled_for::text as "scheduledFor", x.execute_after::text as "executeAfter",
  x.event_name as "eventName", x.outcome, x.resume_event_id as "resumeEventId", x.input, x.output, x.error,
  x.started_at::text as "startedAt", x.completed_at::text as "completedAt", x.created_at::text as "createdAt",
  x.updated_at::text as "updatedAt"`;

/** SQL that holds for active runs, without an alias. */
export const isActive = `status in ('RUNNING', 'WAITING')`;
