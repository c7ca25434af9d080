import * as v from 'valibot';
import { parseIsoDate } from '../../lib/conditions/dates.ts';
import type { JsonObjectValue, JsonValue } from '../../lib/contact-data.ts';
import { placeWithin } from '../../lib/ids.ts';
import {
  dayMs,
  hourMs,
  isTimezone,
  longestZone,
  offsetAt,
  ownZone,
  timeOfDayMs,
  wallInstant,
  weekdayOf,
} from '../../lib/time.ts';
import { choice, coded, codedAt, field, TimeOfDay, textField, Weekdays } from '../../lib/validation/fields.ts';
import { type FieldProblem, fieldProblems } from '../../lib/validation/problems.ts';

const Zone = v.pipe(
  textField('zone', 1, longestZone),
  coded<string>('invalid_string', isTimezone, 'must be a time zone, for example "Europe/Berlin"'),
);
/** In place of a zone: the one of each contact. */
const ofContact = 'contact';
const zones = {
  zone: field(
    '`contact`, the default, for `data.timezone` of the contact; or a time zone.',
    v.optional(
      v.pipe(
        textField('zone', 1, longestZone),
        coded<string>(
          'invalid_string',
          (name) => name === ofContact || isTimezone(name),
          'must be "contact" or a time zone, for example "Europe/Berlin"',
        ),
      ),
      ofContact,
    ),
  ),
  fallback: field('Time zone of contacts without a valid one; `UTC` when absent.', v.optional(Zone, 'UTC')),
};

/** The config of a WAIT_UNTIL that waits for a time of day. */
export const UntilTime = v.object({
  time: field('Time of day to wait for, such as `09:00`.', TimeOfDay),
  days: field('Days of the week that count, from 1 for Monday to 7 for Sunday; all when absent.', v.nullish(Weekdays)),
  ...zones,
});

const offsetPattern = /^([+-]?)(\d{1,4})([hdw])$/;
const unitMs = { h: hourMs, d: dayMs, w: 7 * dayMs };

// An offset in milliseconds of clocks; null for what is none, or beyond 365 days.
function readOffset(text: string): number | null {
  const [all, sign, amount, unit] = offsetPattern.exec(text) ?? [];
  if (all === undefined) return null;
  const length = Number(amount) * unitMs[unit as keyof typeof unitMs];
  return length > 365 * dayMs ? null : sign === '-' ? -length : length;
}

/** The fields of a WAIT_UNTIL that waits for a date of the contact. */
export const untilDate = {
  field: field(
    'Field that holds the date, such as `data.trialEnds`, as ISO 8601. A date without a time is that day in the time zone.',
    textField('field', 1, 500),
  ),
  offset: field(
    'Time before (`-3d`) or after (`2h`) the date, in `h`, `d` or `w`, up to 365 days; none when absent.',
    v.nullish(
      v.pipe(
        v.string('must be a text such as "-3d"'),
        coded<string>(
          'invalid_string',
          (text) => readOffset(text) !== null,
          'must be a number of h, d or w up to 365 days, for example "-3d"',
        ),
      ),
    ),
  ),
  at: field('Time of that day, such as `09:00`; the time of the date when absent.', v.nullish(TimeOfDay)),
  passed: field(
    'What becomes of contacts for whom that time has passed: `continue`, the default, or `exit`.',
    v.optional(choice(['continue', 'exit']), 'continue'),
  ),
  ...zones,
};
/** The config of a WAIT_UNTIL that waits for a date of the contact. */
export const UntilDate = v.pipe(
  v.object(untilDate),
  codedAt('custom', 'at', ({ offset, at }) => !at || !offset?.endsWith('h'), 'needs an "offset" in days or weeks'),
);

/** The config of the trigger DATE. */
const DateTrigger = v.pipe(
  v.object({
    field: v.pipe(
      untilDate.field,
      coded<string>(
        'custom',
        (name) => /^(contact\.)?data\..|^contact\.createdAt$/.test(name),
        'must be a field with dates, for example "data.birthday"',
      ),
    ),
    offset: untilDate.offset,
    at: untilDate.at,
    every: v.nullish(v.picklist(['year'], 'must be "year" or null')),
    ...zones,
  }),
  codedAt('custom', 'at', ({ offset, at }) => !at || !offset?.endsWith('h'), 'needs an "offset" in days or weeks'),
);
export type DateTrigger = v.InferOutput<typeof DateTrigger>;

/** Reads the config of a DATE trigger, or says what is wrong with it; `field` begins at the config. */
export function readDateTrigger(
  config: unknown,
): { trigger: DateTrigger; problems: null } | { trigger: null; problems: FieldProblem[] } {
  const parsed = v.safeParse(DateTrigger, config ?? {});
  if (parsed.success) return { trigger: parsed.output, problems: null };
  return { trigger: null, problems: fieldProblems(parsed.issues) };
}

