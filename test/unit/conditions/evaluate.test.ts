import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../src/lib/conditions/condition.ts';
import { anniversaries } from '../../../src/lib/conditions/dates.ts';
import { type SegmentFacts, segmentFacts } from '../../../src/lib/conditions/segments.ts';
import { evaluateCondition, type Subject } from './evaluate-condition.ts';

const now = new Date('2026-03-15T12:00:00.000Z');
const nobody: Subject = {
  contact: { email: 'ada@example.com', subscribed: true, data: {}, createdAt: now, updatedAt: now },
  events: [],
  emails: [],
  memberships: new Set(),
};

function matches(subject: Partial<Subject>, field: string, operator: string, value?: unknown, unit?: string): boolean {
  const condition = parseCondition({ logic: 'AND', groups: [{ filters: [{ field, operator, value, unit }] }] });
  return evaluateCondition(condition, { ...nobody, ...subject }, { now });
}

function withData(data: Record<string, unknown>): Partial<Subject> {
  return { contact: { ...nobody.contact, data } };
}

describe('data', () => {
  const holds = (stored: unknown, operator: string, value?: unknown, unit?: string) =>
    matches(withData({ x: stored }), 'data.x', operator, value, unit);

  test('a missing or null value satisfies nothing but notExists', () => {
    const tries: [string, unknown?, string?][] = [
      ['equals', 'pro'],
      ['notEquals', 'pro'],
      ['contains', ''],
      ['notContains', 'x'],
      ['greaterThan', 0],
      ['lessThan', 'z'],
      ['greaterThanOrEqual', '2026-01-01'],
      ['lessThanOrEqual', 5],
      ['within', 1e9, 'days'],
      ['olderThan', 0, 'days'],
      ['exists'],
    ];
    for (const data of [{}, { x: null }]) {
      for (const [operator, value, unit] of tries) {
        expect([operator, matches(withData(data), 'data.x', operator, value, unit)]).toEqual([operator, false]);
      }
      expect(matches(withData(data), 'data.x', 'notExists')).toBe(true);
      expect(matches(withData(data), 'data.x', 'equals', null)).toBe(true);
      expect(matches(withData(data), 'data.x', 'notEquals', null)).toBe(false);
    }
  });

  test('equals wants the same JSON type and letter case', () => {
    expect(holds('pro', 'equals', 'pro')).toBe(true);
    expect(holds('Pro', 'equals', 'pro')).toBe(false);
    expect(holds(5, 'equals', 5)).toBe(true);
    expect(holds(5, 'equals', '5')).toBe(false);
    expect(holds('true', 'equals', true)).toBe(false);
    expect(holds(false, 'equals', false)).toBe(true);
    expect(holds({ b: [1, 'a'], a: null }, 'equals', { a: null, b: [1, 'a'] })).toBe(true);
    expect(holds({ a: 1, b: 2 }, 'equals', { a: 1 })).toBe(false);
    expect(holds([1, 2], 'equals', [2, 1])).toBe(false);
  });

  test('notEquals counts another type as different', () => {
    expect(holds(5, 'notEquals', '5')).toBe(true);
    expect(holds('pro', 'notEquals', 'pro')).toBe(false);
    expect(holds(['pro'], 'notEquals', 'pro')).toBe(true);
  });

  test('equals with an ISO date asks for the UTC day', () => {
    expect(holds('2026-03-15', 'equals', '2026-03-15')).toBe(true);
    expect(holds('2026-03-15T23:59:59.999Z', 'equals', '2026-03-15T01:00:00Z')).toBe(true);
    expect(holds('2026-03-16T00:00:00Z', 'equals', '2026-03-15')).toBe(false);
    expect(holds('2026-03-16T01:00:00+02:00', 'equals', '2026-03-15')).toBe(true);
    expect(holds('the 15th', 'notEquals', '2026-03-15')).toBe(true);
    expect(holds('2026-13-45', 'equals', '2026-13-45')).toBe(true);
  });

  test('contains looks into strings only, with % and _ as they stand', () => {
    expect(holds('prototype', 'contains', 'tot')).toBe(true);
    expect(holds('prototype', 'contains', 'TOT')).toBe(false);
    expect(holds('50 percent', 'contains', '%')).toBe(false);
    expect(holds('50%', 'contains', '0%')).toBe(true);
    expect(holds('v5', 'contains', 5)).toBe(true);
    expect(holds(155, 'contains', 5)).toBe(false);
    expect(holds(155, 'notContains', 5)).toBe(true);
    expect(holds('v5', 'notContains', 5)).toBe(false);
  });

  test('ordering compares like with like', () => {
    expect(holds(10, 'greaterThan', 9)).toBe(true);
    expect(holds('10', 'greaterThan', 9)).toBe(false);
    expect(holds('10', 'lessThan', '9')).toBe(true);
    expect(holds(9, 'greaterThanOrEqual', 9)).toBe(true);
    expect(holds(9, 'lessThanOrEqual', 8.9)).toBe(false);
    expect(holds(true, 'greaterThan', false)).toBe(false);
    expect(holds([2], 'greaterThan', 1)).toBe(false);
    expect(holds({}, 'greaterThanOrEqual', {})).toBe(false);
  });

  test('ordering compares two ISO dates by instant and other strings by code point', () => {
    expect(holds('2026-03-15T01:00:00+02:00', 'lessThan', '2026-03-15')).toBe(true);
    expect(holds('2026-03-15T00:00:00Z', 'greaterThanOrEqual', '2026-03-15')).toBe(true);
    expect(holds('2026-03-15T00:00:00Z', 'greaterThan', '2026-03-15')).toBe(false);
    expect(holds('next week', 'greaterThan', '2026-03-15')).toBe(true);
    expect(holds('#1', 'lessThan', '2026-03-15')).toBe(true);
    expect(holds('😀', 'greaterThan', '\uFFFD')).toBe(true);
    expect(holds('Z', 'lessThan', 'a')).toBe(true);
  });

  test('within has a sharp lower edge and no upper one', () => {
    expect(holds('2026-03-14T12:00:00.000Z', 'within', 1, 'days')).toBe(true);
    expect(holds('2026-03-14T11:59:59.999Z', 'within', 24, 'hours')).toBe(false);
    expect(holds('2099-01-01', 'within', 1, 'minutes')).toBe(true);
    expect(holds('soon', 'within', 1e9, 'days')).toBe(false);
    expect(holds(1773576000000, 'within', 1e9, 'days')).toBe(false);
    expect(holds('2026-03-15T11:59:30Z', 'within', 0.5, 'minutes')).toBe(true);
    expect(holds('2026-03-15T11:59:29.999Z', 'within', 0.5, 'minutes')).toBe(false);
  });

  test('olderThan is the rest of the dates', () => {
    expect(holds('2026-03-14T11:59:59.999Z', 'olderThan', 1, 'days')).toBe(true);
    expect(holds('2026-03-14T12:00:00.000Z', 'olderThan', 1, 'days')).toBe(false);
    expect(holds('0000-01-01', 'olderThan', 1, 'days')).toBe(false);
    expect(holds('2026-02-30', 'olderThan', 1, 'days')).toBe(false);
  });

  test('withinNext begins now and has a sharp upper edge', () => {
    expect(holds('2026-03-15T12:00:00.000Z', 'withinNext', 1, 'days')).toBe(true);
    expect(holds('2026-03-15T11:59:59.999Z', 'withinNext', 1, 'days')).toBe(false);
    expect(holds('2026-03-16T12:00:00.000Z', 'withinNext', 1, 'days')).toBe(true);
    expect(holds('2026-03-16T12:00:00.001Z', 'withinNext', 1, 'days')).toBe(false);
    expect(holds('soon', 'withinNext', 1e9, 'days')).toBe(false);
  });

  test('anniversaryWithin asks for the day and month of earlier days, from today on', () => {
    const within = (stored: string, days: number) => holds(stored, 'anniversaryWithin', days, 'days');
    expect(within('1990-03-15', 0)).toBe(true);
    expect(within('1990-03-14T23:30:00-02:00', 0)).toBe(true);
    expect(within('1990-03-14', 300)).toBe(false);
    expect(within('1990-03-22', 7)).toBe(true);
    expect(within('1990-03-23', 7)).toBe(false);
    // What is yet to happen for the first time has no anniversary, and today is none.
    expect(within('2026-03-15', 0)).toBe(false);
    expect(within('2026-03-20', 366)).toBe(false);
    expect(within('2025-03-15', 0)).toBe(true);
  });

  test('a 29th of February has its anniversary on the 28th in other years, and nobody is left out of 366 days', () => {
    const on = (today: string) => anniversaries(new Date(today), 0).days;
    expect(on('2027-02-28T08:00:00Z')).toEqual(['0228', '0229']);
    expect(on('2028-02-28T08:00:00Z')).toEqual(['0228']);
    expect(on('2028-02-29T08:00:00Z')).toEqual(['0229']);
    expect(anniversaries(now, 366 * 86_400_000).days).toHaveLength(366);
    // Over the end of a year.
    expect(anniversaries(new Date('2026-12-30T23:00:00Z'), 3 * 86_400_000).days).toEqual([
      '1230',
      '1231',
      '0101',
      '0102',
    ]);
  });

  test('a dotted field means the key of that name, else the path', () => {
    const get = (data: Record<string, unknown>) => matches(withData(data), 'data.a.b', 'equals', 1);
    expect(get({ 'a.b': 1, a: { b: 2 } })).toBe(true);
    expect(get({ 'a.b': 2, a: { b: 1 } })).toBe(false);
    expect(get({ 'a.b': null, a: { b: 1 } })).toBe(false);
    expect(get({ a: { b: 1 } })).toBe(true);
    expect(get({ a: [{ b: 1 }] })).toBe(false);
    expect(matches(withData({ a: ['x'] }), 'data.a.0', 'exists')).toBe(false);
    expect(matches(withData({ a: 'text' }), 'data.a.length', 'exists')).toBe(false);
    expect(matches(withData({}), 'data.constructor', 'exists')).toBe(false);
  });
});

