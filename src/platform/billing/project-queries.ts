import { type Sql, statement } from '../../core/database/sql.ts';
import { billingColumns, type ProjectBilling } from '../projects/index.ts';
import type { ChangeLimits } from './schema.ts';

/** What a project has with the payment processor. */
export interface BillingProject {
  id: string;
  name: string;
  customer: string | null;
  subscription: string | null;
  disabled: boolean;
  disabledReason: string | null;
  billing: ProjectBilling;
}

const columns = `p.id, p.name, p.customer, p.subscription, p.disabled, p.disabled_reason as "disabledReason",
  ${billingColumns('p')} as billing`;
const byId = statement('billing.project', `select ${columns} from projects p where p.id = $1 and p.deleted_at is null`);
const byCustomer = statement(
  'billing.customer',
  `select ${columns} from projects p where p.customer = $1 and p.deleted_at is null`,
);

/** A project by its id, or null. */
export function billingProject(sql: Sql, id: string): Promise<BillingProject | null> {
  return sql.row<BillingProject>(byId, [id]);
}

/** The project of a customer, or null. */
export function projectOfCustomer(sql: Sql, customer: string): Promise<BillingProject | null> {
  return sql.row<BillingProject>(byCustomer, [customer]);
}

const setLimits = statement(
  'billing.set_limits',
  `update projects set billing_limit_workflows = $2, billing_limit_campaigns = $3, billing_limit_transactional = $4,
     billing_limit_inbound = $5, updated_at = now() where id = $1`,
);
// Members are told anew once a category has another limit.
const forgetNotices = statement(
  'billing.forget_notices',
  `delete from usage_notices n using projects p
   where p.id = $1 and n.project_id = p.id and n.month = date_trunc('month', now() at time zone 'UTC')::date
     and (n.category = 'TOTAL'
       or n.category = 'WORKFLOW' and p.billing_limit_workflows is distinct from $2::integer
       or n.category = 'CAMPAIGN' and p.billing_limit_campaigns is distinct from $3::integer
       or n.category = 'TRANSACTIONAL' and p.billing_limit_transactional is distinct from $4::integer
       or n.category = 'INBOUND' and p.billing_limit_inbound is distinct from $5::integer)`,
);

/** Sets the limits of a project, inside a transaction. */
export async function writeLimits(sql: Sql, projectId: string, limits: ChangeLimits): Promise<void> {
  const values = [projectId, limits.workflows, limits.campaigns, limits.transactional, limits.inbound];
  await sql.count(forgetNotices, values);
  await sql.count(setLimits, values);
}

// One customer is one project; of a second one Stripe must not speak.
const subscribe = statement(
  'billing.subscribe',
  `update projects p set customer = $2, subscription = $3, updated_at = now()
   where p.id = $1 and p.deleted_at is null
     and not exists (select from projects other where other.customer = $2 and other.id <> p.id)`,
);
const unsubscribe = statement(
  'billing.unsubscribe',
  'update projects set subscription = null, updated_at = now() where customer = $1 and subscription = $2',
);
const pause = statement(
  'billing.pause',
  `update projects set disabled = true, disabled_reason = 'PAYMENT_FAILED', updated_at = now()
   where id = $1 and not disabled`,
);
const resume = statement(
  'billing.resume',
  `update projects set disabled = false, disabled_reason = null, updated_at = now()
   where id = $1 and disabled and disabled_reason = 'PAYMENT_FAILED'`,
);

/** Notes who pays for a project, and by what; `subscription` is null for one that has ended. False for no such project. */
export async function noteCustomer(
  sql: Sql,
  projectId: string,
  customer: string,
  subscription: string | null,
): Promise<boolean> {
  return (await sql.count(subscribe, [projectId, customer, subscription])) > 0;
}

/** Takes a subscription off its project, unless it has another one by now. */
export async function noteEnd(sql: Sql, customer: string, subscription: string): Promise<boolean> {
  return (await sql.count(unsubscribe, [customer, subscription])) > 0;
}

/** Disables a project for a payment that failed. False when it was disabled before, for whatever reason. */
export async function pauseForPayment(sql: Sql, projectId: string): Promise<boolean> {
  return (await sql.count(pause, [projectId])) > 0;
}

/** Enables a project that only a failed payment had disabled. */
export async function resumeAfterPayment(sql: Sql, projectId: string): Promise<boolean> {
  return (await sql.count(resume, [projectId])) > 0;
}
