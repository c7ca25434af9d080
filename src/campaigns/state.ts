import { LockMode } from '@mikro-orm/core';
import { campaignEvent } from '../contacts/events/queries.ts';
import { type CampaignStatus, editableStatuses, openStatuses } from '../lib/enums.ts';
import { beyondRecipients, notFound } from '../lib/errors.ts';
import { lockRow } from '../store/columns.ts';
import { type NewEvent, recordingEvents } from '../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import type { Audience } from './audience/audience.ts';
import { Campaign, CampaignSend } from './entity.ts';

/** Sender and audience of a campaign, and where it stands, locked until the transaction ends. */
export interface LockedCampaign extends Audience {
  id: string;
  name: string;
  status: CampaignStatus;
  sendSeq: number;
  from: string;
  resendOf: string | null;
  paused: boolean;
  /** The database's clock, in epoch milliseconds: what lies in the future is decided by it. */
  nowMs: number;
}

/**
 * Locks a campaign of the project, so that of two requests at once the second sees what the first did. Whoever locks its
 * send too (`lockCampaignSend`) does that afterwards.
 * @throws 404 CAMPAIGN_NOT_FOUND
 */
export async function lockCampaign(tx: Database, projectId: string, id: string): Promise<LockedCampaign> {
  const campaign = await tx.row<LockedCampaign>(sql`
    select id, project_id as "projectId", name, status, send_seq as "sendSeq", "from", type, audience_type as "audienceType",
      audience_condition as "audienceCondition", segment_id as "segmentId", resend_of as "resendOf", resend_seq as "resendSeq", correction, paused_at is not null as paused,
      (1000 * extract(epoch from clock_timestamp()))::float8 as "nowMs"
    from campaigns where project_id = ${projectId} and id = ${id} for no key update`);
  if (campaign === null) throw notFound('campaign', id);
  return campaign;
}

/**
 * Moves DRAFT or SCHEDULED to SENDING, or to SCHEDULED with a time, and opens the send; null when the campaign was in another
 * state. A scheduled campaign has the number of its send already. `limitedBy` is the key whose limits hold for the send; absent leaves
 * it as it is.
 */
export function openSend(
  tx: Database,
  id: string,
  recipients: number,
  at: Date | null,
  limitedBy?: string | null,
): Promise<{ sendSeq: number } | null> {
  // The audience is what exists at this instant, so it is the clock's and not the transaction's, which may have waited.
  const moves =
    at === null
      ? sql`status = 'SENDING', sent_at = clock_timestamp(), sent_count = 0, delivered_count = 0, opened_count = 0,
          clicked_count = 0, bounced_count = 0, complained_count = 0, unsubscribed_count = 0, skipped_count = 0, failed_count = 0,
          content_version = 1, paused_at = null, pause_reason = null`
      : sql`status = 'SCHEDULED', scheduled_for = ${at.toISOString()}::timestamptz`;
  return tx.row(sql`
    with moved as (
      update campaigns set ${moves}, send_seq = send_seq + (status = 'DRAFT')::int, total_recipients = ${recipients},
        cancelled_at = null, audit_note = null, updated_at = now()
      where id = ${id} and status in ${raw(editableStatuses.sql)}
      returning id, send_seq, project_id)
    insert into campaign_sends (campaign_id, send_seq, project_id, limited_by) select id, send_seq, project_id, ${limitedBy ?? null}::uuid from moved
    on conflict (campaign_id, send_seq) do update set updated_at = now(),
      limited_by = case when ${limitedBy !== undefined}::boolean then excluded.limited_by else campaign_sends.limited_by end
    returning send_seq as "sendSeq"`);
}

/**
 * Checks that a key with limits changes only a send that keeps them; others would reach whom the key may not.
 * @throws 403 for a send that somebody else began
 */
export async function keepSendLimits(tx: Database, id: string): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const send = await tx.row<{ limitedBy: string | null }>(sql`
    select s.limited_by as "limitedBy" from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
      where c.id = ${id} and c.status in ${raw(openStatuses.sql)}`);
  if (send !== null && send.limitedBy !== key)
    throw beyondRecipients('can only change campaigns that it started itself');
}

/** Locks a campaign and then its send (`lockCampaignSend`), for whoever knows both. Answers false when the send is gone. */
export async function lockSending(tx: Database, id: string, sendSeq: number): Promise<boolean> {
  await lockRow(tx, 'campaigns', id);
  return lockCampaignSend(tx, id, sendSeq);
}

