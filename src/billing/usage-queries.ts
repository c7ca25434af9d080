import type { MessageClass, SourceType } from '../lib/enums.ts';
import { billingColumns, type ProjectBilling, type UsageCategory, usageCategories } from '../projects/queries.ts';
import { removeSome } from '../store/columns.ts';
import { type Database, type Query, raw, sql } from '../store/sql.ts';
import { category as mailCategory, thisMonth } from './daily-queries.ts';

/** The limit that mail has to pass: that of its category, or that of the free tier over all of them. */
export interface UsageGate {
  category: UsageCategory | 'TOTAL';
  /** Mails a month. */
  limit: number;
}

/** The error of mail that was not sent because a limit was reached. */
export const limitReached = 'Billing limit reached';

/** The category of a mail: campaigns and steps of the class TRANSACTIONAL count as transactional mail. */
export function usageCategory(sourceType: SourceType | 'INBOUND', messageClass: MessageClass): UsageCategory {
  if (sourceType === 'INBOUND') return 'INBOUND';
  return messageClass === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : sourceType;
}

/** Emails a day of a project, or null for no limit. Received mail does no harm to others, so it has none. */
export function dailyLimit(
  { trusted }: ProjectBilling,
  category: UsageCategory,
  { publicDailyEmails }: { publicDailyEmails: number | null },
): number | null {
  return trusted || category === 'INBOUND' ? null : publicDailyEmails;
}

/**
 * The limit that mail of a category has to pass, or null for none. `freeTier` is what a project without a subscription has
 * for all categories together where billing is enabled; null where it is not. A limit of the project's own replaces it.
 */
export function usageGate(
  { subscribed, limits }: ProjectBilling,
  category: UsageCategory,
  freeTier: number | null,
): UsageGate | null {
  const limit = limits[category];
  if (limit !== null) return { category, limit };
  const isFree = !subscribed && Object.values(limits).every((own) => own === null);
  return freeTier === null || !isFree ? null : { category: 'TOTAL', limit: freeTier };
}

/** Reads the limits of a project; null when it is gone. */
export async function projectBilling(db: Database, projectId: string): Promise<ProjectBilling | null> {
  const row = await db.row<{ billing: ProjectBilling }>(
    sql`select ${raw(billingColumns('p'))} as billing from projects p where p.id = ${projectId}`,
  );
  return row?.billing ?? null;
}

// Mail that failed gives back its quota. The total has no failures of its own: those of the categories are its.
const failed = raw(`(case when u.category = 'TOTAL' then (
    select coalesce(sum(f.failed), 0)::integer from usage_counters f
    where f.project_id = u.project_id and f.month = u.month and f.category <> 'TOTAL')
  else u.failed end)`);

const counterOf = (projectId: string, category: UsageGate['category']) =>
  sql`u.project_id = ${projectId}::uuid and u.month = ${thisMonth} and u.category = ${category}`;

/**
 * SQL of an update that lets `count` mails in, all or none, and returns a row when it did. A counter that has not begun
 * lets nothing in.
 */
export function reserveWhole(projectId: string, { category, limit }: UsageGate, count: number): Query {
  return sql`update usage_counters u set reserved = u.reserved + ${count}::integer
    where ${counterOf(projectId, category)} and u.reserved is not null
      and u.reserved - ${failed} + ${count}::integer <= ${limit}::integer
    returning 1`;
}

/** Lets up to `count` mails in; null when the counter has not begun. `partly`: as many as the quota allows. */
export function reserveQuota(
  db: Database,
  projectId: string,
  { category, limit }: UsageGate,
  count: number,
  partly: boolean,
): Promise<{ granted: number; usage: number } | null> {
  // The row is locked before it is read, so that whoever comes at the same moment reads what this one leaves.
  const counter = counterOf(projectId, category);
  return db.row(sql`
    with gate as materialized (
      select u.reserved - ${failed} as used from usage_counters u where ${counter} and u.reserved is not null for update of u),
    granted as materialized (
      select used, case when used + ${count}::integer <= ${limit}::integer then ${count}::integer
        when ${partly}::boolean then greatest(0, ${limit}::integer - used) else 0 end as count
      from gate)
    update usage_counters u set reserved = u.reserved + g.count from granted g where ${counter}
      returning g.count as granted, g.used as usage`);
}

