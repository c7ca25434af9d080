import { expect, test } from 'vitest';
import { comparedDays, type MailDay } from '../../../dashboard/src/words/ranges.ts';

const day = (n: number): MailDay => ({
  date: new Date(Date.UTC(2026, 9, n)).toISOString(),
  emails: n,
  delivered: n,
  opens: 1,
  clicks: 0,
  bounces: 0,
});
const days = (count: number) => Array.from({ length: count }, (_, index) => day(index + 1));

test('one series of days is taken apart into those shown and as many before', () => {
  const { shown, now, before } = comparedDays(days(7), 3);
  expect(shown.map(({ emails }) => emails)).toEqual([5, 6, 7]);
  expect([now.emails, now.opens]).toEqual([18, 3]);
  expect([before.emails, before.opens]).toEqual([9, 3]);
});

test('a series that is too short has less before, and none when there is none', () => {
  expect(comparedDays(days(4), 3).before.emails).toBe(1);
  expect(comparedDays([], 3).before.emails).toBe(0);
});
