import { inOrder, type Tree } from '../../conditions/tree.ts';
import type { SavedCampaign } from './campaign.ts';
import type { Audience } from './rules/steps.ts';

/** The audience of a saved campaign; everybody for a new one. */
export function audienceOf(campaign: SavedCampaign | null): Audience {
  return {
    audienceType: campaign?.audienceType ?? 'ALL',
    segmentId: campaign?.segmentId ?? '',
    // Conditions that the service has stored are valid.
    audienceCondition: campaign?.audienceCondition ? inOrder(campaign.audienceCondition as unknown as Tree) : null,
  };
}

/** The audience in words; `sentence` says a condition. */
export function audienceText({ audienceType, audienceCondition }: Audience, sentence: (tree: Tree) => string): string {
  if (audienceType === 'ALL') return 'All contacts';
  return audienceType === 'SEGMENT' ? 'A segment' : audienceCondition ? sentence(audienceCondition) : 'No filter yet';
}

/** The audience as the API takes it. */
export function audienceBody({ audienceType, segmentId, audienceCondition }: Audience) {
  if (audienceType === 'SEGMENT') return { audienceType, segmentId: segmentId || null };
  return audienceType === 'FILTERED'
    ? { audienceType, audienceCondition: audienceCondition && { ...audienceCondition } }
    : { audienceType };
}
