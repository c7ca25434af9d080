import { usageMoved } from '../../billing/daily-queries.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { leastId } from '../../lib/ids.ts';
import { workOnLeft } from '../../mail/engine/run.ts';
import { countingUnsent, endedColumns } from '../../mail/ledger/counting.ts';
import { isLeftOut } from '../../mail/ledger/reasons.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { hasDeparted, lockSending, moveCampaign } from '../state.ts';
import { type HeldRecipients, heldSql } from './held.ts';
import { type LaneDeps, type LaneSend, takeOver } from './lane.ts';
import { claimsOpen, othersMs } from './retaking.ts';

/** When what is still unconfirmed can be looked up again, in milliseconds; null when nothing is. */
export interface SettledWhilePaused {
  waitMs: number | null;
}

/**
 * Looks up at the provider the claims of a paused send that may be there, and hands nothing over: what was not taken
 * is put back. `alive` is called after each claim and may throw. Safe to repeat.
 */
export async function settleWhilePaused(
  deps: LaneDeps,
  send: LaneSend,
  alive: () => void,
): Promise<SettledWhilePaused> {
  await workOnLeft(deps, () => takeOver(deps, send, true), alive);
  const { open, dueMs } = await claimsOpen(deps.db, send.campaignId, send.sendSeq, '', true);
  return { waitMs: open === 0 ? null : (dueMs ?? othersMs) };
}

/** How a cleanup ended; `waitMs` says when the claims that are still unconfirmed can be asked for again. */
export type CleanUpReport =
  | { done: true; status: typeof CampaignStatus.DRAFT | typeof CampaignStatus.CANCELLED }
  | { done: false; waitMs: number };

const unconfirmedPauseMs = 5000;

/**
 * Ends a cancelled send: first the messages without a verdict are looked up, then the rows that were never sent are ended. When nothing
 * has departed the rows are deleted and the campaign is a draft again; else they are FAILED and it stays CANCELLED
 * (docs/contract/campaigns-and-workflows.md#2-2). Safe to repeat from any point.
 */
export async function cleanUpCancelled(deps: LaneDeps, send: LaneSend, alive: () => void): Promise<CleanUpReport> {
  const { campaignId, sendSeq } = send;
  const view = await viewSend(deps.db, campaignId, sendSeq);
  if (view === null || view.status !== CampaignStatus.CANCELLED) return { done: true, status: CampaignStatus.DRAFT };
  await workOnLeft(deps, () => takeOver(deps, send), alive);
  const left = await claimsOpen(deps.db, campaignId, sendSeq, send.holder);
  if (left.open > 0) return { done: false, waitMs: Math.min(left.dueMs ?? unconfirmedPauseMs, unconfirmedPauseMs) };

  if (!(await hasDeparted(deps.db, campaignId, sendSeq))) {
    await endUnsent('delete');
    if (await revertToDraft(deps.db, campaignId, sendSeq)) return { done: true, status: CampaignStatus.DRAFT };
  }
  // A notification may have proved in the meantime that something departed after all; then the rest is kept as well.
  await endUnsent('fail');
  await closeCancelledSend(deps.db, campaignId, sendSeq);
  return { done: true, status: CampaignStatus.CANCELLED };

  async function endUnsent(how: 'delete' | 'fail'): Promise<void> {
    let after: string | null = null;
    do {
      after = await endUnsentRows(deps.db, campaignId, sendSeq, how, after);
      alive();
    } while (after !== null);
  }
}

/** A send as its workflow sees it. */
export interface SendView {
  projectId: string;
  status: CampaignStatus;
  expanded: boolean;
  /** Rows so far, or the estimate until all are there. */
  recipients: number;
  sent: number;
  /** Left out on purpose. */
  skipped: number;
  failed: number;
  paused: boolean;
  /** Whether only its canary is being sent. Views from before there were any have none. */
  canary?: boolean;
  /** Those who wait for the end of quiet hours; null for none. Views from before there were any have none. */
  held?: HeldRecipients | null;
  /** ISO instant at which a SCHEDULED one is due, and how long until then by the database's clock, in milliseconds. */
  dueAt: string | null;
  dueMs: number | null;
}

