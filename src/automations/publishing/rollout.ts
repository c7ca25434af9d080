import type { TellMembers } from '../../accounts/system-mail/service.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { Automation, AutomationRollout } from '../entity.ts';
import { restoreDraft } from '../graph/drafts.ts';
import { hundredths } from '../graph/step-configs.ts';
import { findAutomation, found, lockAutomation } from '../queries.ts';
import { type AutomationRow, checkRevision, type Edited, type EditTarget, keepLimits, keepSenders } from '../rows.ts';
import { goalsOfVersions } from '../runtime/goals.ts';
import type { PatchRollout, RolloutBody, RolloutOptions, VersionCounts, WorkflowWithGraph } from '../schema.ts';
import { workflowWithGraph } from '../service.ts';
import {
  endOf,
  ensureVersion,
  latestRollout,
  leastEntered,
  pinnedVersion,
  rolloutBody,
  runningRollout,
} from '../versions.ts';
import type { RolloutReport } from './schema.ts';

/** The parts that watching rollouts needs. */
interface RolloutDeps {
  db: Database;
  tell: TellMembers;
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/**
 * Checks that a graph can be rolled out, before anything is written; the automation is locked, or nothing will be written.
 * @throws 409 for a disabled automation and while another version is rolled out; 422 for a plan that also migrates contacts, and a graph without changes
 */
export async function checkRollout(
  tx: Database,
  { id, enabled }: AutomationRow,
  { migrates, isChanged }: { migrates: boolean; isChanged: boolean },
): Promise<void> {
  if (!enabled) throw conflict('Nobody enters a disabled workflow: enable it before you roll out a version');
  if ((await runningRollout(tx, id)) !== null)
    throw conflict(
      'A version of this workflow is being rolled out: change its share with PATCH /workflows/{id}/rollout, or end it first',
    );
  if (migrates) throw invalidField('migrate', 'must be absent while a version is rolled out', 'custom');
  if (!isChanged) throw invalidField('rollout', 'needs a graph that differs from the published one', 'custom');
}

/** Begins the rollout of the graph that the caller has just written; `before` is the version that new contacts got until now. */
export async function beginRollout(
  tx: Database,
  automationId: string,
  before: string,
  { percent, stopIf, days }: RolloutOptions,
): Promise<void> {
  const versionId = await ensureVersion(tx, automationId);
  if (versionId === null) throw notFound('workflow', automationId);
  const versions = { versionId, beforeVersionId: before };
  const options = { share: hundredths({ percent }), stopIf: limitsOf(stopIf), days };
  tx.em.create(AutomationRollout, { automationId, ...versions, ...options });
  await tx.em.flush();
}

function limitsOf({ failureRate = null, unsubscribeRate = null }: RolloutOptions['stopIf']): RolloutBody['stopIf'] {
  return { failureRate, unsubscribeRate };
}

type Ending = Exclude<AutomationRollout['state'], 'RUNNING'>;

/** Ends a rollout that is under way, and keeps what both versions have come to; false where somebody else has ended it. */
export async function closeRollout(
  tx: Database,
  rollout: AutomationRollout,
  state: Ending,
  stopped: RolloutBody['stopped'] = null,
): Promise<boolean> {
  const now = new Date();
  const ended = { state, stopped, counts: await countsOf(tx, rollout), endedAt: now, updatedAt: now };
  return (await tx.em.nativeUpdate(AutomationRollout, { id: rollout.id, state: 'RUNNING' }, ended)) > 0;
}

/**
 * Ends the rollout of a workflow: all new contacts get the new version, or the previous one, which the draft then is again. Whoever is inside stays in
 * the version they entered.
 * @throws 404, 409 where none is under way, 412 where the editor has seen another revision
 */
export function endRollout(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  state: 'FINISHED' | 'BACK',
): Promise<Edited<WorkflowWithGraph>> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
    const rollout = await runningRollout(tx, id);
    if (rollout === null) throw noRollout();
    // The rollout ends after this edit, so that a later one is known by its time.
    if (state === 'BACK') await restoreDraft(tx, automation, rollout.beforeVersionId, userId);
    if (!(await closeRollout(tx, rollout, state))) throw noRollout();
    await keepSenders(tx, id);
    const body = await workflowWithGraph(tx, found(await findAutomation(tx, projectId, id), id));
    const action = state === 'BACK' ? 'workflow.rollout_taken_back' : 'workflow.rollout_finished';
    await recordChange(tx, projectId, { action, target: id, after: { version: body.rollout?.version } });
    return { body, revision: body.revision };
  });
}

function noRollout() {
  return conflict('No version of this workflow is being rolled out');
}

