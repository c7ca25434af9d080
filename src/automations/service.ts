import { bareBadRequest, conflict, invalid, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { recordChange } from '../projects/audit/record.ts';
import { enqueue } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import { eventNameOf, scheduleCommand, triggerIssues, triggerStep } from './enrollment/triggers.ts';
import { exitsOf, goalOf, type WishedEnds, withEnds } from './graph/exits.ts';
import { issuesAsProblems, issuesOf } from './graph/graph.ts';
import { insertSteps, insertTransitions, updateSteps } from './graph/queries.ts';
import type { Issue } from './graph/schema.ts';
import type { Changed } from './list-service.ts';
import {
  findAutomation,
  found,
  insertAutomation,
  lockAutomation,
  markGraphDirty,
  stepsOf,
  transitionsOf,
  updateAutomation,
} from './queries.ts';
import {
  type AutomationRow,
  checkRevision,
  type Edited,
  type EditTarget,
  hasActiveRuns,
  keepSenders,
  lastEditOf,
  workflowBody,
} from './rows.ts';
import type { CreateWorkflow, PatchWorkflow, WorkflowBody, WorkflowWithGraph } from './schema.ts';
import { latestRollout, refuseDuringRollout, rolloutBody } from './versions.ts';

/**
 * Creates a disabled automation with its TRIGGER step.
 * @throws bare 400 for the trigger EVENT without an event, 422 for two different ones
 */
export async function createAutomation(db: Database, projectId: string, body: CreateWorkflow): Promise<WorkflowBody> {
  const triggerConfig = newTriggerConfig(body);
  return db.transaction(async (tx) => {
    const automation = await insertAutomation(tx, {
      id: newId(),
      projectId,
      name: body.name,
      description: body.description ?? null,
      triggerType: body.triggerType,
      triggerConfig,
      allowReentry: body.allowReentry,
    });
    const step = { id: newId(), type: 'TRIGGER', templateId: null, note: null, position: { x: 100, y: 100 } } as const;
    await insertSteps(tx, automation.id, [{ ...step, ...triggerStep(automation) }]);
    return workflowBody(automation);
  });
}

function newTriggerConfig({ triggerType, triggerConfig, eventName }: CreateWorkflow): AutomationRow['triggerConfig'] {
  const given = triggerConfig ?? null;
  if (triggerType !== 'EVENT') return given;
  const inConfig = typeof given?.eventName === 'string' ? given.eventName.trim() : '';
  const named = eventName || inConfig;
  if (named === '') throw bareBadRequest('"eventName" is required');
  if (inConfig !== '' && inConfig !== named)
    throw invalidField('triggerConfig.eventName', 'must be the same as "eventName", or absent', 'custom');
  if (eventNameOf({ eventName: named }) === null)
    throw invalidField('triggerConfig.eventName', 'must have at most 255 characters', 'too_big');
  return { ...given, eventName: named };
}

/** One automation with its whole graph, and what enabling it would refuse. @throws 404 */
export function getAutomation(db: Database, projectId: string, id: string): Promise<WorkflowWithGraph> {
  return db.transaction(async (tx) => workflowWithGraph(tx, found(await findAutomation(tx, projectId, id), id)));
}

/** An automation as `getAutomation` answers it. */
export async function workflowWithGraph(db: Database, automation: AutomationRow): Promise<WorkflowWithGraph> {
  const { id } = automation;
  const [steps, transitions] = [await stepsOf(db, id), await transitionsOf(db, id)];
  const rollout = await latestRollout(db, id);
  return {
    ...automation,
    ...(await lastEditOf(db, id)),
    steps: steps.map(({ templateName, ...step }) => ({
      ...step,
      template: step.templateId === null ? null : { id: step.templateId, name: templateName ?? '' },
      outgoingTransitions: transitions.filter((way) => way.fromStepId === step.id),
      incomingTransitions: transitions.filter((way) => way.toStepId === step.id),
    })),
    transitions,
    exits: exitsOf(steps),
    goal: goalOf(steps),
    rollout: rollout && (await rolloutBody(db, rollout)),
    issues: await issuesOf(db, automation, { steps, transitions }),
  };
}

/**
 * Changes an automation (docs/contract/campaigns-and-workflows.md#3-5).
 * @throws 404; 409 for its trigger while it is enabled and has active executions, or a version is rolled out; 412 where the editor has seen another
 * revision; 422 for what keeps it from being enabled
 */
export async function patchAutomation(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  body: PatchWorkflow,
): Promise<Changed<WorkflowBody> & Edited<WorkflowBody>> {
  return db.transaction(async (tx) => {
    const before = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, before, ifMatch);
    const retriggers = body.triggerType !== undefined || body.triggerConfig !== undefined;
    const changesEnds = body.exits !== undefined || body.goal !== undefined;
    if (retriggers || changesEnds) await refuseDuringRollout(tx, id);
    if (retriggers && before.enabled && (await hasActiveRuns(tx, [id])))
      throw conflict(
        'The trigger cannot change while executions are active: cancel them or disable the workflow first',
      );
    const after = changedBy(before, body);
    if (retriggers && after.triggerType === 'EVENT' && eventNameOf(after.triggerConfig) === null)
      throw invalidField('triggerConfig.eventName', 'is required for the trigger EVENT', 'invalid_type');
    await checkEnabling(tx, before, after, retriggers, changesEnds ? body : null);
    if (retriggers || changesEnds) await followTrigger(tx, after, body);
    const scheduled = [before, after].some(({ enabled, triggerType }) => enabled && triggerType === 'SCHEDULE');
    const reschedules = scheduled && (retriggers || before.enabled !== after.enabled || before.name !== after.name);
    const dated = [before, after].some(({ enabled, triggerType }) => enabled && triggerType === 'DATE');
    const redates = dated && (retriggers || before.enabled !== after.enabled);
    const { row, scheduleRevision } = await updateAutomation(tx, after, reschedules || redates, userId);
    if (after.enabled) await keepSenders(tx, id);
    const tickets = reschedules ? [await enqueue(tx, scheduleCommand(row, scheduleRevision))] : [];
    const verb = before.enabled === after.enabled ? 'updated' : after.enabled ? 'enabled' : 'disabled';
    await recordChange(tx, projectId, {
      action: `workflow.${verb}`,
      target: id,
      before: settingsOf(before),
      after: settingsOf(after),
    });
    return { body: workflowBody(row), revision: row.revision, tickets };
  });
}

