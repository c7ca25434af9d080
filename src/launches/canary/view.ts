import * as v from 'valibot';
import { canaryLedger } from '../../campaigns/delivery/ledger.ts';
import type { CanaryBody, CanaryCounts, CanaryState, CanaryStop } from '../../campaigns/launch.ts';
import { field, nameSchemas, wholeNumber } from '../../lib/validation/fields.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

const hold = /^([1-9]\d{0,5})([smh])$/;
const unitSeconds = { s: 1, m: 60, h: 3600 } as Record<string, number>;
const longestHoldSeconds = 72 * 3600;
const mostRecipients = 100_000;

/** Seconds of a hold such as `90s`, `60m` or `24h`; NaN for any other text. */
export function holdSeconds(text: string): number {
  const [, count, unit = ''] = hold.exec(text) ?? [];
  return Number(count) * (unitSeconds[unit] ?? Number.NaN);
}

/** A hold as the interface writes it, in the largest unit that fits. */
export function holdText(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

const Percentage = v.nullish(
  v.pipe(
    v.number(),
    v.minValue(0, 'must be a percentage from 0 to 100'),
    v.maxValue(100, 'must be a percentage from 0 to 100'),
    v.check((rate) => Math.abs(rate * 100 - Math.round(rate * 100)) < 1e-6, 'must have at most two decimals'),
  ),
);
const StopIfBody = v.object({
  bounceRate: field(
    'Highest permanent bounce rate of the slice, in percent with at most two decimals; null or absent for no limit.',
    Percentage,
  ),
  complaintRate: field(
    'Highest spam complaint rate of the slice, in percent with at most two decimals; null or absent for no limit.',
    Percentage,
  ),
  unsubscribeRate: field(
    'Highest unsubscribe rate of the slice, in percent with at most two decimals; null or absent for no limit.',
    Percentage,
  ),
});

/** `canary` of `POST /campaigns/{id}/send`. */
export const CanaryOptions = v.object({
  recipients: field(
    'Number of contacts in the slice, 1 to 100,000; fewer than the audience has.',
    wholeNumber(1, mostRecipients),
  ),
  hold: field(
    'How long to wait for reports once the slice is sent, such as `90s`, `30m` or `2h`; `72h` at most.',
    v.optional(
      v.pipe(
        v.string(),
        v.regex(hold, 'must be a duration such as 30m or 2h'),
        v.check((text) => !(holdSeconds(text) > longestHoldSeconds), 'must be at most 72h'),
      ),
      '60m',
    ),
  ),
  stopIf: field(
    'Rates above which the campaign is paused.',
    v.optional(StopIfBody, { bounceRate: 3, complaintRate: 0.1, unsubscribeRate: 2 }),
  ),
  minDelivered: field(
    'The campaign is paused if fewer emails than this are delivered by the end of the hold. 30% of the slice, at least 1, when absent; use 0 if the mail provider reports no deliveries.',
    v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be at least 0'))),
  ),
});
export type CanaryOptions = v.InferOutput<typeof CanaryOptions>;

nameSchemas({ CanaryOptions });

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