/** Changes the share, limits or length of the rollout that is under way. @throws 404, 409 where there is none */
export function changeRollout(
  db: Database,
  projectId: string,
  automationId: string,
  { percent, stopIf, days }: PatchRollout,
): Promise<RolloutBody> {
  return db.transaction(async (tx) => {
    found(await lockAutomation(tx, projectId, automationId), automationId);
    await keepLimits(tx, automationId);
    await keepSenders(tx, automationId);
    const before = await runningRollout(tx, automationId);
    const change = {
      ...(percent === undefined ? {} : { share: hundredths({ percent }) }),
      ...(stopIf === undefined ? {} : { stopIf: limitsOf(stopIf) }),
      ...(days === undefined ? {} : { days }),
    };
    const running = { automationId, state: 'RUNNING' } as const;
    const changed = await tx.em.nativeUpdate(AutomationRollout, running, { ...change, updatedAt: new Date() });
    const after = await runningRollout(tx, automationId);
    if (changed === 0 || before === null || after === null) throw noRollout();
    const settings = ({ share, stopIf: limits, days: length }: AutomationRollout) => {
      return { percent: share / 100, stopIf: limits, days: length };
    };
    await recordChange(tx, projectId, {
      action: 'workflow.rollout_changed',
      target: automationId,
      before: settings(before),
      after: settings(after),
    });
    return rolloutBody(tx, after);
  });
}

/** The latest rollout of a workflow, with what became of the contacts of both versions. @throws 404, also without one */
export async function reportRollout(db: Database, projectId: string, automationId: string): Promise<RolloutReport> {
  found(await findAutomation(db, projectId, automationId), automationId);
  const rollout = await latestRollout(db, automationId);
  if (rollout === null) throw notFound('rollout', automationId);
  const counts = rollout.counts ?? (await countsOf(db, rollout));
  const { versionId, beforeVersionId, createdAt: since, endedAt } = rollout;
  const goals = await goalsOfVersions(db, automationId, [versionId, beforeVersionId], {
    since,
    until: endedAt ?? null,
  });
  return {
    ...(await rolloutBody(db, rollout)),
    versions: counts.map((one) => ({
      ...one,
      completedRate: rate(one.completed, one.entered),
      exitedRate: rate(one.exited, one.entered),
      failureRate: rate(one.failed, one.entered),
      unsubscribeRate: rate(one.unsubscribed, one.entered),
      goal: goals.get(one.version) ?? null,
    })),
  };
}

function rate(count: number, of: number): number | null {
  return of === 0 ? null : Math.round((count * 10_000) / of) / 100;
}

/** What became of the contacts who entered since a rollout began, by version. Whoever leaves has the mail that they left by among their event's facts. */
async function countsOf(
  db: Database,
  { automationId, versionId, beforeVersionId, createdAt }: AutomationRollout,
): Promise<VersionCounts[]> {
  const counts = await db.rows<Omit<VersionCounts, 'version' | 'isNew'> & { versionId: string }>(sql`
    with entrants as materialized (
      select r.id, r.project_id, r.version_id, r.contact_id, r.status from automation_runs r
      where r.automation_id = ${automationId} and r.started_at >= ${createdAt.toISOString()}::timestamptz
        and r.version_id in (${versionId}, ${beforeVersionId})),
    gone as (
      select x.version_id, count(distinct x.contact_id)::int as unsubscribed
      from events ev join emails e on e.id = ev.email_id join entrants x on x.id = e.workflow_execution_id
      where ev.project_id = (select project_id from entrants limit 1) and ev.name = 'contact.unsubscribed'
        and ev.created_at >= ${createdAt.toISOString()}::timestamptz and ev.data ->> 'reason' is null
      group by 1)
    select x.version_id as "versionId", count(*)::int as entered,
      count(*) filter (where x.status in ('RUNNING', 'WAITING'))::int as active,
      count(*) filter (where x.status = 'COMPLETED')::int as completed, count(*) filter (where x.status = 'EXITED')::int as exited,
      count(*) filter (where x.status = 'FAILED')::int as failed, count(*) filter (where x.status = 'CANCELLED')::int as cancelled,
      coalesce(max(gone.unsubscribed), 0)::int as unsubscribed
    from entrants x left join gone on gone.version_id = x.version_id group by 1`);
  const none = { entered: 0, active: 0, completed: 0, exited: 0, failed: 0, cancelled: 0, unsubscribed: 0 };
  return Promise.all(
    [versionId, beforeVersionId].map(async (id) => {
      const { versionId: _, ...found } = counts.find((one) => one.versionId === id) ?? { ...none, versionId: id };
      return { version: (await pinnedVersion(db, id))?.version ?? 0, isNew: id === versionId, ...found };
    }),
  );
}

