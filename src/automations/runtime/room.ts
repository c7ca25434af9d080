import type { Sql } from '../../core/database/sql.ts';
import {
  type BillingSettings,
  limitReached,
  projectBilling,
  reserveMail,
  usageCategory,
  usageGate,
} from '../../platform/billing/index.ts';
import type { UsageCategory } from '../../platform/projects/index.ts';
import { StepFailure } from './failure.ts';
import type { MailKind } from './mail-step.ts';

/** Mail of a step has to be let in under a limit before the transaction locks anything else: it begins anew with that. */
export class RoomFirst extends Error {
  readonly wish: RoomWish;

  constructor(wish: RoomWish) {
    super('Room for a mail has to be taken first');
    this.wish = wish;
  }
}

/** A mail that a step is going to send, by what it counts as. */
export interface RoomWish {
  stepId: string;
  projectId: string;
  category: UsageCategory;
}

/** The room that a transaction has taken for the mail of its steps. */
export interface MailReservation {
  /** @throws StepFailure where the limit is reached, RoomFirst where room was not asked for at the beginning */
  take(stepId: string, projectId: string, kind: MailKind): Promise<void>;
  /** Whether every wish was used: else the transaction must not commit, for it counted mail that nobody sends. */
  isUsedUp(): boolean;
}

/**
 * Takes room for the mails that a transaction is known to send, at its beginning, because whoever sends mail under a limit
 * counts it before it locks contacts. Where no limit holds nothing is counted, and `take` is one look at the project.
 */
export async function takeRooms(
  sql: Sql,
  billing: BillingSettings,
  wishes: readonly RoomWish[],
): Promise<MailReservation> {
  const rooms = new Map<string, boolean>();
  for (const { stepId, projectId, category } of wishes) {
    const { granted } = await reserveMail(sql, billing, { projectId, category, count: 1 });
    rooms.set(stepId, granted > 0);
  }
  return {
    async take(stepId, projectId, { sourceType, messageClass }) {
      const isThere = rooms.get(stepId);
      if (isThere !== undefined) {
        rooms.delete(stepId);
        if (!isThere) throw new StepFailure(limitReached);
        return;
      }
      const category = usageCategory(sourceType, messageClass);
      const facts = await projectBilling(sql, projectId);
      if (facts !== null && usageGate(facts, category, billing.freeTier) !== null)
        throw new RoomFirst({ stepId, projectId, category });
    },
    isUsedUp: () => rooms.size === 0,
  };
}