function settingsOf({ name, description, triggerType, triggerConfig, enabled, allowReentry }: AutomationRow) {
  return { name, description, triggerType, triggerConfig, enabled, allowReentry };
}

function changedBy(before: AutomationRow, body: PatchWorkflow): AutomationRow {
  const triggerType = body.triggerType ?? before.triggerType;
  const given = body.triggerConfig === undefined ? before.triggerConfig : body.triggerConfig;
  const eventName = typeof given?.eventName === 'string' ? given.eventName.trim() : undefined;
  return {
    ...before,
    name: body.name ?? before.name,
    description: body.description === undefined ? before.description : body.description,
    triggerType,
    triggerConfig: given && (eventName === undefined ? given : { ...given, eventName }),
    enabled: body.enabled ?? before.enabled,
    allowReentry: body.allowReentry ?? before.allowReentry,
  };
}

async function checkEnabling(
  tx: Database,
  before: AutomationRow,
  after: AutomationRow,
  retriggers: boolean,
  ends: WishedEnds | null,
): Promise<void> {
  if (!after.enabled) return;
  let issues: Issue[] = [];
  if (!before.enabled || ends !== null) {
    const [steps, transitions] = [await stepsOf(tx, after.id), await transitionsOf(tx, after.id)];
    const graph = {
      steps: steps.map((step) => (step.type === 'TRIGGER' ? followed(step, after, ends ?? {}) : step)),
      transitions,
    };
    issues = await issuesOf(tx, after, graph);
  } else if (retriggers) issues = (await triggerIssues(tx, after)).map((issue) => ({ stepId: null, ...issue }));
  if (issues.length === 0) return;
  throw invalid(
    issuesAsProblems(issues),
    'GET /workflows/{id} lists under "issues" what keeps the workflow from being enabled.',
  );
}

async function followTrigger(tx: Database, automation: AutomationRow, ends: WishedEnds): Promise<void> {
  const step = (await stepsOf(tx, automation.id)).find(({ type }) => type === 'TRIGGER');
  if (step) await updateSteps(tx, automation.id, [followed(step, automation, ends)]);
  await markGraphDirty(tx, automation.id);
}

/** The TRIGGER as its automation says, with exits and goal as wished, else its own. */
function followed<Step extends { config: Record<string, unknown> }>(
  step: Step,
  automation: AutomationRow,
  ends: WishedEnds,
): Step {
  const { name, config } = triggerStep(automation);
  return { ...step, name, config: withEnds(config, step.config, ends) };
}

/** Copies an automation with its graph, disabled, under the name `<name> (Copy)`. @throws 404 */
export async function duplicateAutomation(db: Database, projectId: string, id: string): Promise<WorkflowBody> {
  return db.transaction(async (tx) => {
    const original = found(await lockAutomation(tx, projectId, id), id);
    const suffix = ' (Copy)';
    const name = `${original.name.slice(0, 255 - suffix.length)}${suffix}`;
    const copy = await insertAutomation(tx, { ...original, id: newId(), name });
    const [steps, transitions] = [await stepsOf(tx, id), await transitionsOf(tx, id)];
    const idOf = new Map(steps.map((step) => [step.id, newId()]));
    const renamed = (stepId: string) => idOf.get(stepId) ?? stepId;
    await insertSteps(
      tx,
      copy.id,
      steps.map((step) => ({ ...step, id: renamed(step.id) })),
    );
    const copied = transitions.map((way) => ({
      ...way,
      id: newId(),
      fromStepId: renamed(way.fromStepId),
      toStepId: renamed(way.toStepId),
    }));
    await insertTransitions(tx, copy.id, copied);
    return workflowBody(copy);
  });
}
