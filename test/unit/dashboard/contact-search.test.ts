import { expect, test } from 'vitest';
import { searchOf } from '../../../dashboard/src/conditions/search.ts';
import type { Tree } from '../../../dashboard/src/conditions/tree.ts';
import { filtersOf, parseCondition } from '../../../src/lib/conditions/condition.ts';

const searched = (search: string, condition: Tree | null = null, textFields = many, contacts = 1_000) =>
  searchOf(search, { condition, textFields, contacts });
const many = Array.from({ length: 100 }, (_, n) => `data.a${n}`);
const test1 = { field: 'data.plan', operator: 'equals', value: 'pro' };
const all = (count: number, logic = 'AND'): Tree => ({
  logic,
  groups: [{ filters: Array.from({ length: count }, () => test1) }],
});
const deep = (level: number): Tree =>
  level === 1 ? all(1, 'OR') : { logic: 'OR', groups: [{ filters: [], conditions: deep(level - 1) }] };

test('names come first where not every field can be searched', () => {
  const { fields } = searched('ida', null, [
    ...many,
    'data.__proto__',
    'data.company',
    'data.Last Name',
    'data.first_name',
  ]);
  expect(fields.slice(0, 4)).toEqual(['data.first_name', 'data.Last Name', 'data.company', 'data.a0']);
  expect(fields).toHaveLength(19);
});

test('the more contacts, the fewer fields, until only addresses are left', () => {
  const found = [50_000, 300_000, 3_000_000].map((contacts) => searched('ida', null, many, contacts).fields.length);
  expect(found).toEqual([19, 3, 0]);
});

test.each([
  ['ida', null],
  ['Ida Lund of Hooge', all(3)],
  ['one two three four five six seven eight nine ten 11 12', all(3, 'OR')],
  ['ida', all(190)],
  ['ida', deep(9)],
  ['ida', { ...deep(10), logic: 'AND' }],
] as const)('the service takes the tree of %s', (search, condition) => {
  const found = searched(search, condition);
  expect(found.fields.length).toBeGreaterThan(0);
  expect(filtersOf(parseCondition(found.condition)).length).toBeLessThanOrEqual(200);
});

test.each([
  ['', null],
  ['  ', null],
  ['ida@', null],
  ['i'.repeat(256), null],
  ['ida', all(200)],
  ['ida', deep(10)],
] as const)('the search of %j is one by address', (search, condition) => {
  expect(searched(search, condition)).toEqual({
    condition: null,
    fields: [],
    left: search === 'ida' ? 100 : 0,
  });
});
