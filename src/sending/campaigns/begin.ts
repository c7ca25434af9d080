import { type Database, type Sql, statement } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { Clock } from '../../core/lib/time.ts';
import { reasonText } from '../ledger/index.ts';
import { type Audience, audienceSize } from './audience.ts';
import { startSend, unscheduleSend } from './state.ts';

interface DueCampaign extends Audience {
  projectDisabled: boolean;
  domainVerified: boolean;
}

const lockDue = statement(
  'campaigns.lock_due',
  `select c.project_id as "projectId", c.type, c.audience_type as "audienceType",
     c.audience_condition as "audienceCondition", c.segment_id as "segmentId", c.resend_of as "resendOf",
     c.resend_seq as "resendSeq", p.disabled as "projectDisabled",
     exists (select from domains d where d.project_id = c.project_id and d.verified
       and d.domain = lower(split_part(c."from", '@', 2))) as "domainVerified"
   from campaigns c join projects p on p.id = c.project_id
   where c.id = $1 and c.send_seq = $2 and c.status = 'SCHEDULED' and c.scheduled_for <= clock_timestamp()
   for no key update of c`,
);

/**
 * Moves a scheduled campaign whose time has come to SENDING, with its audience counted anew; back to DRAFT where it cannot
 * be sent, with the reason as note and event (contract page 2, 2.2). Leaves every other campaign alone; safe to repeat.
 */
export async function beginDueSend(db: Database, clock: Clock, campaignId: string, sendSeq: number): Promise<void> {
  await db.transaction(async (sql) => {
    const campaign = await sql.row<DueCampaign>(lockDue, [campaignId, sendSeq]);
    if (campaign === null) return;
    const found = await recipientsOf(sql, campaign, clock());
    if (found.reason === null) {
      await startSend(sql, campaignId, found.recipients);
      return;
    }
    await unscheduleSend(sql, campaignId, sendSeq, found.reason);
  });
}

type Found = { reason: null; recipients: number } | { reason: string };

async function recipientsOf(sql: Sql, campaign: DueCampaign, now: Date): Promise<Found> {
  if (campaign.projectDisabled) return { reason: reasonText({ code: 'project_disabled' }) };
  if (!campaign.domainVerified) return { reason: reasonText({ code: 'domain_unverified' }) };
  try {
    return { reason: null, recipients: await audienceSize(sql, campaign, now) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { reason: `Its audience cannot be found: ${error.message}` };
  }
}
