import * as v from 'valibot';
import { field, nameSchemas, wholeNumber } from '../../lib/validation/fields.ts';

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
