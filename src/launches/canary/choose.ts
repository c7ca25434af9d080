import { CampaignCanary, CampaignSend } from '../../campaigns/entity.ts';
import type { CanaryCounts, CanaryState } from '../../campaigns/launch.ts';
import { wakeCampaign } from '../../campaigns/lifecycle/begin.ts';
import { keepSendLimits, lockCampaign, lockSending } from '../../campaigns/state.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { badRequest, conflict } from '../../lib/errors.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { type CanaryOptions, holdSeconds } from './view.ts';

// Percent of the slice that must be reported as delivered where nothing else is said: at least one, or a slice of three would
// pass without a report.
const usualDelivered = 30;

/** @throws 400 where the slice is the whole audience, or fewer than must be delivered */
export function checkCanary(canary: CanaryOptions | null | undefined, recipients: number): void {
  if (!canary) return;
  if (canary.recipients >= recipients)
    throw badRequest(
      `"canary.recipients" must be less than the audience, which has ${recipients.toLocaleString('en-US')} recipients`,
      { recipients },
    );
  if ((canary.minDelivered ?? 0) > canary.recipients)
    throw badRequest('"canary.minDelivered" must be at most "canary.recipients"');
}

/** Gives a send of a locked campaign its canary, or takes it away (null); absent leaves what a scheduled one has. */
export async function setCanary(
  tx: Database,
  campaignId: string,
  sendSeq: number,
  canary: CanaryOptions | null | undefined,
): Promise<void> {
  if (canary === undefined) return;
  const send: [string, number] = [campaignId, sendSeq];
  if (canary === null) await tx.em.nativeDelete(CampaignCanary, { send });
  else {
    const { recipients, hold, stopIf, minDelivered = Math.ceil((recipients * usualDelivered) / 100) } = canary;
    const options = { recipients, holdSeconds: holdSeconds(hold), stopIf, minDelivered };
    await tx.em.upsert(CampaignCanary, { send, ...options, updatedAt: new Date() });
  }
  await tx.em.nativeUpdate(CampaignSend, { campaignId, sendSeq }, { canary: canary !== null });
}

/**
 * Chooses the slice once the audience is frozen: the contacts of lowest sha256(campaign, contact), which neither the order of
 * their creation nor their address decides, and which are the same however often this is asked. One walk along the send's
 * index that keeps the lowest only. A slice that would be everybody is none. Safe to repeat.
 */
export async function chooseCanary(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.transaction(async (tx) => {
    await lockSending(tx, campaignId, sendSeq);
    const canary = await tx.em.findOne(CampaignCanary, { send: [campaignId, sendSeq], state: 'WAITING' });
    if (canary === null || (await tx.em.count(CampaignSend, { campaignId, sendSeq, expanded: true })) === 0) return;
    const chosen = await tx.count(sql`
      insert into campaign_canary_contacts (campaign_id, send_seq, contact_id)
      select campaign_id, send_seq, contact_id from emails
      where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and status = 'PENDING'
      order by sha256(uuid_send(campaign_id) || uuid_send(contact_id)), contact_id limit ${canary.recipients}::int`);
    // Rows of the ledger that have their verdict already, such as those of a review, are nobody to hold back.
    const rest = await tx.row(sql`
      select from emails e where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and status = 'PENDING'
        and not exists (select from campaign_canary_contacts m
          where m.campaign_id = ${campaignId} and m.send_seq = ${sendSeq} and m.contact_id = e.contact_id)
      limit 1`);
    if (rest === null) return endCanary(tx, campaignId, sendSeq);
    tx.em.assign(canary, { state: 'SENDING', chosen });
  });
}

/** Ends the canary of a send that is locked, and keeps its counts: from the commit on everybody may be claimed. */
export async function endCanary(
  tx: Database,
  campaignId: string,
  sendSeq: number,
  counts: CanaryCounts | null = null,
): Promise<void> {
  await tx.count(sql`
    with ended as (
      update campaign_canaries set state = 'PASSED', counts = coalesce(${counts}::jsonb, counts), ended_at = clock_timestamp(),
        held_until = null, updated_at = now()
      where campaign_id = ${campaignId} and send_seq = ${sendSeq} and state <> 'PASSED'),
    forgotten as (
      delete from campaign_canary_contacts where campaign_id = ${campaignId} and send_seq = ${sendSeq})
    update campaign_sends set canary = false, claimed_through = null, updated_at = now()
    where campaign_id = ${campaignId} and send_seq = ${sendSeq}`);
}

/**
 * Notes that a person lets a send continue whatever its canary says, where that is in one of the states; called with the campaign
 * locked. Answers false without one.
 */
async function releaseCanary(
  tx: Database,
  campaignId: string,
  sendSeq: number,
  states: readonly CanaryState[] = ['SENDING', 'HOLDING', 'STOPPED'],
): Promise<boolean> {
  const open = { send: [campaignId, sendSeq] as [string, number], state: { $in: [...states] }, releasedAt: null };
  const now = new Date();
  const released = { releasedAt: now, state: 'SENDING', heldUntil: null, updatedAt: now } as const;
  return (await tx.em.nativeUpdate(CampaignCanary, open, released)) > 0;
}

/** As `releaseCanary`, where the canary has stopped the campaign: whoever resumes it has read why. */
export async function releaseStopped(tx: Database, campaignId: string, sendSeq: number): Promise<void> {
  await releaseCanary(tx, campaignId, sendSeq, ['STOPPED']);
}

/**
 * Ends the hold of a canary early: the rest of the slice and of the audience follow at once. Safe to repeat.
 * @throws 404, 409 for a campaign that has no open canary, or is paused
 */
export async function continueFromCanary(db: Database, projectId: string, id: string): Promise<OutboxTicket | null> {
  return db.transaction(async (tx) => {
    const { sendSeq, status, paused } = await lockCampaign(tx, projectId, id);
    await keepSendLimits(tx, id);
    const canary = await tx.em.findOne(CampaignCanary, { send: [id, sendSeq] });
    if (status !== CampaignStatus.SENDING || canary === null || (canary.state === 'PASSED' && !canary.releasedAt))
      throw conflict('This campaign has no canary that could be ended', { status });
    if (canary.releasedAt) return null;
    if (paused) throw conflict('The campaign is paused: resume it to continue', { status });
    if (!(await releaseCanary(tx, id, sendSeq)))
      throw conflict('The audience is still being prepared: end the canary once it is being sent', { status });
    const ticket = await enqueue(tx, wakeCampaign(id, sendSeq));
    await recordChange(tx, projectId, { action: 'campaign.canary_ended', target: id });
    return ticket;
  });
}