/** Reads the state of a send; null when the campaign is gone or has moved on to another send. */
export function viewSend(db: Database, campaignId: string, sendSeq: number): Promise<SendView | null> {
  return db.row(sql`
    select c.project_id as "projectId", c.status, s.expanded, c.total_recipients as recipients, c.sent_count as sent,
      c.skipped_count as skipped, c.failed_count as failed, c.status = 'SENDING' and c.paused_at is not null as paused,
      s.canary, ${heldSql('s.campaign_id', 's.send_seq')} as held, case when c.status = 'SCHEDULED' then ${raw(isoText('c.scheduled_for'))} end as "dueAt",
      case when c.status = 'SCHEDULED'
        then greatest(0, ceil(1000 * extract(epoch from c.scheduled_for - clock_timestamp()))) end::float8 as "dueMs"
    from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = ${campaignId} and c.send_seq = ${sendSeq}`);
}

function countRows(campaignId: string, sendSeq: number): Query {
  return sql`
    rows as (
      select count(*)::int as total, (count(*) filter (where sent_at is not null))::int as sent,
        (count(*) filter (where sent_at is null and ${raw(isLeftOut('e'))}))::int as skipped,
        (count(*) filter (where sent_at is null and not ${raw(isLeftOut('e'))}))::int as failed,
        (count(*) filter (where sent_at is null and status = 'PENDING' and message_id is null))::int as pending
      from emails e where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int)`;
}

/**
 * Moves SENDING to SENT when every row has its verdict, and sets the counters to what the rows say. Returns false when
 * rows or claims are still open, or the campaign is no longer SENDING.
 */
export function finishSend(db: Database, campaignId: string, sendSeq: number): Promise<boolean> {
  return moveCampaign(
    db,
    sql`
    ${countRows(campaignId, sendSeq)},
    moved as (
      update campaigns c set status = 'SENT', total_recipients = r.total, sent_count = r.sent, skipped_count = r.skipped,
        failed_count = r.failed, paused_at = null, updated_at = now()
      from rows r, campaign_sends s
      where c.id = ${campaignId}::uuid and c.send_seq = ${sendSeq}::int and c.status = 'SENDING' and s.campaign_id = c.id
        and s.send_seq = c.send_seq and s.expanded and r.pending = 0
        and not exists (select from campaign_claims k where k.campaign_id = c.id and k.send_seq = c.send_seq and not k.settled)
      returning c.*, 'campaign.sent' as event, '{}'::jsonb as more),
    closed as (
      update campaign_sends s set closed = true, updated_at = now() from moved m
      where s.campaign_id = m.id and s.send_seq = m.send_seq),
    forgotten as (delete from campaign_held_contacts h using moved m where h.campaign_id = m.id and h.send_seq = m.send_seq)`,
  );
}

/**
 * Lets rows be claimed again that have no verdict although every claim is settled, so that a send can never be stuck.
 * Nothing of them can be with the provider, for whatever is handed over belongs to an open claim. Called while nobody is held.
 */
export async function rewindClaims(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.count(sql`
    with rewound as (
      update campaign_sends s set claimed_through = null, updated_at = now()
      where campaign_id = ${campaignId} and send_seq = ${sendSeq} and expanded
        and not exists (select from campaign_claims k
          where k.campaign_id = s.campaign_id and k.send_seq = s.send_seq and not settled)
        and not exists (select from emails e where e.campaign_id = s.campaign_id and e.send_seq = s.send_seq
          and e.status = 'PENDING' and e.held_until is null and e.contact_id > coalesce(s.claimed_through, ${leastId}::uuid))
      returning 1)
    update emails set held_until = null
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} and status = 'PENDING' and held_until is not null
      and exists (select from rewound)`);
}

