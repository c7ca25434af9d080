import { isBeyondOffsets } from '@fernpost/conditions';
import { badRequest } from './errors.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

// The last instant that a Date can be.
const latestMs = 8_640_000_000_000_000;

/** A stretch of time: `from` belongs to it, `until` does not; null is open. */
export interface Span {
  from: Date | null;
  until: Date | null;
}

/** A span as parameters of SQL; open ends are `-infinity` and `infinity`. */
export interface SqlSpan {
  from: string;
  until: string;
  /** Beginning of the first hour or day (UTC) that begins inside the span. */
  first: string;
  /** Beginning of the hour or day that `until` lies in. */
  last: string;
}

/** A span with the whole hours or days inside it, for queries that read those from counts and the ends from rows. */
export function sqlSpan({ from, until }: Span, unitMs: number): SqlSpan {
  return {
    from: sqlInstant(from, '-infinity'),
    until: sqlInstant(until, 'infinity'),
    first: sqlInstant(from && new Date(Math.ceil(from.getTime() / unitMs) * unitMs), '-infinity'),
    last: sqlInstant(until && new Date(Math.floor(until.getTime() / unitMs) * unitMs), 'infinity'),
  };
}

// Years that ISO 8601 writes with more than four digits lie before or after everything. So does what no Date can be.
function sqlInstant(date: Date | null, open: '-infinity' | 'infinity'): string {
  if (date === null || Number.isNaN(date.getTime())) return open;
  const text = date.toISOString();
  // Postgres knows no year 0.
  return text.startsWith('-') || text.startsWith('0000') ? '-infinity' : text.startsWith('+') ? 'infinity' : text;
}

/** A date of a query string; null when it is absent or empty. @throws 400 naming the parameter for what is no date */
export function dateParameter(name: string, text: string | undefined): Date | null {
  if (text === undefined || text === '') return null;
  // A span may begin and end in any year: see `sqlInstant`.
  const date = new Date(text);
  if (Number.isNaN(date.getTime()) || isBeyondOffsets(text))
    throw badRequest(`"${name}" is not a date`, { field: name });
  return date;
}

/** The two dates of a query string, as `spanParameters` reads them. */
export interface SpanQuery {
  startDate?: string | undefined;
  endDate?: string | undefined;
}

/**
 * The span that `startDate` and `endDate` name; both belong to it. Without `startDate` it begins so many days before `now`.
 * @throws 400 for what is no date, and for an end before the beginning
 */
export function spanParameters({ startDate, endDate }: SpanQuery, now: Date, days: number) {
  const given = dateParameter('startDate', startDate);
  const end = dateParameter('endDate', endDate);
  const from = given ?? new Date(now.getTime() - days * dayMs);
  if (end !== null && end < from)
    throw badRequest(
      given === null
        ? `"endDate" lies before "startDate", which is ${days} days ago when it is absent`
        : '"endDate" lies before "startDate"',
      { field: 'endDate' },
    );
  // Instants are kept in milliseconds, so that this is the first one after the last that belongs to the span.
  return { from, until: end && new Date(Math.min(end.getTime() + 1, latestMs)) };
}
