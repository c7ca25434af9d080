import { describe, expect, test } from 'vitest';
import { delayMs } from '../../../src/automations/graph/step-configs.ts';
import {
  evaluateStepCondition,
  fieldValue,
  mergeContext,
  type StepFacts,
} from '../../../src/automations/runtime/condition.ts';
import { StepFailure } from '../../../src/automations/runtime/directive.ts';
import type { JsonValue } from '../../../src/lib/contact-data.ts';

const facts: StepFacts = {
  contact: {
    id: '0190f3a2-0000-7000-8000-000000000001',
    email: 'ingrid.dahl@example.com',
    subscribed: true,
    data: {
      plan: 'pro',
      seats: 12,
      seatsText: '12',
      address: { city: 'Oslo', 'postal.code': '0150' },
      'first.name': 'Ingrid',
      tags: ['heron', 'osprey'],
      trialEnd: '2026-03-01',
      nothing: null,
      blank: '',
    },
    createdAt: '2026-01-05T08:00:00.000Z',
    updatedAt: '2026-02-01T09:30:00.000Z',
  },
  context: { total: 620, items: [{ sku: 'B-1' }] },
};

describe('fields', () => {
  test.each<[string, JsonValue | undefined]>([
    ['contact.email', 'ingrid.dahl@example.com'],
    ['contact.subscribed', true],
    ['contact.id', facts.contact.id],
    ['contact.createdAt', '2026-01-05T08:00:00.000Z'],
    ['contact.updatedAt', '2026-02-01T09:30:00.000Z'],
    ['data.plan', 'pro'],
    ['contact.data.plan', 'pro'],
    ['data.address.city', 'Oslo'],
    ['data.first.name', 'Ingrid'],
    ['data.tags.1', 'osprey'],
    ['event.total', 620],
    ['workflow.total', 620],
    ['event.items.0.sku', 'B-1'],
    ['data.missing', undefined],
    ['data.plan.length', undefined],
    ['data.constructor', undefined],
    ['data.__proto__', undefined],
    ['contact.plan', undefined],
    ['contact.toString', undefined],
    ['plan', undefined],
    ['data', undefined],
    ['', undefined],
  ])('%s', (field, value) => {
    expect(fieldValue(field, facts)).toEqual(value);
  });

  test('a run without a context has no event fields', () => {
    expect(fieldValue('event.total', { ...facts, context: null })).toBeUndefined();
  });
});

