import { stepOf } from '@posthorn/workflow-graph';
import { workflowId } from '../../temporal/commands.ts';
import type { Database } from '../core/database/sql.ts';
import { withoutDangerousKeys } from '../core/lib/contact-data.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../core/lib/errors.ts';
import { isUuid } from '../core/lib/ids.ts';
import type { JsonObjectValue } from '../core/lib/json.ts';
import { offsetAnswer, offsetPage } from '../core/lib/offset-page.ts';
import { jsonType } from '../core/lib/validation.ts';
import type { OutboxTicket } from '../core/outbox/enqueue.ts';
import type { Changed } from './changed.ts';
import { PathCountCache } from './path-counts.ts';
import { findAutomation, stepsOf } from './queries.ts';
import { executionBody, type RunRow, runStatuses, type StepRow, workflowBody } from './rows.ts';
import {
  cancelRuns,
  contactsByStep,
  countPaths,
  countRuns,
  findRun,
  type ListedRun,
  pageOfRuns,
  pendingEnrollments,
  type RunFilter,
  type StepRunRow,
  stepRunsOf,
} from './runs-queries.ts';
import type {
  CountWorkflowPeople,
  ExecutionBody,
  ExecutionStory,
  ListExecutions,
  ListedExecution,
  StartExecution,
  WorkflowPeople,
} from './runs-schema.ts';
import type { StepBody } from './schema.ts';
import { found } from './service.ts';
import { type StartOutcome, startRuns } from './starting.ts';
import { type PinnedVersion, pinnedVersion } from './versions.ts';

/** The largest context of a run, as characters of JSON. */
const maxContextLength = 64 * 1024;

/**
 * Starts a run by hand (contract page 2, 3.5): the checks in their order, then everything in one transaction.
 * @throws 404, 422 for the context, 400 while disabled, 409 by the rule of re-entry, 429 by the guard against loops
 */
export async function startExecution(
  db: Database,
  projectId: string,
  automationId: string,
  body: StartExecution,
  startsPerHour: number,
): Promise<Changed<ExecutionBody>> {
  const automation = found(await findAutomation(db, projectId, automationId), automationId);
  const context = readContext(body.context);
  if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you enroll contacts');
  const { contactId } = body;
  if (!isUuid(contactId)) throw notFound('contact', contactId);
  const wish = { contactId: contactId.toLowerCase(), context, sourceEventId: null };
  const { outcomes, tickets } = await db
    .transaction((tx) => startRuns(tx, projectId, automationId, [wish], startsPerHour))
    .catch((error: unknown) => {
      // The workflow was deleted after it was read and before its run was written.
      if (isForeignKeyViolation(error)) throw notFound('workflow', automationId);
      throw error;
    });
  const [made] = outcomes;
  if (made?.run) return { body: executionBody(made.run), tickets };
  // Only now: the count of what the guard refused is committed.
  throw refusal(made?.outcome ?? 'gone', contactId, startsPerHour);
}

function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23503';
}

function readContext(context: unknown): Record<string, unknown> | null {
  if (context === undefined || context === null) return null;
  if (typeof context !== 'object' || Array.isArray(context))
    throw invalidField('context', 'must be an object', 'invalid_type', jsonType(context));
  if (JSON.stringify(context).length > maxContextLength)
    throw invalidField('context', 'must be at most 64 KiB of JSON', 'too_big');
  return withoutDangerousKeys(context as JsonObjectValue) as Record<string, unknown>;
}

function refusal(outcome: StartOutcome, contactId: string, startsPerHour: number): AppError {
  switch (outcome) {
    case 'reentry':
      return conflict('The contact has already been in this workflow, which does not allow re-entry', { contactId });
    case 'active':
      return conflict('The contact is already in this workflow', { contactId });
    case 'refused':
      return new AppError(
        429,
        'RATE_LIMIT_EXCEEDED',
        `The contact entered this workflow ${startsPerHour} times within an hour: no more until some of that is over`,
        { details: { contactId, limit: startsPerHour }, headers: { 'Retry-After': '60' } },
      );
    default:
      return notFound('contact', contactId);
  }
}

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
  const filter: RunFilter = { status, contactId, stepId };
  const [rows, total] = [await pageOfRuns(db, automationId, filter, page), await countRuns(db, automationId, filter)];
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
    const active = run.status === 'RUNNING' || run.status === 'WAITING';
    const execution = workflowId.automation(automationId, run.contactId, run.entry);
    const standing = active ? steps.findLast((step) => step.completedAt === null) : undefined;
    const { currentStepSince: _, ...body } = executionBody(run);
    return {
      ...body,
      workflow: workflowBody(automation),
      currentStep: wholeStep(run, live, version),
      stepExecutions: steps.map(({ eventName: _event, outcome: _outcome, ...step }) => step),
      waitingFor: active ? whatFor(standing) : null,
      waitingUntil: active ? (standing?.scheduledFor ?? standing?.executeAfter ?? null) : null,
      waitingSince: active ? (standing?.startedAt ?? run.updatedAt) : null,
      version: version?.version ?? 0,
      nextVersion: next?.version ?? null,
      temporal: { workflowId: execution, url: linkTo(execution) },
    };
  });
}

