import { isDeepStrictEqual } from 'node:util';
import { checkedDefinition } from '../../../audience/segments/index.ts';
import { type Database, sql } from '../../../core/database/sql.ts';
import { badRequest, notFound } from '../../../core/lib/errors.ts';
import type { Campaign } from '../entity.ts';
import type { UpdateCampaign } from '../schema.ts';

/** @throws 400 for an audience without what its type needs */
export function checkCompanions(body: UpdateCampaign): void {
  if (body.audienceType === 'SEGMENT' && !body.segmentId)
    throw badRequest('"segmentId" is required with audienceType SEGMENT');
  if (body.audienceType === 'FILTERED' && !body.audienceCondition)
    throw badRequest('"audienceCondition" is required with audienceType FILTERED');
}

/** @throws 404 for a segment that the project does not have, 400 for a faulty condition */
export async function checkAudience(
  tx: Database,
  projectId: string,
  {
    audienceType,
    segmentId,
    audienceCondition,
  }: Pick<UpdateCampaign, 'audienceType' | 'segmentId' | 'audienceCondition'>,
): Promise<void> {
  if (audienceType === 'SEGMENT' && segmentId) {
    // Held until the transaction ends, so that the segment cannot be deleted before the campaign that uses it is there.
    const held = await tx.row(
      sql`select 1 as found from segments where project_id = ${projectId} and id = ${segmentId} for key share`,
    );
    if (held === null) throw notFound('segment', segmentId);
  }
  if (audienceType === 'FILTERED' && audienceCondition) await checkedDefinition(tx, projectId, audienceCondition);
}

/** Whether a change names another audience than the campaign has. */
export function changesAudience(campaign: Campaign, body: UpdateCampaign): boolean {
  const differs = (given: unknown, stored: unknown) => given !== undefined && !isDeepStrictEqual(given, stored ?? null);
  return (
    differs(body.audienceType, campaign.audienceType) ||
    differs(body.segmentId, campaign.segmentId) ||
    differs(body.audienceCondition, campaign.audienceCondition)
  );
}