describe("the contact's own fields", () => {
  test('email compares without letter case, and with wildcards as they stand', () => {
    expect(matches({}, 'email', 'equals', ' ADA@Example.com')).toBe(true);
    expect(matches({}, 'email', 'notEquals', 'ada@example.com')).toBe(false);
    expect(matches({}, 'email', 'contains', '@EXAMPLE')).toBe(true);
    expect(matches({}, 'email', 'contains', 'a_a')).toBe(false);
    expect(matches({}, 'email', 'notContains', '%')).toBe(true);
  });

  test('subscribed', () => {
    expect(matches({}, 'subscribed', 'equals', 'true')).toBe(true);
    expect(matches({}, 'subscribed', 'notEquals', true)).toBe(false);
  });

  test('dates compare by instant, and by UTC day in equality', () => {
    expect(matches({}, 'createdAt', 'equals', '2026-03-15T23:00:00Z')).toBe(true);
    expect(matches({}, 'createdAt', 'notEquals', '2026-03-15')).toBe(false);
    expect(matches({}, 'createdAt', 'equals', '2026-03-14')).toBe(false);
    expect(matches({}, 'createdAt', 'greaterThan', '2026-03-15T12:00:00Z')).toBe(false);
    expect(matches({}, 'updatedAt', 'greaterThanOrEqual', '2026-03-15T14:00:00+02:00')).toBe(true);
    expect(matches({}, 'updatedAt', 'lessThan', '2026-03-15T12:00:00.001Z')).toBe(true);
    expect(matches({}, 'updatedAt', 'within', 0, 'days')).toBe(true);
    expect(matches({}, 'updatedAt', 'olderThan', 0, 'days')).toBe(false);
  });
});