function whatFor(step: StepRunRow | undefined): string {
  if (step?.status === 'SCHEDULED') return 'timer';
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

/** Ends a run; one that is over stays as it is. @throws 404 */
export async function cancelExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<Changed<ExecutionBody>> {
  return db.transaction(async (tx) => {
    found(await findAutomation(tx, projectId, automationId), automationId);
    const before = await findRun(tx, projectId, automationId, id);
    if (before === null) throw notFound('execution', id);
    const cancelled = await cancelRuns(tx, automationId, 'Cancelled by user', id);
    const after = await findRun(tx, projectId, automationId, id);
    if (after === null) throw notFound('execution', id);
    const execution: OutboxTicket = { workflowId: workflowId.automation(automationId, after.contactId, after.entry) };
    const { contact: _, currentStep: _step, currentStepSince: _since, ...body } = executionBody(after);
    return { body, tickets: cancelled > 0 ? [execution] : [] };
  });
}

/** Ends every active run of an automation by one statement; the outbox cancels their executions one after the other. @throws 404 */
export async function cancelExecutions(
  db: Database,
  projectId: string,
  automationId: string,
): Promise<{ cancelled: number }> {
  return db.transaction(async (tx) => {
    found(await findAutomation(tx, projectId, automationId), automationId);
    return { cancelled: await cancelRuns(tx, automationId, 'Cancelled by user (bulk cancel)') };
  });
}

/** Path counts by automation; see `PathCountCache`. */
const pathCounts = new PathCountCache(performance.now.bind(performance));

/**
 * How many contacts are at each step now, and what became of those who reached it in the last `days` days, or ever.
 * @throws 404; 422 for `days` that are no number of days
 */
export async function countInside(
  db: Database,
  projectId: string,
  automationId: string,
  query: CountWorkflowPeople,
): Promise<WorkflowPeople> {
  const days = daysOf(query);
  found(await findAutomation(db, projectId, automationId), automationId);
  const counts = await contactsByStep(db, automationId);
  const arriving = await pendingEnrollments(db, automationId);
  const live = await stepsOf(db, automationId);
  const taken = await pathCounts.get(`${automationId} ${days}`, () => countPaths(db, automationId, days));
  const ids = [...new Set([...live.map(({ id }) => id), ...counts.flatMap(({ stepId }) => stepId ?? [])])];
  return {
    active: counts.reduce((total, { count }) => total + count, 0),
    arriving,
    steps: ids.map((stepId) => {
      const step = live.find(({ id }) => id === stepId);
      const own = counts.filter((one) => one.stepId === stepId);
      const paths = taken.filter((path) => path.stepId === stepId);
      const stayed = paths.find(({ branch }) => branch === null);
      return {
        stepId,
        name: step?.name ?? null,
        type: step?.type ?? null,
        running: own.find(({ status }) => status === 'RUNNING')?.count ?? 0,
        waiting: own.find(({ status }) => status === 'WAITING')?.count ?? 0,
        reached: paths.reduce((total, { count }) => total + count, 0),
        dropped: (stayed?.count ?? 0) - (stayed?.open ?? 0),
        branches: paths.flatMap(({ branch, count }) => (branch === null ? [] : [{ branch, count }])),
      };
    }),
  };
}

const mostDays = 366;

function daysOf({ days }: CountWorkflowPeople): number | null {
  if (days === undefined || days === '') return null;
  const given = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  if (given < 1 || given > mostDays)
    throw invalidField('days', `must be a whole number from 1 to ${mostDays}`, 'invalid_string');
  return given;
}
