import type { Database } from '../store/sql.ts';
import type { AudienceCursor } from './audience/cursor.ts';
import type { ExpandedCampaign, PageOfContacts } from './audience/expansion.ts';
import type { Campaign } from './entity.ts';
import type { Approval, CanaryBody } from './launch-body.ts';
import type { DueCampaign } from './lifecycle/begin.ts';

declare module '../http/context.ts' {
  interface App {
    launchGate: LaunchGate;
  }
}

/**
 * The decisions of launches (reviews, approvals, canaries) that a campaign meets on its way. Launches stand above campaigns and begin sends
 * themselves; this is all that campaigns ask of them. `src/main` hands it to the API and to workers.
 */
export interface LaunchGate {
  /** Returns how many contacts a scheduled campaign goes to now that its time has come, or why it cannot be sent, as a sentence. */
  before(tx: Database, campaign: DueCampaign, now: Date): Promise<number | string>;
  /** Returns the reviewed contacts of a send page by page, beside `current`, its audience as it is now. */
  reviewed(db: Database, send: ReviewedSend, current: AudienceCursor, size: number): ReviewedContacts;
  /** Notes that somebody lets a locked send go on. */
  resumed(tx: Database, campaignId: string, sendSeq: number): Promise<void>;
  /** Returns by ID what campaigns are shown with; nothing for those without an approval or a canary. */
  shown(db: Database, campaigns: readonly Pick<Campaign, 'id' | 'status'>[]): Promise<ReadonlyMap<string, LaunchShown>>;
}

/** A send to exactly the contacts of a review. */
export type ReviewedSend = ExpandedCampaign & { reviewId: string };

/** Reads the contacts of a review in the order of their IDs. */
export interface ReviewedContacts {
  /** Returns the next page after a contact; null for the first. */
  next(after: string | null): Promise<PageOfContacts>;
}

/** The launch of a campaign as the campaign shows it. */
export interface LaunchShown {
  approval: Approval | null;
  canary: CanaryBody | null;
  /** Why the canary holds the campaign back, as a sentence; null while it does not. */
  held: string | null;
}
