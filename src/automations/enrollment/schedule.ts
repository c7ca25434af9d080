import { CronPattern } from 'croner';
import * as v from 'valibot';
import type { CalendarTimes } from '../../../temporal/commands.ts';
import { type JsonObjectValue, withoutDangerousKeys } from '../../lib/contact-data.ts';
import { AppError, badRequest, conflict, invalidField, notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { isTimezone } from '../../lib/time.ts';
import { coded, JsonObject, textField, Uuid } from '../../lib/validation/fields.ts';
import { type FieldProblem, fieldProblems, jsonType } from '../../lib/validation/problems.ts';
import { enqueueAll } from '../../store/outbox/queries.ts';
import { type Database, limitingKey } from '../../store/sql.ts';
import type { Changed } from '../list-service.ts';
import { findAutomation, found } from '../queries.ts';
import { executionBody, keepSenders } from '../rows.ts';
import type { ExecutionBody, StartExecution } from '../runs/schema.ts';
import { type StartOutcome, startRuns } from './starting.ts';

/** The largest context of a run, as characters of JSON. */
const maxContextLength = 64 * 1024;

/**
 * Starts a run by hand (docs/contract/campaigns-and-workflows.md#3-5): the checks in their order, then everything in one
 * transaction.
 * @throws 404, 422 for the context, 400 while disabled, 409 by the rule of re-entry, 429 by the guard against loops
 */
export async function startExecution(
  db: Database,
  projectId: string,
  automationId: string,
  body: StartExecution,
  startsPerHour: number,
): Promise<Changed<ExecutionBody>> {
  const automation = found(await findAutomation(db, projectId, automationId), automationId);
  const context = readContext(body.context);
  if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you enroll contacts');
  const { contactId } = body;
  if (!isUuid(contactId)) throw notFound('contact', contactId);
  const wish = { contactId: contactId.toLowerCase(), context, sourceEventId: null, limitedBy: limitingKey(db) };
  const { outcomes, tickets } = await db
    .transaction(async (tx) => {
      await keepSenders(tx, automationId);
      const { outcomes, starts } = await startRuns(tx, projectId, automationId, [wish], startsPerHour);
      return { outcomes, tickets: await enqueueAll(tx, starts) };
    })
    .catch((error: unknown) => {
      // The workflow was deleted after it was read and before its run was written.
      if (isForeignKeyViolation(error)) throw notFound('workflow', automationId);
      throw error;
    });
  const [made] = outcomes;
  if (made?.run) return { body: executionBody(made.run), tickets };
  // Only now: the count of what the guard refused is committed.
  throw refusal(made?.outcome ?? 'gone', contactId, startsPerHour);
}

function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23503';
}

function readContext(context: unknown): Record<string, unknown> | null {
  if (context === undefined || context === null) return null;
  if (typeof context !== 'object' || Array.isArray(context))
    throw invalidField('context', 'must be an object', 'invalid_type', jsonType(context));
  if (JSON.stringify(context).length > maxContextLength)
    throw invalidField('context', 'must be at most 64 KiB of JSON', 'too_big');
  return withoutDangerousKeys(context as JsonObjectValue) as Record<string, unknown>;
}

function refusal(outcome: StartOutcome, contactId: string, startsPerHour: number): AppError {
  switch (outcome) {
    case 'reentry':
      return conflict('The contact has already been in this workflow, which does not allow re-entry', { contactId });
    case 'active':
      return conflict('The contact is already in this workflow', { contactId });
    case 'refused':
      return new AppError(
        429,
        'RATE_LIMIT_EXCEEDED',
        `The contact entered this workflow ${startsPerHour} times within an hour, which is the limit: try again later`,
        { details: { contactId, limit: startsPerHour }, headers: { 'Retry-After': '60' } },
      );
    default:
      return notFound('contact', contactId);
  }
}

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
