import { workflowId } from '../../../temporal/commands.ts';
import { badRequest, invalidField, notFound } from '../../lib/errors.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { Project } from '../../projects/queries.ts';
import { isoText } from '../../store/columns.ts';
import { enqueueAll, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, limitingKey, raw, repeatable, sql } from '../../store/sql.ts';
import { launchRun, lockContacts, lockEntries } from '../enrollment/starting.ts';
import type { Changed } from '../list-service.ts';
import { stepsOfVersions } from '../migrating/queries.ts';
import { findAutomation, found } from '../queries.ts';
import { countingRuns, executionBody, isActive, keepSenders, type RunRow, runColumns } from '../rows.ts';
import { draftGraph, ensureVersion, pinnedVersion, runningRollout } from '../versions.ts';
import { cancelRuns, findRun } from './queries.ts';
import type { ExecutionBody, RetriedExecutions, RetryExecutions, RetryPreview } from './schema.ts';

// The runs of a contact in several workflows may be held by what happens to it. That waits for a run which a cancellation holds, which waits for
// another contact: so they may wait for each other, whatever order each keeps, and one of the transactions is repeated.

/** Ends a run; one that is over stays as it is. @throws 404 */
export async function cancelExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<Changed<ExecutionBody>> {
  return repeatable(db, async (tx) => {
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
  return repeatable(db, async (tx) => {
    found(await findAutomation(tx, projectId, automationId), automationId);
    return { cancelled: await cancelRuns(tx, { automationId }, 'Cancelled by user (bulk cancel)') };
  });
}

/** Ends a run whose execution was cancelled in the Web UI of Temporal; one that is over stays as it is. */
export async function cancelByOperator(db: Database, runId: string): Promise<void> {
  await repeatable(db, (tx) => cancelRuns(tx, { runId, isExecutionCancelled: true }, 'Cancelled by operator'));
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
  where: NonNullable<RetryExecutions['where']>;
  /** The step to resume at; null for the one that failed. */
  from: string | null;
  /** The version that runs take over, and its steps; without steps all stay with their own. */
  versionId: string | null;
  steps: readonly string[];
}

/**
 * Lets failed runs go on with the step that failed, or another one, in the current version where that has the step. Of each contact the
 * latest failed run counts, and none where the contact is in the automation again. The latest come first. A dry run counts them only.
 * @throws 404; 400 while the automation is disabled; 422 for a step that no version has
 */
export async function retryExecutions(
  db: Database,
  projectId: string,
  automationId: string,
  asked: RetryExecutions,
): Promise<{ body: RetriedExecutions | RetryPreview; tickets: OutboxTicket[] }> {
  return repeatable(db, async (tx) => {
    const automation = found(await findAutomation(tx, projectId, automationId), automationId);
    if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you retry executions');
    await keepSenders(tx, automationId);
    const scope = await scopeOf(tx, projectId, automationId, asked);
    if (asked.dryRun) return { body: await previewOf(tx, scope), tickets: [] };
    const contacts = await lockRetryable(tx, scope);
    const runs = await restartRuns(tx, scope, contacts.slice(0, mostRetries), passesSent(asked));
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
    const { ids } = scope;
    const expected = ids === null ? Math.min(contacts.length, mostRetries) : new Set(ids).size;
    return { body: { retried, skipped: expected - retried, more: contacts.length > mostRetries }, tickets };
  });
}

async function scopeOf(
  tx: Database,
  projectId: string,
  automationId: string,
  { executionIds, where = {}, from = 'failedStep', version = 'newest', dryRun = false }: RetryExecutions,
): Promise<Scope> {
  // A dry run writes no version of the graph, and needs its steps only.
  // A contact to whom a version is not rolled out does not get it by a retry.
  const isOwn = version === 'own' || (await runningRollout(tx, automationId)) !== null;
  const versionId = isOwn || dryRun ? null : await ensureVersion(tx, automationId);
  const pinned = versionId === null ? null : await pinnedVersion(tx, versionId);
  const graph = !isOwn && dryRun ? await draftGraph(tx, automationId) : pinned?.graph;
  const steps = graph?.steps.map(({ id }) => id) ?? [];
  const step = from === 'failedStep' ? null : from;
  if (step !== null && !steps.includes(step)) {
    const known = await stepsOfVersions(tx, automationId);
    if (!known.some(({ id }) => id === step))
      throw invalidField('from', 'has never been a step of the workflow', 'custom');
  }
  const asked = { ids: executionIds ?? null, limitedBy: limitingKey(tx), where, from: step };
  return { projectId, automationId, ...asked, versionId, steps };
}

/**
 * Whether mail of before the retry counts as sent. A request that names nothing but executions leaves the runs as they are: from the step that
 * failed on they have sent nothing, unless a migration takes them back.
 */
function passesSent({ where, from, version, sendAgain }: RetryExecutions): boolean | null {
  if (sendAgain !== undefined) return !sendAgain;
  return where === undefined && from === undefined && version === undefined ? null : true;
}

/** The condition on failed runs of a retry, of which some cannot resume. */
const failedRuns = ({ projectId, automationId, ids, limitedBy, where }: Scope) => {
  const { stepId = null, since = null, before = null, errorContains = null } = where;
  return sql`
  r.project_id = ${projectId} and r.automation_id = ${automationId} and r.status = 'FAILED' and not (r.${isActive})
    and (${ids}::uuid[] is null or r.id = any(${ids}::uuid[]))
    and (${limitedBy}::uuid is null or r.limited_by @> array[${limitedBy}::uuid])
    and (${stepId}::uuid is null or r.current_step_id = ${stepId}::uuid)
    and (${since}::timestamptz is null or r.completed_at >= ${since}::timestamptz)
    and (${before}::timestamptz is null or r.completed_at < ${before}::timestamptz)
    and (${errorContains}::text is null or strpos(lower(r.exit_reason), lower(${errorContains}::text)) > 0)`;
};

/** The condition on those that neither their contact nor their version keeps from resuming. */
const canResume = ({ from, steps }: Scope) => sql`
  (not exists (
    select from automation_runs a where a.automation_id = r.automation_id and a.contact_id = r.contact_id and a.${isActive})
  and (${from}::uuid is null or ${from}::uuid = any(${steps}::uuid[]) or exists (
    select from automation_versions v
    where v.id = r.version_id and v.graph -> 'steps' @> jsonb_build_array(jsonb_build_object('id', ${from}::uuid)))))`;

interface FailedRuns {
  readAt: string;
  stepId: string | null;
  isTotal: boolean;
  failed: number;
  contacts: number;
  since: string;
  error: string | null;
}

/** Counts what a retry would do, by the step that failed. */
async function previewOf(tx: Database, scope: Scope): Promise<RetryPreview> {
  // One row has no step: all of them together, since a contact may have failed at several.
  const counts = await tx.rows<FailedRuns>(sql`
    select ${raw(isoText('now()'))} as "readAt", f.current_step_id as "stepId", grouping(f.current_step_id) = 1 as "isTotal", count(*)::int as failed,
      count(distinct f.contact_id) filter (where f.resumes)::int as contacts,
      ${raw(isoText('min(f.completed_at) filter (where f.resumes)'))} as since,
      (array_agg(f.exit_reason order by f.completed_at desc) filter (where f.resumes))[1] as error
    from (
      select r.current_step_id, r.contact_id, r.completed_at, r.exit_reason, ${canResume(scope)} as resumes
      from automation_runs r where ${failedRuns(scope)}) f
    group by rollup (f.current_step_id)`);
  const total = counts.find(({ isTotal }) => isTotal);
  if (total === undefined) throw new Error('Postgres did not answer');
  const { contacts: retried, failed, readAt } = total;
  const nameOf = new Map((await stepsOfVersions(tx, scope.automationId)).map(({ id, name }) => [id, name]));
  const steps = counts
    .filter(({ isTotal, contacts }) => !isTotal && contacts > 0)
    .sort((one, other) => other.contacts - one.contacts)
    .map(({ stepId, contacts, since, error }) => ({
      ...{ stepId, stepName: nameOf.get(stepId ?? '') ?? null },
      ...{ executions: contacts, failedSince: since, lastError: error },
    }));
  return { dryRun: true, retried, skipped: failed - retried, more: false, readAt, steps };
}

/** Locks the contacts of runs that can be retried, and their entries, as a start does, so that none of them enters meanwhile. */
async function lockRetryable(tx: Database, scope: Scope): Promise<string[]> {
  const latest = await tx.rows<{ id: string }>(sql`
    select contact_id as id from automation_runs r where ${failedRuns(scope)} and ${canResume(scope)}
    group by contact_id order by max(started_at) desc limit ${mostRetries + 1}`);
  const ids = latest.map(({ id }) => id);
  await lockContacts(tx, scope.projectId, ids);
  await lockEntries(tx, scope.automationId, ids);
  return ids;
}

type Restarted = RunRow & { seq: number; version: number };

async function restartRuns(
  tx: Database,
  scope: Scope,
  contacts: readonly string[],
  passes: boolean | null,
): Promise<Restarted[]> {
  if (contacts.length === 0) return [];
  const { from, steps, versionId } = scope;
  return tx.rows<Restarted>(sql`
    with latest as (
      select distinct on (r.contact_id) r.id from automation_runs r
      where ${failedRuns(scope)} and ${canResume(scope)} and r.contact_id = any(${contacts}::uuid[]) order by r.contact_id, r.entry desc),
    locked as materialized (
      select r.id, r.project_id, r.completed_at, coalesce(${from}::uuid, r.current_step_id) as step_id
      from automation_runs r join latest using (id) order by r.id for update of r),
    begun as (
      update automation_runs r set status = 'RUNNING', exit_reason = null, completed_at = null, due_at = now(),
        updated_at = now(), next_version_id = null, current_step_id = locked.step_id,
        version_id = case when locked.step_id = any(${steps}::uuid[]) then ${versionId}::uuid else r.version_id end,
        sent_before = case ${passes}::boolean when true then r.seq when false then null else r.sent_before end
      from locked where r.id = locked.id and r.status = 'FAILED'
      returning ${runColumns}, r.seq),
    reopened as (select locked.* from locked join begun using (id)),
    counted as (${countingRuns('reopened', 'reopened')})
    select begun.*, v.version from begun join automation_versions v on v.id = begun."versionId" order by begun.id`);
}
