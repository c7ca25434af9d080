import { counted } from '../../../words/numbers.ts';

/** Rates of a campaign, in percent of what was sent. */
export interface Rates {
  deliveryRate: number;
  openRate: number;
  clickRate: number;
  bounceRate: number;
  unsubscribeRate: number;
}

/** The middle of the rates of several campaigns, which one outlier does not move; null where there are none. */
export function usualRates(campaigns: readonly Rates[]): Rates | null {
  if (campaigns.length === 0) return null;
  const middle = (key: keyof Rates) => {
    const sorted = campaigns.map((each) => each[key]).sort((one, other) => one - other);
    const at = Math.floor(sorted.length / 2);
    return sorted.length % 2 === 1 ? (sorted[at] ?? 0) : ((sorted[at - 1] ?? 0) + (sorted[at] ?? 0)) / 2;
  };
  return {
    deliveryRate: middle('deliveryRate'),
    openRate: middle('openRate'),
    clickRate: middle('clickRate'),
    bounceRate: middle('bounceRate'),
    unsubscribeRate: middle('unsubscribeRate'),
  };
}

/** How a rate differs from the usual one, in points of percent: `+3.2 points vs. median`. */
export function differenceText(now: number, usual: number): string {
  const points = Math.round((now - usual) * 10) / 10;
  if (points === 0) return 'same as median';
  return `${points > 0 ? '+' : '−'}${counted(Math.abs(points), 'point')} vs. median`;
}

/** Sums from the beginning on: what had happened by the end of each hour. */
export function runningTotals(values: readonly number[]): number[] {
  let total = 0;
  return values.map((value) => {
    total += value;
    return total;
  });
}

/** How many recipients clicked, by link. */
export type Clicks = ReadonlyMap<string, number>;

/** A link as it is compared: providers report it without what a mail writes differently, such as a missing slash. */
export function comparableLink(link: string): string {
  try {
    return new URL(link).href;
  } catch {
    return link.trim();
  }
}

/** The hours of results without gaps, so that a chart's distances are those of time. */
export function withoutGaps<Hour extends { hour: string }>(hours: readonly Hour[], empty: Omit<Hour, 'hour'>): Hour[] {
  const known = new Map(hours.map((each) => [Date.parse(each.hour), each]));
  const [first, last] = [Math.min(...known.keys()), Math.max(...known.keys())];
  const whole: Hour[] = [];
  for (let at = first; at <= last; at += 3_600_000)
    whole.push(known.get(at) ?? ({ ...empty, hour: new Date(at).toISOString() } as Hour));
  return whole;
}
