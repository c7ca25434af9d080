import type { EmailSummary } from './email.ts';

const dayMs = 86_400_000;

/** The spans of time that the list offers. */
export const periods = {
  '1': 'Last 24 hours',
  '7': 'Last 7 days',
  '30': 'Last 30 days',
  dates: 'Between two days',
} as const;

/** The filters of the list, by their names in the address. */
export const emailFilters = ['to', 'tag', 'subject', 'status', 'source', 'period', 'from', 'until'] as const;

type Filters = { readonly [name in (typeof emailFilters)[number]]?: string | undefined };

/** Whether the list is about one person or tag, so that it needs no span of time. */
export function isNarrow({ to, tag }: Filters): boolean {
  return Boolean(to || tag);
}

/** The filters as the API takes them; the last 30 days where nothing narrows the list. */
export function emailQuery(filters: Filters) {
  const { to, tag, subject, status, source } = filters;
  return {
    ...(to ? { to } : {}),
    ...(tag ? { tag } : {}),
    ...(subject ? { subject } : {}),
    ...(status ? { status: status as EmailSummary['status'] } : {}),
    ...(source ? { source: source as EmailSummary['source'] } : {}),
    ...spanOf(filters, isNarrow(filters)),
  };
}

// Days are those of the viewer; the last one belongs to the span.
function spanOf({ period, from, until }: Filters, isNarrow: boolean) {
  if (period === 'dates')
    return {
      ...(from ? { from: new Date(`${from}T00:00`).toISOString() } : isNarrow ? {} : daysBack(30, until)),
      ...(until ? { until: new Date(midnightAfter(until)).toISOString() } : {}),
    };
  if (period === undefined && isNarrow) return {};
  return daysBack(Number(period ?? 30));
}

function daysBack(days: number, until?: string) {
  const end = until ? midnightAfter(until) : Date.now();
  return { from: new Date(end - days * dayMs).toISOString() };
}

function midnightAfter(day: string): number {
  const date = new Date(`${day}T00:00`);
  return date.setDate(date.getDate() + 1);
}