const limits = [
  ['failureRate', 'failed'],
  ['unsubscribeRate', 'unsubscribed'],
] as const;

/**
 * Decides what becomes of a rollout. A limit is broken above it, not at it, and counts once enough contacts have entered. At the end of its days it goes
 * on to all, but not before its limits could count, nor while nobody can enter (`isHeld`).
 */
export function decideRollout(
  counts: Pick<VersionCounts, 'entered' | 'failed' | 'unsubscribed'>,
  stopIf: RolloutBody['stopIf'],
  { isOver, isHeld }: { isOver: boolean; isHeld: boolean },
): 'wait' | 'finish' | NonNullable<RolloutBody['stopped']> {
  const isKnown = counts.entered >= leastEntered;
  for (const [limit, kind] of limits) {
    const percent = stopIf[limit];
    // In hundredths of a percent, for 0.29 × 100 is not 29.
    if (isKnown && percent !== null && counts[kind] * 10_000 > hundredths({ percent }) * counts.entered)
      return { limit, count: counts[kind], of: counts.entered, percent };
  }
  const hasLimits = limits.some(([limit]) => stopIf[limit] !== null);
  return isOver && !isHeld && (isKnown || !hasLimits) ? 'finish' : 'wait';
}

const rolloutsPerPage = 200;

/**
 * Moves every rollout on that is over or has broken a limit; a stopped one tells the members. Answers how many. Safe to repeat and to run side by side,
 * for the workflow's row is locked meanwhile; one that fails leaves the others as they are, and is thrown at the end.
 */
export async function checkRollouts(deps: RolloutDeps): Promise<number> {
  const { db } = deps;
  const failures: unknown[] = [];
  let moved = 0;
  for (let after = leastId; ; ) {
    const page = await db.em.find(
      AutomationRollout,
      { state: 'RUNNING', id: { $gt: after } },
      { orderBy: { id: 'asc' }, limit: rolloutsPerPage, fields: ['automationId'], disableIdentityMap: true },
    );
    for (const { id, automationId } of page) {
      after = id;
      try {
        if (await checkOne(deps, automationId)) moved += 1;
      } catch (error) {
        failures.push(error);
      }
    }
    if (page.length < rolloutsPerPage) break;
  }
  if (failures.length > 0) throw failures[0];
  return moved;
}

async function checkOne({ db, tell, dispatchSoon }: RolloutDeps, automationId: string): Promise<boolean> {
  const notices = await db.transaction(async (tx) => {
    const known = await tx.em.findOne(
      Automation,
      { id: automationId },
      { fields: ['projectId'], disableIdentityMap: true },
    );
    const automation = known && (await lockAutomation(tx, known.projectId, automationId));
    const rollout = automation && (await runningRollout(tx, automationId));
    if (!automation || !rollout) return null;
    const [counts] = await countsOf(tx, rollout);
    const isOver = endOf(rollout) <= new Date();
    const isHeld = !automation.enabled || automation.pausedAt !== null;
    const decision = counts === undefined ? 'wait' : decideRollout(counts, rollout.stopIf, { isOver, isHeld });
    if (decision === 'wait') return null;
    const { projectId, name } = automation;
    const version = counts?.version;
    if (decision === 'finish') {
      if (!(await closeRollout(tx, rollout, 'FINISHED'))) return null;
      await recordChange(tx, projectId, {
        action: 'workflow.rollout_finished',
        target: automationId,
        after: { version },
      });
      return [];
    }
    await restoreDraft(tx, automation, rollout.beforeVersionId, null);
    if (!(await closeRollout(tx, rollout, 'STOPPED', decision))) throw noRollout();
    const tickets = await tell(tx, {
      projectId,
      kind: 'rollout-stopped',
      path: `/app/${projectId}/workflows/${automationId}`,
      values: { workflow: name, version: String(version), reason: stopSentence(decision) },
      dedupeKey: `rollout-stopped:${rollout.id}`,
    });
    const after = { version, ...decision };
    await recordChange(tx, projectId, { action: 'workflow.rollout_stopped', target: automationId, after });
    return tickets;
  });
  if (notices === null) return false;
  dispatchSoon(...notices);
  return true;
}

/** Says which limit was broken, without a full stop. */
function stopSentence({ limit, count, of, percent }: NonNullable<RolloutBody['stopped']>): string {
  const what = limit === 'failureRate' ? 'executions failed' : 'contacts unsubscribed';
  return `${count} of ${of} ${what} (${rate(count, of)}%), and the limit is ${percent}%`;
}
