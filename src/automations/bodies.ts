import { isoInstant, isoInstantOrNull } from '../core/database/columns.ts';
import type { AutomationRow, RunRow, StepRow, TransitionRow } from './rows.ts';
import type { ExecutionBody, StepBody, TransitionBody, WorkflowBody } from './schema.ts';

/** An automation as the API shows it. */
export function workflowBody(row: AutomationRow): WorkflowBody {
  return {
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    description: row.description,
    enabled: row.enabled,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    allowReentry: row.allowReentry,
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** A step as the API shows it. */
export function stepBody(row: StepRow): StepBody {
  return {
    id: row.id,
    workflowId: row.automationId,
    type: row.type,
    name: row.name,
    position: row.position,
    config: row.config,
    templateId: row.templateId,
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** A transition as the API shows it. */
export function transitionBody(row: TransitionRow): TransitionBody {
  return {
    id: row.id,
    fromStepId: row.fromStepId,
    toStepId: row.toStepId,
    condition: row.branch === null ? null : { branch: row.branch },
    branch: row.branch,
    waitOutcome: row.waitOutcome,
    priority: row.priority,
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** A run as the API shows it. */
export function executionBody(row: RunRow): ExecutionBody {
  return {
    id: row.id,
    workflowId: row.automationId,
    contactId: row.contactId,
    status: row.status,
    currentStepId: row.currentStepId,
    exitReason: row.exitReason,
    context: row.context,
    startedAt: isoInstant(row.startedAt),
    completedAt: isoInstantOrNull(row.completedAt),
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}
