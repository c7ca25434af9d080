import { badRequest } from '../../../core/lib/errors.ts';
import { recordChange } from '../../../platform/audit/index.ts';
import { audienceCounts } from '../audience/audience.ts';
import type { Campaign } from '../entity.ts';
import { campaignBody } from '../record.ts';
import type { CampaignBody, EarlierRecipients } from '../schema.ts';
import { type CampaignDeps, load } from '../service.ts';
import { draftToEarlier, earlierAudience } from './correct.ts';
import type { FollowUpCampaign } from './schema.ts';

/** How many a follow-up would go to now, and how many more if all of them were subscribed. @throws 404, 400 as `followUpCampaign` */
export async function countFollowUp(
  { db, clock }: Pick<CampaignDeps, 'db' | 'clock'>,
  projectId: string,
  id: string,
  who: EarlierRecipients['who'],
): Promise<{ recipients: number; unsubscribed: number }> {
  return audienceCounts(db, followUpAudience(await load(db, projectId, id), who), clock());
}

/**
 * Makes a draft with the content of a finished campaign for some of those who got it. Its audience is read when it is sent, so whoever opens
 * the first campaign meanwhile is no longer among those who did not. Whoever has unsubscribed since is left out.
 * @throws 404; 400 for a campaign that is not over, and where nobody is left
 */
export async function followUpCampaign(
  { db, clock }: Pick<CampaignDeps, 'db' | 'clock'>,
  projectId: string,
  id: string,
  { who, subject }: FollowUpCampaign,
): Promise<CampaignBody> {
  return db.transaction(async (tx) => {
    const original = await load(tx, projectId, id);
    const audience = followUpAudience(original, who);
    const { recipients } = await audienceCounts(tx, audience, clock());
    if (recipients === 0) throw badRequest('None of these recipients can receive email now', { who });
    const { name, body, document } = original;
    const campaign = await draftToEarlier(tx, original, audience, {
      name: `${name} (Follow-up)`,
      subject: subject ?? original.subject,
      totalRecipients: recipients,
      body,
      document,
    });
    await recordChange(tx, projectId, {
      action: 'campaign.followed_up',
      target: id,
      after: { followUp: campaign.id, who, recipients },
    });
    return campaignBody(campaign);
  });
}

function followUpAudience(campaign: Campaign, who: EarlierRecipients['who']) {
  const { status, contentVersion } = campaign;
  if (status !== 'SENT' && status !== 'CANCELLED')
    throw badRequest(`A campaign that is ${status} has no follow-up yet: wait until it has been sent`, { status });
  const versions = Array.from({ length: contentVersion }, (_, index) => index + 1);
  return earlierAudience(campaign, { versions, who });
}
