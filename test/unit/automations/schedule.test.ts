import { describe, expect, test } from 'vitest';
import { calendarsOf, readSchedule } from '../../../src/automations/enrollment/schedule.ts';

const segmentId = '0199aaaa-0000-7000-8000-000000000001';
const range = (from: number, through: number) => Array.from({ length: through - from + 1 }, (_, n) => from + n);

describe('cron expressions as calendars', () => {
  test('every morning', () => {
    expect(calendarsOf('0 9 * * *')).toEqual([
      { minute: [0], hour: [9], dayOfMonth: range(1, 31), month: range(1, 12), dayOfWeek: range(0, 6) },
    ]);
  });

  test('lists, ranges, steps and names', () => {
    expect(calendarsOf('*/15 9-11 1,15 JAN,jun *')).toEqual([
      { minute: [0, 15, 30, 45], hour: [9, 10, 11], dayOfMonth: [1, 15], month: [1, 6], dayOfWeek: range(0, 6) },
    ]);
  });

  test('Sunday is 0 and 7', () => {
    expect(calendarsOf('0 0 * * 7')).toEqual(calendarsOf('0 0 * * 0'));
    expect(calendarsOf('0 0 * * SUN')[0]?.dayOfWeek).toEqual([0]);
  });

  test('days of the month and of the week, both restricted, mean either', () => {
    const [byDay, byWeekday, ...others] = calendarsOf('0 9 1 * MON-FRI');
    expect([byDay?.dayOfMonth, byDay?.dayOfWeek]).toEqual([[1], range(0, 6)]);
    expect([byWeekday?.dayOfMonth, byWeekday?.dayOfWeek]).toEqual([range(1, 31), range(1, 5)]);
    expect(others).toEqual([]);
  });
});

describe('configs of schedules', () => {
  test('have UTC where no time zone is named', () => {
    expect(readSchedule({ schedule: ' 0 9 * * * ', segmentId }).schedule).toMatchObject({
      schedule: '0 9 * * *',
      timezone: 'UTC',
      segmentId,
    });
  });

  test.each([
    ['60 * * * *', 'schedule'],
    ['* * * *', 'schedule'],
    ['0 0 9 * * *', 'schedule'],
    ['@daily', 'schedule'],
    ['0 9 L * *', 'schedule'],
    ['0 9 * * MON#1', 'schedule'],
    ['0 9 * * FUNDAY', 'schedule'],
    ['', 'schedule'],
    [5, 'schedule'],
  ])('refuse %j', (schedule, field) => {
    expect(readSchedule({ schedule, segmentId }).problems?.[0]?.field).toBe(field);
  });

  test.each(['+02:00', 'Berlin', '', 7])('refuse the time zone %j', (timezone) => {
    expect(readSchedule({ schedule: '0 9 * * *', timezone, segmentId }).problems?.[0]?.field).toBe('timezone');
  });
});