describe('a condition of one comparison', () => {
  const isTrue = (field: string, operator: string, value?: JsonValue) => {
    const output = evaluateStepCondition({ field, operator, value }, facts);
    expect(output.branch).toBe('result' in output && output.result ? 'yes' : 'no');
    return 'result' in output && output.result;
  };

  test.each<[string, string, JsonValue | undefined, boolean]>([
    ['data.plan', 'equals', 'pro', true],
    ['data.plan', 'equals', 'Pro', false],
    ['data.seats', 'equals', 12, true],
    ['data.seats', 'equals', '12', false],
    ['contact.subscribed', 'equals', true, true],
    ['contact.subscribed', 'equals', 'true', false],
    ['data.tags', 'equals', ['heron', 'osprey'], true],
    ['data.missing', 'equals', null, true],
    ['data.missing', 'equals', undefined, true],
    ['data.nothing', 'equals', null, true],
    ['data.missing', 'equals', 'pro', false],
    ['data.blank', 'equals', null, false],
    ['data.plan', 'notEquals', 'free', true],
    ['data.seats', 'notEquals', '12', true],
    ['data.plan', 'notEquals', 'pro', false],
    ['data.missing', 'notEquals', 'pro', false],
    ['data.nothing', 'notEquals', 'pro', false],
    ['data.plan', 'contains', 'r', true],
    ['data.plan', 'contains', 'R', false],
    ['data.seats', 'contains', 2, true],
    ['data.tags', 'contains', 'osprey', true],
    ['data.missing', 'contains', 'x', false],
    ['data.plan', 'notContains', 'x', true],
    ['data.plan', 'notContains', 'pr', false],
    ['data.missing', 'notContains', 'x', false],
    ['data.seats', 'greaterThan', 11, true],
    ['data.seats', 'greaterThan', 12, false],
    ['data.seatsText', 'greaterThan', '9', true],
    ['data.seats', 'greaterThanOrEqual', 12, true],
    ['data.seats', 'lessThan', 13, true],
    ['data.seats', 'lessThanOrEqual', 11, false],
    ['data.plan', 'greaterThan', 1, false],
    ['data.plan', 'lessThan', 1, false],
    ['data.blank', 'lessThan', 1, false],
    ['data.missing', 'lessThan', 1, false],
    ['data.nothing', 'greaterThanOrEqual', 0, false],
    ['data.tags', 'greaterThan', 0, false],
    ['data.trialEnd', 'greaterThan', '2026-02-28T23:59:59Z', true],
    ['data.trialEnd', 'lessThan', '2026-02-28', false],
    ['contact.createdAt', 'lessThan', '2026-01-05T10:00:00+01:00', true],
    ['data.plan', 'exists', undefined, true],
    ['data.blank', 'exists', undefined, true],
    ['data.nothing', 'exists', undefined, false],
    ['data.missing', 'notExists', undefined, true],
    ['data.plan', 'notExists', undefined, false],
    ['contact.email', 'equals', 'Ingrid.Dahl@Example.com', true],
    ['contact.email', 'notEquals', 'INGRID.DAHL@EXAMPLE.COM', false],
    ['contact.email', 'contains', '@EXAMPLE.', true],
    ['contact.email', 'notContains', '@EXAMPLE.', false],
  ])('%s %s %j is %s', (field, operator, value, expected) => {
    expect(isTrue(field, operator, value)).toBe(expected);
  });

  test('says what it compared', () => {
    expect(evaluateStepCondition({ field: 'data.missing', operator: 'equals', value: 'pro' }, facts)).toEqual({
      field: 'data.missing',
      operator: 'equals',
      expectedValue: 'pro',
      actualValue: null,
      result: false,
      branch: 'no',
    });
  });

  test.each(['matches', 'toString', 'constructor', ''])('an unknown operator (%j) fails the step', (operator) => {
    expect(() => isTrue('data.plan', operator, 'x')).toThrow(StepFailure);
  });
});

describe('a condition of several branches', () => {
  const branches = [
    { id: 'big', operator: 'greaterThan', value: 500 },
    { id: 'any', operator: 'exists' },
  ];

  test('takes the first branch that matches', () => {
    expect(evaluateStepCondition({ mode: 'multi', field: 'event.total', branches }, facts)).toEqual({
      field: 'event.total',
      mode: 'multi',
      matchedBranch: 'big',
      actualValue: 620,
      branch: 'big',
    });
  });

  test('takes the default when none matches', () => {
    expect(evaluateStepCondition({ mode: 'multi', field: 'event.missing', branches }, facts)).toEqual({
      field: 'event.missing',
      mode: 'multi',
      matchedBranch: null,
      actualValue: null,
      branch: 'default',
    });
  });
});

test('an awaited event is merged shallowly into the context, newer keys win', () => {
  const before = { total: 620, items: [1, 2], from: 'trigger' };
  expect(mergeContext(before, { total: 5, items: [] })).toEqual({ total: 5, items: [], from: 'trigger' });
  expect(mergeContext(null, { total: 5 })).toEqual({ total: 5 });
  expect(mergeContext(before, null)).toEqual(before);
  expect(mergeContext(null, null)).toBeNull();
});

test('a delay is exact to the millisecond, fractions included, and a day has 24 hours', () => {
  expect(delayMs({ amount: 2, unit: 'days' })).toBe(172_800_000);
  expect(delayMs({ amount: 1.5, unit: 'hours' })).toBe(5_400_000);
  expect(delayMs({ amount: 0.05, unit: 'minutes' })).toBe(3_000);
});
