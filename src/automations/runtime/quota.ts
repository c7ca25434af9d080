import type { Database } from '../../core/database/sql.ts';
import {
  type BillingSettings,
  dailyLimit,
  limitReached,
  projectBilling,
  reserveMail,
  usageCategory,
  usageGate,
} from '../../platform/billing/index.ts';
import type { UsageCategory } from '../../platform/projects/index.ts';
import { StepFailure } from './failure.ts';
import type { MailKind } from './mail-step.ts';

/** A mail that a step is going to send, by what it counts as. */
export interface QuotaRequest {
  stepId: string;
  projectId: string;
  category: UsageCategory;
}

/** The mail of a step has to be counted against a limit before the transaction locks anything else: it restarts with that. */
export class QuotaNeeded extends Error {
  readonly request: QuotaRequest;

  constructor(request: QuotaRequest) {
    super('Quota for a mail has to be reserved first');
    this.request = request;
  }
}

/** The quota that a transaction has reserved for the mail of its steps. */
export interface MailQuota {
  /** @throws StepFailure where the limit is reached, QuotaNeeded where none was reserved at the beginning */
  take(stepId: string, projectId: string, kind: MailKind): Promise<void>;
  /** Whether every reservation was used: else the transaction must not commit, for it counted mail that nobody sends. */
  isUsedUp(): boolean;
}

/**
 * Reserves quota for the mails that a transaction is known to send, at its beginning, because whoever sends mail under a limit
 * counts it before it locks contacts. Where no limit holds nothing is counted, and `take` only reads the project.
 */
export async function reserveMailQuota(
  tx: Database,
  billing: BillingSettings,
  requests: readonly QuotaRequest[],
): Promise<MailQuota> {
  const reserved = new Map<string, boolean>();
  for (const { stepId, projectId, category } of requests) {
    const { granted } = await reserveMail(tx, billing, { projectId, category, count: 1 });
    reserved.set(stepId, granted > 0);
  }
  return {
    async take(stepId, projectId, { sourceType, messageClass }) {
      const isGranted = reserved.get(stepId);
      if (isGranted !== undefined) {
        reserved.delete(stepId);
        if (!isGranted) throw new StepFailure(limitReached);
        return;
      }
      const category = usageCategory(sourceType, messageClass);
      const facts = await projectBilling(tx, projectId);
      if (facts === null) return;
      const hasLimit =
        usageGate(facts, category, billing.freeTier) !== null || dailyLimit(facts, category, billing) !== null;
      if (hasLimit) throw new QuotaNeeded({ stepId, projectId, category });
    },
    isUsedUp: () => reserved.size === 0,
  };
}
