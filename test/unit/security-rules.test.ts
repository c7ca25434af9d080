import { describe, expect, test } from 'vitest';
import { judge, levelsOf, type Reputation, rateWindow } from '../../src/feedback/reputation/rules.ts';

const quiet = rateWindow(0, 0, 0);
const reputation = (changes: Partial<Reputation>): Reputation => ({
  twentyFourHour: quiet,
  sevenDay: quiet,
  allTime: quiet,
  isNewProject: false,
  ...changes,
});
/** How many limits are critical and how many warn. */
const verdict = (changes: Partial<Reputation>) => {
  const { critical, warnings } = judge(reputation(changes));
  return [critical.length, warnings.length];
};

describe('rates', () => {
  // docs/contract/platform.md#2-4: the numbers on both sides of each limit.
  test.each([
    ['sevenDay', 'bounces', 1000, 49, [0, 0]],
    ['sevenDay', 'bounces', 1000, 50, [0, 1]],
    ['sevenDay', 'bounces', 1000, 99, [0, 1]],
    ['sevenDay', 'bounces', 1000, 100, [1, 0]],
    ['sevenDay', 'bounces', 100, 9, [0, 1]],
    ['sevenDay', 'bounces', 100, 10, [1, 0]],
    ['sevenDay', 'bounces', 99, 50, [0, 0]],
    ['allTime', 'bounces', 1000, 39, [0, 0]],
    ['allTime', 'bounces', 1000, 40, [0, 1]],
    ['allTime', 'bounces', 100, 4, [0, 0]],
    ['allTime', 'bounces', 1000, 79, [0, 1]],
    ['allTime', 'bounces', 1000, 80, [1, 0]],
    ['allTime', 'bounces', 112, 9, [0, 1]],
    ['sevenDay', 'complaints', 100, 2, [0, 0]],
    ['sevenDay', 'complaints', 4000, 3, [0, 1]],
    ['sevenDay', 'complaints', 4001, 3, [0, 0]],
    ['sevenDay', 'complaints', 100, 4, [0, 1]],
    ['sevenDay', 'complaints', 3333, 5, [1, 0]],
    ['sevenDay', 'complaints', 3334, 5, [0, 1]],
    ['allTime', 'complaints', 10_000, 3, [0, 1]],
    ['allTime', 'complaints', 10_001, 3, [0, 0]],
    ['allTime', 'complaints', 4166, 5, [1, 0]],
    ['allTime', 'complaints', 4167, 5, [0, 1]],
    ['allTime', 'complaints', 99, 99, [0, 0]],
  ] as const)('%s: %s of %i mails, %i', (window, of, total, count, expected) => {
    const figures = of === 'bounces' ? rateWindow(total, count, 0) : rateWindow(total, 0, count);
    expect(verdict({ [window]: figures })).toEqual(expected);
  });
});

describe('projects younger than 30 days', () => {
  test.each([
    ['twentyFourHour', 'bounces', 9, [0, 0]],
    ['twentyFourHour', 'bounces', 10, [0, 1]],
    ['twentyFourHour', 'bounces', 24, [0, 1]],
    ['twentyFourHour', 'bounces', 25, [1, 0]],
    ['sevenDay', 'bounces', 24, [0, 0]],
    ['sevenDay', 'bounces', 25, [0, 1]],
    ['sevenDay', 'bounces', 50, [1, 0]],
    ['twentyFourHour', 'complaints', 2, [0, 0]],
    ['twentyFourHour', 'complaints', 3, [0, 1]],
    ['twentyFourHour', 'complaints', 7, [1, 0]],
    ['sevenDay', 'complaints', 9, [0, 0]],
    ['sevenDay', 'complaints', 10, [0, 1]],
    ['sevenDay', 'complaints', 20, [1, 0]],
  ] as const)('%s, %s, %i: numbers count whatever the rate, and only for them', (window, of, count, expected) => {
    // So much mail that no rate matters.
    const figures = of === 'bounces' ? rateWindow(1_000_000, count, 0) : rateWindow(1_000_000, 0, count);
    expect(verdict({ [window]: figures, isNewProject: true })).toEqual(expected);
    expect(verdict({ [window]: figures })).toEqual([0, 0]);
  });
});

test('levels tell the rate alone, however little mail it is of', () => {
  expect(levelsOf(reputation({ sevenDay: rateWindow(10, 1, 0), allTime: rateWindow(1000, 45, 1) }))).toEqual({
    bounce7Day: 'critical',
    bounceAllTime: 'warning',
    complaint7Day: 'healthy',
    complaintAllTime: 'warning',
  });
});

test('rates are percentages, unrounded, and zero without mail', () => {
  expect(rateWindow(41_000, 300, 4)).toMatchObject({
    bounceRate: (300 / 41_000) * 100,
    complaintRate: (4 / 41_000) * 100,
  });
  expect(rateWindow(0, 0, 0)).toMatchObject({ bounceRate: 0, complaintRate: 0 });
});
