import { LRUCache } from 'lru-cache';
import { isBeyondOffsets } from './conditions/dates.ts';
import { badRequest } from './errors.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

/** The beginning of the day (UTC) of an instant, so many days later. */
export function dayAt(at: Date, days = 0): Date {
  return new Date((Math.floor(at.getTime() / dayMs) + days) * dayMs);
}

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
interface SpanQuery {
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

/** The time now; rules that depend on time take one of these so that tests can choose it. */
export type Clock = () => Date;

/** The machine's own clock. */
export const systemClock: Clock = () => new Date();

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a date as `new Date(text)` does; null when it is none, names an offset beyond ±15:59, or lies outside of the years 1 to 9999:
 * beyond them ISO text takes another form, which Postgres does not read.
 */
export function parseDate(value: string | number): Date | null {
  if (typeof value === 'string' && isBeyondOffsets(value)) return null;
  const date = new Date(value);
  const instant = date.getTime();
  return instant >= firstInstant && instant <= lastInstant ? date : null;
}

/** Waits; resolves early and quietly when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Does some work and answers no sooner than after so long, so that the time does not tell what had to be done. */
export async function noSoonerThan<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work(), pause(milliseconds)]);
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}

/** Returns the result of the work, or `late` once so many milliseconds have passed. */
export async function within<T>(milliseconds: number, work: Promise<T>, late: T): Promise<T> {
  const timer = Promise.withResolvers<T>();
  const timeout = setTimeout(timer.resolve, milliseconds, late);
  return Promise.race([work, timer.promise]).finally(() => clearTimeout(timeout));
}

// A formatter holds some ten kilobytes, and contacts may name any text as their zone.
const clocks = new LRUCache<string, { clock: Intl.DateTimeFormat | null }>({ max: 300 });

/** The formatter of what clocks in a time zone show, whole seconds; null where no zone has this name. */
export function clockIn(zone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(zone);
  if (known !== undefined) return known.clock;
  let clock: Intl.DateTimeFormat | null = null;
  try {
    // Offsets such as +02:00 are no zones to Temporal.
    if (!/^[+-]/.test(zone))
      clock = new Intl.DateTimeFormat('en-u-ca-iso8601-hc-h23', {
        timeZone: zone,
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
  } catch {
    // No zone has this name.
  }
  clocks.set(zone, { clock });
  return clock;
}

/** Whether a text is the name of a time zone, such as `Europe/Berlin`. */
export function isTimezone(name: string): boolean {
  return name.length <= longestZone && clockIn(name) !== null;
}
/** The time zone that the data of a contact names as `timezone`; null for none, and for a name that is no zone. */
export function ownZone({ timezone }: { readonly timezone?: unknown }): string | null {
  return typeof timezone === 'string' && isTimezone(timezone) ? timezone : null;
}
/** Characters of the name of a time zone at most. */
export const longestZone = 100;

// What clocks in a zone show at an instant, as if it were UTC, in whole seconds.
function wallAt(instant: number, zone: string): number {
  const parts = clockIn(zone)?.formatToParts(instant) ?? [];
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/** How far clocks in a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetAt(instant: number, zone: string): number {
  const second = Math.floor(instant / 1_000) * 1_000;
  return wallAt(second, zone) - second;
}

/**
 * Returns the instant at which clocks in a zone show a time, which is given as if it were UTC; all in milliseconds. Where clocks
 * change, a time that is left out is as much later, and of one that comes twice it is the first: `compatible` of Temporal.
 */
export function wallInstant(wall: number, zone: string): number {
  const before = wall - offsetAt(wall - dayMs, zone);
  const after = wall - offsetAt(wall + dayMs, zone);
  const shows = (instant: number) => instant + offsetAt(instant, zone) === wall;
  return !shows(before) && shows(after) ? after : before;
}

/** Returns the milliseconds from midnight to a time of day, such as `09:00`. */
export function timeOfDayMs(time: string): number {
  return Date.parse(`1970-01-01T${time}Z`);
}

/** Returns the day of the week of a day that is given as if it were UTC: 1 for Monday to 7 for Sunday. */
export function weekdayOf(day: number): number {
  return ((new Date(day).getUTCDay() + 6) % 7) + 1;
}
