import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import type { McpSettings, ScopedKey } from '../../http/context.ts';
import { changedFields, type ReviewFacts } from '../../launches/review/findings.ts';
import { AppError, conflict, forbidden, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { sha256 } from '../../lib/seal.ts';
import { ApiKey } from '../../projects/api-key-service.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns, lockName } from '../../store/columns.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { WaitingPlan } from './facts.ts';
import type { PlannedAction } from './tool.ts';

const p = defineEntity.properties;

/** A plan of a language model; see `PlannedAction`. `facts` are what its sentence stands for, `result` is set once it was carried out. */
export const McpPlan = defineEntity({
  name: 'McpPlan',
  tableName: 'mcp_plans',
  properties: {
    id: baseColumns.id,
    projectId: ofProject(),
    keyId: p.uuid(),
    action: p.text().$type<PlannedAction['action']>(),
    operation: p.text().$type<PlannedAction['operation']>(),
    input: p.json<PlannedAction['input']>(),
    sentence: p.text(),
    affects: p.integer(),
    samples: p.array(),
    contentHash: p.blob().nullable(),
    facts: p.json<ReviewFacts>().nullable(),
    again: p.boolean(),
    needsApproval: p.boolean(),
    approvedAt: p.datetime(3).nullable(),
    approvedBy: p.uuid().nullable(),
    refusedAt: p.datetime(3).nullable(),
    refusedBy: p.uuid().nullable(),
    committedAt: p.datetime(3).nullable(),
    result: p.json<object>().nullable(),
    expiresAt: p.datetime(3),
    createdAt: baseColumns.createdAt,
  },
  indexes: [
    { name: 'mcp_plans_content', properties: ['projectId', 'contentHash', 'committedAt'] },
    {
      name: 'mcp_plans_open',
      properties: ['keyId', 'expiresAt'],
      where: 'committed_at IS NULL AND refused_at IS NULL',
    },
    { name: 'mcp_plans_project', properties: ['projectId', 'createdAt'] },
  ],
});
type McpPlan = InferEntity<typeof McpPlan>;

/** The project and the key that plans belong to. */
export interface PlanOwner {
  projectId: string;
  key: ScopedKey & { mcp: McpSettings };
  /** Page where a member approves its plans. */
  approvalUrl: string;
}

const mostOpen = 100;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Keeps a plan for ten minutes, or for a day where a member has to approve it. `rehearse` tries its operation without keeping anything,
 * so that what would be refused is refused now, and returns what the sentence stands for. What the same key committed with the same
 * content within an hour is returned in its place, unless it is wanted again.
 * @throws 403 for more contacts than the key reaches; 409 TOO_MANY_PLANS with 100 open ones; the refusal of the operation
 */
export async function keepPlan(
  db: Database,
  owner: PlanOwner,
  planned: PlannedAction,
  rehearse: () => Promise<ReviewFacts>,
): Promise<object> {
  const { projectId, key } = owner;
  const { action, operation, input, sentence, affects, samples, again } = planned;
  const contentHash = planned.content === null ? null : sha256(`${projectId} ${key.id} ${action} ${planned.content}`);
  const earlier = again ? null : await doneWithin(db, projectId, contentHash, null);
  if (earlier !== null)
    return {
      ...earlier,
      alreadyDone: true,
      hint: 'This was already done within the last hour. Set "again" to repeat it.',
    };
  const { mostRecipients, needsHuman } = key.mcp;
  const isLarge = affects > mostRecipients;
  if (isLarge && needsHuman === 'never')
    throw forbidden(`This key reaches at most ${mostRecipients} contacts at once, and this would reach ${affects}`);
  const needsApproval = needsHuman === 'always' || isLarge;
  const facts = await rehearse();
  const id = newId();
  const expiresAt = new Date(Date.now() + (needsApproval ? 24 * hourMs : 10 * minuteMs));
  await db.transaction(async (tx) => {
    await refuseOneMore(tx, key.id);
    tx.em.create(McpPlan, {
      id,
      projectId,
      keyId: key.id,
      ...{ action, operation, input, sentence, affects, samples: [...samples], contentHash, facts, again },
      needsApproval,
      expiresAt,
    });
  });
  const plan = { planId: id, sentence, affects, samples, expiresAt: expiresAt.toISOString(), needsApproval };
  return needsApproval ? { ...plan, approvalUrl: owner.approvalUrl } : plan;
}

async function refuseOneMore(tx: Database, keyId: string): Promise<void> {
  // Two plans at once must not both see room for one more.
  await lockName(tx, `plans ${keyId}`);
  const open = { committedAt: null, refusedAt: null, expiresAt: { $gt: new Date() } };
  if ((await tx.em.count(McpPlan, { keyId, ...open })) >= mostOpen)
    throw new AppError(
      409,
      'TOO_MANY_PLANS',
      `This key has ${mostOpen} open plans: commit one, or wait until one expires`,
    );
}

/**
 * Carries a plan out by `act`, once: what it does and the note that it was done commit together. A second commit returns the
 * first result. `factsNow` reads and locks what the sentence of the plan stands for.
 * @throws 404; 409 for a plan that has expired, waits for a person or was refused by one, or repeats another; 409 PLAN_STALE where
 * something is not as it was planned
 */
export function commitPlan(
  db: Database,
  { projectId, key, approvalUrl }: PlanOwner,
  id: string,
  {
    factsNow,
    act,
  }: {
    factsNow(tx: Database, plan: McpPlan): Promise<ReviewFacts>;
    act(tx: Database, plan: McpPlan): Promise<object>;
  },
): Promise<object> {
  return db.transaction(async (tx) => {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const plan = isUuid(id) ? await tx.em.findOne(McpPlan, { projectId, keyId: key.id, id }, { lockMode }) : null;
    if (plan === null) throw notFound('plan', id);
    if (plan.result) return { ...plan.result, alreadyDone: true };
    if (plan.refusedAt)
      throw new AppError(409, 'PLAN_REFUSED', 'A member of the project refused this plan: do not make it again');
    if (plan.expiresAt <= new Date()) throw conflict('This plan has expired: make a new one');
    if (plan.needsApproval && !plan.approvedAt)
      throw new AppError(409, 'APPROVAL_NEEDED', `A member of the project has to approve this plan: ${approvalUrl}`, {
        details: { approvalUrl },
      });
    // Two plans of the same content that are committed at once must see each other.
    if (plan.contentHash && !plan.again) {
      await lockName(tx, Buffer.from(plan.contentHash).toString('hex'));
      const earlier = await doneWithin(tx, projectId, plan.contentHash, id);
      if (earlier !== null) throw conflict('Another plan has done the same within the last hour: plan it with "again"');
    }
    const changed = plan.facts ? changedFields(plan.facts, await factsNow(tx, plan)) : ['plan'];
    if (changed.length > 0)
      throw new AppError(409, 'PLAN_STALE', `Not as it was planned any more: ${changed.join(', ')}. Make a new plan`, {
        details: { changed },
      });
    const result = await act(tx, plan);
    tx.em.assign(plan, { committedAt: new Date(), result });
    await recordChange(tx, projectId, { action: `mcp.${plan.action}`, target: id, after: { affects: plan.affects } });
    return { ...result, alreadyDone: false };
  });
}

/** Finds the result of another plan with this content that was carried out within the last hour. */
async function doneWithin(db: Database, projectId: string, contentHash: Uint8Array | null, but: string | null) {
  if (contentHash === null) return null;
  const committed = { projectId, contentHash, committedAt: { $gt: new Date(Date.now() - hourMs) } };
  const which = but === null ? committed : { ...committed, id: { $ne: but } };
  const plan = await db.em.findOne(McpPlan, which, { orderBy: { committedAt: 'asc' } });
  return plan?.result ?? null;
}

/** Plans of the project that wait for a person, the oldest first. */
export async function waitingPlans(db: Database, projectId: string): Promise<WaitingPlan[]> {
  const plans = await db.em.find(
    McpPlan,
    { projectId, needsApproval: true, approvedAt: null, refusedAt: null, expiresAt: { $gt: new Date() } },
    { orderBy: { createdAt: 'asc' }, limit: 100 },
  );
  const keys = await db.em.find(ApiKey, { projectId, id: { $in: plans.map(({ keyId }) => keyId) } });
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return plans.map(({ id, action, sentence, affects, samples, keyId, expiresAt, createdAt }) => ({
    ...{ id, action, sentence, affects, samples, key: names.get(keyId) ?? null },
    ...{ expiresAt: expiresAt.toISOString(), createdAt: createdAt.toISOString() },
  }));
}

/** The decision of a member on a plan. */
export type PlanVerdict = 'approved' | 'refused';

/** Decides on a plan that waits. An approved one may be committed until it expires, for ten minutes at least. @throws 404 for one that does not wait */
export function decidePlan(
  db: Database,
  { projectId, userId }: { projectId: string; userId: string },
  id: string,
  decision: PlanVerdict,
): Promise<void> {
  return db.transaction(async (tx) => {
    const now = new Date();
    const waiting = { needsApproval: true, approvedAt: null, refusedAt: null, expiresAt: { $gt: now } };
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const plan = await tx.em.findOne(McpPlan, { projectId, id, ...waiting }, { lockMode });
    if (plan === null) throw notFound('plan', id);
    const longer = new Date(now.getTime() + 10 * minuteMs);
    const expiresAt = plan.expiresAt > longer ? plan.expiresAt : longer;
    const decided =
      decision === 'approved'
        ? { approvedAt: now, approvedBy: userId, expiresAt }
        : { refusedAt: now, refusedBy: userId };
    tx.em.assign(plan, decided);
    const { action, affects } = plan;
    await recordChange(tx, projectId, { action: `mcp.${decision}`, target: id, after: { action, affects } });
  });
}

/** Deletes up to `limit` plans that are older than 30 days; returns how many. */
export function removeOldPlans(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from mcp_plans where id = any(array(
      select old.id from projects p cross join lateral (
        select id from mcp_plans m where m.project_id = p.id and m.created_at < now() - interval '30 days' limit ${limit}) old
      limit ${limit}))`);
}