describe('events and emails', () => {
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  const bought = (...minutes: number[]): Partial<Subject> => ({
    events: minutes.map((each) => ({ name: 'purchase', createdAt: ago(each) })),
  });
  const opened = (...minutes: number[]): Partial<Subject> => ({
    emails: minutes.map((each) => ({ sentAt: ago(each + 1), openedAt: ago(each), clickedAt: null })),
  });

  test.each([
    ['event.purchase', bought],
    ['purchase', bought],
    ['email.opened', opened],
  ])('%s', (field, history) => {
    const hour = (operator: string, ...minutes: number[]) => matches(history(...minutes), field, operator, 1, 'hours');
    expect(hour('triggered')).toBe(false);
    expect(hour('triggered', 600)).toBe(true);
    expect(hour('notTriggered')).toBe(true);
    expect(hour('notTriggered', 600)).toBe(false);
    expect(hour('triggeredWithin', 600, 60)).toBe(true);
    expect(hour('triggeredWithin', 60.001)).toBe(false);
    expect(hour('triggeredOlderThan')).toBe(false);
    expect(hour('triggeredOlderThan', 61)).toBe(true);
    expect(hour('triggeredOlderThan', 61, 60)).toBe(false);
    expect(hour('notTriggeredWithin')).toBe(true);
    expect(hour('notTriggeredWithin', 61)).toBe(true);
    expect(hour('notTriggeredWithin', 61, 59)).toBe(false);
  });

  test('names match exactly, activities look at their own timestamp', () => {
    expect(matches(bought(1), 'event.Purchase', 'triggered')).toBe(false);
    expect(matches(opened(1), 'email.clicked', 'triggered')).toBe(false);
    expect(matches(opened(1), 'email.open', 'triggered')).toBe(true);
    expect(matches({ events: [{ name: 'email.open', createdAt: now }] }, 'email.open', 'triggered')).toBe(false);
  });
});

