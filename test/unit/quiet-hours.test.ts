import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { heldUntil, quietUntil, spreadMs } from '../../src/mail/emails/schedule.ts';
import { QuietHours } from '../../src/projects/schema.ts';

const night = v.parse(QuietHours, { from: '22:00', to: '08:00' });
const at = (text: string) => Date.parse(text);

function until(hours: QuietHours, zone: string, now: string): string | null {
  const end = quietUntil(hours, zone, at(now));
  return end === null ? null : new Date(end).toISOString();
}

describe('quiet hours', () => {
  test('last over midnight, with their beginning and without their end', () => {
    expect(until(night, 'UTC', '2026-11-30T21:59:59Z')).toBe(null);
    expect(until(night, 'UTC', '2026-11-30T22:00:00Z')).toBe('2026-12-01T08:00:00.000Z');
    expect(until(night, 'UTC', '2026-12-01T00:00:00Z')).toBe('2026-12-01T08:00:00.000Z');
    expect(until(night, 'UTC', '2026-12-01T07:59:59.999Z')).toBe('2026-12-01T08:00:00.000Z');
    expect(until(night, 'UTC', '2026-12-01T08:00:00Z')).toBe(null);
    const noon = v.parse(QuietHours, { from: '12:00', to: '13:30' });
    expect(until(noon, 'UTC', '2026-12-01T13:00:00Z')).toBe('2026-12-01T13:30:00.000Z');
    expect(until(noon, 'UTC', '2026-12-01T22:00:00Z')).toBe(null);
  });

  test('belong to the day on which they begin', () => {
    // November 27, 2026 is a Friday.
    const fridays = { ...night, days: [5] };
    expect(until(fridays, 'UTC', '2026-11-27T07:00:00Z')).toBe(null);
    expect(until(fridays, 'UTC', '2026-11-27T23:00:00Z')).toBe('2026-11-28T08:00:00.000Z');
    expect(until(fridays, 'UTC', '2026-11-28T07:00:00Z')).toBe('2026-11-28T08:00:00.000Z');
    expect(until(fridays, 'UTC', '2026-11-28T23:00:00Z')).toBe(null);
  });

  test('are right in all zones, hour by hour of a day in each quarter', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    for (const zone of zones) {
      const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
      for (let month = 0; month < 12; month += 3)
        for (let hour = 0; hour < 24; hour += 1) {
          const now = Date.UTC(2026, month, 12, hour);
          const shown = format.format(now);
          const end = quietUntil(night, zone, now);
          expect(end !== null, `${zone} ${shown}`).toBe(shown >= '22:00' || shown < '08:00');
          if (end !== null) {
            expect(format.format(end), `${zone} ${shown}`).toBe('08:00');
            expect(end - now).toBeLessThanOrEqual(11 * 3_600_000);
          }
        }
    }
    expect(zones.length).toBeGreaterThan(400);
  });

  test('end by the clock on the nights on which clocks change', () => {
    const berlin = 'Europe/Berlin';
    // An hour is left out on March 29, and comes twice on October 25.
    expect(until(night, berlin, '2026-03-28T21:30:00Z')).toBe('2026-03-29T06:00:00.000Z');
    expect(until(night, berlin, '2026-10-24T20:30:00Z')).toBe('2026-10-25T07:00:00.000Z');
    const early = v.parse(QuietHours, { from: '01:00', to: '02:30' });
    // 02:30 is as much later as the gap is wide; of two it is the first.
    expect(until(early, berlin, '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:30:00.000Z');
    expect(until(early, berlin, '2026-10-25T00:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(until(early, berlin, '2026-10-25T01:15:00Z')).toBe(null);
    const inGap = v.parse(QuietHours, { from: '02:15', to: '02:45' });
    expect(until(inGap, berlin, '2026-03-29T01:20:00Z')).toBe('2026-03-29T01:45:00.000Z');
  });

  test('hold by the zone of the contact, else of the project, else UTC, and by the type of the email', () => {
    const now = at('2026-12-01T13:30:00Z');
    const project = { quietHours: night, timeZone: 'Asia/Tokyo' as string | null };
    const id = '00000000-0000-7000-8000-000000000000';
    const held = (timezone: unknown, facts = project, type: 'MARKETING' | 'HEADLESS' | 'TRANSACTIONAL' = 'MARKETING') =>
      heldUntil(facts, type, { id, data: { timezone: timezone as string } }, now);
    expect(held('Europe/Berlin')).toBe(null);
    for (const none of [undefined, null, '', 'Mars/Olympus', 7, '+02:00'])
      expect(held(none), String(none)).toBe(at('2026-11-30T23:00:00Z') + 24 * 3_600_000);
    expect(held(undefined, { ...project, timeZone: null })).toBe(null);
    expect(held(undefined, project, 'TRANSACTIONAL')).toBe(null);
    expect(held(undefined, project, 'HEADLESS')).toBe(null);
    const both = { ...project, quietHours: { ...night, types: ['HEADLESS' as const] } };
    expect([held(undefined, both), held(undefined, both, 'HEADLESS') !== null]).toEqual([null, true]);
  });

  test('spread contacts evenly over ten minutes', () => {
    const facts = { quietHours: night, timeZone: null };
    const end = at('2026-12-01T08:00:00Z');
    const seconds = new Array<number>(spreadMs / 1000).fill(0);
    for (let contact = 0; contact < 20_000; contact += 1) {
      const id = `00000000-0000-7000-8000-0000${Math.imul(contact, 0x9e3779b1).toString(16).replace('-', '').padStart(8, '0')}`;
      const due = heldUntil(facts, 'MARKETING', { id, data: {} }, at('2026-12-01T03:00:00Z')) ?? 0;
      const second = Math.floor((due - end) / 1000);
      seconds[second] = (seconds[second] ?? Number.NaN) + 1;
    }
    expect(seconds.length).toBe(600);
    expect(Math.max(...seconds)).toBeLessThan(100);
    expect(Math.min(...seconds)).toBeGreaterThan(5);
  });

  test('need two times, days and types that there are', () => {
    const problems = (given: unknown) => v.safeParse(QuietHours, given).issues?.map((one) => v.getDotPath(one));
    expect(problems({ from: '22:00', to: '22:00' })).toEqual(['to']);
    expect(problems({ from: '24:00', to: '8' })).toEqual(['from', 'to']);
    expect(problems({ from: '22:00', to: '08:00', days: [0] })).toEqual(['days.0']);
    expect(problems({ from: '22:00', to: '08:00', types: ['TRANSACTIONAL'] })).toEqual(['types.0']);
    expect(v.parse(QuietHours, { from: '22:00', to: '08:00' })).toEqual({
      from: '22:00',
      to: '08:00',
      days: null,
      types: ['MARKETING'],
    });
  });
});
