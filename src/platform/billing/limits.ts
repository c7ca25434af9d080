import type { App } from '../../core/http/context.ts';
import { bareBadRequest } from '../../core/lib/errors.ts';
import { recordChange } from '../audit/index.ts';
import type { UsageCategory } from '../projects/index.ts';
import { acceptedToday } from './daily-queries.ts';
import { type BillingProject, billingProject, writeLimits } from './project-queries.ts';
import type { BillingLimits, ChangeLimits, UsageLimit } from './schema.ts';
import { stopCounting, usageOf, usedOf } from './usage-queries.ts';
import { dailyLimit, usageGate } from './usage-schema.ts';

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
