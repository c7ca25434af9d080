import type { Reason } from '../../mail/ledger/reasons.ts';

/** What decides whether a recipient of a campaign may be written to, the same for all of a claim. */
export interface RecipientFacts {
  projectDisabled: boolean;
  domainVerified: boolean;
  /** Whether contacts that have unsubscribed meanwhile are left out. */
  needsSubscription: boolean;
}

/** Why a recipient gets nothing although the audience has them; null where the message may go. */
export function campaignRefusal(facts: RecipientFacts, { subscribed }: { subscribed: boolean }): Reason | null {
  if (facts.projectDisabled) return { code: 'project_disabled' };
  if (!facts.domainVerified) return { code: 'domain_unverified' };
  return facts.needsSubscription && !subscribed ? { code: 'unsubscribed' } : null;
}
