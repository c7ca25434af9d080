import { audienceRule, inBaseAudience } from '../../campaigns/audience/audience.ts';
import { CampaignSend } from '../../campaigns/entity.ts';
import type { Drift } from '../../campaigns/launch.ts';
import type { LockedCampaign } from '../../campaigns/state.ts';
import { AppError } from '../../lib/errors.ts';
import { type Database, sql } from '../../store/sql.ts';
import { changedFields, factsOf } from './findings.ts';
import { DryRun } from './queries.ts';

/** A review that a send may go by. */
export interface CheckedReview {
  id: string;
  n: number;
  drift: Drift;
  /** How many get the message: those of the audience by now whom the drift lets in. */
  recipients: number;
  /** Contacts who came to the audience since the review, and who left it. */
  joined: number;
  left: number;
}

/** Names a review by its fingerprint or by its ID. */
export type ReviewKey = { fingerprint: string } | { id: string };

/**
 * Checks that a locked campaign is as it was reviewed, and its audience within the drift. `until` is when the send begins, for
 * the review must not expire before.
 * @throws 409 REVIEW_STALE naming what has changed
 */
export async function checkReview(
  tx: Database,
  campaign: Pick<LockedCampaign, 'id'> & Parameters<typeof inBaseAudience>[0] & Parameters<typeof audienceRule>[1],
  key: ReviewKey,
  { drift, until, now }: { drift: Drift; until: Date; now: Date },
): Promise<CheckedReview> {
  const { id: campaignId, projectId } = campaign;
  const done = { projectId, campaignId, state: 'DONE', ...key } as const;
  const review = await tx.em.findOne(DryRun, done, { orderBy: { n: 'desc' } });
  if (review === null) throw stale('No dry run of this campaign has this fingerprint', []);
  if (review.expiresAt.getTime() <= Math.max(until.getTime(), Date.now()))
    throw stale('The review expires before the send would begin', []);
  const changed = changedFields(review.facts, (await factsOf(tx, projectId, campaignId)) ?? {});
  if (changed.length > 0) throw stale(`The campaign is not as it was reviewed: ${changed.join(', ')}`, changed);
  const moved = await driftOf(tx, campaign, review.id, now);
  const { joined, left, stayed } = moved;
  const share = (joined + left) / Math.max(1, review.audience);
  const facts = { joined, left, reviewed: review.audience };
  if (drift === 'fewer' && joined > 0)
    throw stale(`The audience is not as it was reviewed: ${joined} joined`, ['audience'], facts);
  if (typeof drift === 'number' && share > drift)
    throw stale(`The audience is not as it was reviewed: ${joined} joined and ${left} left`, ['audience'], facts);
  return { id: review.id, n: review.n, drift, joined, left, recipients: drift === 'none' ? stayed : stayed + joined };
}

/** The review that the current send of a campaign is bound to, null for none. */
export async function boundReview(
  tx: Database,
  { id, sendSeq }: Pick<LockedCampaign, 'id' | 'sendSeq'>,
): Promise<{ id: string; drift: Drift } | null> {
  const send = await tx.em.findOne(CampaignSend, { campaignId: id, sendSeq });
  return send?.reviewId ? { id: send.reviewId, drift: readDrift(send.drift ?? '') } : null;
}

/** How many contacts came and left since a review, and how many are still there. */
async function driftOf(
  tx: Database,
  campaign: Parameters<typeof inBaseAudience>[0] & Parameters<typeof audienceRule>[1],
  reviewId: string,
  now: Date,
): Promise<{ joined: number; left: number; stayed: number }> {
  const rule = await audienceRule(tx, campaign, now);
  const row = await tx.row<{ joined: number; left: number; stayed: number }>(sql`
    select (count(*) filter (where r.id is null))::int as joined, (count(*) filter (where a.id is null))::int as left,
      (count(*) filter (where a.id is not null and r.id is not null))::int as stayed
    from (select c.id from contacts c where ${inBaseAudience(campaign)} and ${rule}) a
      full join (select contact_id as id from dry_run_rows where dry_run_id = ${reviewId}) r on r.id = a.id`);
  return row ?? { joined: 0, left: 0, stayed: 0 };
}

function stale(message: string, changed: string[], facts: Record<string, unknown> = {}): AppError {
  return new AppError(409, 'REVIEW_STALE', message, {
    details: { changed, ...facts },
    suggestion: 'Review the campaign again with POST /campaigns/{id}/dry-run, and send it with the new fingerprint.',
  });
}

/** Writes down by which review a send goes, and how many recipients it may have without an approval; null for no limit. */
export async function noteReview(
  tx: Database,
  { id: campaignId, sendSeq }: Pick<LockedCampaign, 'id' | 'sendSeq'>,
  review: CheckedReview | null,
  mostUnapproved: number | null,
): Promise<void> {
  const terms = { reviewId: review?.id ?? null, drift: review && String(review.drift), mostUnapproved };
  await tx.em.nativeUpdate(CampaignSend, { campaignId, sendSeq }, terms);
}

/** The drift as `campaign_sends.drift` holds it. */
export function readDrift(text: string): Drift {
  return text === 'none' || text === 'fewer' ? text : Number(text);
}
