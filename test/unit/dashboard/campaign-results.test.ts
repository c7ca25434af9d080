import { expect, test } from 'vitest';
import {
  comparableLink,
  differenceText,
  runningTotals,
  usualRates,
  withoutGaps,
} from '../../../dashboard/src/pages/campaigns/rules/results.ts';
import { isMidnight, spanOf, ticksOf } from '../../../dashboard/src/words/time-axis.ts';

const rates = (openRate: number) => ({ deliveryRate: 99, openRate, clickRate: 0, bounceRate: 1, unsubscribeRate: 0 });

test.each([
  [[30], 30],
  [[10, 50, 20], 20],
  [[10, 20, 30, 90], 25],
])('the usual rate of %j is their median', (opened, usual) => {
  expect(usualRates(opened.map(rates))).toEqual(rates(usual));
});

test('no campaigns have no usual rate', () => {
  expect(usualRates([])).toBeNull();
});

test('a rate differs from the usual one by points of percent', () => {
  expect([differenceText(60, 45), differenceText(4.21, 4.2), differenceText(3.4, 4.4)]).toEqual([
    '+15 points vs. median',
    'same as median',
    '−1 point vs. median',
  ]);
});

test('hours add up to what had happened by their end', () => {
  expect(runningTotals([4, 0, 1])).toEqual([4, 4, 5]);
});

test('hours in which nothing happened are drawn as such', () => {
  const hour = (at: string, opened: number) => ({ hour: `2026-11-01T${at}:00:00.000Z`, opened });
  expect(withoutGaps([hour('10', 4), hour('12', 1)], { opened: 0 })).toEqual([
    hour('10', 4),
    hour('11', 0),
    hour('12', 1),
  ]);
});

test('links are compared as addresses', () => {
  expect(comparableLink(' https://ACME.test ')).toBe(comparableLink('https://acme.test/'));
  expect(comparableLink('{{ link }}')).toBe('{{ link }}');
});

// Instants of the zone that the tests run in, as a reader's page has its own.
const local = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

test('the chart of a campaign’s first hour has an axis of three hours, marked at whole ones', () => {
  const first = [local(27, 21)];
  expect(spanOf(first, 'hour')).toEqual([local(27, 21), local(28, 0)]);
  expect(ticksOf(spanOf(first, 'hour'), 8, 'hour')).toEqual([
    local(27, 21),
    local(27, 22),
    local(27, 23),
    local(28, 0),
  ]);
  // Hours are counted in UTC, which in some zones begin at half past.
  expect(ticksOf([local(27, 21, 30), local(28, 0, 30)], 8, 'hour')).toEqual(
    [22, 23, 24].map((hour) => local(27, hour)),
  );
});

test('a longer axis has as many marks as there is room for: whole hours, then midnights', () => {
  expect(spanOf([local(1, 10), local(1, 11), local(4, 10)], 'hour')).toEqual([local(1, 10), local(4, 10)]);
  expect(ticksOf([local(1, 10), local(2, 10)], 8, 'hour')).toEqual(
    [12, 15, 18, 21, 24, 27, 30, 33].map((hour) => local(1, hour)),
  );
  expect(ticksOf([local(1, 10), local(7, 10)], 8, 'hour')).toEqual([2, 3, 4, 5, 6, 7].map((day) => local(day, 0)));
  expect(isMidnight(local(2, 0), 'hour')).toBe(true);
  expect(isMidnight(local(2, 3), 'hour')).toBe(false);
});

test('days are those of UTC, as the service counts them', () => {
  const days = [1, 2, 3, 4].map((day) => Date.UTC(2026, 10, day));
  expect(ticksOf(spanOf(days, 'day'), 8, 'day')).toEqual(days);
  expect(spanOf(days.slice(0, 1), 'day')).toEqual([days[0], days[3]]);
  expect(days.every((day) => isMidnight(day, 'day'))).toBe(true);
});
