/** What mail is counted as (docs/contract/platform.md#6-7). */
export const usageCategories = ['WORKFLOW', 'CAMPAIGN', 'TRANSACTIONAL', 'INBOUND'] as const;
export type UsageCategory = (typeof usageCategories)[number];

/** What a project may use, as its row says. */
export interface ProjectBilling {
  /** Whether an operator vouches for it: it has no daily limit. */
  trusted: boolean;
  /** Whether it pays by a subscription. */
  subscribed: boolean;
  /** Mails a month for each category; null for no limit. */
  limits: Record<UsageCategory, number | null>;
}

/** Columns of `projects` as a `ProjectBilling`. */
export const billingColumns = (
  alias: string,
) => `jsonb_build_object('trusted', ${alias}.trusted, 'subscribed', ${alias}.subscription is not null,
  'limits', jsonb_build_object('WORKFLOW', ${alias}.billing_limit_workflows, 'CAMPAIGN', ${alias}.billing_limit_campaigns,
    'TRANSACTIONAL', ${alias}.billing_limit_transactional, 'INBOUND', ${alias}.billing_limit_inbound))`;
