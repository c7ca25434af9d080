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
