import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOf } from '../db/sql.ts';
import { badRequest, conflict, notFound } from '../lib/errors.ts';
import { offsetAnswer, offsetPage } from '../lib/offset-page.ts';
import { checkSender, checkSources, type SenderDomains } from '../templates/service.ts';
import { audienceSize, checkAudience } from './audience.ts';
import { Campaign } from './entity.ts';
import {
  type CampaignBody,
  type CampaignStats,
  type CampaignWithSegment,
  type CreateCampaign,
  campaignStatuses,
  type ListCampaigns,
  type UpdateCampaign,
} from './schema.ts';
import { campaignState, deleteDraft } from './state.ts';

const sorts = ['name', 'subject', 'status', 'scheduledFor', 'sentAt', 'createdAt', 'updatedAt'] as const;

/** A page of campaigns, newest first unless asked otherwise. @throws 400 for an unknown status */
export async function listCampaigns(em: EntityManager, projectId: string, query: ListCampaigns) {
  const page = offsetPage(query, 1000);
  const status = query.status ? campaignStatuses.find((known) => known === query.status) : undefined;
  if (query.status && !status) throw badRequest(`"status" must be one of ${campaignStatuses.join(', ')}`);
  const search = query.search?.trim();
  const pattern = search ? `%${search.replaceAll(/[\\%_]/g, '\\$&')}%` : null;
  const sort = sorts.find((known) => known === query.sort) ?? 'createdAt';
  const dir = query.dir === 'asc' ? 'asc' : 'desc';
  const [campaigns, total] = await em.findAndCount(
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
  const archivedCount = await em.count(Campaign, { projectId, archived: true });
  return { ...offsetAnswer(campaigns.map(withSegment), page, total), archivedCount };
}

/**
 * Creates a campaign as a draft (contract page 2, 2.5).
 * @throws 400 for an audience that is incomplete or a template that does not parse, 403 for the sender's domain
 */
export async function createCampaign(
  em: EntityManager,
  senderDomains: SenderDomains,
  projectId: string,
  body: CreateCampaign,
): Promise<CampaignBody> {
  checkCompanions(body);
  checkSources(body);
  await checkSender(senderDomains, projectId, body.from);
  checkAudience(body.audienceType);
  const campaign = em.create(Campaign, {
    projectId,
    ...body,
    description: body.description ?? null,
    fromName: body.fromName || null,
    replyTo: body.replyTo ?? null,
    audienceCondition: body.audienceCondition ?? null,
    segmentId: body.segmentId ?? null,
    totalRecipients: await audienceSize(sqlOf(em), { projectId, ...body }),
  });
  await em.flush();
  return campaignBody(campaign);
}

/** One campaign, archived ones too. @throws 404 CAMPAIGN_NOT_FOUND */
export async function getCampaign(em: EntityManager, projectId: string, id: string): Promise<CampaignWithSegment> {
  return withSegment(await load(em, projectId, id));
}

/**
 * Changes a campaign that is not under way; parts that are absent stay.
 * @throws 404, 400 for its status, an incomplete audience or a template that does not parse, 403 for the sender's domain
 */
export async function updateCampaign(
  em: EntityManager,
  senderDomains: SenderDomains,
  projectId: string,
  id: string,
  body: UpdateCampaign,
): Promise<CampaignBody> {
  return em.transactional(async (inner) => {
    // Locked, so that a send that begins at the same moment sends either the old content or the new one.
    const campaign = await load(inner as EntityManager, projectId, id, LockMode.PESSIMISTIC_WRITE);
    const { status } = campaign;
    if (status !== 'DRAFT' && status !== 'SCHEDULED')
      throw badRequest(`A campaign that is ${status} cannot be changed`, { status });
    checkCompanions(body);
    checkSources(body);
    if (body.from !== undefined) await checkSender(senderDomains, projectId, body.from);
    if (body.audienceType !== undefined) checkAudience(body.audienceType);
    if (status === 'SCHEDULED' && body.segmentId !== undefined && body.segmentId !== campaign.segmentId)
      throw badRequest('The segment of a scheduled campaign cannot be changed', { status });
    for (const [field, value] of Object.entries(body))
      if (value !== undefined) inner.assign(campaign, { [field]: value });
    if (campaign.fromName === '') campaign.fromName = null;
    const audienceKeys = [body.type, body.audienceType, body.audienceCondition, body.segmentId];
    if (status === 'DRAFT' && audienceKeys.some((value) => value !== undefined))
      campaign.totalRecipients = await audienceSize(sqlOf(inner as EntityManager), campaign);
    await inner.flush();
    return campaignBody(campaign);
  });
}

/** Deletes a draft. @throws 404, 409 while it is scheduled or sending, 400 once it has been sent or cancelled */
export async function deleteCampaign(em: EntityManager, projectId: string, id: string): Promise<void> {
  const sql = sqlOf(em);
  if (await deleteDraft(sql, projectId, id)) return;
  const state = await campaignState(sql, projectId, id);
  if (state === null) throw notFound('campaign', id);
  if (state.status === 'SCHEDULED' || state.status === 'SENDING')
    throw conflict(`A campaign that is ${state.status} cannot be deleted: cancel it first`, { status: state.status });
  throw badRequest(`A campaign that is ${state.status} cannot be deleted: its history must stay`, {
    status: state.status,
  });
}

/** Copies content and audience into a draft named `<name> (Copy)`, from any status. @throws 404 */
export async function duplicateCampaign(em: EntityManager, projectId: string, id: string): Promise<CampaignBody> {
  const original = await load(em, projectId, id);
  const { description, subject, body, from, fromName, replyTo, type, audienceType, audienceCondition, segmentId } =
    original;
  const copy = em.create(Campaign, {
    projectId,
    name: `${original.name} (Copy)`,
    description,
    subject,
    body,
    from,
    fromName,
    replyTo,
    type,
    audienceType,
    audienceCondition,
    segmentId,
    totalRecipients: await audienceSize(sqlOf(em), original),
  });
  await em.flush();
  return campaignBody(copy);
}

/** Counts and rates (contract page 2, 2.5); `failedCount` and `pendingCount` make them add up. @throws 404 */
export async function campaignStats(em: EntityManager, projectId: string, id: string): Promise<CampaignStats> {
  const campaign = await load(em, projectId, id);
  const { sentCount, failedCount, totalRecipients } = campaign;
  const rate = (count: number) => (sentCount === 0 ? 0 : (count / sentCount) * 100);
  const underWay = campaign.status === 'SENDING' || campaign.status === 'CANCELLED';
  return {
    totalRecipients,
    sentCount,
    deliveredCount: campaign.deliveredCount,
    openedCount: campaign.openedCount,
    clickedCount: campaign.clickedCount,
    bouncedCount: campaign.bouncedCount,
    complainedCount: campaign.complainedCount,
    unsubscribedCount: campaign.unsubscribedCount,
    failedCount,
    pendingCount: underWay ? Math.max(0, totalRecipients - sentCount - failedCount) : 0,
    openRate: rate(campaign.openedCount),
    clickRate: rate(campaign.clickedCount),
    bounceRate: rate(campaign.bouncedCount),
    deliveryRate: rate(campaign.deliveredCount),
    complaintRate: rate(campaign.complainedCount),
    unsubscribeRate: rate(campaign.unsubscribedCount),
  };
}

function checkCompanions(body: UpdateCampaign): void {
  if (body.audienceType === 'SEGMENT' && !body.segmentId)
    throw badRequest('"segmentId" is required with audienceType SEGMENT');
  if (body.audienceType === 'FILTERED' && !body.audienceCondition)
    throw badRequest('"audienceCondition" is required with audienceType FILTERED');
}

async function load(em: EntityManager, projectId: string, id: string, lockMode?: LockMode): Promise<Campaign> {
  const campaign = await em.findOne(Campaign, { projectId, id }, lockMode === undefined ? {} : { lockMode });
  if (campaign === null) throw notFound('campaign', id);
  return campaign;
}

/** A campaign as answers show it. */
export function campaignBody(campaign: Campaign): CampaignBody {
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description ?? null,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.from,
    fromName: campaign.fromName ?? null,
    replyTo: campaign.replyTo ?? null,
    type: campaign.type,
    status: campaign.status,
    audienceType: campaign.audienceType,
    audienceCondition: campaign.audienceCondition ?? null,
    segmentId: campaign.segmentId ?? null,
    scheduledFor: campaign.scheduledFor?.toISOString() ?? null,
    totalRecipients: campaign.totalRecipients,
    sentCount: campaign.sentCount,
    deliveredCount: campaign.deliveredCount,
    openedCount: campaign.openedCount,
    clickedCount: campaign.clickedCount,
    bouncedCount: campaign.bouncedCount,
    complainedCount: campaign.complainedCount,
    unsubscribedCount: campaign.unsubscribedCount,
    archived: campaign.archived,
    projectId: campaign.projectId,
    sentAt: campaign.sentAt?.toISOString() ?? null,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  };
}

/** `campaignBody` with its segment. */
export function withSegment(campaign: Campaign): CampaignWithSegment {
  return { ...campaignBody(campaign), segment: null };
}
