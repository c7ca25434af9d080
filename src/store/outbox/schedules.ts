import {
  DAYS_OF_WEEK,
  MONTHS,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import type { CalendarTimes, ScheduleCommand } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { expecting } from '../../lib/errors.ts';

// A time that passed while Temporal was away is made up for, like every other work.
const catchupWindow = '7 days';

/** Creates or updates the schedule of executions with these options, unless it is of a later revision already. Safe to repeat. */
export async function putSchedule(
  temporal: TemporalConnection,
  command: ScheduleCommand,
  started: { workflowId: string; taskQueue: string },
): Promise<void> {
  const options = {
    scheduleId: command.id,
    spec: { calendars: command.calendars.map(calendarSpec), timezone: command.timezone },
    action: { type: 'startWorkflow', workflowType: command.launch.workflow, ...started },
    policies: { overlap: 'ALLOW_ALL', catchupWindow },
    state: { note: revisionNote(command.revision) },
  } satisfies ScheduleOptions;
  try {
    await temporal.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await temporal.client.schedule.getHandle(command.id).update((previous) => {
      if (revisionOf(previous.state.note) > command.revision) return previous;
      // An operator's pause is kept.
      return { ...options, state: { ...previous.state, note: options.state.note } };
    });
  }
}

const isUnknownSchedule = (error: unknown) => error instanceof ScheduleNotFoundError;

/** Removes a schedule. False when there was none. */
export function removeSchedule(temporal: TemporalConnection, id: string): Promise<boolean> {
  const removed = temporal.client.schedule.getHandle(id).delete();
  return expecting(
    isUnknownSchedule,
    false,
    removed.then(() => true),
  );
}

/** The revision that a schedule has, or null when there is none of this id. Rejects when Temporal cannot be asked. */
export function scheduleRevision(temporal: TemporalConnection, id: string): Promise<number | null> {
  const described = temporal.within(10_000, () => temporal.client.schedule.getHandle(id).describe());
  return expecting<number | null>(
    isUnknownSchedule,
    null,
    described.then(({ state }) => revisionOf(state.note)),
  );
}

function revisionNote(revision: number): string {
  return `revision ${revision}`;
}

function revisionOf(note: string | undefined): number {
  return Number(/^revision (\d+)/.exec(note ?? '')?.[1] ?? -1);
}

function calendarSpec({ minute, hour, dayOfMonth, month, dayOfWeek }: CalendarTimes) {
  return {
    second: 0,
    minute: [...minute],
    hour: [...hour],
    dayOfMonth: [...dayOfMonth],
    month: month.flatMap((number) => MONTHS[number - 1] ?? []),
    dayOfWeek: dayOfWeek.flatMap((number) => DAYS_OF_WEEK[number] ?? []),
  };
}
