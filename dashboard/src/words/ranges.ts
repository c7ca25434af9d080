import type { operations } from '../api/schema.d.ts';

/** What became of the mail of one day. */
export type MailDay = operations['getMailByDay']['responses'][200]['content']['application/json'][number];
/** Counts of mail by what became of it. */
export type MailCounts = Record<Exclude<keyof MailDay, 'date'>, number>;

/** Ranges of time that pages offer, by their number of days. */
export const ranges = { '7': 'Last 7 days', '30': 'Last 30 days', '90': 'Last 90 days' } as const;

/** The range that an address asks for, 30 days when it asks for none. */
export function daysOf(text: string | undefined): keyof typeof ranges {
  return text !== undefined && text in ranges ? (text as keyof typeof ranges) : '30';
}

/** Where the range begins: midnight UTC, as the service counts days, so that the same range is asked for all day. */
export function startOf(days: keyof typeof ranges, now = Date.now()): string {
  const today = Math.floor(now / 86_400_000) * 86_400_000;
  return new Date(today - (Number(days) - 1) * 86_400_000).toISOString();
}

/** Takes a series of days apart: the last `length` of them, and the sums of these and of as many days before. */
export function comparedDays(days: readonly MailDay[], length = 30) {
  const shown = days.slice(-length);
  return { shown, now: sumOf(shown), before: sumOf(days.slice(-2 * length, -length)) };
}

function sumOf(days: readonly MailDay[]): MailCounts {
  const sum: MailCounts = { emails: 0, delivered: 0, opens: 0, clicks: 0, bounces: 0 };
  for (const day of days) for (const key of Object.keys(sum) as (keyof MailCounts)[]) sum[key] += day[key];
  return sum;
}
