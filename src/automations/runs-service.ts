import { workflowId } from '../../temporal/commands.ts';
import { isoInstant, isoInstantOrNull } from '../core/database/columns.ts';
import type { Database, Sql } from '../core/database/sql.ts';
import { withoutDangerousKeys } from '../core/lib/contact-data.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../core/lib/errors.ts';
import { isUuid } from '../core/lib/ids.ts';
import type { JsonObjectValue } from '../core/lib/json.ts';
import { offsetAnswer, offsetPage } from '../core/lib/offset-page.ts';
import { jsonType } from '../core/lib/validation.ts';
import type { OutboxTicket } from '../core/outbox/enqueue.ts';
import { executionBody, stepBody, workflowBody } from './bodies.ts';
import { type GraphStep, stepOf } from './graph.ts';
import { PathCountCache } from './path-counts.ts';
import { findAutomation, stepsOf } from './queries.ts';
import { type RunRow, runStatuses, type StepRunRow } from './rows.ts';
import {
  cancelRuns,
  countPaths,
  countPeople,
  countRuns,
  findRun,
  type ListedRun,
  type PeopleCount,
  pageOfRuns,
  type RunFilter,
  stepRunsOf,
} from './runs-queries.ts';
import type {
  ExecutionBody,
  ExecutionStory,
  ListExecutions,
  ListedExecution,
  StartExecution,
  StepBody,
  StepExecutionBody,
  WorkflowPeople,
} from './schema.ts';
import { type Changed, found } from './service.ts';
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
    .transaction((sql) => startRuns(sql, projectId, automationId, [wish], startsPerHour))
    .catch((error: unknown) => {
      // The workflow was deleted between the look at it and the writing of its run.
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
export async function listExecutions(sql: Sql, projectId: string, automationId: string, query: ListExecutions) {
  found(await findAutomation(sql, projectId, automationId), automationId);
  const page = offsetPage(query, 100);
  const status = query.status ? runStatuses.find((known) => known === query.status) : null;
  if (status === undefined) throw badRequest(`"status" must be one of ${runStatuses.join(', ')}`);
  const contactId = query.contactId || null;
  if (contactId !== null && !isUuid(contactId)) throw badRequest('"contactId" must be a UUID');
  const stepId = query.stepId || null;
  if (stepId !== null && !isUuid(stepId)) throw badRequest('"stepId" must be a UUID');
  const filter: RunFilter = { status, contactId, stepId };
  const [rows, total] = [await pageOfRuns(sql, automationId, filter, page), await countRuns(sql, automationId, filter)];
  const data: ListedExecution[] = [];
  for (const row of rows) data.push(await listedExecution(sql, row));
  return { executions: data, ...offsetAnswer(data, page, total) };
}

async function listedExecution(sql: Sql, row: ListedRun): Promise<ListedExecution> {
  return {
    ...executionBody(row),
    contact: { id: row.contactId, email: row.email },
    currentStep: await currentStepOf(sql, row),
    currentStepSince: isoInstantOrNull(row.since),
  };
}

// The live step says how it is called now; of one that was deleted the pinned graph knows.
async function currentStepOf(sql: Sql, row: ListedRun): Promise<ListedExecution['currentStep']> {
  if (row.currentStepId === null) return null;
  if (row.stepName !== null && row.stepType !== null)
    return { id: row.currentStepId, name: row.stepName, type: row.stepType };
  const step = await pinnedStep(sql, row.versionId, row.currentStepId);
  return step ? { id: step.id, name: step.name, type: step.type } : null;
}

async function pinnedStep(sql: Sql, versionId: string, stepId: string): Promise<GraphStep | undefined> {
  const version = await pinnedVersion(sql, versionId);
  return version ? stepOf(version.graph, stepId) : undefined;
}

/** The whole story of a run: where it is, since when, what it waits for, and every step it took. @throws 404 */
export async function getExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
  linkTo: (workflowId: string) => string,
): Promise<ExecutionStory> {
  return db.transaction(async (sql) => {
    const automation = found(await findAutomation(sql, projectId, automationId), automationId);
    const run = await findRun(sql, projectId, automationId, id);
    if (run === null) throw notFound('execution', id);
    const version = await pinnedVersion(sql, run.versionId);
    const next = run.nextVersionId === null ? null : await pinnedVersion(sql, run.nextVersionId);
    const live = await stepsOf(sql, automationId);
    const nameOf = new Map(live.map((step) => [step.id, step.name]));
    const steps = await stepRunsOf(sql, id);
    const active = run.status === 'RUNNING' || run.status === 'WAITING';
    const execution = workflowId.automation(run.automationId, run.contactId, run.entry);
    const standing = active ? steps.findLast((step) => step.completedAt === null) : undefined;
    return {
      ...executionBody(run),
      workflow: workflowBody(automation),
      contact: { id: run.contactId, email: run.email },
      currentStep: wholeStep(
        run,
        live.find((step) => step.id === run.currentStepId),
        version,
      ),
      stepExecutions: steps.map((step) => stepExecutionBody(step, nameOf.get(step.stepId))),
      waitingFor: active ? whatFor(standing) : null,
      waitingUntil: active ? isoInstantOrNull(standing?.scheduledFor ?? standing?.executeAfter ?? null) : null,
      waitingSince: active ? isoInstant(standing?.startedAt ?? run.updatedAt) : null,
      version: version?.version ?? 0,
      nextVersion: next?.version ?? null,
      temporal: { workflowId: execution, url: linkTo(execution) },
    };
  });
}

function whatFor(step: StepRunRow | undefined): string {
  if (step?.status === 'SCHEDULED') return 'timer';
  if (step?.status === 'WAITING') return step.outcome === null ? `event ${step.eventName}` : 'a worker';
  return step?.stepType === 'WEBHOOK' ? 'an answer to its webhook' : 'a worker';
}

function wholeStep(
  run: RunRow,
  live: Parameters<typeof stepBody>[0] | undefined,
  version: PinnedVersion | null,
): StepBody | null {
  if (run.currentStepId === null) return null;
  if (live) return stepBody(live);
  const pinned = version ? stepOf(version.graph, run.currentStepId) : undefined;
  if (!pinned) return null;
  const { createdAt, updatedAt } = run;
  return stepBody({ ...pinned, automationId: run.automationId, position: { x: 0, y: 0 }, createdAt, updatedAt });
}

function stepExecutionBody(row: StepRunRow & { durationMs: number }, liveName: string | undefined): StepExecutionBody {
  return {
    id: row.id,
    executionId: row.runId,
    stepId: row.stepId,
    status: row.status,
    scheduledFor: isoInstantOrNull(row.scheduledFor),
    executeAfter: isoInstantOrNull(row.executeAfter),
    input: row.input,
    output: row.output,
    error: row.error,
    startedAt: isoInstant(row.startedAt),
    completedAt: isoInstantOrNull(row.completedAt),
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
    durationMs: Math.max(0, Math.round(row.durationMs)),
    step: { id: row.stepId, name: liveName ?? row.stepName, type: row.stepType },
  };
}

/** Ends a run; one that is over stays as it is. @throws 404 */
export async function cancelExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<Changed<ExecutionBody>> {
  return db.transaction(async (sql) => {
    found(await findAutomation(sql, projectId, automationId), automationId);
    const before = await findRun(sql, projectId, automationId, id);
    if (before === null) throw notFound('execution', id);
    const cancelled = await cancelRuns(sql, automationId, 'Cancelled by user', id);
    const after = await findRun(sql, projectId, automationId, id);
    if (after === null) throw notFound('execution', id);
    const execution: OutboxTicket = { workflowId: workflowId.automation(automationId, after.contactId, after.entry) };
    return { body: executionBody(after), tickets: cancelled > 0 ? [execution] : [] };
  });
}

/** Ends every active run of an automation by one statement; the outbox cancels their executions at its pace. @throws 404 */
export async function cancelExecutions(
  db: Database,
  projectId: string,
  automationId: string,
): Promise<{ cancelled: number }> {
  return db.transaction(async (sql) => {
    found(await findAutomation(sql, projectId, automationId), automationId);
    return { cancelled: await cancelRuns(sql, automationId, 'Cancelled by user (bulk cancel)') };
  });
}

/** Path counts by automation; see `PathCountCache`. */
const pathCounts = new PathCountCache(performance.now.bind(performance));

/** Who is where now, and how often each way was taken. @throws 404 */
export async function countInside(sql: Sql, projectId: string, automationId: string): Promise<WorkflowPeople> {
  found(await findAutomation(sql, projectId, automationId), automationId);
  const [counts, live] = [await countPeople(sql, automationId), await stepsOf(sql, automationId)];
  const taken = await pathCounts.get(automationId, () => countPaths(sql, automationId));
  const ids = [...new Set([...live.map(({ id }) => id), ...counts.flatMap(({ stepId }) => stepId ?? [])])];
  const sum = (which: PeopleCount['what']) =>
    counts.filter(({ what }) => what === which).reduce((total, { count }) => total + count, 0);
  return {
    active: sum('people'),
    arriving: sum('arriving'),
    steps: ids.map((stepId) => {
      const step = live.find(({ id }) => id === stepId);
      const own = counts.filter((one) => one.stepId === stepId);
      const of = (status: string) => own.find(({ what, kind }) => what === 'people' && kind === status)?.count ?? 0;
      return {
        stepId,
        name: step?.name ?? null,
        type: step?.type ?? null,
        running: of('RUNNING'),
        waiting: of('WAITING'),
        branches: taken.filter((path) => path.stepId === stepId).map(({ branch, count }) => ({ branch, count })),
      };
    }),
  };
}
