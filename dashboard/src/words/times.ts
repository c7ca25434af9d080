import { counted, lazily, locale } from './numbers.ts';

const full = { dateStyle: 'full', timeStyle: 'long' } as const;
const exact = lazily(() => new Intl.DateTimeFormat(locale, full));
const exactUtc = lazily(() => new Intl.DateTimeFormat(locale, { ...full, timeZone: 'UTC' }));
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const dayLength = 86_400_000;

/** The date and time of an instant in the viewer's zone: `Nov 24, 6:27 AM`, with the year where it is another one. */
function dateText(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return `${isThisYear ? dateOfYear(at) : dayText(at)}, ${clockText(at)}`;
}

/**
 * How far an instant is, as people count: hours within a day, then days of the calendar of the viewer's zone, so that a date two
 * days off is never called tomorrow. Null beyond a week.
 */
function distanceText(at: number, now: number): string | null {
  const distance = at - now;
  const size = Math.abs(distance);
  if (size < 60_000) return distance > 0 ? 'in less than a minute' : 'just now';
  if (size < 3_600_000) return relative(Math.trunc(distance / 60_000), 'minute');
  if (size < dayLength) return relative(Math.trunc(distance / 3_600_000), 'hour');
  const days = Math.round((midnight(at) - midnight(now)) / dayLength);
  return Math.abs(days) > 7 ? null : relative(days, 'day');
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
  return `${distance} (${isToday ? clockText(at) : dateText(at, now)})`;
}

function relative(size: number, unit: string): string {
  const text = counted(Math.abs(size), unit);
  return size > 0 ? `in ${text}` : `${text} ago`;
}

/** The time of day of an instant in the viewer's zone: `7:14 AM`, or with `isHour` its hour `7 AM`. */
export function clockText(at: number, isHour = false): string {
  const date = new Date(at);
  const hours = date.getHours();
  const minutes = isHour ? '' : `:${String(date.getMinutes()).padStart(2, '0')}`;
  return `${hours % 12 || 12}${minutes} ${hours < 12 ? 'AM' : 'PM'}`;
}

/** The day of an instant in the viewer's zone: `Nov 24, 2026`. */
export function dayText(at: number): string {
  return `${dateOfYear(at)}, ${new Date(at).getFullYear()}`;
}

/** The day of an instant within its year, in the viewer's zone or in UTC: `Nov 24`. */
export function dateOfYear(at: number, isUtc = false): string {
  const date = new Date(at);
  const [month, day] = isUtc ? [date.getUTCMonth(), date.getUTCDate()] : [date.getMonth(), date.getDate()];
  return `${months[month]} ${day}`;
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
  return `${weekdays[new Date(at).getDay()]} ${clockText(at, true)}`;
}

// Midnight in the viewer's zone, as if every day had 24 hours.
function midnight(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
}
