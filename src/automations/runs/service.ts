import { stepOf } from '@fernpost/workflow-graph';
import { workflowId } from '../../../temporal/commands.ts';
import { activeStatuses, runStatuses } from '../../lib/enums.ts';
import { badRequest, notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { offsetAnswer, offsetPage } from '../../lib/pages.ts';
import type { Database } from '../../store/sql.ts';
import type { StepBody } from '../graph/schema.ts';
import { findAutomation, found, stepsOf } from '../queries.ts';
import { type AutomationRow, executionBody, type RunRow, type StepRow, workflowBody } from '../rows.ts';
import { type PinnedVersion, pinnedVersion } from '../versions.ts';
import {
  countRuns,
  findRun,
  type ListedRun,
  pageOfRuns,
  type RunFilter,
  type StepRunRow,
  stepRunsOf,
} from './queries.ts';
import type { ExecutionStory, ListExecutions, ListedExecution } from './schema.ts';

/** A page of runs, newest first. @throws 404, 400 for an unknown status */
export async function listExecutions(db: Database, projectId: string, automationId: string, query: ListExecutions) {
  found(await findAutomation(db, projectId, automationId), automationId);
  const page = offsetPage(query, 100);
  const status = query.status ? runStatuses.find((known) => known === query.status) : null;
  if (status === undefined) throw badRequest(`"status" must be one of ${runStatuses.join(', ')}`);
  const contactId = query.contactId || null;
  if (contactId !== null && !isUuid(contactId)) throw badRequest('"contactId" must be a UUID');
  const stepId = query.stepId || null;
  if (stepId !== null && !isUuid(stepId)) throw badRequest('"stepId" must be a UUID');
  const text = query.search?.trim().replaceAll('\0', '') || null;
  const filter: RunFilter = { status, contactId, stepId, search: text === null ? null : { text, projectId } };
  const rows = await pageOfRuns(db, automationId, filter, page);
  // A last page says how many there are, and a search is not made twice.
  const isLast = rows.length < page.pageSize && (rows.length > 0 || page.offset === 0);
  const total = isLast ? page.offset + rows.length : await countRuns(db, automationId, filter);
  const data: ListedExecution[] = [];
  for (const row of rows) data.push(await listedExecution(db, row));
  return { executions: data, ...offsetAnswer(data, page, total) };
}

async function listedExecution(db: Database, row: ListedRun): Promise<ListedExecution> {
  return { ...executionBody(row), currentStep: await currentStepOf(db, row) };
}

// The live step says how it is called now; of one that was deleted the pinned graph knows.
async function currentStepOf(db: Database, row: ListedRun): Promise<ListedExecution['currentStep']> {
  if (row.currentStepId === null || row.currentStep !== null) return row.currentStep;
  const version = await pinnedVersion(db, row.versionId);
  const step = version && stepOf(version.graph, row.currentStepId);
  return step ? { id: step.id, name: step.name, type: step.type } : null;
}

/** The whole story of a run: where it is, since when, what it waits for, and every step it took. @throws 404 */
export async function getExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
  linkTo: (workflowId: string) => string,
): Promise<ExecutionStory> {
  return db.transaction(async (tx) => {
    const automation = found(await findAutomation(tx, projectId, automationId), automationId);
    const run = await findRun(tx, projectId, automationId, id);
    if (run === null) throw notFound('execution', id);
    const version = await pinnedVersion(tx, run.versionId);
    const next = run.nextVersionId === null ? null : await pinnedVersion(tx, run.nextVersionId);
    const live = (await stepsOf(tx, automationId)).find((step) => step.id === run.currentStepId);
    const steps = await stepRunsOf(tx, id);
    const active = activeStatuses.has(run.status);
    const execution = workflowId.automation(automationId, run.contactId, run.entry);
    const standing = active ? steps.findLast((step) => step.completedAt === null) : undefined;
    const { currentStepSince: _, ...body } = executionBody(run);
    return {
      ...body,
      workflow: workflowBody(automation),
      currentStep: wholeStep(run, live, version),
      stepExecutions: steps.map(({ eventName: _event, outcome: _outcome, isDue: _isDue, ...step }) => step),
      waitingFor: active ? (isHeld(automation, standing) ? 'the workflow to resume' : whatFor(standing)) : null,
      waitingUntil: active ? (standing?.scheduledFor ?? standing?.executeAfter ?? null) : null,
      waitingSince: active ? (standing?.startedAt ?? run.updatedAt) : null,
      version: version?.version ?? 0,
      nextVersion: next?.version ?? null,
      temporal: { workflowId: execution, url: linkTo(execution) },
    };
  });
}

// A pause holds executions that would continue; it lets timers and events pass, and calls of webhooks finish.
function isHeld({ pausedAt }: AutomationRow, step: StepRunRow | undefined): boolean {
  if (pausedAt === null || step === undefined || step.outcome !== null) return pausedAt !== null;
  return step.status === 'RUNNING' ? step.output !== null || step.error !== null : step.isDue;
}

function whatFor(step: StepRunRow | undefined): string {
  if (step?.status === 'SCHEDULED') return step.scheduledFor === null ? `a date in ${step.input?.field}` : 'timer';
  if (step?.status === 'WAITING') return step.outcome === null ? `event ${step.eventName}` : 'a worker';
  return step?.step.type === 'WEBHOOK' ? 'an answer to its webhook' : 'a worker';
}

function wholeStep(
  run: RunRow,
  live: (StepRow & { templateName: string | null }) | undefined,
  version: PinnedVersion | null,
): StepBody | null {
  if (run.currentStepId === null) return null;
  if (live) {
    const { templateName: _, ...step } = live;
    return step;
  }
  const pinned = version ? stepOf(version.graph, run.currentStepId) : undefined;
  if (!pinned) return null;
  const { workflowId, createdAt, updatedAt } = run;
  return { ...pinned, workflowId, position: { x: 0, y: 0 }, note: null, createdAt, updatedAt };
}
