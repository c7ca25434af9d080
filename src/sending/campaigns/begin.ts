import { type Database, sql } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { Clock } from '../../core/lib/time.ts';
import { reasonText } from '../ledger/index.ts';
import { type Audience, audienceSize } from './audience.ts';
import { openSend, unscheduleSend } from './state.ts';

interface DueCampaign extends Audience {
  projectDisabled: boolean;
  domainVerified: boolean;
}

/**
 * Moves a scheduled campaign whose time has come to SENDING, with its audience counted anew; back to DRAFT where it cannot
 * be sent, with the reason as note and event (contract page 2, 2.2). Leaves every other campaign alone; safe to repeat.
 */
export async function beginDueSend(db: Database, clock: Clock, campaignId: string, sendSeq: number): Promise<void> {
  await db.transaction(async (tx) => {
    const campaign = await tx.row<DueCampaign>(sql`
      select c.project_id as "projectId", c.type, c.audience_type as "audienceType",
        c.audience_condition as "audienceCondition", c.segment_id as "segmentId", c.resend_of as "resendOf",
        c.resend_seq as "resendSeq", p.disabled as "projectDisabled",
        exists (select from domains d where d.project_id = c.project_id and d.verified
          and d.domain = lower(split_part(c."from", '@', 2))) as "domainVerified"
      from campaigns c join projects p on p.id = c.project_id
      where c.id = ${campaignId} and c.send_seq = ${sendSeq} and c.status = 'SCHEDULED' and c.scheduled_for <= clock_timestamp()
      for no key update of c`);
    if (campaign === null) return;
    const found = await recipientsOf(tx, campaign, clock());
    if (typeof found === 'number') await openSend(tx, campaignId, found, null);
    else await unscheduleSend(tx, campaignId, sendSeq, found);
  });
}

/** How many recipients a campaign has, or why it cannot be sent. */
async function recipientsOf(tx: Database, campaign: DueCampaign, now: Date): Promise<number | string> {
  if (campaign.projectDisabled) return reasonText({ code: 'project_disabled' });
  if (!campaign.domainVerified) return reasonText({ code: 'domain_unverified' });
  try {
    return await audienceSize(tx, campaign, now);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `Its audience cannot be found: ${error.message}`;
  }
}
