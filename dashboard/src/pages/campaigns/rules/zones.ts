const clockOf = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
const dayLength = 86_400_000;

/** An instant as the clock of a time zone shows it, in the form of a field for date and time: `2026-11-30T09:00`. */
export function wallClock(at: number, timeZone: string): string {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  return `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}

/**
 * The instant at which the clock of a time zone shows a time, NaN for a text that is none. A time that is shown twice is the first one,
 * and one that the clock skips is as much later.
 */
export function instantOf(wall: string, timeZone: string): number {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return asUtc;
  const by = (near: number) => asUtc - (Date.parse(`${wallClock(near, timeZone)}Z`) - near);
  const [before, after] = [by(asUtc - dayLength), by(asUtc + dayLength)];
  return wallClock(before, timeZone) !== wall && wallClock(after, timeZone) === wall ? after : before;
}

/** Every time zone that the browser knows, with UTC. */
export function timeZones(): string[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];
}
