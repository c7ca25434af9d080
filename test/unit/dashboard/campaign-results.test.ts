import { expect, test } from 'vitest';
import { comparableLink, usualRates, withoutGaps } from '../../../dashboard/src/pages/campaigns/rules/results.ts';

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