// Mail without an outcome takes quota as well. That of the queue is few, that of a campaign is what its counters leave.
const pendingOf = (projectId: string) => sql`
  pending as (
    select ${raw(mailCategory)} as category, count(*)::integer as count
    from email_queue q join emails e on e.id = q.email_id
    where q.project_id = ${projectId}::uuid and e.created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
    group by 1
    union all
    select case when c.type = 'TRANSACTIONAL' then 'TRANSACTIONAL' else 'CAMPAIGN' end,
      greatest(0, sum(s.expanded_count - c.sent_count - c.skipped_count - c.failed_count))::integer
    from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.project_id = ${projectId}::uuid and c.status = 'SENDING' and not s.closed
    group by 1)`;

/** Begins to count what is let in, from what the month holds so far. Two at once do it once. */
export async function beginCounting(db: Database, projectId: string, category: UsageGate['category']): Promise<void> {
  await db.count(sql`
    with ${pendingOf(projectId)}
    insert into usage_counters as u (project_id, month, category, reserved)
      select ${projectId}::uuid, ${thisMonth}, ${category}::text,
        (select coalesce(sum(settled + failed), 0) from usage_counters c
          where c.project_id = ${projectId}::uuid and c.month = ${thisMonth} and c.category <> 'TOTAL'
            and ${category}::text in (c.category, 'TOTAL'))
        + (select coalesce(sum(count), 0) from pending p where ${category}::text in (p.category, 'TOTAL'))
      on conflict (project_id, month, category) do update set reserved = excluded.reserved where u.reserved is null`);
}

/** Ends the counting of what is let in, because other limits hold from now on; the next mail begins it anew. */
export async function stopCounting(db: Database, projectId: string): Promise<void> {
  await db.count(sql`
    update usage_counters set reserved = null where project_id = ${projectId} and month = ${thisMonth} and reserved is not null`);
}

/** Mail of a month by category; `TOTAL` is what the free tier has let in, or null where it does not hold. */
type Usage = Record<UsageCategory, number> & { TOTAL: number | null };

/** Mail of this month. */
export async function usageOf(db: Database, projectId: string): Promise<Usage> {
  const rows = await db.rows<{ category: UsageGate['category']; count: number }>(sql`
    with ${pendingOf(projectId)},
    counter as (select * from usage_counters where project_id = ${projectId}::uuid and month = ${thisMonth})
    select category, sum(count)::integer as count from (
      select u.category, case when u.reserved is null then u.settled else greatest(0, u.reserved - ${failed}) end as count
      from counter u where u.category <> 'TOTAL' or u.reserved is not null
      union all
      select p.category, p.count from pending p
      where not exists (select from counter u where u.category = p.category and u.reserved is not null)) as counts
    group by category`);
  const counts = new Map(rows.map(({ category, count }) => [category, count]));
  const own = Object.fromEntries(usageCategories.map((category) => [category, counts.get(category) ?? 0]));
  return { ...(own as Record<UsageCategory, number>), TOTAL: counts.get('TOTAL') ?? null };
}

/** Returns the usage that counts against a limit of this category; the limit of the free tier counts all of them. */
export function usedOf(used: Usage, category: UsageGate['category']): number {
  return category === 'TOTAL' ? (used.TOTAL ?? sumOf(used)) : used[category];
}

/** All categories together. */
export function sumOf(used: Usage): number {
  return used.WORKFLOW + used.CAMPAIGN + used.TRANSACTIONAL + used.INBOUND;
}

/** Removes up to `limit` counts of more than a year ago, and of projects that are gone; returns how many. */
export function removeOldCounts(db: Database, limit: number): Promise<number> {
  const isOld = sql`month < now() - interval '13 months' or month < now() - interval '2 months'
    and not exists (select from projects p where p.id = usage_counters.project_id)`;
  return removeSome(db, 'usage_counters', isOld, limit);
}

/** Counts a mail that a project received. */
export async function countReceived(db: Database, projectId: string): Promise<void> {
  await db.count(sql`
    insert into usage_counters (project_id, month, category, settled) values (${projectId}, ${thisMonth}, 'INBOUND', 1)
      on conflict (project_id, month, category) do update set settled = usage_counters.settled + 1`);
}
