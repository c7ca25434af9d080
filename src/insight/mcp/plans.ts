import type { McpSettings, ScopedKey } from '../../http/context.ts';
import { changedFields, type ReviewFacts } from '../../launches/review/findings.ts';
import { AppError, conflict, forbidden, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { sha256 } from '../../lib/seal.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { isoInstant } from '../../store/columns.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { WaitingPlan } from './facts.ts';
import type { PlannedAction } from './server.ts';

/** A plan as it is carried out. */
interface StoredPlan extends Pick<PlannedAction, 'action' | 'operation' | 'input' | 'affects' | 'again'> {
  contentHash: Buffer | null;
  facts: ReviewFacts | null;
  needsApproval: boolean;
  isApproved: boolean;
  isRefused: boolean;
  isExpired: boolean;
  result: object | null;
}

/** Whose plans these are. */
export interface PlanOwner {
  projectId: string;
  key: ScopedKey & { mcp: McpSettings };
  /** Page where a member approves its plans. */
  approvalUrl: string;
}

const mostOpen = 100;

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
  const row = await db.transaction(async (tx) => {
    await refuseOneMore(tx, key.id);
    return tx.row<{ expiresAt: string }>(sql`
      insert into mcp_plans (id, project_id, key_id, action, operation, input, sentence, affects, samples, content_hash, facts, again,
          needs_approval, expires_at)
        values (${id}, ${projectId}, ${key.id}, ${action}, ${operation}, ${JSON.stringify(input)}::jsonb, ${sentence}, ${affects},
          ${[...samples]}, ${contentHash}, ${JSON.stringify(facts)}::jsonb, ${again}, ${needsApproval},
          now() + case when ${needsApproval} then interval '1 day' else interval '10 minutes' end)
        returning expires_at::text as "expiresAt"`);
  });
  const expiresAt = isoInstant(row?.expiresAt ?? '');
  const plan = { planId: id, sentence, affects, samples, expiresAt, needsApproval };
  return needsApproval ? { ...plan, approvalUrl: owner.approvalUrl } : plan;
}

async function refuseOneMore(tx: Database, keyId: string): Promise<void> {
  // Two plans at once must not both see room for one more.
  await tx.row(sql`select 1 as locked from pg_advisory_xact_lock(hashtextextended(${`plans ${keyId}`}, 0))`);
  const { count } = (await tx.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from mcp_plans where key_id = ${keyId} and committed_at is null and refused_at is null and expires_at > now()
      limit ${mostOpen}) open`)) ?? { count: 0 };
  if (count >= mostOpen)
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
    factsNow(tx: Database, plan: StoredPlan): Promise<ReviewFacts>;
    act(tx: Database, plan: StoredPlan): Promise<object>;
  },
): Promise<object> {
  return db.transaction(async (tx) => {
    const plan = isUuid(id)
      ? await tx.row<StoredPlan>(sql`
          select action, operation, input, affects, again, content_hash as "contentHash", facts, needs_approval as "needsApproval",
              approved_at is not null as "isApproved", refused_at is not null as "isRefused", expires_at <= now() as "isExpired", result
            from mcp_plans where project_id = ${projectId} and key_id = ${key.id} and id = ${id} for update`)
      : null;
    if (plan === null) throw notFound('plan', id);
    if (plan.result !== null) return { ...plan.result, alreadyDone: true };
    if (plan.isRefused)
      throw new AppError(409, 'PLAN_REFUSED', 'A member of the project refused this plan: do not make it again');
    if (plan.isExpired) throw conflict('This plan has expired: make a new one');
    if (plan.needsApproval && !plan.isApproved)
      throw new AppError(409, 'APPROVAL_NEEDED', `A member of the project has to approve this plan: ${approvalUrl}`, {
        details: { approvalUrl },
      });
    // Two plans of the same content that are committed at once must see each other.
    if (plan.contentHash !== null && !plan.again) {
      await tx.row(sql`select pg_advisory_xact_lock(hashtextextended(encode(${plan.contentHash}, 'hex'), 0))`);
      const earlier = await doneWithin(tx, projectId, plan.contentHash, id);
      if (earlier !== null) throw conflict('Another plan has done the same within the last hour: plan it with "again"');
    }
    const changed = plan.facts === null ? ['plan'] : changedFields(plan.facts, await factsNow(tx, plan));
    if (changed.length > 0)
      throw new AppError(409, 'PLAN_STALE', `Not as it was planned any more: ${changed.join(', ')}. Make a new plan`, {
        details: { changed },
      });
    const result = await act(tx, plan);
    await tx.count(sql`
      update mcp_plans set committed_at = clock_timestamp(), result = ${JSON.stringify(result)}::jsonb where id = ${id}`);
    await recordChange(tx, projectId, { action: `mcp.${plan.action}`, target: id, after: { affects: plan.affects } });
    return { ...result, alreadyDone: false };
  });
}

/** The result of a plan with this content that was carried out within the last hour. */
async function doneWithin(db: Database, projectId: string, contentHash: Buffer | null, but: string | null) {
  if (contentHash === null) return null;
  const row = await db.row<{ result: object }>(sql`
    select result from mcp_plans
      where project_id = ${projectId} and content_hash = ${contentHash} and committed_at > now() - interval '1 hour'
        and id is distinct from ${but}::uuid
      order by committed_at limit 1`);
  return row?.result ?? null;
}

/** Plans of the project that wait for a person, the oldest first. */
export async function waitingPlans(db: Database, projectId: string): Promise<WaitingPlan[]> {
  const rows = await db.rows<WaitingPlan>(sql`
    select p.id, p.action, p.sentence, p.affects, p.samples, (select k.name from api_keys k where k.id = p.key_id) as key,
        p.expires_at::text as "expiresAt", p.created_at::text as "createdAt"
      from mcp_plans p
      where p.project_id = ${projectId} and p.needs_approval and p.approved_at is null and p.refused_at is null and p.expires_at > now()
      order by p.created_at limit 100`);
  return rows.map((row) => ({ ...row, expiresAt: isoInstant(row.expiresAt), createdAt: isoInstant(row.createdAt) }));
}

/** What a member says to a plan. */
export type PlanVerdict = 'approved' | 'refused';

/** Decides on a plan that waits. An approved one may be committed until it expires, for ten minutes at least. @throws 404 for one that does not wait */
export function decidePlan(
  db: Database,
  { projectId, userId }: { projectId: string; userId: string },
  id: string,
  decision: PlanVerdict,
): Promise<void> {
  const decided =
    decision === 'approved'
      ? sql`approved_at = now(), approved_by = ${userId}, expires_at = greatest(expires_at, now() + interval '10 minutes')`
      : sql`refused_at = now(), refused_by = ${userId}`;
  return db.transaction(async (tx) => {
    const row = await tx.row<{ action: string; affects: number }>(sql`
      update mcp_plans set ${decided}
        where project_id = ${projectId} and id = ${id} and needs_approval and approved_at is null and refused_at is null
          and expires_at > now()
        returning action, affects`);
    if (row === null) throw notFound('plan', id);
    await recordChange(tx, projectId, { action: `mcp.${decision}`, target: id, after: row });
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
