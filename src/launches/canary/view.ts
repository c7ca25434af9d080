import { canaryLedger } from '../../campaigns/delivery/slice.ts';
import type { CanaryBody, CanaryCounts, CanaryState, CanaryStop } from '../../campaigns/launch-body.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { holdText } from './schema.ts';

/**
 * Counts of the members of the canary `k`, from their ledger rows. During a canary nobody else has been
 * mailed, so that whoever left is one of its members.
 */
export const canaryCounts = sql`
  select jsonb_build_object(
    'pending', count(*) filter (where e.status = 'PENDING' and e.sent_at is null and e.message_id is null),
    'mailed', count(*) filter (where e.sent_at is not null or e.message_id is not null or e.bounced_at is not null),
    'delivered', count(e.delivered_at), 'bounced', count(e.bounced_at), 'complained', count(e.complained_at),
    'unsubscribed', (select unsubscribed_count from campaigns where id = k.campaign_id)) as counts
  from ${canaryLedger} where m.campaign_id = k.campaign_id and m.send_seq = k.send_seq`;

interface CanaryRow {
  campaignId: string;
  state: CanaryState;
  recipients: number;
  holdSeconds: number;
  stopIf: Partial<CanaryBody['stopIf']>;
  minDelivered: number;
  heldUntil: string | null;
  releasedAt: string | null;
  endedAt: string | null;
  counts: CanaryCounts | null;
  stopped: CanaryStop | null;
}

const none: CanaryCounts = { pending: 0, mailed: 0, delivered: 0, bounced: 0, complained: 0, unsubscribed: 0 };

/** The canaries of the current sends of campaigns, by campaign id. Those under way are counted. */
export async function canariesOf(db: Database, ids: readonly string[]): Promise<Map<string, CanaryBody>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<CanaryRow>(sql`
    select k.campaign_id as "campaignId", k.state, k.recipients, k.hold_seconds as "holdSeconds", k.stop_if as "stopIf",
      k.min_delivered as "minDelivered", ${raw(isoText('k.held_until'))} as "heldUntil", k.stopped,
      ${raw(isoText('k.released_at'))} as "releasedAt", ${raw(isoText('k.ended_at'))} as "endedAt",
      coalesce(now.counts, k.counts) as counts
    from campaigns c join campaign_canaries k on k.campaign_id = c.id and k.send_seq = c.send_seq
    left join lateral (${canaryCounts}) now on k.state in ('SENDING', 'HOLDING', 'STOPPED')
    where c.id = any(${ids}::uuid[])`);
  return new Map(
    rows.map(({ campaignId, holdSeconds, stopIf, counts, ...row }) => [
      campaignId,
      {
        ...row,
        hold: holdText(holdSeconds),
        stopIf: {
          bounceRate: stopIf.bounceRate ?? null,
          complaintRate: stopIf.complaintRate ?? null,
          unsubscribeRate: stopIf.unsubscribeRate ?? null,
        },
        counts: { ...none, ...counts },
      },
    ]),
  );
}

const count = (number: number) => number.toLocaleString('en-US');

/** Returns why a canary holds its campaign back, as a sentence; null once the campaign continues. */
export function canarySentence({
  state,
  recipients,
  counts,
  heldUntil,
  stopped,
  releasedAt,
}: Pick<CanaryBody, 'state' | 'recipients' | 'counts' | 'heldUntil' | 'stopped' | 'releasedAt'>): string | null {
  if (state === 'STOPPED' && stopped !== null) return stopSentence(stopped);
  if (state === 'PASSED' || releasedAt !== null) return null;
  if (state === 'HOLDING')
    return `Canary: ${count(counts.delivered)} of ${count(counts.mailed)} delivered, continues at ${heldUntil}`;
  if (state === 'SENDING') return `Canary: ${count(counts.mailed)} of ${count(recipients)} sent`;
  return `Canary: the first ${count(recipients)} recipients are being chosen`;
}

const kinds = {
  canary_bounce_rate: 'bounced',
  canary_complaint_rate: 'reported it as spam',
  canary_unsubscribe_rate: 'unsubscribed',
} as const;

/** Why a canary paused its campaign, as a sentence. */
export function stopSentence({ code, count: found, of, limit }: CanaryStop): string {
  if (code === 'canary_too_few_delivered')
    return `Paused by the canary: ${count(found)} of ${count(of)} were reported as delivered, and at least ${count(limit)} are needed`;
  const rate = of === 0 ? 0 : (found / of) * 100;
  return `Paused by the canary: ${count(found)} of ${count(of)} ${kinds[code]} (${rate.toLocaleString('en-US', { maximumFractionDigits: 2 })}%), more than the limit of ${limit}%`;
}
