import { notFound } from '../lib/errors.ts';
import { billingFields, billingOf, Project, type ProjectBilling } from '../projects/queries.ts';
import { removeSome } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import type { ChangeLimits } from './schema.ts';

// The month that an instant column counts for, in UTC.
const usageMonth = (instant: string) => `date_trunc('month', ${instant} at time zone 'UTC')::date`;

/** SQL: the running month of usage counters. */
export const thisMonth = raw(usageMonth('now()'));

/** SQL: what a ledger row counts as; see `usageCategory`. */
export const category = `case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL' else source_type end`;

/**
 * A CTE `usage_corrected` for mail that was given up and then proved to be sent: it counts, and takes back the quota that it
 * had given back. Reads the CTE `moved`, with `corrected` beside what `usageMoved` asks of its rows.
 */
export const correctedUsage = `usage_corrected as (
    insert into usage_counters as u (project_id, month, category, settled)
    select project_id, ${usageMonth('created_at')}, ${category}, count(*) from moved where corrected group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = greatest(0, u.failed - excluded.settled)
    returning 1)`;

/**
 * A CTE `usage_moved` that counts mail which came to an end, in the statement that writes it down. `rows` names a CTE with
 * project_id, source_type, message_class and created_at of each ledger row; `settled` and `failed` are conditions on it: the
 * mail counts, or it gives back what it was let in for. Rows are counted in one order, so that two statements never
 * deadlock; whatever locks contacts in the same statement must do so after this.
 */
export function usageMoved(rows: string, settled: string, failed: string): string {
  return `usage_moved as (
    insert into usage_counters as u (project_id, month, category, settled, failed)
    select project_id, ${usageMonth('created_at')}, ${category},
      count(*) filter (where ${settled}), count(*) filter (where ${failed})
    from ${rows} group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = u.failed + excluded.failed
    returning 1)`;
}

/** SQL: the running day of daily counters, in UTC. */
const today = raw(`(now() at time zone 'UTC')::date`);

/** Returns how many emails of the project were accepted today. */
export async function acceptedToday(db: Database, projectId: string): Promise<number> {
  const row = await db.row<{ accepted: number }>(
    sql`select accepted from daily_usage where project_id = ${projectId} and day = ${today}`,
  );
  return row?.accepted ?? 0;
}

/**
 * Counts up to `count` emails of today, as many as the limit allows; without `partly` all or none. The counter's row stays
 * locked until the transaction ends, so that whoever comes at the same moment reads what this one leaves.
 */
export async function takeOfToday(
  db: Database,
  projectId: string,
  limit: number,
  count: number,
  partly: boolean,
): Promise<{ granted: number; usage: number }> {
  await db.count(sql`
    insert into daily_usage (project_id, day, accepted) values (${projectId}, ${today}, 0) on conflict do nothing`);
  const row = await db.row<{ granted: number; usage: number }>(sql`
    with counter as materialized (
      select day, accepted from daily_usage where project_id = ${projectId}::uuid and day = ${today} for no key update),
    granted as materialized (
      select day, accepted, case when accepted + ${count}::integer <= ${limit}::integer then ${count}::integer
        when ${partly}::boolean then greatest(0, ${limit}::integer - accepted) else 0 end as count
      from counter)
    update daily_usage d set accepted = d.accepted + g.count from granted g
      where d.project_id = ${projectId}::uuid and d.day = g.day
      returning g.count as granted, g.accepted as usage`);
  return row ?? { granted: 0, usage: limit };
}

/** Gives back what was counted by `takeOfToday` in the same transaction and is not accepted after all. */
export async function giveBackToday(db: Database, projectId: string, count: number): Promise<void> {
  await db.count(sql`
    update daily_usage set accepted = accepted - ${count}::integer where project_id = ${projectId} and day = ${today}`);
}

/** Removes up to `limit` counts of earlier days; returns how many. */
export function removeEarlierDays(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'daily_usage', sql`day < ${today} - 1`, limit);
}