/** Locks a send, as every claim does: whoever holds it knows that no claim is being made. Answers false when it is gone. */
export async function lockCampaignSend(tx: Database, id: string, sendSeq: number): Promise<boolean> {
  const lock = { fields: ['sendSeq'], lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  return (await tx.em.findOne(CampaignSend, { campaignId: id, sendSeq }, lock)) !== null;
}

/**
 * Runs CTEs of which `moved` changes a campaign and returns its row, and records what it says of it: `event` names an event of the
 * campaign, null for none, and `more` is further data of that; `others` are recorded with it. Answers whether the campaign moved.
 */
export async function moveCampaign(db: Database, given: Query, others: readonly NewEvent[] = []): Promise<boolean> {
  const event = campaignEvent('m', {
    name: raw('m.event'),
    more: raw('m.more'),
    from: sql`moved m where m.event is not null`,
  });
  const result = sql`select 1 from moved`;
  return (await db.count(recordingEvents({ given, events: [event, ...others], result }))) > 0;
}

/**
 * Moves SENDING to CANCELLED. With campaign and send locked before, no row is claimed after the commit. Answers false when
 * the send was over.
 */
export function cancelSend(tx: Database, id: string, sendSeq: number): Promise<boolean> {
  return moveCampaign(
    tx,
    sql`
    moved as (
      update campaigns set status = 'CANCELLED', cancelled_at = clock_timestamp(), paused_at = null, updated_at = now()
      where id = ${id} and send_seq = ${sendSeq} and status = 'SENDING'
      returning *, 'campaign.cancelled' as event, '{}'::jsonb as more)`,
  );
}

/**
 * Moves SCHEDULED back to DRAFT, an event of the project; where nobody asked for it, the reason is noted and the event says it, which
 * the activity shows. Answers false when it was not scheduled.
 */
export async function unscheduleSend(
  db: Database,
  id: string,
  sendSeq: number,
  note: string | null = null,
): Promise<boolean> {
  const given = sql`
    moved as (
      update campaigns set status = 'DRAFT', scheduled_for = null, audit_note = ${note}, updated_at = now()
      where id = ${id} and send_seq = ${sendSeq} and status = 'SCHEDULED'
      returning *, case when audit_note is null then 'campaign.cancelled' end as event, '{}'::jsonb as more),
    closed as (
      update campaign_sends s set closed = true, updated_at = now()
      from moved m where s.campaign_id = m.id and s.send_seq = m.send_seq)`;
  const reverted = {
    projectId: raw('project_id'),
    name: 'campaign.reverted',
    data: sql`jsonb_build_object('campaignId', id, 'campaignName', name, 'reason', audit_note)`,
    from: sql`moved where event is null`,
  };
  return moveCampaign(db, given, [reverted]);
}

/** Writes down what an operator should know of a send. */
export async function noteCampaign(db: Database, id: string, sendSeq: number, note: string): Promise<void> {
  await db.em.nativeUpdate(Campaign, { id, sendSeq }, { auditNote: note, updatedAt: new Date() });
}

/**
 * Pauses a campaign that is SENDING, or lets it go on. With campaign and send locked before, no row is claimed after the
 * commit of a pause. `reason` is the code of a pause that no person asked for. Answers false when nothing changed.
 */
export function setPaused(
  tx: Database,
  id: string,
  sendSeq: number,
  paused: boolean,
  reason: string | null = null,
): Promise<boolean> {
  return moveCampaign(
    tx,
    sql`
    moved as (
      update campaigns set paused_at = case when ${paused}::boolean then clock_timestamp() end, pause_reason = ${reason},
        updated_at = now()
      where id = ${id} and send_seq = ${sendSeq} and status = 'SENDING' and (paused_at is null) = ${paused}::boolean
      returning *, case when paused_at is not null then 'campaign.paused' end as event,
        jsonb_strip_nulls(jsonb_build_object('reason', pause_reason)) as more)`,
  );
}

/**
 * Whether any mail of a send has left, or may have (docs/contract/campaigns-and-workflows.md#2-2: departed). A claim without a
 * verdict stands for rows that may be with the provider: what other records call SENDING. Whoever the provider refuses for an
 * earlier bounce has no instant at which the mail left, but a state of delivery and an event.
 */
export async function hasDeparted(db: Database, id: string, sendSeq: number): Promise<boolean> {
  const row = await db.row<{ departed: boolean }>(sql`
    select exists (select from emails where campaign_id = ${id} and send_seq = ${sendSeq}
        and (sent_at is not null or message_id is not null or bounced_at is not null))
      or exists (select from campaign_claims where campaign_id = ${id} and send_seq = ${sendSeq}
        and not settled and handed_at is not null) as departed`);
  return row?.departed === true;
}
