// Ten levels of conditions nest JSON some forty deep; what is left serves values that are objects.
const maxJsonDepth = 64;

/**
 * Refuses, by the place, what Postgres cannot store or what JSON cannot say back: U+0000, halves of
 * surrogate pairs, numbers beyond double precision's range, `__proto__` keys, and nesting without end.
 */
export function refuseUnstorable(input: unknown): void {
  walk(input, []);
}

function walk(value: unknown, path: string[]): void {
  if (path.length > maxJsonDepth) throw conditionFault(path, 'The condition is nested too deeply');
  if (typeof value === 'string') refuseText(value, path);
  if (typeof value === 'number' && !Number.isFinite(value)) throw conditionFault(path, 'The number is too large');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const place = [...path, key];
    if (key === '__proto__') throw conditionFault(place, 'The key "__proto__" is not allowed');
    refuseText(key, path);
    walk(item, place);
  }
}

function refuseText(text: string, path: string[]): void {
  if (text.includes('\u0000')) throw conditionFault(path, 'Text must not contain the character U+0000');
  if (!text.isWellFormed()) throw conditionFault(path, 'Text must not contain half of a surrogate pair');
}

/** A mistake in a condition, in words for its author. */
export class ConditionFault extends Error {
  override name = 'ConditionFault';
  /** The place in the tree, with dots; empty for the whole. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(path === '' ? message : `${message} (at ${path})`);
    this.path = path;
  }
}

/** The fault at a place in a condition tree. */
export function conditionFault(path: readonly string[], message: string): ConditionFault {
  return new ConditionFault(path.join('.'), message);
}

const dayLength = 86_400_000;

/** Lengths of the units of a window, in milliseconds. */
export const unitLengths = new Map([
  ['minutes', 60_000],
  ['hours', 3_600_000],
  ['days', dayLength],
]);

const day31 = '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])';
const day30 = '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)';
const day28 = '02-(?:0[1-9]|1[0-9]|2[0-8])';
const leapYear = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)';
const date = `(?:[0-9]{4}-(?:${day31}|${day30}|${day28})|${leapYear}-02-29)`;
const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?';
const zone = '(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])';

/**
 * Matches an ISO date in contact data: a real day from 0001-01-01 on, alone or with `T`, a time and perhaps a
 * zone. It reads the same as a JavaScript and as a Postgres regular expression, so that parsing
 * and the SQL agree. Both also ask for text at or after `firstIsoText`, because there is no year 0.
 */
export const isoDatePattern = `^${date}(?:T${clock}${zone}?)?$`;

/** The least text, by code point, that can be an ISO date. */
export const firstIsoText = '0001';

const isoDate = new RegExp(isoDatePattern);
const isoParts = /^(.{10})(?:T(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(.*))?$/;
const calendarDay = /^\d{4}-\d\d-\d\d/;

/** The instant of an ISO date in epoch milliseconds, cut to whole ones; null for any other text. No zone means UTC. */
export function parseIsoDate(text: string): number | null {
  if (text < firstIsoText || !isoDate.test(text)) return null;
  const [, day, minutes = '00:00', seconds = '00', fraction = '', zone = ''] = isoParts.exec(text) ?? [];
  return Date.parse(`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone || 'Z'}`);
}

/**
 * Reads a date that is compared with a date column: ISO dates (a blank may stand for the `T`; no zone means UTC), else
 * whatever `new Date(text)` takes. `iso` says which it was, because ISO dates mean whole days in equality.
 */
export function readDate(text: string): { instant: number; iso: boolean } | null {
  const iso = parseIsoDate(text.replace(' ', 'T'));
  if (iso !== null) return { instant: iso, iso: true };
  // `new Date` would take 2026-02-30 for the second of March.
  if (calendarDay.test(text) && parseIsoDate(text.slice(0, 10)) === null) return null;
  if (isBeyondOffsets(text)) return null;
  const instant = new Date(text).getTime();
  return Number.isNaN(instant) ? null : { instant, iso: false };
}

/** Whether a date that `new Date(text)` reads names an offset from UTC beyond ±15:59, which no clock has and Postgres does not read. */
export function isBeyondOffsets(text: string): boolean {
  return /:\d\d(?:[.,]\d+)?\s*(?:GMT|UTC|Z)?\s*[+-](?:1[6-9]|[2-9]\d):?[0-5]\d/i.test(text);
}

/** The UTC day an instant lies on, as a half-open span of epoch milliseconds. */
export function utcDay(instant: number): { from: number; until: number } {
  const from = Math.floor(instant / dayLength) * dayLength;
  return { from, until: from + dayLength };
}

/** The first whole millisecond at or after `now` minus a window; minus infinity when the window reaches that far. */
export function cutoff(now: Date, milliseconds: number): number {
  return Math.ceil(now.getTime() - milliseconds);
}

/** The last whole millisecond at or before `now` plus a window; infinity when the window reaches that far. */
export function lastOf(now: Date, milliseconds: number): number {
  return Math.floor(now.getTime() + milliseconds);
}

/**
 * The days of a year (`0229`) with the anniversaries from today until the day of `now` plus a window, and the beginning of today, before
 * which the first occurrence must lie. Days are those of UTC; in years without a 29th of February its anniversary is the 28th.
 */
export function anniversaries(now: Date, milliseconds: number): { days: string[]; before: number } {
  const today = utcDay(now.getTime()).from;
  const days = new Set<string>();
  for (let day = today; day <= lastOf(now, milliseconds) && days.size < 366; day += dayLength) {
    const name = dayOfYear(day);
    days.add(name);
    if (name === '0228' && dayOfYear(day + dayLength) === '0301') days.add('0229');
  }
  return { days: [...days], before: today };
}

/** The day of the year of an instant in UTC, such as `0229`. */
export function dayOfYear(instant: number): string {
  return new Date(instant).toISOString().slice(-19, -14).replace('-', '');
}

/**
 * Bounds for the text of ISO dates: any whose instant is at or after `from` and before `until` sorts, by code point, at
 * or after `lowest` and before `highest`, whatever its zone. Comparing text first saves parsing most rows.
 */
export function isoTextBounds(from: number, until: number): { lowest: string; highest: string } {
  return { lowest: dayText(from - dayLength), highest: dayText(until + 2 * dayLength) };
}

/** An instant as Postgres reads it, beyond the years 1 to 9999 too. */
export function postgresInstant(instant: number): string {
  const date = new Date(instant);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < -4000) return instant > 0 ? 'infinity' : '-infinity';
  const rest = date.toISOString().slice(-20);
  return year > 0 ? `${String(year).padStart(4, '0')}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}

function dayText(instant: number): string {
  const date = new Date(instant);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) return instant > 0 ? ':' : firstIsoText;
  if (year < 1) return firstIsoText;
  return year > 9999 ? ':' : date.toISOString().slice(0, 10);
}
