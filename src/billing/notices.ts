import type { TellMembers } from '../accounts/system-mail/service.ts';
import type { App } from '../http/context.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { leastId } from '../lib/ids.ts';
import { recordChange } from '../projects/audit/record.ts';
import { billingColumns, type ProjectBilling, type UsageCategory } from '../projects/queries.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { acceptedToday, type BillingProject, billingProject, thisMonth, writeLimits } from './daily-queries.ts';
import type { BillingLimits, ChangeLimits, UsageLimit } from './schema.ts';
import type { BillingSettings } from './service.ts';
import { dailyLimit, stopCounting, type UsageGate, usageGate, usageOf, usedOf } from './usage-queries.ts';

type LimitDeps = Pick<App, 'config' | 'db' | 'directory' | 'payments' | 'log'>;

/** Limits and usage of this month (docs/contract/platform.md#6-3). @throws 404 */
export async function readLimits(deps: LimitDeps, projectId: string): Promise<BillingLimits> {
  const project = await billingProject(deps.db, projectId);
  const used = await usageOf(deps.db, projectId);
  const one = (category: UsageCategory): UsageLimit => {
    const gate = usageGate(project.billing, category, deps.config.freeTier);
    // The free tier is one allowance that all categories show.
    return usageLimit(usedOf(used, gate?.category ?? category), gate?.limit ?? null);
  };
  const daily = dailyLimit(project.billing, 'TRANSACTIONAL', deps.config);
  return {
    workflows: one('WORKFLOW'),
    campaigns: one('CAMPAIGN'),
    transactional: one('TRANSACTIONAL'),
    inbound: one('INBOUND'),
    ...(daily !== null && { daily: usageLimit(await acceptedToday(deps.db, projectId), daily) }),
    currency: await currencyOf(deps, project),
  };
}

/**
 * Sets the limits; when this resolves, every process holds to them (docs/contract/platform.md#6-4).
 * @throws 404, bare 400 for a project without a subscription where billing is enabled
 */
export async function changeLimits(deps: LimitDeps, projectId: string, limits: ChangeLimits): Promise<BillingLimits> {
  const project = await billingProject(deps.db, projectId);
  if (deps.payments !== null && project.subscription === null)
    throw bareBadRequest('Limits can be set once the project has a subscription');
  await deps.db.transaction(async (tx) => {
    await writeLimits(tx, projectId, limits);
    await stopCounting(tx, projectId);
    const {
      CAMPAIGN: campaigns,
      INBOUND: inbound,
      TRANSACTIONAL: transactional,
      WORKFLOW: workflows,
    } = project.billing.limits;
    const before = { workflows, campaigns, transactional, inbound };
    await recordChange(tx, projectId, { action: 'project.limits_changed', target: projectId, before, after: limits });
  });
  await deps.directory.forgetEverywhere(projectId);
  // Others may have let mail in by the old limits until now; counting begins anew with what is there.
  await stopCounting(deps.db, projectId);
  return readLimits(deps, projectId);
}

function usageLimit(usage: number, limit: number | null): UsageLimit {
  if (limit === null) return { limit, usage, percentage: 0, isWarning: false, isBlocked: false };
  const percentage = limit === 0 ? 100 : Math.floor((100 * usage) / limit);
  return { limit, usage, percentage, isWarning: percentage >= 80, isBlocked: usage >= limit };
}

// Limits can be read whether or not the processor is there.
async function currencyOf({ payments, log }: LimitDeps, { customer }: BillingProject): Promise<string | null> {
  if (payments === null || customer === null) return null;
  try {
    return await payments.currency(customer);
  } catch (error) {
    log.warn({ err: error }, 'the currency of a customer could not be asked for');
    return null;
  }
}

export interface NoticeDeps extends Pick<BillingSettings, 'freeTier'> {
  db: Database;
  tell: TellMembers;
  dispatchSoon(...tickets: readonly OutboxTicket[]): void;
}

const pageSize = 200;
const names: Record<UsageGate['category'], string> = {
  WORKFLOW: 'workflows',
  CAMPAIGN: 'campaigns',
  TRANSACTIONAL: 'transactional',
  INBOUND: 'inbound',
  TOTAL: 'all mail',
};

/**
 * Tells the members of projects that have used 80 % or all of a limit, once for each month, category and level. Answers
 * how many such notices were written. Safe to run side by side.
 */
export async function tellOfUsage(deps: NoticeDeps): Promise<number> {
  let notified = 0;
  for (let after = leastId; ; ) {
    const projects = await limitedProjects(deps.db, after);
    for (const { id, billing, categories } of projects) {
      after = id;
      const used = await usageOf(deps.db, id);
      for (const category of categories) {
        const gate = gateNamed(billing, category, deps.freeTier);
        if (gate === null) continue;
        const usage = usedOf(used, category);
        const level = usage >= gate.limit ? 100 : usage >= 0.8 * gate.limit ? 80 : null;
        if (level !== null && (await tellOne(deps, id, gate, usage, level))) notified += 1;
      }
    }
    if (projects.length < pageSize) return notified;
  }
}

/** A page of projects whose mail is counted against limits that are not known to be reached. */
function limitedProjects(db: Database, after: string): Promise<LimitedProject[]> {
  return db.rows(sql`
    select p.id, ${raw(billingColumns('p'))} as billing, array_agg(u.category) as categories
      from usage_counters u join projects p on p.id = u.project_id
      where u.month = ${thisMonth} and u.reserved is not null and p.id > ${after}
        and not exists (select from usage_notices n where n.project_id = u.project_id and n.month = u.month
          and n.category = u.category and n.level = 100)
      group by p.id order by p.id limit ${pageSize}`);
}

interface LimitedProject {
  id: string;
  billing: ProjectBilling;
  categories: UsageGate['category'][];
}

async function tellOne(
  deps: NoticeDeps,
  projectId: string,
  { category, limit }: UsageGate,
  usage: number,
  level: 80 | 100,
): Promise<boolean> {
  const tickets = await deps.db.transaction(async (tx) => {
    // Who hears that the limit is reached need not hear that it comes near.
    const levels = level === 100 ? [80, 100] : [80];
    const added = await tx.rows<{ level: number }>(sql`
      insert into usage_notices (project_id, month, category, level)
        select ${projectId}, ${thisMonth}, ${category}, level from unnest(${levels}::smallint[]) as l(level)
        on conflict do nothing returning level`);
    if (!added.some((row) => row.level === level)) return null;
    const values = { used: String(usage), limit: String(limit), category: names[category] };
    const kind = level === 100 ? 'usage-reached' : 'usage-warning';
    return deps.tell(tx, { projectId, kind, path: '/settings?tab=billing', values });
  });
  if (tickets === null) return false;
  deps.dispatchSoon(...tickets);
  return true;
}

function gateNamed(billing: ProjectBilling, name: UsageGate['category'], freeTier: number | null): UsageGate | null {
  const category: UsageCategory = name === 'TOTAL' ? 'TRANSACTIONAL' : name;
  const gate = usageGate(billing, category, freeTier);
  return gate?.category === name ? gate : null;
}
