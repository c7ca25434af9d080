import { type Query, sql as query, raw, type Sql, statement } from '../../core/database/sql.ts';
import { billingColumns, type ProjectBilling, type UsageCategory, usageCategories } from '../projects/index.ts';
import { usageMonth } from './counting-queries.ts';
import type { UsageGate } from './usage-schema.ts';

const thisMonth = usageMonth('now()');

const findBilling = statement(
  'usage.project',
  `select ${billingColumns('p')} as billing from projects p where p.id = $1`,
);

/** What a project may use; null when it is gone. */
export async function projectBilling(sql: Sql, projectId: string): Promise<ProjectBilling | null> {
  return (await sql.row<{ billing: ProjectBilling }>(findBilling, [projectId]))?.billing ?? null;
}

// Mail that failed gives back its quota. The total has no failures of its own: those of the categories are its.
const failedOf = (alias: string) => `(case when ${alias}.category = 'TOTAL' then (
    select coalesce(sum(f.failed), 0)::integer from usage_counters f
    where f.project_id = ${alias}.project_id and f.month = ${alias}.month and f.category <> 'TOTAL')
  else ${alias}.failed end)`;

/**
 * SQL of an update that lets `count` mails in, all or none, and returns a row when it did; null counters are not yet
 * begun and let nothing in. Parameters are the texts of $n.
 */
export const reserveAll = (projectId: string, category: string, limit: string, count: string) => `
  update usage_counters u set reserved = u.reserved + ${count}
  where u.project_id = ${projectId} and u.month = ${thisMonth} and u.category = ${category} and u.reserved is not null
    and u.reserved - ${failedOf('u')} + ${count} <= ${limit}
  returning 1`;

/**
 * SQL of an update that lets `count` mails in, all or none, and returns a row when it did. A counter that has not begun
 * lets nothing in.
 */
export function reserveWhole(projectId: string, { category, limit }: UsageGate, count: number): Query {
  return query`update usage_counters u set reserved = u.reserved + ${count}::integer
    where u.project_id = ${projectId}::uuid and u.month = ${raw(thisMonth)} and u.category = ${category} and u.reserved is not null
      and u.reserved - ${raw(failedOf('u'))} + ${count}::integer <= ${limit}::integer
    returning 1`;
}

// The row is locked before it is read, so that whoever comes at the same moment reads what this one leaves.
const reserve = statement(
  'usage.reserve',
  `with gate as materialized (
     select u.reserved - ${failedOf('u')} as used from usage_counters u
     where u.project_id = $1::uuid and u.month = ${thisMonth} and u.category = $2 and u.reserved is not null
     for update of u),
   granted as materialized (
     select used, case when used + $4::integer <= $3::integer then $4::integer
       when $5::boolean then greatest(0, $3::integer - used) else 0 end as count
     from gate)
   update usage_counters u set reserved = u.reserved + g.count from granted g
   where u.project_id = $1::uuid and u.month = ${thisMonth} and u.category = $2
   returning g.count as granted, g.used as usage`,
);

/** Lets up to `count` mails in; null when the counter has not begun. `partly`: as many as the quota allows. */
export function reserveQuota(
  sql: Sql,
  projectId: string,
  { category, limit }: UsageGate,
  count: number,
  partly: boolean,
): Promise<{ granted: number; usage: number } | null> {
  return sql.row(reserve, [projectId, category, limit, count, partly]);
}

// Mail without a verdict holds room as well. That of the queue is few, that of a campaign is what its counters leave.
const pendingOf = `
  pending as (
    select case when e.source_type in ('CAMPAIGN', 'WORKFLOW') and e.message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
      else e.source_type end as category, count(*)::integer as count
    from email_queue q join emails e on e.id = q.email_id
    where q.project_id = $1::uuid and e.created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
    group by 1
    union all
    select case when c.type = 'TRANSACTIONAL' then 'TRANSACTIONAL' else 'CAMPAIGN' end,
      greatest(0, sum(s.expanded_count - c.sent_count - c.skipped_count - c.failed_count))::integer
    from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.project_id = $1::uuid and c.status = 'SENDING' and not s.closed
    group by 1)`;

const open = statement(
  'usage.open',
  `insert into usage_counters (project_id, month, category) values ($1, ${thisMonth}, $2) on conflict do nothing`,
);
const begin = statement(
  'usage.begin',
  `with ${pendingOf}
   update usage_counters u set reserved =
     (select coalesce(sum(settled + failed), 0) from usage_counters c
      where c.project_id = u.project_id and c.month = u.month and c.category <> 'TOTAL' and u.category in (c.category, 'TOTAL'))
     + (select coalesce(sum(count), 0) from pending where u.category in (category, 'TOTAL'))
   where u.project_id = $1::uuid and u.month = ${thisMonth} and u.category = $2 and u.reserved is null`,
);

/** Begins to count what is let in, from what the month holds so far. Two at once do it once. */
export async function beginCounting(sql: Sql, projectId: string, category: UsageGate['category']): Promise<void> {
  await sql.count(open, [projectId, category]);
  await sql.count(begin, [projectId, category]);
}

const stop = statement(
  'usage.stop',
  `update usage_counters set reserved = null where project_id = $1 and month = ${thisMonth} and reserved is not null`,
);

/** Ends the counting of what is let in, because other limits hold from now on; the next mail begins it anew. */
export async function stopCounting(sql: Sql, projectId: string): Promise<void> {
  await sql.count(stop, [projectId]);
}

const read = statement(
  'usage.read',
  `with ${pendingOf}
   select category, sum(count)::integer as count from (
     select u.category, case when u.reserved is null then u.settled else greatest(0, u.reserved - ${failedOf('u')}) end as count
     from usage_counters u where u.project_id = $1::uuid and u.month = ${thisMonth} and (u.category <> 'TOTAL' or u.reserved is not null)
     union all
     select p.category, p.count from pending p where not exists (
       select from usage_counters u where u.project_id = $1::uuid and u.month = ${thisMonth} and u.category = p.category
         and u.reserved is not null)) as counts
   group by category`,
);

/** Mail of this month by category; `TOTAL` is what the free tier has let in, or null where it does not hold. */
export async function usageOf(
  sql: Sql,
  projectId: string,
): Promise<Record<UsageCategory, number> & { TOTAL: number | null }> {
  const rows = await sql.rows<{ category: UsageGate['category']; count: number }>(read, [projectId]);
  const counts = new Map(rows.map(({ category, count }) => [category, count]));
  const own = Object.fromEntries(usageCategories.map((category) => [category, counts.get(category) ?? 0]));
  return { ...(own as Record<UsageCategory, number>), TOTAL: counts.get('TOTAL') ?? null };
}

const removeOld = statement(
  'usage.remove_old',
  `delete from usage_counters where ctid in (
     select ctid from usage_counters u where u.month < now() - interval '13 months'
       or u.month < now() - interval '2 months' and not exists (select from projects p where p.id = u.project_id)
     limit $1)`,
);

/** Removes up to `limit` counts of more than a year ago, and of projects that are gone; answers how many. */
export function removeOldCounts(sql: Sql, limit: number): Promise<number> {
  return sql.count(removeOld, [limit]);
}

const receive = statement(
  'usage.receive',
  `insert into usage_counters (project_id, month, category, settled) values ($1, ${thisMonth}, 'INBOUND', $2)
   on conflict (project_id, month, category) do update set settled = usage_counters.settled + excluded.settled`,
);

/** Counts mail that a project received. */
export async function countReceived(sql: Sql, projectId: string, count: number): Promise<void> {
  await sql.count(receive, [projectId, count]);
}
