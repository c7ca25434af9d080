import * as v from 'valibot';
import { invalidField } from '../../lib/errors.ts';
import { dayMs, hourMs, parseDate } from '../../lib/time.ts';
import { coded } from '../../lib/validation/fields.ts';

const furthestDays = 30;
const minuteMs = 60_000;

/** An instant at which mail is to be sent. */
export const ScheduledFor = v.pipe(
  v.string(),
  coded('invalid_string', isInstant, 'must be an ISO 8601 instant with an offset, for example 2026-12-24T18:00:00Z'),
);

/** How long mail is held for its sender to cancel it. */
export const HoldFor = v.pipe(
  v.string(),
  coded('invalid_string', (text) => holdMs(text) !== null, 'must be from "15m" to "24h"'),
);

/** When mail is sent that is not sent at once; at most one of the two is set. */
export interface SendTime {
  scheduledFor: Date | null;
  heldUntil: Date | null;
}

/** What a request says of the time, by the clock of Postgres, which decides when mail is due. @throws 422 `too_big` for an instant that is more than 30 days ahead */
export function scheduleOf(
  { scheduledFor, hold }: { scheduledFor?: string | null | undefined; hold?: string | null | undefined },
  now: Date,
): SendTime {
  const held = hold == null ? null : holdMs(hold);
  return {
    scheduledFor: scheduledFor == null ? null : scheduledInstant(scheduledFor, now),
    heldUntil: held === null ? null : new Date(now.getTime() + held),
  };
}

/** The instant of a `scheduledFor`; null when it is over. @throws 422 `too_big` when it is more than 30 days ahead */
export function scheduledInstant(text: string, now: Date): Date | null {
  const at = new Date(text);
  if (at.getTime() > now.getTime() + furthestDays * dayMs)
    throw invalidField('scheduledFor', `must be at most ${furthestDays} days ahead`, 'too_big');
  return at > now ? at : null;
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text) && parseDate(text) !== null;
}

function holdMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,4})([mh])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 'h' ? hourMs : minuteMs);
  return ms >= 15 * minuteMs && ms <= dayMs ? ms : null;
}
