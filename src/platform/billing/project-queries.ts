import { type Database, type Query, raw, sql } from '../../core/database/sql.ts';
import { notFound } from '../../core/lib/errors.ts';
import { billingColumns, Project, type ProjectBilling } from '../projects/index.ts';
import { thisMonth } from './counting-queries.ts';
import type { ChangeLimits } from './schema.ts';

/** What a project has with the payment processor. */
export interface BillingProject {
  id: string;
  name: string;
  customer: string | null;
  subscription: string | null;
  billing: ProjectBilling;
}

/** A project by its id. @throws 404 */
export async function billingProject(db: Database, id: string): Promise<BillingProject> {
  const project = await findProject(db, sql`p.id = ${id}`);
  if (project === null) throw notFound('project', id);
  return project;
}

/** The project of a customer, or null. */
export function projectOfCustomer(db: Database, customer: string): Promise<BillingProject | null> {
  return findProject(db, sql`p.customer = ${customer}`);
}

function findProject(db: Database, which: Query): Promise<BillingProject | null> {
  return db.row(sql`
    select p.id, p.name, p.customer, p.subscription, ${raw(billingColumns('p'))} as billing
      from projects p where ${which} and p.deleted_at is null`);
}

/** Sets the limits of a project, inside a transaction. Members are told anew once a category has another limit. */
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
  const changed = await tx.count(sql`
    update projects p set customer = ${customer}, subscription = ${subscription}, updated_at = now()
      where p.id = ${projectId} and p.deleted_at is null
        and not exists (select from projects other where other.customer = ${customer} and other.id <> p.id)`);
  return changed > 0;
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
