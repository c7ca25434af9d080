import { LockMode } from '@mikro-orm/core';
import * as v from 'valibot';
import { CampaignStatus, campaignStatuses, editableStatuses, pendingStatuses } from '../lib/enums.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { checkSeen } from '../lib/ids.ts';
import { offsetAnswer, offsetPage } from '../lib/pages.ts';
import { likeText } from '../lib/text.ts';
import type { Clock } from '../lib/time.ts';
import { recordChange } from '../projects/audit/record.ts';
import type { Database } from '../store/sql.ts';
import { type ContentDeps, checkSender, checkSources } from '../templates/service.ts';
import { assignContent, copiedContent, newContent } from '../templates/source.ts';
import {
  contentVersion,
  contentVersions,
  keepAuthor,
  keepFirstVersion,
  keepVersion,
  restoredContent,
} from '../templates/versions.ts';
import { audienceSize, checkConditionShape } from './audience/audience.ts';
import { changesAudience, checkAudience, checkCompanions } from './audience/cursor.ts';
import { Campaign } from './entity.ts';
import { campaignBody, heldSentence, pendingCount, type ShowingDeps, withSegments } from './record.ts';
import { sentVersions } from './results/results.ts';
import type { CampaignStats } from './results/schema.ts';
import {
  type CampaignBody,
  type CampaignWithSegment,
  type CreateCampaign,
  campaignCounts,
  campaignSorts,
  type ListCampaigns,
  type UpdateCampaign,
} from './schema.ts';
import { keepSendLimits } from './state.ts';

/** The parts that reading and writing campaigns needs. */
export interface CampaignDeps extends ContentDeps, ShowingDeps {
  clock: Clock;
}

/** A page of campaigns, newest first unless asked otherwise. @throws 400 for an unknown status */
export async function listCampaigns(deps: ShowingDeps, projectId: string, query: ListCampaigns) {
  const { db } = deps;
  const page = offsetPage(query, 1000);
  const status = query.status ? campaignStatuses.find((known) => known === query.status) : undefined;
  if (query.status && !status) throw badRequest(`"status" must be one of ${campaignStatuses.join(', ')}`);
  const search = query.search?.trim();
  // No stored text has this character, and Postgres takes none.
  const findsNothing = search?.includes('\u0000') ?? false;
  const pattern = search ? `%${likeText(search)}%` : null;
  const sort = campaignSorts.find((known) => known === query.sort) ?? 'createdAt';
  const dir = query.dir === 'asc' ? 'asc' : 'desc';
  const [campaigns, total] = findsNothing
    ? [[], 0]
    : await db.em.findAndCount(
        Campaign,
        {
          projectId,
          archived: query.archived === 'true',
          ...(status ? { status } : {}),
          ...(pattern
            ? { $or: [{ name: { $ilike: pattern } }, { subject: { $ilike: pattern } }, { from: { $ilike: pattern } }] }
            : {}),
        },
        { orderBy: [{ [sort]: dir }, { id: dir }], limit: page.pageSize, offset: page.offset },
      );
  const archivedCount = await db.em.count(Campaign, { projectId, archived: true });
  return { ...offsetAnswer(await withSegments(deps, campaigns), page, total), archivedCount };
}

/**
 * Creates a campaign as a draft (docs/contract/campaigns-and-workflows.md#2-5).
 * @throws 422 for a condition that is no tree; 400 for an audience that is incomplete, a template that does not parse or a
 * faulty condition; 403 for the sender's domain; 404 for the segment
 */
export async function createCampaign(
  { db, senderDomains, iconsUrl, clock }: CampaignDeps,
  projectId: string,
  body: CreateCampaign,
): Promise<CampaignBody> {
  if (body.audienceType === 'FILTERED' && body.audienceCondition) checkConditionShape(body.audienceCondition);
  checkCompanions(body);
  checkSources(body);
  await checkSender(senderDomains, projectId, body.from);
  return db.transaction(async (tx) => {
    await checkAudience(tx, projectId, body);
    const campaign = tx.em.create(Campaign, {
      ...(await newContent(tx, iconsUrl, projectId, body)),
      audienceCondition: body.audienceCondition ?? null,
      segmentId: body.segmentId ?? null,
      totalRecipients: await audienceSize(tx, { projectId, ...body }, clock()),
    });
    await tx.em.flush();
    await keepVersion(tx, campaign);
    return campaignBody(campaign);
  });
}

/** One campaign, archived ones too. @throws 404 CAMPAIGN_NOT_FOUND */
export async function getCampaign(deps: ShowingDeps, projectId: string, id: string): Promise<CampaignWithSegment> {
  const [body] = await withSegments(deps, [await load(deps.db, projectId, id)]);
  return body as CampaignWithSegment;
}

/**
 * Changes a campaign that is not under way; parts that are absent stay, null clears what may be empty.
 * @throws 404, 400 for its status or an incomplete audience, 412 where `ifMatch` names another revision, 403 for a key with limits
 * where others wrote or sent it, and as on creation
 */
