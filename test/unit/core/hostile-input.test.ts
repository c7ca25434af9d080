import { expect, test } from 'vitest';
import { countSteps, growth, linear } from '../../../packages/renderer/test/counted-steps.ts';
import { calendarsOf, readSchedule } from '../../../src/automations/enrollment/schedule.ts';
import { sanitizeHtml, textAsHtml } from '../../../src/domains/providers/received-html.ts';
import { maxFilters, parseCondition } from '../../../src/lib/conditions/condition.ts';
import { matchesGlob } from '../../../src/lib/text.ts';

test.each([
  '<div>',
  '<a href="x">',
  '<a b="',
  '<',
  '<!--',
  '</b>',
  '<p style="a:b;',
  '&amp',
  '<script>',
  '<p>',
  '<b></i>',
  '<![CDATA[',
  '<table><tr><td>',
])('received HTML of nothing but %s takes steps in proportion to its size', (part) => {
  expect(growth((n) => () => sanitizeHtml(part.repeat(n)), 500)).toBeLessThan(linear);
});

test('an element of many attributes and a text of many lines take steps in proportion to their size', () => {
  const attributes = (n: number) => Array.from({ length: n }, (_, i) => `b${i}="c"`).join(' ');
  expect(growth((n) => () => sanitizeHtml(`<a ${attributes(n)}>`), 500)).toBeLessThan(linear);
  expect(growth((n) => () => textAsHtml('\r\n<'.repeat(n)), 500)).toBeLessThan(linear);
});

test('a search pattern of many stars takes no more steps than the product of both lengths', () => {
  const [pattern, text] = [`${'*a'.repeat(100)}*b`, 'a'.repeat(1_000)];
  expect(matchesGlob(pattern, text)).toBe(false);
  expect(countSteps(() => matchesGlob(pattern, text))).toBeLessThan(10 * pattern.length * text.length);
});

test('a condition is refused where it has too many levels or filters, before all of it is read', () => {
  const filter = { field: 'email', operator: 'equals', value: 'a@b.example' };
  const leaf = { logic: 'AND', groups: [{ filters: [filter] }] };
  const deep = Array.from({ length: 500 }).reduce<object>(
    (conditions) => ({ logic: 'AND', groups: [{ filters: [], conditions }] }),
    leaf,
  );
  expect(() => parseCondition(deep)).toThrow(/nested too deeply|levels/);
  const wide = { logic: 'OR', groups: Array.from({ length: 10_000 }, () => ({ filters: [filter] })) };
  expect(() => parseCondition(wide)).toThrow(`at most ${maxFilters} filters`);
});

test('a cron expression that has no next date is read without looking for one', () => {
  expect(
    readSchedule({ schedule: '0 0 30 2 *', segmentId: '01890000-0000-7000-8000-000000000000' }).problems,
  ).toBeNull();
  expect(countSteps(() => calendarsOf('0 0 30 2 *'))).toBeLessThan(10_000);
  expect(readSchedule({ schedule: `${'1,'.repeat(100)}1 * * * *` }).schedule).toBeNull();
});
