import { wakeCampaign } from '../../campaigns/lifecycle/begin.ts';
import { keepSendLimits, lockCampaign, lockCampaignSend } from '../../campaigns/state.ts';
import { CampaignStatus } from '../../lib/campaign-status.ts';
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

/** Gives the current send of a locked campaign its canary, or takes it away (null); absent leaves what a scheduled one has. */
export async function setCanary(tx: Database, id: string, canary: CanaryOptions | null | undefined): Promise<void> {
  if (canary === undefined) return;
  if (canary === null) {
    await tx.count(sql`
      with gone as (
        delete from campaign_canaries k using campaigns c
        where c.id = ${id} and k.campaign_id = c.id and k.send_seq = c.send_seq returning k.campaign_id, k.send_seq)
      update campaign_sends s set canary = false from gone
      where s.campaign_id = gone.campaign_id and s.send_seq = gone.send_seq`);
    return;
  }
  const { recipients, hold, stopIf, minDelivered = Math.ceil((recipients * usualDelivered) / 100) } = canary;
  await tx.count(sql`
    with held as (
      insert into campaign_canaries (campaign_id, send_seq, recipients, hold_seconds, stop_if, min_delivered)
      select id, send_seq, ${recipients}::int, ${holdSeconds(hold)}::int, ${JSON.stringify(stopIf)}::jsonb, ${minDelivered}::int
      from campaigns where id = ${id}
      on conflict (campaign_id, send_seq) do update set recipients = excluded.recipients, hold_seconds = excluded.hold_seconds,
        stop_if = excluded.stop_if, min_delivered = excluded.min_delivered, updated_at = now()
      returning campaign_id, send_seq)
    update campaign_sends s set canary = true from held
    where s.campaign_id = held.campaign_id and s.send_seq = held.send_seq`);
}

/**
 * Chooses the slice once the audience is frozen: the contacts of lowest sha256(campaign, contact), which neither the order of
 * their creation nor their address decides, and which are the same however often this is asked. One walk along the send's
 * index that keeps the lowest only. A slice that would be everybody is none. Safe to repeat.
 */
export async function chooseCanary(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows(sql`select from campaigns where id = ${campaignId} for no key update`);
    await lockCampaignSend(tx, campaignId, sendSeq);
    const canary = await tx.row<{ recipients: number }>(sql`
      select k.recipients
      from campaign_canaries k join campaign_sends s using (campaign_id, send_seq)
      where k.campaign_id = ${campaignId} and k.send_seq = ${sendSeq} and k.state = 'WAITING' and s.expanded`);
    if (canary === null) return;
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
    await tx.count(sql`
      update campaign_canaries set state = 'SENDING', chosen = ${chosen}, updated_at = now()
      where campaign_id = ${campaignId} and send_seq = ${sendSeq}`);
  });
}

/** Ends the canary of a send that is locked: from the commit on everybody may be claimed. */
export async function endCanary(tx: Database, campaignId: string, sendSeq: number): Promise<void> {
  await tx.count(sql`
    with ended as (
      update campaign_canaries set state = 'PASSED', ended_at = clock_timestamp(), held_until = null, updated_at = now()
      where campaign_id = ${campaignId} and send_seq = ${sendSeq} and state <> 'PASSED'),
    forgotten as (
      delete from campaign_canary_contacts where campaign_id = ${campaignId} and send_seq = ${sendSeq})
    update campaign_sends set canary = false, claimed_through = null, updated_at = now()
    where campaign_id = ${campaignId} and send_seq = ${sendSeq}`);
}

/** Notes that a person lets a send continue whatever its canary says; called with the campaign locked. Answers false without one. */
async function releaseCanary(tx: Database, campaignId: string, sendSeq: number): Promise<boolean> {
  const released = await tx.count(sql`
    update campaign_canaries set released_at = clock_timestamp(), state = 'SENDING', held_until = null, updated_at = now()
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} and state in ('SENDING', 'HOLDING', 'STOPPED')
      and released_at is null`);
  return released > 0;
}

/** As `releaseCanary`, where the canary has stopped the campaign: whoever resumes it has read why. */
export async function releaseStopped(tx: Database, campaignId: string, sendSeq: number): Promise<void> {
  const stopped = await tx.row(sql`
    select from campaign_canaries where campaign_id = ${campaignId} and send_seq = ${sendSeq} and state = 'STOPPED'`);
  if (stopped !== null) await releaseCanary(tx, campaignId, sendSeq);
}

/**
 * Ends the hold of a canary early: the rest of the slice and of the audience follow at once. Safe to repeat.
 * @throws 404, 409 for a campaign that has no open canary, or is paused
 */
export async function continueFromCanary(db: Database, projectId: string, id: string): Promise<OutboxTicket | null> {
  return db.transaction(async (tx) => {
    const { sendSeq, status } = await lockCampaign(tx, projectId, id);
    await keepSendLimits(tx, id);
    const canary = await tx.row<{ state: string; released: boolean; paused: boolean }>(sql`
      select k.state, k.released_at is not null as released, c.paused_at is not null as paused
      from campaign_canaries k join campaigns c on c.id = k.campaign_id
      where k.campaign_id = ${id} and k.send_seq = ${sendSeq}`);
    if (status !== CampaignStatus.SENDING || canary === null || (canary.state === 'PASSED' && !canary.released))
      throw conflict('This campaign has no canary that could be ended', { status });
    if (canary.released) return null;
    if (canary.paused) throw conflict('The campaign is paused: resume it to continue', { status });
    if (!(await releaseCanary(tx, id, sendSeq)))
      throw conflict('The audience is still being prepared: end the canary once it is being sent', { status });
    const ticket = await enqueue(tx, wakeCampaign(id, sendSeq));
    await recordChange(tx, projectId, { action: 'campaign.canary_ended', target: id });
    return ticket;
  });
}
