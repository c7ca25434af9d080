import { segmentsByIds } from '../../audience/segments/index.ts';
import type { Database } from '../../core/database/sql.ts';
import { type Hold, holdFor, holdSentence } from '../engine/index.ts';
import type { Campaign } from './entity.ts';
import { CampaignBody, type CampaignWithSegment } from './schema.ts';

/** A campaign as answers show it. */
export function campaignBody(campaign: Campaign): CampaignBody {
  const shown = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? null));
  const keys = Object.keys(CampaignBody.entries) as (keyof CampaignBody)[];
  return Object.fromEntries(keys.map((key) => [key, shown(campaign[key])])) as CampaignBody;
}

/** `campaignBody` with the segments of the campaigns, and why those that are SENDING stand still. */
export async function withSegments(
  db: Database,
  provider: string,
  campaigns: readonly Campaign[],
): Promise<CampaignWithSegment[]> {
  const ids = campaigns.flatMap(({ segmentId }) => segmentId ?? []);
  const projectId = campaigns[0]?.projectId ?? '';
  const [segments, hold] = await Promise.all([
    segmentsByIds(db, projectId, ids),
    campaigns.some(mayBeHeld) ? holdFor(db, provider) : null,
  ]);
  return campaigns.map((campaign) => ({
    ...campaignBody(campaign),
    segment: segments.get(campaign.segmentId ?? '') ?? null,
    held: heldBy(hold, campaign),
  }));
}

/** Why a campaign that is SENDING stands still, as a sentence; null while it moves. `provider`: the mailer's name. */
export async function heldSentence(db: Database, provider: string, campaign: Campaign): Promise<string | null> {
  return mayBeHeld(campaign) ? heldBy(await holdFor(db, provider), campaign) : null;
}

/** Recipients of a campaign that is under way without a verdict yet, by its counters. */
export function pendingCount({ totalRecipients, sentCount, skippedCount, failedCount }: Campaign): number {
  return Math.max(0, totalRecipients - sentCount - skippedCount - failedCount);
}

function mayBeHeld({ status, pausedAt }: Campaign): boolean {
  return status === 'SENDING' && !pausedAt;
}

function heldBy(hold: Hold | null, campaign: Campaign): string | null {
  return hold !== null && mayBeHeld(campaign) ? holdSentence(hold, pendingCount(campaign)) : null;
}