/** A project with its customer and subscription at the payment processor. */
export interface BillingProject {
  id: string;
  name: string;
  customer: string | null;
  subscription: string | null;
  billing: ProjectBilling;
}

/** A project by its id. @throws 404 */
export async function billingProject(db: Database, id: string): Promise<BillingProject> {
  const project = await findProject(db, { id });
  if (project === null) throw notFound('project', id);
  return project;
}

/** The project of a customer, or null. */
export function projectOfCustomer(db: Database, customer: string): Promise<BillingProject | null> {
  return findProject(db, { customer });
}

async function findProject(db: Database, which: { id: string } | { customer: string }): Promise<BillingProject | null> {
  const fields = ['id', 'name', 'customer', ...billingFields] as const;
  const project = await db.session().em.findOne(Project, { ...which, deletedAt: null }, { fields, refresh: true });
  if (project === null) return null;
  const { id, name, customer = null, subscription = null } = project;
  return { id, name, customer, subscription, billing: billingOf(project) };
}

/** Sets the limits of a project, inside a transaction. Members are notified again once a category has another limit. */
export async function writeLimits(tx: Database, projectId: string, limits: ChangeLimits): Promise<void> {
  const { workflows, campaigns, transactional, inbound } = limits;
  await tx.count(sql`
    delete from usage_notices n using projects p
      where p.id = ${projectId} and n.project_id = p.id and n.month = ${thisMonth}
        and (n.category = 'TOTAL'
          or n.category = 'WORKFLOW' and p.billing_limit_workflows is distinct from ${workflows}::integer
          or n.category = 'CAMPAIGN' and p.billing_limit_campaigns is distinct from ${campaigns}::integer
          or n.category = 'TRANSACTIONAL' and p.billing_limit_transactional is distinct from ${transactional}::integer
          or n.category = 'INBOUND' and p.billing_limit_inbound is distinct from ${inbound}::integer)`);
  await tx.em.nativeUpdate(Project, projectId, {
    billingLimitWorkflows: workflows,
    billingLimitCampaigns: campaigns,
    billingLimitTransactional: transactional,
    billingLimitInbound: inbound,
    updatedAt: new Date(),
  });
}

/**
 * Notes who pays for a project, and by what; `subscription` is null for one that has ended. False for no such project, and
 * for a customer that belongs to another one: then nobody could say which of them Stripe means.
 */
export async function noteCustomer(
  tx: Database,
  projectId: string,
  customer: string,
  subscription: string | null,
): Promise<boolean> {
  if ((await tx.em.count(Project, { customer, id: { $ne: projectId } })) > 0) return false;
  const paid = { customer, subscription, updatedAt: new Date() };
  return (await tx.em.nativeUpdate(Project, { id: projectId, deletedAt: null }, paid)) > 0;
}

/** Takes a subscription off its project, unless it has another one by now. */
export async function noteEnd(tx: Database, customer: string, subscription: string): Promise<boolean> {
  const ended = { subscription: null, updatedAt: new Date() };
  return (await tx.em.nativeUpdate(Project, { customer, subscription }, ended)) > 0;
}

/** Disables a project for a payment that failed. False when it was disabled before, for whatever reason. */
export async function pauseForPayment(tx: Database, id: string): Promise<boolean> {
  const paused = { disabled: true, disabledReason: 'PAYMENT_FAILED', updatedAt: new Date() } as const;
  return (await tx.em.nativeUpdate(Project, { id, disabled: false }, paused)) > 0;
}

/** Enables a project that only a failed payment had disabled. */
export async function resumeAfterPayment(tx: Database, id: string): Promise<boolean> {
  const resumed = { disabled: false, disabledReason: null, updatedAt: new Date() };
  return (await tx.em.nativeUpdate(Project, { id, disabled: true, disabledReason: 'PAYMENT_FAILED' }, resumed)) > 0;
}