const rowsPerStep = 1000;

/**
 * Deletes rows that were never sent, or ends them as cancelled: a page of them, by contact id from `after` on. Returns where the
 * next page begins; null when all rows have been seen.
 */
export async function endUnsentRows(
  db: Database,
  campaignId: string,
  sendSeq: number,
  how: 'delete' | 'fail',
  after: string | null,
): Promise<string | null> {
  // Pages go by contact id: asking for "the next rows that wait" would read all that are done already each time.
  const page = sql`
    page as materialized (
      select id, contact_id, sent_at is null and message_id is null and bounced_at is null as unsent, status from emails
      where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and contact_id > ${after ?? leastId}::uuid
      order by campaign_id, send_seq, contact_id limit ${rowsPerStep})`;
  const row = await db.row<{ through: string | null }>(
    how === 'delete'
      ? sql`
    with ${page},
    changed as (
      delete from emails e using page p
      where e.id = p.id and p.unsent and e.sent_at is null and e.message_id is null and e.bounced_at is null
      returning ${raw(endedColumns)}, e.status = 'PENDING' as waited),
    ${raw(usageMoved('changed', 'false', 'waited'))}
    select contact_id as through from page order by contact_id desc limit 1`
      : sql`
    with ${page},
    changed as (
      update emails e set status = 'FAILED', reason = '{"code": "campaign_cancelled"}', updated_at = now() from page p
      where e.id = p.id and p.unsent and p.status = 'PENDING' and e.status = 'PENDING' and e.message_id is null
      returning ${raw(endedColumns)}),
    counted as (${countingUnsent('changed', 'FAILED')}),
    ${raw(usageMoved('changed', 'false', 'true'))}
    select contact_id as through from page order by contact_id desc limit 1`,
  );
  return row?.through ?? null;
}

/** Closes the send of a cancelled campaign and sets its counters to what the rows say. */
export async function closeCancelledSend(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.count(sql`
    with ${countRows(campaignId, sendSeq)},
    counted as (
      update campaigns c set total_recipients = r.total, sent_count = r.sent, skipped_count = r.skipped,
        failed_count = r.failed, updated_at = now()
      from rows r where c.id = ${campaignId}::uuid and c.send_seq = ${sendSeq}::int and c.status = 'CANCELLED'
      returning c.id, c.send_seq),
    forgotten as (delete from campaign_held_contacts h using counted c where h.campaign_id = c.id and h.send_seq = c.send_seq)
    update campaign_sends s set closed = true, updated_at = now() from counted c
    where s.campaign_id = c.id and s.send_seq = c.send_seq`);
}

/**
 * Moves a cancelled campaign without any row back to DRAFT and forgets the send; its number is never used again. Returns
 * false when there are rows or it was not cancelled.
 */
export async function revertToDraft(db: Database, campaignId: string, sendSeq: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockSending(tx, campaignId, sendSeq);
    const reverted = await tx.count(sql`
      with gone as (
        delete from campaign_sends s using campaigns c
        where s.campaign_id = ${campaignId} and s.send_seq = ${sendSeq} and c.id = s.campaign_id and c.send_seq = s.send_seq
          and c.status = 'CANCELLED'
          and not exists (select from emails e where e.campaign_id = s.campaign_id and e.send_seq = s.send_seq)
        returning s.campaign_id)
      update campaigns c set status = 'DRAFT', sent_at = null, scheduled_for = null, cancelled_at = null, sent_count = 0,
        delivered_count = 0, opened_count = 0, clicked_count = 0, bounced_count = 0, complained_count = 0, unsubscribed_count = 0,
        skipped_count = 0, failed_count = 0, paused_at = null, updated_at = now()
      from gone where c.id = gone.campaign_id`);
    return reverted > 0;
  });
}
