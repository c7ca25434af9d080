import { coded, type FieldProblem, fieldProblems, JsonObject, textField, Uuid } from '@fernpost/validation';
import { CronPattern } from 'croner';
import * as v from 'valibot';
import type { CalendarTimes } from '../../../temporal/commands.ts';

// Five fields of numbers, names, lists, ranges and steps: what cron itself and Temporal read alike. Everything that only
// some readers of cron know (seconds, `L`, `W`, `#`, `@daily`) is refused instead of guessed.
const plainCron = /^[\d*,/A-Za-z-]+(\s+[\d*,/A-Za-z-]+){4}$/;
const names = /^(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)$/i;

const Schedule = v.object({
  schedule: v.pipe(
    textField('schedule', 1, 200),
    v.trim(),
    coded<string>(
      'invalid_string',
      (cron) => patternOf(cron) !== null,
      'must be a cron expression of five fields, for example "0 9 * * MON-FRI"',
    ),
  ),
  timezone: v.optional(
    v.pipe(
      textField('timezone', 1, 100),
      coded<string>('invalid_string', isTimezone, 'must be a time zone, for example "Europe/Berlin"'),
    ),
    'UTC',
  ),
  segmentId: v.nullish(Uuid),
  audienceCondition: v.nullish(JsonObject),
});
/** The trigger's config of an automation that a schedule starts. */
export type Schedule = v.InferOutput<typeof Schedule>;

/** Reads the config of a SCHEDULE trigger, or says what is wrong with it; `field` begins at the config. */
export function readSchedule(
  config: unknown,
): { schedule: Schedule; problems: null } | { schedule: null; problems: FieldProblem[] } {
  const parsed = v.safeParse(Schedule, config ?? {});
  if (!parsed.success) return { schedule: null, problems: fieldProblems(parsed.issues) };
  const { segmentId, audienceCondition } = parsed.output;
  if (segmentId || audienceCondition) return { schedule: parsed.output, problems: null };
  const message = 'needs an audience: "segmentId" or "audienceCondition"';
  return { schedule: null, problems: [{ field: 'segmentId', message, code: 'custom' }] };
}

/**
 * The times of a cron expression as calendars, whose union they are: where both days of the month and days of the week
 * are restricted, cron means either. @throws for what `readSchedule` refuses
 */
export function calendarsOf(cron: string): CalendarTimes[] {
  const pattern = patternOf(cron.trim());
  if (pattern === null) throw new Error(`"${cron}" is no cron expression`);
  const times = {
    minute: listed(pattern.minute),
    hour: listed(pattern.hour),
    month: listed(pattern.month).map((month) => month + 1),
  };
  const dayOfMonth = listed(pattern.day).map((day) => day + 1);
  const dayOfWeek = listed(pattern.dayOfWeek);
  const everyDay = { dayOfMonth: range(1, 31), dayOfWeek: range(0, 6) };
  if (pattern.starDOM || pattern.starDOW)
    return [
      {
        ...times,
        dayOfMonth: pattern.starDOM ? everyDay.dayOfMonth : dayOfMonth,
        dayOfWeek: pattern.starDOW ? everyDay.dayOfWeek : dayOfWeek,
      },
    ];
  return [
    { ...times, dayOfMonth, dayOfWeek: everyDay.dayOfWeek },
    { ...times, dayOfMonth: everyDay.dayOfMonth, dayOfWeek },
  ];
}

function patternOf(cron: string): CronPattern | null {
  if (!plainCron.test(cron)) return null;
  if ((cron.match(/[A-Za-z]+/g) ?? []).some((word) => !names.test(word))) return null;
  try {
    return new CronPattern(cron, undefined, { mode: '5-part' });
  } catch {
    return null;
  }
}

function listed(flags: readonly number[]): number[] {
  return flags.flatMap((flag, index) => (flag === 0 ? [] : [index]));
}

function range(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index);
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets such as +02:00 are no zones to Temporal.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
