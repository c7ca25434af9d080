import { checkSources, keepVersion, storedContent } from '../../../content/templates/index.ts';
import type { Database } from '../../../core/database/sql.ts';
import { badRequest } from '../../../core/lib/errors.ts';
import { recordChange } from '../../../platform/audit/index.ts';
import { type Audience, audienceCounts } from '../audience/audience.ts';
import { Campaign } from '../entity.ts';
import { campaignBody } from '../record.ts';
import type { CampaignBody, Correction, EarlierRecipients } from '../schema.ts';
import { type CampaignDeps, load } from '../service.ts';
import type { CorrectCampaign } from './schema.ts';

/** An audience that is chosen among the recipients of an earlier campaign. */
type EarlierAudience = Audience & { resendOf: string; resendSeq: number; correction: EarlierRecipients };

/** How many a correction would go to now, and how many more if all of them were subscribed. @throws 404, 400 as `correctCampaign` */
export async function countCorrection(
  { db, clock }: Pick<CampaignDeps, 'db' | 'clock'>,
  projectId: string,
  id: string,
  correction: Correction,
): Promise<{ recipients: number; unsubscribed: number }> {
  return audienceCounts(db, correctionAudience(await load(db, projectId, id), correction), clock());
}

/**
 * Makes a draft that goes to exactly those who got certain versions of a campaign's current send, or have opened or clicked them.
 * It is reviewed, approved and sent as any other; who has unsubscribed since is left out.
 * @throws 404; 400 for a campaign that has not begun, a version that there is none of, where nobody is left, or for a template that does not
 * parse
 */
export async function correctCampaign(
  { db, iconsUrl, clock }: CampaignDeps,
  projectId: string,
  id: string,
  { versions, who, subject, ...source }: CorrectCampaign,
): Promise<CampaignBody> {
  checkSources({ subject, ...source });
  return db.transaction(async (tx) => {
    const original = await load(tx, projectId, id);
    const correction = { versions: [...new Set(versions)].sort((a, b) => a - b), who };
    const audience = correctionAudience(original, correction);
    const { recipients } = await audienceCounts(tx, audience, clock());
    if (recipients === 0)
      throw badRequest('None of the recipients of these versions can receive email now', { ...correction });
    const campaign = await draftToEarlier(tx, original, audience, {
      name: `${original.name} (Correction)`,
      subject,
      totalRecipients: recipients,
      body: '',
      ...(await storedContent(tx, iconsUrl, projectId, source)),
    });
    await recordChange(tx, projectId, {
      action: 'campaign.corrected',
      target: id,
      after: { correction: campaign.id, ...correction, recipients },
    });
    return campaignBody(campaign);
  });
}

/** Makes a draft from the sender of an earlier campaign to some of its recipients. */
export async function draftToEarlier(
  tx: Database,
  { description, from, fromName, replyTo, segmentId, audienceCondition }: Campaign,
  audience: EarlierAudience,
  content: Pick<Campaign, 'name' | 'subject' | 'totalRecipients' | 'body'> & Partial<Pick<Campaign, 'document'>>,
): Promise<Campaign> {
  const copied = { description, from, fromName, replyTo, segmentId, audienceCondition };
  const campaign = tx.em.create(Campaign, { ...copied, ...audience, ...content });
  await tx.em.flush();
  await keepVersion(tx, campaign);
  return campaign;
}

function correctionAudience(campaign: Campaign, correction: Correction): EarlierAudience {
  const { status, contentVersion } = campaign;
  if (status === 'DRAFT' || status === 'SCHEDULED')
    throw badRequest(`A campaign that is ${status} cannot be corrected: no one has received it yet`, { status });
  const unknown = correction.versions.find((version) => version > contentVersion);
  if (unknown !== undefined)
    throw badRequest(`"versions" names ${unknown}, and this campaign has versions up to ${contentVersion}`, {
      contentVersion,
    });
  return earlierAudience(campaign, correction);
}

/** The audience of those recipients of a campaign's current send. */
export function earlierAudience(campaign: Campaign, recipients: EarlierRecipients): EarlierAudience {
  const { id, projectId, type, audienceType, sendSeq } = campaign;
  return { projectId, type, audienceType, resendOf: id, resendSeq: sendSeq, correction: recipients };
}