export type WaitUntil = v.InferOutput<typeof UntilTime> | v.InferOutput<typeof UntilDate>;

/** The time zone that a config means for a contact with this data; `isInvalid` where the contact names one that is none. */
export function zoneFor(
  { zone, fallback }: Pick<WaitUntil, 'zone' | 'fallback'>,
  data: JsonObjectValue,
): { zone: string; isInvalid: boolean } {
  if (zone !== ofContact) return { zone, isInvalid: false };
  const { timezone = null } = data;
  const own = ownZone(data);
  return { zone: own ?? fallback, isInvalid: own === null && timezone !== null && timezone !== '' };
}

/** Returns the next instant from `now` on at which clocks in a zone show a time, on one of some days of the week. */
export function nextTime(
  { time, days }: Pick<v.InferOutput<typeof UntilTime>, 'time' | 'days'>,
  zone: string,
  now: number,
): number {
  const today = Math.floor((now + offsetAt(now, zone)) / dayMs) * dayMs;
  for (let day = today; ; day += dayMs) {
    if (days && !days.includes(weekdayOf(day))) continue;
    const instant = wallInstant(day + timeOfDayMs(time), zone);
    if (instant >= now) return instant;
  }
}

// Beyond it ISO text takes another form, which Postgres does not read.
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** Returns the instant that a date of a contact means under a config, in milliseconds; null for a value that is no date. */
export function dateInstant(
  { offset, at }: Pick<v.InferOutput<typeof UntilDate>, 'offset' | 'at'>,
  value: JsonValue | undefined,
  zone: string,
): number | null {
  const read = typeof value === 'string' ? parseIsoDate(value) : null;
  if (typeof value !== 'string' || read === null) return null;
  const by = readOffset(offset ?? '0h') ?? 0;
  const isDay = value.length === '2026-12-24'.length;
  // Hours pass; days and weeks are those of the calendar.
  if (offset?.endsWith('h')) {
    const instant = (isDay ? wallInstant(read, zone) : read) + by;
    return instant > lastInstant ? null : instant;
  }
  const wall = (isDay ? read : read + offsetAt(read, zone)) + by;
  const instant = wallInstant(at ? Math.floor(wall / dayMs) * dayMs + timeOfDayMs(at) : wall, zone);
  return instant > lastInstant ? null : instant;
}

/** How many contacts of a project who wait for one instant continue in a second; two cores take as many. */
export const turnsPerSecond = 60;

/** Within how long after the instant all of them continue, in milliseconds. */
export const longestTurnMs = hourMs / 2;

/**
 * Returns how long after an instant it is the turn of a contact who waits for it, in milliseconds. `last` is the latest turn of those who wait already,
 * null for none: the first continues at the instant itself. Where the time is full, contacts have turns by their IDs.
 */
export function turnAfter(last: number | null, until: number, contactId: string, perSecond: number): number {
  // Counted in turns, because milliseconds are rounded.
  const turn = last === null ? 0 : Math.floor((last * perSecond) / 1_000) + 1;
  const ms = Math.ceil((turn * 1_000) / perSecond);
  return Math.min(ms < longestTurnMs ? ms : placeWithin(contactId, longestTurnMs), lastInstant - until);
}

/** A time at which a date of a contact starts a workflow: the day of the date, which tells it from others, and the instant. */
export interface Occurrence {
  day: string;
  at: number;
}

/** Returns whether a value is a date. */
export function isDate(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && parseIsoDate(value) !== null;
}

/**
 * Goes through the occurrences of a date from an instant on, in their order: the date itself, or its day in each year from that of the date on,
 * February 29 as the 28th in other years.
 */
export function* occurrencesOf(
  { every, offset, at }: Pick<DateTrigger, 'every' | 'offset' | 'at'>,
  value: JsonValue | undefined,
  zone: string,
  from: number,
): Generator<Occurrence> {
  if (!isDate(value)) return;
  const first = Number(value.slice(0, 4));
  // The offset is up to a year, and clocks are up to a day apart.
  const begin = every === 'year' ? Math.max(first, new Date(from).getUTCFullYear() - 2) : first;
  const end = every === 'year' ? 9999 : first;
  for (let year = begin; year <= end; year += 1) {
    const text = inYear(value, year);
    const instant = dateInstant({ offset, at }, text, zone);
    if (instant !== null && instant >= from) yield { day: text.slice(0, 10), at: instant };
  }
}

function inYear(date: string, year: number): string {
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  const rest = date.slice(4);
  return `${String(year).padStart(4, '0')}${isLeap ? rest : rest.replace(/^-02-29/, '-02-28')}`;
}
