import type { MessageClass, SourceType } from '../../sending/ledger/types.ts';

/** What mail is counted as (contract page 3, 6.7). */
export const usageCategories = ['WORKFLOW', 'CAMPAIGN', 'TRANSACTIONAL', 'INBOUND'] as const;
export type UsageCategory = (typeof usageCategories)[number];

/** What a project may use, as its row says. */
export interface ProjectBilling {
  /** Whether it pays by a subscription. */
  subscribed: boolean;
  /** Mails a month for each category; null for no limit. */
  limits: Record<UsageCategory, number | null>;
}

/** The limit that mail has to pass: that of its category, or that of the free tier over all of them. */
export interface UsageGate {
  category: UsageCategory | 'TOTAL';
  /** Mails a month. */
  limit: number;
}

/** Columns of `projects` as a `ProjectBilling`. */
export const billingColumns = (alias: string) => `jsonb_build_object('subscribed', ${alias}.subscription is not null,
  'limits', jsonb_build_object('WORKFLOW', ${alias}.billing_limit_workflows, 'CAMPAIGN', ${alias}.billing_limit_campaigns,
    'TRANSACTIONAL', ${alias}.billing_limit_transactional, 'INBOUND', ${alias}.billing_limit_inbound))`;

/** The error of mail that was not sent for want of room. */
export const limitReached = 'Billing limit reached';

/** The category of a mail: campaigns and steps of the class TRANSACTIONAL count as transactional mail. */
export function usageCategory(sourceType: SourceType | 'INBOUND', messageClass: MessageClass): UsageCategory {
  if (sourceType === 'INBOUND') return 'INBOUND';
  return messageClass === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : sourceType;
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
