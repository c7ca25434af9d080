import { audienceSize } from '../campaigns/audience/audience.ts';
import type { LaunchGate, LaunchShown } from '../campaigns/launch.ts';
import { CampaignStatus, editableStatuses } from '../lib/enums.ts';
import { AppError } from '../lib/errors.ts';
import { releaseStopped } from './canary/choose.ts';
import { canariesOf, canarySentence } from './canary/view.ts';
import { pendingApprovals, reviewNeeded } from './review/approval.ts';
import { ReviewedAudience } from './review/expand-reviewed.ts';
import { checkReview, readDrift } from './review/launch-check.ts';

/** Reviews, approvals and canaries as campaigns meet them. */
export const launchGate: LaunchGate = {
  async before(tx, campaign, now) {
    try {
      const { reviewId, drift, mostUnapproved: most } = campaign;
      // It may have been changed since it was scheduled.
      const recipients =
        reviewId === null
          ? await audienceSize(tx, campaign, now)
          : (await checkReview(tx, campaign, { id: reviewId }, { drift: readDrift(drift ?? ''), until: now, now }))
              .recipients;
      return most !== null && recipients > most ? reviewNeeded(most, recipients).message : recipients;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'REVIEW_STALE') return error.message;
      return `Its audience cannot be found: ${error.message}`;
    }
  },

  reviewed: (db, send, current, size) => new ReviewedAudience(db, send, current, size),

  // Whoever resumes a campaign that its canary has stopped has read why.
  resumed: releaseStopped,

  async shown(db, campaigns) {
    const those = (isShown: (status: (typeof campaigns)[number]['status']) => boolean) =>
      campaigns.flatMap(({ id, status }) => (isShown(status) ? id : []));
    const [approvals, canaries] = await Promise.all([
      pendingApprovals(
        db,
        those((status) => editableStatuses.has(status)),
      ),
      canariesOf(
        db,
        those((status) => status !== CampaignStatus.DRAFT),
      ),
    ]);
    const shown = new Map<string, LaunchShown>();
    for (const id of new Set([...approvals.keys(), ...canaries.keys()])) {
      const canary = canaries.get(id) ?? null;
      shown.set(id, { approval: approvals.get(id) ?? null, canary, held: canary && canarySentence(canary) });
    }
    return shown;
  },
};
