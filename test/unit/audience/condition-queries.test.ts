import { expect, test } from 'vitest';
import { conditionQuery, refusing } from '../../../src/contacts/conditions.ts';
import { parseCondition } from '../../../src/lib/conditions/condition.ts';
import { badRequest } from '../../../src/lib/errors.ts';
import { join, sql } from '../../../src/store/sql.ts';

const projectId = '20000000-0000-4000-8000-000000000001';
const purchase = { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' };

test('a condition in a query numbers its parameters on from where the statement is, and sends equal ones once', () => {
  const tree = { logic: 'AND', groups: [{ filters: [purchase, { ...purchase, field: 'event.signup' }] }] };
  const condition = conditionQuery(parseCondition(tree), { projectId, now: new Date('2026-03-15T12:00:00.000Z') });
  const query = sql`select ${'one'}, ${'two'}, ${'three'} where ${condition} limit ${4}`;
  const values = [projectId, 'purchase', '2026-02-13T12:00:00.000Z', 'signup'];
  expect(query.values).toEqual(['one', 'two', 'three', ...values, 4]);
  const numbers = ['$1', '$2', '$3', '$4', '$5', '$6', '$4', '$7', '$6', '$8'];
  expect([...query.text.matchAll(/\$\d+/g)].map(String)).toEqual(numbers);
  const twice = join([condition, condition], ' or ');
  expect([...twice.text.matchAll(/\$\d+/g)].map(String).slice(6)).toEqual(['$5', '$6', '$7', '$5', '$8', '$7']);
  expect(twice.values).toEqual([...values, ...values]);
  expect([query.name, twice.name]).toEqual([null, null]);
});

test('a faulty condition is refused with 400 and the place of the fault', () => {
  const place = 'groups.0.filters.0.operator';
  const tree = { logic: 'AND', groups: [{ filters: [{ ...purchase, operator: 'like' }] }] };
  expect(() => refusing(() => parseCondition(tree))).toThrow(
    badRequest(`Unknown operator "like" (at ${place})`, { path: place }),
  );
});
