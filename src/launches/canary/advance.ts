import type { TellMembers } from '../../accounts/system-mail/service.ts';
import { type HeldRecipients, heldSql, quietSentence } from '../../campaigns/delivery/held.ts';
import { CampaignCanary, CampaignSend } from '../../campaigns/entity.ts';
import type { CanaryCounts, CanaryState, CanaryStop } from '../../campaigns/launch.ts';
import { lockSending, setPaused } from '../../campaigns/state.ts';
import { isoText } from '../../store/columns.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { endCanary } from './choose.ts';
import { decideCanary, type StopIf } from './decide.ts';
import { canaryCounts, canarySentence, stopSentence } from './view.ts';

/** The parts that moving a canary needs. */
export interface CanaryDeps {
  db: Database;
  tell: TellMembers;
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** The next step of the execution; `over` once there is nothing to hold back any more. */
export interface CanaryStep {
  next: 'send' | 'hold' | 'paused' | 'over';
  /** Milliseconds until it must be asked again at the latest; reports may decide earlier. */
  waitMs: number;
  /** Where it stands, for the Web UI. */
  detail: string;
}

interface Canary {
  projectId: string;
  name: string;
  paused: boolean;
  state: CanaryState;
  recipients: number;
  stopIf: StopIf;
  minDelivered: number;
  holdMs: number;
  leftMs: number | null;
  heldUntil: string | null;
  isProjectDisabled: boolean;
  isReleased: boolean;
  openClaims: number;
  quiet: HeldRecipients | null;
  counts: CanaryCounts;
}

const over: CanaryStep = { next: 'over', waitMs: 0, detail: '' };
// Often enough to stop before much more arrives, and seldom enough for a history to stay short.
const checksPerHold = 200;
const shortestCheckMs = 2000;
const longestCheckMs = 60_000;

/**
 * Moves the canary of a send by what its reports say: holds it once the slice is sent, pauses the campaign and tells the
 * members when a limit is broken or too little is known at the end, and lets everybody else follow otherwise. Repeating it is
 * safe, and of two at once the second finds what the first did.
 */
export async function advanceCanary(deps: CanaryDeps, campaignId: string, sendSeq: number): Promise<CanaryStep> {
  const tickets: OutboxTicket[] = [];
  const step = await deps.db.transaction(async (tx): Promise<CanaryStep> => {
    const canary = await lockCanary(tx, campaignId, sendSeq);
    if (canary === null || canary.state === 'WAITING' || canary.state === 'PASSED') return over;
    if (canary.paused) return { next: 'paused', waitMs: 0, detail: '' };
    const { counts, leftMs } = canary;
    const decision = decideCanary({
      ...canary,
      held: canary.quiet?.contacts ?? 0,
      isHoldOver: leftMs !== null && leftMs <= 0,
    });
    if (decision.next === 'stop') {
      tickets.push(...(await stop(deps, tx, campaignId, sendSeq, canary, decision.stopped)));
      return { next: 'paused', waitMs: 0, detail: stopSentence(decision.stopped) };
    }
    if (decision.next === 'pass') {
      // What the slice has come to is kept when its members are forgotten.
      await endCanary(tx, campaignId, sendSeq, counts);
      return over;
    }
    if (decision.next === 'send') return sending(tx, campaignId, sendSeq, canary);
    return hold(tx, campaignId, sendSeq, canary);
  });
  deps.dispatchSoon(...tickets);
  return step;
}

async function lockCanary(tx: Database, campaignId: string, sendSeq: number): Promise<Canary | null> {
  // With the send locked no claim is being made, so that none of the slice can follow what is decided here.
  if (!(await lockSending(tx, campaignId, sendSeq))) return null;
  return tx.row<Canary>(sql`
    select c.project_id as "projectId", c.name, c.paused_at is not null as paused, k.state, k.recipients,
      k.stop_if as "stopIf", k.min_delivered as "minDelivered", 1000.0::float8 * k.hold_seconds as "holdMs",
      (1000 * extract(epoch from k.held_until - clock_timestamp()))::float8 as "leftMs",
      ${raw(isoText('k.held_until'))} as "heldUntil", k.released_at is not null as "isReleased",
      p.disabled as "isProjectDisabled", now.counts, ${heldSql('k.campaign_id', 'k.send_seq')} as quiet,
      (select count(*) from campaign_claims o
        where o.campaign_id = k.campaign_id and o.send_seq = k.send_seq and not o.settled)::int as "openClaims"
    from campaign_canaries k join campaigns c on c.id = k.campaign_id and c.send_seq = k.send_seq and c.status = 'SENDING'
      join projects p on p.id = c.project_id, lateral (${canaryCounts}) now
    where k.campaign_id = ${campaignId} and k.send_seq = ${sendSeq} for update of k`);
}

async function sending(tx: Database, campaignId: string, sendSeq: number, canary: Canary): Promise<CanaryStep> {
  const { quiet, openClaims, counts } = canary;
  if (quiet !== null && quiet.waitMs > 0 && openClaims === 0 && quiet.contacts >= counts.pending)
    return { next: 'hold', waitMs: quiet.waitMs, detail: quietSentence(quiet) };
  // Rows that have no verdict although every claim is settled are claimed again (see `rewindClaims`).
  if (openClaims === 0) await tx.em.nativeUpdate(CampaignSend, { campaignId, sendSeq }, { claimedThrough: null });
  return { next: 'send', waitMs: 0, detail: detailOf({ ...canary, state: 'SENDING' }) };
}

async function hold(tx: Database, campaignId: string, sendSeq: number, canary: Canary): Promise<CanaryStep> {
  const { heldUntil, leftMs, holdMs } = canary;
  const held = await tx.row<{ heldUntil: string }>(sql`
    update campaign_canaries set state = 'HOLDING', updated_at = now(),
      held_until = coalesce(held_until, clock_timestamp() + ${holdMs} * interval '1 millisecond')
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} returning ${raw(isoText('held_until'))} as "heldUntil"`);
  const checkMs = Math.min(longestCheckMs, Math.max(shortestCheckMs, holdMs / checksPerHold));
  const waitMs = Math.ceil(Math.min(leftMs ?? holdMs, checkMs));
  return {
    next: 'hold',
    waitMs,
    detail: detailOf({ ...canary, state: 'HOLDING', heldUntil: held?.heldUntil ?? heldUntil }),
  };
}

function detailOf(canary: Canary): string {
  return canarySentence({ ...canary, stopped: null, releasedAt: null }) ?? '';
}

async function stop(
  { tell }: CanaryDeps,
  tx: Database,
  campaignId: string,
  sendSeq: number,
  { projectId, name, counts }: Canary,
  stopped: CanaryStop,
): Promise<OutboxTicket[]> {
  const now = new Date();
  const ended = { state: 'STOPPED', stopped, counts, heldUntil: null, endedAt: now, updatedAt: now } as const;
  await tx.em.nativeUpdate(CampaignCanary, { send: [campaignId, sendSeq] }, ended);
  await setPaused(tx, campaignId, sendSeq, true, stopped.code);
  return tell(tx, {
    projectId,
    kind: 'campaign-stopped',
    path: `/app/${projectId}/campaigns/${campaignId}`,
    values: { campaign: name, reason: stopSentence(stopped) },
    dedupeKey: `campaign-stopped:${campaignId}:${sendSeq}`,
  });
}
