import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, wholeNumber } from '@fernpost/validation';
import * as v from 'valibot';
import { canaryStopCodes } from './decide.ts';

/** The states of a canary; a person's `releasedAt` says why one has passed without its hold. */
export const canaryStates = ['WAITING', 'SENDING', 'HOLDING', 'STOPPED', 'PASSED'] as const;
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
const StopIfBody = v.object({ bounceRate: Percentage, complaintRate: Percentage, unsubscribeRate: Percentage });

/** `canary` of `POST /campaigns/{id}/send`. */
export const CanaryOptions = v.object({
  recipients: wholeNumber(1, mostRecipients),
  hold: v.optional(
    v.pipe(
      v.string(),
      v.regex(hold, 'must be a duration such as 30m or 2h'),
      v.check((text) => !(holdSeconds(text) > longestHoldSeconds), 'must be at most 72h'),
    ),
    '60m',
  ),
  stopIf: v.optional(StopIfBody, { bounceRate: 3, complaintRate: 0.1, unsubscribeRate: 2 }),
  minDelivered: v.pipe(
    v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be at least 0'))),
    v.description(
      'The campaign is paused at the end of the hold with fewer delivered messages than this; 30% of the slice, at least 1, when absent.',
    ),
  ),
});
export type CanaryOptions = v.InferOutput<typeof CanaryOptions>;

const about = <Schema extends v.GenericSchema>(schema: Schema, text: string) => v.pipe(schema, v.description(text));
const Count = (text: string) => about(v.number(), text);

/** The canary of a campaign's current send. */
export const CanaryBody = v.object({
  state: about(
    v.picklist(canaryStates),
    'WAITING for the audience, SENDING the slice, HOLDING until its reports are in, STOPPED with the campaign paused, or PASSED.',
  ),
  recipients: Count('Size of the slice.'),
  hold: about(v.string(), 'How long to wait for reports about the slice, such as `60m`.'),
  stopIf: about(
    v.object({
      bounceRate: v.nullable(v.number()),
      complaintRate: v.nullable(v.number()),
      unsubscribeRate: v.nullable(v.number()),
    }),
    'Percentages of the slice; above one of them the campaign is paused. Null is no limit.',
  ),
  minDelivered: Count('The campaign is paused at the end of the hold with fewer delivered messages than this.'),
  heldUntil: about(v.nullable(Instant), 'When the hold ends; null before and after it.'),
  releasedAt: about(v.nullable(Instant), 'When someone ended the canary to continue.'),
  endedAt: about(v.nullable(Instant), 'When the canary passed or stopped the campaign.'),
  counts: about(
    v.object({
      pending: Count('Not handed over yet.'),
      mailed: Count('Handed over to the provider.'),
      delivered: Count('Reported as delivered.'),
      bounced: Count('Reported as bounced.'),
      complained: Count('Reported as spam.'),
      unsubscribed: Count('Unsubscribed by this mail.'),
    }),
    'What happened to the slice.',
  ),
  stopped: about(
    v.nullable(
      v.object({
        code: v.picklist(canaryStopCodes),
        count: v.number(),
        of: Count('How many it is compared with.'),
        limit: Count('The percentage that was exceeded, or the number that was not reached.'),
      }),
    ),
    'Why the canary paused the campaign; null where it did not.',
  ),
});
export type CanaryBody = v.InferOutput<typeof CanaryBody>;

nameSchemas({ CampaignCanary: CanaryBody, CanaryOptions });
