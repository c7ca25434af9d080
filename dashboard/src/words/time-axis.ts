/** What a chart counts by: hours in the reader's zone, or days in UTC as the service counts them. */
export type Unit = 'hour' | 'day';

/** The length of each unit in milliseconds. */
export const unitMs = { hour: 3_600_000, day: 86_400_000 };
const hourSteps = [1, 2, 3, 6, 12];
const daySteps = [1, 2, 7, 14, 28, 84, 364];

/** The start and end of an axis for ascending instants: at least three units, since one or two points have hardly a length. */
export function spanOf(instants: readonly number[], unit: Unit): [from: number, to: number] {
  const from = instants[0] ?? 0;
  return [from, Math.max(instants.at(-1) ?? 0, from + 3 * unitMs[unit])];
}

/** The round times between two instants that an axis marks, `most` at most: whole hours, or midnights. */
export function ticksOf([from, to]: readonly [number, number], most: number, unit: Unit): number[] {
  const fits = (length: number) => (to - from) / length <= most;
  const hours = unit === 'hour' ? hourSteps.find((step) => fits(step * unitMs.hour)) : undefined;
  const days = hours === undefined ? (daySteps.find((step) => fits(step * unitMs.day)) ?? 364) : 0;
  const ticks: number[] = [];
  for (let n = 0, at = 0; at <= to; n += 1) {
    at = momentAfter(from, n * days, n * (hours ?? 0), unit);
    // An hour that the clock skips in spring is the next one.
    if (at >= from && at <= to && at !== ticks.at(-1)) ticks.push(at);
  }
  return ticks;
}

/** Whether an instant is a midnight of the axis. */
export function isMidnight(at: number, unit: Unit): boolean {
  return at === momentAfter(at, 0, 0, unit);
}

// So many days and hours of the clock after the midnight before an instant.
function momentAfter(at: number, days: number, hours: number, unit: Unit): number {
  const date = new Date(at);
  return unit === 'day'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + days, hours)
    : new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, hours).getTime();
}
