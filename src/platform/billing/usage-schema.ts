import type { MessageClass } from '@fernpost/message-content';
import type { SourceType } from '../../core/lib/message-kinds.ts';
import type { ProjectBilling, UsageCategory } from '../projects/index.ts';

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
