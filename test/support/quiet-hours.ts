import { parse } from 'valibot';
import { QuietHours } from '../../src/projects/schema.ts';

const hourMs = 3_600_000;

/** Quiet hours of UTC around now, and the instant at which they end. */
export function around(lastMs = hourMs): { hours: QuietHours; end: number } {
  const now = Date.now();
  const time = (instant: number) => new Date(instant).toISOString().slice(11, 16);
  const end = Math.floor((now + lastMs) / 60_000) * 60_000;
  return { hours: parse(QuietHours, { from: time(now - hourMs), to: time(end) }), end };
}
