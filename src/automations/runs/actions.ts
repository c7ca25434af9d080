import { workflowId } from '../../../temporal/commands.ts';
import { badRequest, notFound } from '../../lib/errors.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { Project } from '../../projects/queries.ts';
import { enqueueAll, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, limitingKey, sql } from '../../store/sql.ts';
import { launchRun, lockContacts, lockEntries } from '../enrollment/starting.ts';
import type { Changed } from '../list-service.ts';
import { findAutomation, found } from '../queries.ts';
import { countingRuns, executionBody, isActive, keepSenders, type RunRow, runColumns } from '../rows.ts';
import { ensureVersion, pinnedVersion } from '../versions.ts';
import { cancelRuns, findRun } from './queries.ts';
import type { ExecutionBody, RetriedExecutions } from './schema.ts';

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
    const cancelled = await cancelRuns(tx, { runId: id, isExecutionCancelled: false }, 'Cancelled by user');
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
    return { cancelled: await cancelRuns(tx, { automationId }, 'Cancelled by user (bulk cancel)') };
  });
}

/** Ends a run whose execution was cancelled in the Web UI of Temporal; one that is over stays as it is. */
export async function cancelByOperator(db: Database, runId: string): Promise<void> {
  await db.transaction((tx) => cancelRuns(tx, { runId, isExecutionCancelled: true }, 'Cancelled by operator'));
}

/** Most runs that one request retries. */
const mostRetries = 1_000;

interface Scope {
  projectId: string;
  automationId: string;
  /** Null for all that failed. */
  ids: readonly string[] | null;
  /** A key with limits retries only what keeps them; null for everything. */
  limitedBy: string | null;
}

/**
 * Lets failed runs go on with the step that failed, in the current version where that has the step. Of each contact the latest
 * failed run counts, and none where the contact is in the automation again. The latest come first.
 * @throws 404; 400 while the automation is disabled
 */
export async function retryExecutions(
  db: Database,
  projectId: string,
  automationId: string,
  ids: readonly string[] | null,
): Promise<{ body: RetriedExecutions; tickets: OutboxTicket[] }> {
  return db.transaction(async (tx) => {
    const automation = found(await findAutomation(tx, projectId, automationId), automationId);
    if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you retry executions');
    await keepSenders(tx, automationId);
    const scope = { projectId, automationId, ids, limitedBy: limitingKey(tx) };
    const contacts = await lockRetryable(tx, scope);
    const runs = await restartRuns(tx, scope, contacts.slice(0, mostRetries));
    const project = await tx.em.findOneOrFail(Project, { id: projectId }, { fields: ['name'] });
    const tickets = await enqueueAll(
      tx,
      runs.map(({ seq, version, ...run }) =>
        launchRun(run, { name: automation.name, project: project.name, version }, `retry-${seq}`),
      ),
    );
    const retried = runs.length;
    if (retried > 0)
      await recordChange(tx, projectId, { action: 'workflow.retried', target: automationId, after: { retried } });
    const asked = ids === null ? Math.min(contacts.length, mostRetries) : new Set(ids).size;
    return { body: { retried, skipped: asked - retried, more: contacts.length > mostRetries }, tickets };
  });
}

const retryable = ({ projectId, automationId, ids, limitedBy }: Scope) => sql`
  r.project_id = ${projectId} and r.automation_id = ${automationId} and r.status = 'FAILED' and not (r.${isActive})
    and (${ids}::uuid[] is null or r.id = any(${ids}::uuid[]))
    and (${limitedBy}::uuid is null or r.limited_by @> array[${limitedBy}::uuid])
    and not exists (
      select from automation_runs a
      where a.automation_id = r.automation_id and a.contact_id = r.contact_id and a.${isActive})`;

/** Locks the contacts of runs that can be retried, and their entries, as a start does, so that none of them enters meanwhile. */
async function lockRetryable(tx: Database, scope: Scope): Promise<string[]> {
  const latest = await tx.rows<{ id: string }>(sql`
    select contact_id as id from automation_runs r where ${retryable(scope)}
    group by contact_id order by max(started_at) desc limit ${mostRetries + 1}`);
  const ids = latest.map(({ id }) => id);
  await lockContacts(tx, scope.projectId, ids);
  await lockEntries(tx, scope.automationId, ids);
  return ids;
}

type Restarted = RunRow & { seq: number; version: number };

async function restartRuns(tx: Database, scope: Scope, contacts: readonly string[]): Promise<Restarted[]> {
  if (contacts.length === 0) return [];
  const versionId = await ensureVersion(tx, scope.automationId);
  const current = versionId === null ? null : await pinnedVersion(tx, versionId);
  const steps = current?.graph.steps.map(({ id }) => id) ?? [];
  return tx.rows<Restarted>(sql`
    with latest as (
      select distinct on (r.contact_id) r.id from automation_runs r
      where ${retryable(scope)} and r.contact_id = any(${contacts}::uuid[]) order by r.contact_id, r.entry desc),
    locked as materialized (
      select r.id, r.project_id, r.completed_at from automation_runs r join latest using (id) order by r.id for update of r),
    begun as (
      update automation_runs r set status = 'RUNNING', exit_reason = null, completed_at = null, due_at = now(),
        updated_at = now(), next_version_id = null,
        version_id = case when r.current_step_id = any(${steps}::uuid[]) then ${versionId}::uuid else r.version_id end
      from locked where r.id = locked.id and r.status = 'FAILED'
      returning ${runColumns}, r.seq),
    reopened as (select locked.* from locked join begun using (id)),
    counted as (${countingRuns('reopened', 'reopened')})
    select begun.*, v.version from begun join automation_versions v on v.id = begun."versionId" order by begun.id`);
}