describe('trees', () => {
  const yes = { field: 'subscribed', operator: 'equals', value: true };
  const no = { field: 'subscribed', operator: 'equals', value: false };
  const holds = (tree: unknown) => evaluateCondition(parseCondition(tree), nobody, { now });

  test('all filters of a group and its nested condition must hold; logic joins groups', () => {
    expect(holds({ logic: 'OR', groups: [{ filters: [yes, no] }, { filters: [no] }] })).toBe(false);
    expect(holds({ logic: 'OR', groups: [{ filters: [no] }, { filters: [yes, yes] }] })).toBe(true);
    expect(holds({ logic: 'AND', groups: [{ filters: [yes] }, { filters: [no] }] })).toBe(false);
    const nested = (filter: unknown) => ({ logic: 'OR', groups: [{ filters: [filter] }] });
    expect(holds({ logic: 'OR', groups: [{ filters: [yes], conditions: nested(no) }] })).toBe(false);
    expect(holds({ logic: 'OR', groups: [{ filters: [], conditions: nested(yes) }] })).toBe(true);
  });
});

describe('segments', () => {
  const subscribed = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
  };
  const ids = { fixed: '10000000-0000-4000-8000-000000000001', tracked: '10000000-0000-4000-8000-000000000002' };
  const live = '10000000-0000-4000-8000-000000000003';
  const segments = new Map<string, SegmentFacts>(
    [
      { id: ids.fixed, type: 'STATIC' as const, trackMembership: false, condition: null },
      { id: ids.tracked, type: 'DYNAMIC' as const, trackMembership: true, condition: subscribed },
      { id: live, type: 'DYNAMIC' as const, trackMembership: false, condition: subscribed },
    ].map((segment) => [segment.id, segmentFacts(segment)]),
  );
  const member = (id: string, memberships: string[] = [], operator = 'memberOfSegment') =>
    evaluateCondition(
      parseCondition({ logic: 'AND', groups: [{ filters: [{ field: `segment.${id}`, operator }] }] }),
      { ...nobody, memberships: new Set(memberships) },
      { now, segments },
    );

  test('STATIC and tracked segments go by membership, untracked ones by their condition', () => {
    expect(member(ids.fixed)).toBe(false);
    expect(member(ids.fixed, [ids.fixed])).toBe(true);
    expect(member(ids.tracked)).toBe(false);
    expect(member(ids.tracked, [ids.tracked])).toBe(true);
    expect(member(live)).toBe(true);
    expect(member(live, [], 'notMemberOfSegment')).toBe(false);
  });

  test('a segment that is gone has no members', () => {
    const gone = '10000000-0000-4000-8000-000000000009';
    expect(member(gone, [gone])).toBe(false);
    expect(member(gone, [], 'notMemberOfSegment')).toBe(true);
  });
});
