import { LockMode } from '@mikro-orm/core';
import { CampaignStatus } from '../../lib/enums.ts';
import { badRequest } from '../../lib/errors.ts';
import { reasonText } from '../../mail/ledger/reasons.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import { enqueue, enqueueAll, type OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { Campaign } from '../entity.ts';
import { campaignBody, type ShowingDeps } from '../record.ts';
import type { CampaignBody, CampaignWithSegment } from '../schema.ts';
import { getCampaign, load } from '../service.ts';
import {
  cancelSend,
  hasDeparted,
  keepSendLimits,
  lockCampaign,
  lockCampaignSend,
  lockSending,
  setPaused,
  unscheduleSend,
} from '../state.ts';
import { wakeCampaign } from './begin.ts';

interface StoppingDeps extends ShowingDeps {
  outbox: Outbox;
}

/** How a cancellation went. */
export interface Cancelled {
  campaign: CampaignBody;
  /** Whether the campaign becomes a draft again once its unsent rows are gone. */
  revertPending: boolean;
  message: string;
}

/**
 * Cancels a send. When this resolves no further recipient is claimed; what is with the provider still goes out and is
 * counted. Asking again for a cancelled campaign repairs a cleanup that got lost (docs/contract/campaigns-and-workflows.md#2-2).
 * @throws 404, 400 for a draft or a campaign that was sent
 */
export async function cancelCampaign(deps: StoppingDeps, projectId: string, id: string): Promise<Cancelled> {
  const { sendSeq, ticket, wasScheduled } = await deps.db.transaction((tx) => moveToCancelled(tx, projectId, id));
  if (ticket !== null) deps.outbox.dispatchSoon(ticket);
  const campaign = campaignBody(await load(deps.db, projectId, id));
  if (wasScheduled) {
    // The answer is about what was asked for, even when somebody has sent the draft already.
    const message = cancelMessage(CampaignStatus.DRAFT, false);
    return {
      campaign: { ...campaign, status: CampaignStatus.DRAFT, scheduledFor: null },
      revertPending: false,
      message,
    };
  }
  // The answer is taken after the commit: a row that departed in between keeps the campaign CANCELLED.
  const revertPending = campaign.status === CampaignStatus.CANCELLED && !(await hasDeparted(deps.db, id, sendSeq));
  return { campaign, revertPending, message: cancelMessage(campaign.status, revertPending) };
}

async function moveToCancelled(
  tx: Database,
  projectId: string,
  id: string,
): Promise<{ sendSeq: number; ticket: OutboxTicket | null; wasScheduled: boolean }> {
  const { sendSeq, status } = await lockCampaign(tx, projectId, id);
  // With the send locked no claim is being made, so that none can follow the commit.
  if (status === CampaignStatus.SENDING) await lockCampaignSend(tx, id, sendSeq);
  const moved =
    status === CampaignStatus.SCHEDULED
      ? await unscheduleSend(tx, id, sendSeq)
      : status === CampaignStatus.CANCELLED || (await cancelSend(tx, id, sendSeq));
  if (moved) {
    const ticket = await enqueue(tx, wakeCampaign(id, sendSeq));
    if (status !== CampaignStatus.CANCELLED)
      await recordChange(tx, projectId, { action: 'campaign.cancelled', target: id, before: { status } });
    return { sendSeq, ticket, wasScheduled: status === CampaignStatus.SCHEDULED };
  }
  throw badRequest(
    status === CampaignStatus.SENT
      ? 'The campaign has already been sent'
      : `A campaign that is ${status} cannot be cancelled`,
    { status },
  );
}

function cancelMessage(status: CampaignStatus, revertPending: boolean): string {
  if (status === CampaignStatus.DRAFT) return 'Campaign returned to draft';
  if (revertPending) return 'Campaign cancelled: it returns to draft as soon as its unsent messages are removed';
  return 'Campaign cancelled: messages that had been handed over stay sent';
}

/** Cancels a send, scheduled or under way, whose execution an operator has cancelled. Leaves one that is over alone. */
export async function cancelCampaignByOperator(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.transaction(async (tx) => {
    await lockSending(tx, campaignId, sendSeq);
    if (await unscheduleSend(tx, campaignId, sendSeq)) return;
    await cancelSend(tx, campaignId, sendSeq);
  });
}

/** A campaign after a pause or its end. */
export interface Paused {
  campaign: CampaignWithSegment;
  message: string;
}

/**
 * Pauses a campaign that is SENDING, or lets it go on; safe to repeat. When a pause resolves no further recipient is
 * claimed; what is with the provider still goes out and is counted.
 * @throws 404, 400 for a campaign that is not SENDING
 */
export async function pauseCampaign(
  deps: StoppingDeps,
  projectId: string,
  id: string,
  paused: boolean,
): Promise<Paused> {
  const ticket = await deps.db.transaction(async (tx) => {
    const { sendSeq, status } = await lockCampaign(tx, projectId, id);
    const verb = paused ? 'paused' : 'resumed';
    if (!paused) await keepSendLimits(tx, id);
    if (status !== CampaignStatus.SENDING)
      throw badRequest(`A campaign that is ${status} cannot be ${verb}: only one that is SENDING can`, { status });
    await lockCampaignSend(tx, id, sendSeq);
    if (!(await setPaused(tx, id, sendSeq, paused))) return null;
    if (!paused) await deps.launchGate.resumed(tx, id, sendSeq);
    const ticket = await enqueue(tx, wakeCampaign(id, sendSeq));
    await recordChange(tx, projectId, { action: `campaign.${verb}`, target: id });
    return ticket;
  });
  if (ticket !== null) deps.outbox.dispatchSoon(ticket);
  const campaign = await getCampaign(deps, projectId, id);
  return { campaign, message: paused ? 'Campaign paused' : 'Campaign resumed' };
}

/**
 * Moves every scheduled campaign of a disabled project back to DRAFT, in the caller's transaction. Give the tickets to
 * `Outbox.dispatchSoon` after the commit. What is being sent ends by itself: each claim asks whether the project may send.
 */
export async function unscheduleCampaigns(tx: Database, projectId: string): Promise<OutboxTicket[]> {
  const scheduled = { projectId, status: CampaignStatus.SCHEDULED };
  const campaigns = await tx.em.find(Campaign, scheduled, {
    fields: ['id', 'sendSeq'],
    orderBy: { id: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
  });
  for (const { id, sendSeq } of campaigns)
    await unscheduleSend(tx, id, sendSeq, reasonText({ code: 'project_disabled' }));
  return enqueueAll(
    tx,
    campaigns.map(({ id, sendSeq }) => wakeCampaign(id, sendSeq)),
  );
}