export async function updateCampaign(
  { db, senderDomains, iconsUrl, clock }: CampaignDeps,
  projectId: string,
  id: string,
  body: UpdateCampaign,
  ifMatch = '',
  restoredFrom: number | null = null,
): Promise<CampaignBody> {
  return db.transaction(async (tx) => {
    // Locked, so that a send that begins at the same moment sends either the old content or the new one.
    const campaign = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    checkSeen('campaign', '/campaigns/{id}', campaign, ifMatch);
    const { status } = campaign;
    if (!editableStatuses.has(status)) throw badRequest(`A campaign that is ${status} cannot be changed`, { status });
    await keepSendLimits(tx, id);
    await keepAuthor(tx, 'campaign', campaign);
    const audience = {
      audienceType: body.audienceType ?? campaign.audienceType,
      segmentId: body.segmentId === undefined ? campaign.segmentId : body.segmentId,
      audienceCondition: body.audienceCondition === undefined ? campaign.audienceCondition : body.audienceCondition,
    };
    if (audience.audienceType === 'FILTERED' && body.audienceCondition) checkConditionShape(body.audienceCondition);
    checkCompanions(body);
    checkSources(body);
    await keepFirstVersion(tx, campaign);
    if (body.from !== undefined) await checkSender(senderDomains, projectId, body.from);
    if (
      status === CampaignStatus.SCHEDULED &&
      body.segmentId !== undefined &&
      body.segmentId !== (campaign.segmentId ?? null)
    )
      throw badRequest('The segment of a scheduled campaign cannot be changed: cancel it first', { status });
    if (campaign.resendOf && changesAudience(campaign, body))
      throw badRequest('This campaign has the recipients of another: duplicate it to choose another audience', {
        resendOf: campaign.resendOf,
      });
    const keys = [body.audienceType, body.audienceCondition, body.segmentId];
    if (keys.some((value) => value !== undefined)) await checkAudience(tx, projectId, audience);
    await assignContent(tx, iconsUrl, campaign, body);
    if (status === CampaignStatus.DRAFT && [body.type, ...keys].some((value) => value !== undefined))
      campaign.totalRecipients = await audienceSize(tx, campaign, clock());
    await tx.em.flush();
    await keepVersion(tx, campaign, restoredFrom);
    return campaignBody(campaign);
  });
}

/** The versions of a campaign, newest first. @throws 404 */
export async function campaignVersions(db: Database, projectId: string, id: string) {
  await load(db, projectId, id);
  return contentVersions(db, projectId, id);
}

/** A version of a campaign with its content. @throws 404 */
export async function campaignVersion(
  { db, iconsUrl }: Pick<CampaignDeps, 'db' | 'iconsUrl'>,
  projectId: string,
  id: string,
  version: string,
) {
  await load(db, projectId, id);
  return contentVersion(db, iconsUrl, projectId, id, version);
}

/** Saves a version of a campaign as its newest one; the audience stays. @throws as `updateCampaign`, 404 for the version */
export async function restoreCampaign(
  deps: CampaignDeps,
  projectId: string,
  { id, version }: { id: string; version: string },
  ifMatch: string,
): Promise<CampaignBody> {
  return deps.db.transaction(async (tx) => {
    const within = { ...deps, db: tx };
    const found = await campaignVersion(within, projectId, id, version);
    const change = restoredContent(found);
    const restored = await updateCampaign(within, projectId, id, change, ifMatch, found.version);
    await recordChange(tx, projectId, { action: 'campaign.restored', target: id, after: { version: found.version } });
    return restored;
  });
}

/** Copies content and audience into a draft named `<name> (Copy)`, from any status. @throws 404 */
export async function duplicateCampaign(
  { db, clock }: Pick<CampaignDeps, 'db' | 'clock'>,
  projectId: string,
  id: string,
): Promise<CampaignBody> {
  const original = await load(db, projectId, id);
  const { type, audienceType, audienceCondition, segmentId } = original;
  const audience = { projectId, type, audienceType, audienceCondition, segmentId };
  const totalRecipients = await audienceSize(db, audience, clock());
  const parts = { ...copiedContent(original), ...audience, name: `${original.name} (Copy)`, totalRecipients };
  return db.transaction(async (tx) => {
    const copy = tx.em.create(Campaign, parts);
    await tx.em.flush();
    await keepVersion(tx, copy);
    return campaignBody(copy);
  });
}

/**
 * Counts and rates (docs/contract/campaigns-and-workflows.md#2-5); the skipped, failed and pending ones make them add up.
 * @throws 404
 */
export async function campaignStats(deps: ShowingDeps, projectId: string, id: string): Promise<CampaignStats> {
  const { db } = deps;
  const campaign = await load(db, projectId, id);
  const { sentCount, skippedCount, failedCount } = campaign;
  const rate = (count: number) => (sentCount === 0 ? 0 : (count / sentCount) * 100);
  const underWay = pendingStatuses.has(campaign.status);
  return {
    ...v.parse(v.object(campaignCounts), campaign),
    skippedCount,
    failedCount,
    pendingCount: underWay ? pendingCount(campaign) : 0,
    openRate: rate(campaign.openedCount),
    clickRate: rate(campaign.clickedCount),
    bounceRate: rate(campaign.bouncedCount),
    deliveryRate: rate(campaign.deliveredCount),
    complaintRate: rate(campaign.complainedCount),
    unsubscribeRate: rate(campaign.unsubscribedCount),
    pausedAt: campaign.pausedAt?.toISOString() ?? null,
    held: await heldSentence(deps, campaign),
    versions: await sentVersions(db, campaign),
  };
}

/** How many contacts a campaign would go to now. @throws 404, 400 for a stored condition that can no longer be read */
export async function campaignAudience(db: Database, projectId: string, id: string, now: Date): Promise<number> {
  return audienceSize(db, await load(db, projectId, id), now);
}

/** Loads a campaign of the project. @throws 404 CAMPAIGN_NOT_FOUND */
export async function load(db: Database, projectId: string, id: string, lockMode?: LockMode): Promise<Campaign> {
  const campaign = await db.em.findOne(Campaign, { projectId, id }, lockMode === undefined ? {} : { lockMode });
  if (campaign === null) throw notFound('campaign', id);
  return campaign;
}
