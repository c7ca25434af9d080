import * as v from 'valibot';
import { field, Instant, nameSchemas, wholeNumber } from '../../lib/validation/fields.ts';
import { canaryStopCodes } from './decide.ts';

/** The states of a canary; a person's `releasedAt` says why one has passed without its hold. */
const canaryStates = ['WAITING', 'SENDING', 'HOLDING', 'STOPPED', 'PASSED'] as const;
export type CanaryState = (typeof canaryStates)[number];

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

/** The canary of a campaign's current send. */
export const CanaryBody = v.object({
  state: field(
    '`WAITING` for the audience, `SENDING` the slice, `HOLDING` until its reports are in, `STOPPED` with the campaign paused, or `PASSED`.',
    v.picklist(canaryStates),
  ),
  recipients: field('Number of contacts in the slice.', v.number()),
  hold: field('How long to wait for reports once the slice is sent, such as `60m`.', v.string()),
  stopIf: field(
    'Rates of the slice above which the campaign is paused.',
    v.object({
      bounceRate: field('Highest permanent bounce rate, in percent; null for no limit.', v.nullable(v.number())),
      complaintRate: field('Highest spam complaint rate, in percent; null for no limit.', v.nullable(v.number())),
      unsubscribeRate: field('Highest unsubscribe rate, in percent; null for no limit.', v.nullable(v.number())),
    }),
  ),
  minDelivered: field(
    'The campaign is paused if fewer emails than this are delivered by the end of the hold.',
    v.number(),
  ),
  heldUntil: field('When the hold ends; null before and after it.', v.nullable(Instant)),
  releasedAt: field('When somebody ended the hold early; null if nobody did.', v.nullable(Instant)),
  endedAt: field('When the canary passed or paused the campaign; null before.', v.nullable(Instant)),
  counts: field(
    'What happened to the emails of the slice.',
    v.object({
      pending: field('Emails not sent yet, or not confirmed by the mail provider.', v.number()),
      mailed: field('Emails that the mail provider accepted, or refused for an earlier bounce.', v.number()),
      delivered: field('Emails reported as delivered.', v.number()),
      bounced: field('Emails that bounced permanently.', v.number()),
      complained: field('Emails reported as spam.', v.number()),
      unsubscribed: field('Recipients who unsubscribed by this email.', v.number()),
    }),
  ),
  stopped: field(
    'Why the canary paused the campaign; null if it did not.',
    v.nullable(
      v.object({
        code: field(
          'Limit that was broken: `canary_bounce_rate`, `canary_complaint_rate`, `canary_unsubscribe_rate` or `canary_too_few_delivered`.',
          v.picklist(canaryStopCodes),
        ),
        count: field(
          'Number of emails that bounced, were reported, led to an unsubscribe or were delivered, depending on `code`.',
          v.number(),
        ),
        of: field('Number of emails of the slice that `count` is compared with.', v.number()),
        limit: field('Percentage that was exceeded, or number of deliveries that was not reached.', v.number()),
      }),
    ),
  ),
});
export type CanaryBody = v.InferOutput<typeof CanaryBody>;

nameSchemas({ CampaignCanary: CanaryBody, CanaryOptions });
