import { lazily, locale } from './numbers.ts';

type Format = Intl.DateTimeFormatOptions;
const dates = (format: Format) => lazily(() => new Intl.DateTimeFormat(locale, format));
const full: Format = { dateStyle: 'full', timeStyle: 'long' };
const exact = dates(full);
const exactUtc = dates({ ...full, timeZone: 'UTC' });
const thisYear = dates({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });
const anyYear = dates({ dateStyle: 'medium', timeStyle: 'short' });
const anyDay = dates({ dateStyle: 'medium' });
const clock = dates({ timeStyle: 'short' });
const hour = dates({ weekday: 'short', hour: 'numeric' });
const relative = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: 'always' }));
const dayLength = 86_400_000;

/** The date and time of an instant in the viewer's zone: `Nov 24, 6:27 AM`, with the year where it is another one. */
function dateText(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? thisYear : anyYear)().format(at);
}

/**
 * How far an instant is, as people count: hours within a day, then days of the calendar of the viewer's zone, so that a date two
 * days off is never called tomorrow. Null beyond a week.
 */
function distanceText(at: number, now: number): string | null {
  const distance = at - now;
  const size = Math.abs(distance);
  if (size < 60_000) return distance > 0 ? 'in less than a minute' : 'just now';
  if (size < 3_600_000) return relative().format(Math.trunc(distance / 60_000), 'minute');
  if (size < dayLength) return relative().format(Math.trunc(distance / 3_600_000), 'hour');
  const days = Math.round((midnight(at) - midnight(now)) / dayLength);
  return Math.abs(days) > 7 ? null : relative().format(days, 'day');
}

/**
 * An instant as it is shown. What has passed is said by its distance. What is to come has both: `in 2 days (Nov 24, 6:27 AM)`,
 * or after a preposition (`until …`) `Nov 24, 6:27 AM (in 2 days)`.
 */
export function momentText(at: number, now: number, isAfterPreposition = false): string {
  const distance = distanceText(at, now);
  if (distance === null) return dateText(at, now);
  if (isAfterPreposition) return `${dateText(at, now)} (${distance})`;
  if (at - now < 60_000) return distance;
  const isToday = midnight(at) === midnight(now);
  return `${distance} (${isToday ? clock().format(at) : dateText(at, now)})`;
}

/** The time of day of an instant in the viewer's zone: `7:14 AM`. */
export function clockText(at: number): string {
  return clock().format(at);
}

/** The day of an instant in the viewer's zone: `Nov 24, 2026`. */
export function dayText(at: number): string {
  return anyDay().format(at);
}

/** An instant to the second, in the viewer's zone and in UTC, one line for each. */
export function bothZones(at: number): string {
  return `${exact().format(at)}\n${exactUtc().format(at)}`;
}

/** The zone of the viewer, for labels of fields. */
export const ownZone = lazily(() => Intl.DateTimeFormat().resolvedOptions().timeZone);

/** An instant as a field for date and time wants it: the wall clock of the viewer, without a zone. Null is an hour from now. */
export function localText(instant: string | null): string {
  const date = instant ? new Date(instant) : new Date(Date.now() + 3_600_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The hour that an instant begins: `Mon 3 PM`. */
export function hourText(at: number): string {
  return hour().format(at);
}

// Midnight in the viewer's zone, as if every day had 24 hours.
function midnight(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
}
