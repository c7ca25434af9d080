import * as v from 'valibot';
import { type Audience, audienceCounts } from '../../campaigns/audience/audience.ts';
import { Campaign } from '../../campaigns/entity.ts';
import { campaignBody } from '../../campaigns/record.ts';
import { type CampaignBody, Correction, type EarlierRecipients, FollowUpReach } from '../../campaigns/schema.ts';
import { type CampaignDeps, load } from '../../campaigns/service.ts';
import { editableStatuses, finishedStatuses } from '../../lib/enums.ts';
import { badRequest } from '../../lib/errors.ts';
import { field } from '../../lib/validation/fields.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { Database } from '../../store/sql.ts';
import { BodySource, SubjectSource } from '../../templates/schema.ts';
import { checkSources } from '../../templates/service.ts';
import { DocumentSource, needsContent, storedContent } from '../../templates/source.ts';
import { keepVersion } from '../../templates/versions.ts';

/** `POST /campaigns/{id}/revise`: what is absent stays. */
export const ReviseCampaign = v.object({
  subject: field('New subject line, with Liquid variables; absent keeps the current one.', v.optional(SubjectSource)),
  body: field(
    'New HTML body, with Liquid variables; absent keeps the current one. Give either `body` or `document`.',
    v.optional(BodySource),
  ),
  document: field(
    'Blocks that the new HTML body is compiled from, in place of `body`; absent keeps the current content.',
    DocumentSource,
  ),
});
export type ReviseCampaign = v.InferOutput<typeof ReviseCampaign>;

/** `POST /campaigns/{id}/correction`. */
export const CorrectCampaign = v.pipe(
  v.object({
    ...Correction.entries,
    subject: field('Subject line of the correction, with Liquid variables; 1 to 998 characters.', SubjectSource),
    body: field(
      'HTML body of the correction, with Liquid variables. Give either `body` or `document`.',
      v.optional(BodySource),
    ),
    document: field(
      'Blocks that the HTML body is compiled from, in place of `body`; see the templates guide.',
      DocumentSource,
    ),
  }),
  needsContent(),
);
export type CorrectCampaign = v.InferOutput<typeof CorrectCampaign>;

/** `POST /campaigns/{id}/follow-up/audience`. */
export const FollowUpAudience = v.object({
  who: field(
    'Recipients of the follow-up. `got`: all recipients of the campaign. `opened`, `clicked`: those who opened it or clicked a link. `not_opened`, `not_clicked`: those who did not. Bounced emails count for `got` only.',
    FollowUpReach,
  ),
});

/** `POST /campaigns/{id}/follow-up`: without a subject it is that of the campaign. */
export const FollowUpCampaign = v.object({
  ...FollowUpAudience.entries,
  subject: field(
    'Subject line of the follow-up, with Liquid variables; that of the campaign when absent.',
    v.optional(SubjectSource),
  ),
});
export type FollowUpCampaign = v.InferOutput<typeof FollowUpCampaign>;

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
  if (!finishedStatuses.has(status))
    throw badRequest(`A campaign that is ${status} has no follow-up yet: wait until it has been sent`, { status });
  const versions = Array.from({ length: contentVersion }, (_, index) => index + 1);
  return earlierAudience(campaign, { versions, who });
}

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
async function draftToEarlier(
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
  if (editableStatuses.has(status))
    throw badRequest(`A campaign that is ${status} cannot be corrected: no one has received it yet`, { status });
  const unknown = correction.versions.find((version) => version > contentVersion);
  if (unknown !== undefined)
    throw badRequest(`"versions" names ${unknown}, and this campaign has versions up to ${contentVersion}`, {
      contentVersion,
    });
  return earlierAudience(campaign, correction);
}

/** The audience of those recipients of a campaign's current send. */
function earlierAudience(campaign: Campaign, recipients: EarlierRecipients): EarlierAudience {
  const { id, projectId, type, audienceType, sendSeq } = campaign;
  return { projectId, type, audienceType, resendOf: id, resendSeq: sendSeq, correction: recipients };
}
