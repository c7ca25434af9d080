import { describe, expect, test } from 'vitest';
import { type Condition, type ConditionFilter, parseCondition } from '../../../src/lib/conditions/condition.ts';
import { ConditionFault } from '../../../src/lib/conditions/dates.ts';

const plan = { field: 'data.plan', operator: 'equals', value: 'pro' };
const segment = 'segment.5e0c1f7e-4b0d-4c43-9d39-0d6a1f2b3c4d';

function one(filter: unknown): unknown {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

function parsed(filter: unknown): ConditionFilter | undefined {
  return parseCondition(one(filter)).groups[0]?.filters[0];
}

function faultOf(input: unknown): { path: string } | string {
  try {
    parseCondition(input);
  } catch (error) {
    if (!(error instanceof ConditionFault)) throw error;
    return { path: error.path };
  }
  return 'accepted';
}

function nested(levels: number): unknown {
  return levels === 1 ? one(plan) : { logic: 'OR', groups: [{ filters: [], conditions: nested(levels - 1) }] };
}

describe('a faulty tree is refused with the path of the fault', () => {
  const inFilter = (filter: unknown) => one(filter);
  const cases: [string, unknown, string][] = [
    ['not an object', 'plan = pro', ''],
    ['an array', [one(plan)], ''],
    ['no logic', { groups: [{ filters: [plan] }] }, 'logic'],
    ['wrong logic', { logic: 'and', groups: [{ filters: [plan] }] }, 'logic'],
    ['no groups', { logic: 'AND' }, 'groups'],
    ['empty groups', { logic: 'AND', groups: [] }, 'groups'],
    ['groups that are an object', { logic: 'AND', groups: { 0: { filters: [plan] } } }, 'groups'],
    ['a group that is no object', { logic: 'AND', groups: [null] }, 'groups.0'],
    ['no filters', { logic: 'AND', groups: [{ conditions: one(plan) }] }, 'groups.0.filters'],
    ['filters that are an object', { logic: 'AND', groups: [{ filters: plan }] }, 'groups.0.filters'],
    ['an empty group', { logic: 'AND', groups: [{ filters: [plan] }, { filters: [] }] }, 'groups.1'],
    ['an empty group with null conditions', { logic: 'AND', groups: [{ filters: [], conditions: null }] }, 'groups.0'],
    [
      'conditions that are no object',
      { logic: 'AND', groups: [{ filters: [plan], conditions: [] }] },
      'groups.0.conditions',
    ],
    [
      'wrong logic one level down',
      { logic: 'AND', groups: [{ filters: [plan], conditions: { logic: 'XOR', groups: [] } }] },
      'groups.0.conditions.logic',
    ],
    ['a filter that is no object', inFilter('data.plan'), 'groups.0.filters.0'],
    ['no field', inFilter({ operator: 'exists' }), 'groups.0.filters.0.field'],
    ['a field that is no string', inFilter({ field: 5, operator: 'exists' }), 'groups.0.filters.0.field'],
    ['an empty field', inFilter({ field: '', operator: 'triggered' }), 'groups.0.filters.0.field'],
    ['no operator', inFilter({ field: 'data.plan' }), 'groups.0.filters.0.operator'],
    [
      'an unknown operator',
      { logic: 'AND', groups: [{ filters: [plan, { ...plan, operator: 'startsWith' }] }] },
      'groups.0.filters.1.operator',
    ],
    [
      'an operator named like a property of all objects',
      inFilter({ ...plan, operator: 'constructor' }),
      'groups.0.filters.0.operator',
    ],
    ['an operator that is no string', inFilter({ ...plan, operator: ['equals'] }), 'groups.0.filters.0.operator'],
    ['an unknown field', inFilter({ ...plan, field: 'plan' }), 'groups.0.filters.0.field'],
    ['a field of no known prefix', inFilter({ ...plan, field: 'contact.email' }), 'groups.0.filters.0.field'],
    ['a data field without key', inFilter({ ...plan, field: 'data.' }), 'groups.0.filters.0.field'],
    ['an event field without name', inFilter({ field: 'event.', operator: 'triggered' }), 'groups.0.filters.0.field'],
    ['an unknown email activity', inFilter({ field: 'email.read', operator: 'triggered' }), 'groups.0.filters.0.field'],
    [
      'an activity named like a property of all objects',
      inFilter({ field: 'email.constructor', operator: 'triggered' }),
      'groups.0.filters.0.field',
    ],
    [
      'a path of more than 20 steps',
      inFilter({ ...plan, field: `data${'.a'.repeat(21)}` }),
      'groups.0.filters.0.field',
    ],
    ['a __proto__ step', inFilter({ ...plan, field: 'data.a.__proto__' }), 'groups.0.filters.0.field'],
    ['no value', inFilter({ field: 'data.plan', operator: 'equals' }), 'groups.0.filters.0.value'],
    ['null for an address', inFilter({ field: 'email', operator: 'equals', value: null }), 'groups.0.filters.0.value'],
    [
      'a number for an address',
      inFilter({ field: 'email', operator: 'contains', value: 5 }),
      'groups.0.filters.0.value',
    ],
    [
      'a word for subscribed',
      inFilter({ field: 'subscribed', operator: 'equals', value: 'yes' }),
      'groups.0.filters.0.value',
    ],
    [
      'null for subscribed',
      inFilter({ field: 'subscribed', operator: 'notEquals', value: null }),
      'groups.0.filters.0.value',
    ],
    ['1 for subscribed', inFilter({ field: 'subscribed', operator: 'equals', value: 1 }), 'groups.0.filters.0.value'],
    [
      'null for an ordering',
      inFilter({ field: 'data.score', operator: 'lessThan', value: null }),
      'groups.0.filters.0.value',
    ],
    [
      'null for contains',
      inFilter({ field: 'data.plan', operator: 'contains', value: null }),
      'groups.0.filters.0.value',
    ],
    [
      'an object for contains',
      inFilter({ field: 'data.plan', operator: 'notContains', value: {} }),
      'groups.0.filters.0.value',
    ],
    [
      'no value for a date column',
      inFilter({ field: 'createdAt', operator: 'greaterThan' }),
      'groups.0.filters.0.value',
    ],
    [
      'no date for a date column',
      inFilter({ field: 'createdAt', operator: 'greaterThan', value: 'last week' }),
      'groups.0.filters.0.value',
    ],
    [
      'a month 13 for a date column',
      inFilter({ field: 'updatedAt', operator: 'equals', value: '2026-13-45' }),
      'groups.0.filters.0.value',
    ],
    [
      'a 30 February for a date column',
      inFilter({ field: 'updatedAt', operator: 'equals', value: '2026-02-30' }),
      'groups.0.filters.0.value',
    ],
    [
      'a number for a date column',
      inFilter({ field: 'createdAt', operator: 'equals', value: 1768473000000 }),
      'groups.0.filters.0.value',
    ],
    [
      'no window number',
      inFilter({ field: 'event.purchase', operator: 'triggeredWithin', unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'a negative window',
      inFilter({ field: 'createdAt', operator: 'within', value: -1, unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'a window that is a word',
      inFilter({ field: 'createdAt', operator: 'within', value: 'NaN', unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'an empty window',
      inFilter({ field: 'createdAt', operator: 'within', value: '', unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'an endless window',
      inFilter({ field: 'createdAt', operator: 'within', value: '1e999', unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'a hexadecimal window',
      inFilter({ field: 'createdAt', operator: 'within', value: '0x10', unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'null for a window',
      inFilter({ field: 'data.seen', operator: 'olderThan', value: null, unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'true for a window',
      inFilter({ field: 'data.seen', operator: 'olderThan', value: true, unit: 'days' }),
      'groups.0.filters.0.value',
    ],
    [
      'no unit',
      inFilter({ field: 'email.opened', operator: 'notTriggeredWithin', value: 3 }),
      'groups.0.filters.0.unit',
    ],
    [
      'an unknown unit',
      inFilter({ field: 'data.seen', operator: 'within', value: 3, unit: 'weeks' }),
      'groups.0.filters.0.unit',
    ],
    [
      'a unit named like a property of all objects',
      inFilter({ field: 'data.seen', operator: 'within', value: 3, unit: 'toString' }),
      'groups.0.filters.0.unit',
    ],
    ['more than 10 levels', nested(11), `${'groups.0.conditions.'.repeat(10).slice(0, -1)}`],
    [
      'more than 200 filters',
      { logic: 'OR', groups: [{ filters: Array(200).fill(plan) }, { filters: [plan] }] },
      'groups.1.filters.0',
    ],
    ['U+0000 in a value', inFilter({ ...plan, value: 'a\0b' }), 'groups.0.filters.0.value'],
    ['U+0000 in a field', inFilter({ ...plan, field: 'data.a\0b' }), 'groups.0.filters.0.field'],
    ['U+0000 in a key of a value', inFilter({ ...plan, value: { 'a\0': 1 } }), 'groups.0.filters.0.value'],
    ['half a surrogate pair', inFilter({ ...plan, value: ['\ud83d'] }), 'groups.0.filters.0.value.0'],
    ['a number beyond double precision', inFilter({ ...plan, value: JSON.parse('1e999') }), 'groups.0.filters.0.value'],
    [
      'a __proto__ key in a value',
      inFilter({ ...plan, value: JSON.parse('{"a":{"__proto__":1}}') }),
      'groups.0.filters.0.value.a.__proto__',
    ],
    [
      'a __proto__ key in a filter',
      inFilter(JSON.parse('{"__proto__":{"field":"data.plan","operator":"exists"}}')),
      'groups.0.filters.0.__proto__',
    ],
  ];

  test.each(cases)('%s', (_name, input, path) => {
    expect(faultOf(input)).toEqual({ path });
  });

  test('a value nested without end, however deep', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(faultOf(one({ ...plan, value }))).toMatchObject({ path: expect.any(String) });
  });

  test('a tree nested without end, however deep', () => {
    let tree: unknown = one(plan);
    for (let depth = 0; depth < 100_000; depth++) tree = { logic: 'AND', groups: [{ filters: [], conditions: tree }] };
    expect(faultOf(tree)).toMatchObject({ path: expect.any(String) });
  });

  test('the message names the place', () => {
    expect(() => parseCondition(one({ ...plan, operator: 'like' }))).toThrow(
      'Unknown operator "like" (at groups.0.filters.0.operator)',
    );
  });
});

describe('each field takes the operators of its row and no others', () => {
  const equality = ['equals', 'notEquals'];
  const ordering = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'];
  const windows = ['within', 'olderThan', 'withinNext', 'anniversaryWithin'];
  const happened = ['triggered', 'triggeredWithin', 'triggeredOlderThan', 'notTriggered', 'notTriggeredWithin'];
  const rows: [string, unknown, string[]][] = [
    ['email', 'ada@example.com', [...equality, 'contains', 'notContains']],
    ['subscribed', true, equality],
    ['createdAt', '2026-01-15', [...equality, ...ordering, ...windows]],
    ['updatedAt', '2026-01-15', [...equality, ...ordering, ...windows]],
    ['data.plan', 'pro', [...equality, 'contains', 'notContains', ...ordering, ...windows, 'exists', 'notExists']],
    ['event.purchase', undefined, happened],
    ['email.opened', undefined, happened],
    [segment, undefined, ['memberOfSegment', 'notMemberOfSegment']],
  ];
  const every = [...new Set(rows.flatMap(([, , allowed]) => allowed))];

  test('the rows name all twenty-one operators', () => {
    expect(every).toHaveLength(21);
  });

  test.each(rows)('%s', (field, value, allowed) => {
    const accepted = every.filter((operator) => {
      const windowed = /within|olderThan/i.test(operator);
      const fault = faultOf(one({ field, operator, ...(windowed ? { value: 3, unit: 'days' } : { value }) }));
      if (fault !== 'accepted') expect(fault).toMatchObject({ path: 'groups.0.filters.0.operator' });
      return fault === 'accepted';
    });
    expect(accepted.sort()).toEqual([...allowed].sort());
  });

  test('a field without known prefix is an event name, but only with an event operator', () => {
    expect(parsed({ field: 'user.signup', operator: 'triggered' })).toEqual({
      kind: 'event',
      name: 'user.signup',
      test: { operator: 'triggered' },
    });
    expect(parsed({ field: 'event.email.open', operator: 'notTriggered' })).toMatchObject({
      kind: 'event',
      name: 'email.open',
    });
    expect(faultOf(one({ field: 'user.signup', operator: 'exists' }))).toMatchObject({
      path: 'groups.0.filters.0.field',
    });
  });

  test.each([
    ['sent', 'sent'],
    ['delivery', 'delivered'],
    ['delivered', 'delivered'],
    ['open', 'opened'],
    ['opened', 'opened'],
    ['click', 'clicked'],
    ['clicked', 'clicked'],
    ['bounce', 'bounced'],
    ['bounced', 'bounced'],
    ['complaint', 'complained'],
    ['complained', 'complained'],
  ])('email.%s is the activity %s', (spelling, activity) => {
    expect(parsed({ field: `email.${spelling}`, operator: 'triggered' })).toMatchObject({ kind: 'activity', activity });
  });
});

describe('filters on events and mail can be narrowed', () => {
  const paid = { field: 'event.order.paid', operator: 'triggered' };
  const clicked = { field: 'email.click', operator: 'triggered' };
  const total = { path: 'total', operator: 'greaterThanOrEqual', value: 50 };
  const id = '5E0C1F7E-4B0D-4C43-9D39-0D6A1F2B3C4D';

  test('by data of the event and by how often it happened', () => {
    const where = [total, { path: 'ship.to', operator: 'exists' }];
    expect(parsed({ ...paid, where, times: { atMost: 3 } })).toEqual({
      kind: 'event',
      name: 'order.paid',
      test: { operator: 'triggered' },
      where: [
        { key: 'total', path: ['total'], test: { operator: 'greaterThanOrEqual', value: 50, instant: null } },
        { key: 'ship.to', path: ['ship', 'to'], test: { operator: 'exists' } },
      ],
      times: { atLeast: 1, atMost: 3 },
    });
  });

  test('by the source of the mail and by the link', () => {
    expect(parsed({ ...clicked, of: { stepId: id }, link: 'https://fernpost.example/a' })).toEqual({
      kind: 'activity',
      activity: 'clicked',
      test: { operator: 'triggered' },
      of: { kind: 'stepId', id: id.toLowerCase(), path: 'groups.0.filters.0.of.stepId' },
      link: 'https://fernpost.example/a',
    });
  });

  test('null means that it is not narrowed, and on other fields the keys are ignored', () => {
    expect(parsed({ ...paid, where: null, times: null, of: null, link: null })).toEqual(parsed(paid));
    expect(parsed({ ...clicked, of: null, link: null })).toEqual(parsed(clicked));
    // A client that sent such keys before they meant anything goes on.
    const city = { field: 'data.city', operator: 'exists' };
    expect(parsed({ ...city, where: 1, times: 3, of: 'x', link: '' })).toEqual(parsed(city));
  });

  const cases: [string, object, string][] = [
    ['data of a mail', { ...clicked, where: [total] }, 'where'],
    ['times of a mail', { ...clicked, times: { atLeast: 2 } }, 'times'],
    ['a source of an event', { ...paid, of: { campaignId: id } }, 'of'],
    ['a link of an open', { field: 'email.opened', operator: 'triggered', link: 'https://a.example' }, 'link'],
    ['an empty link', { ...clicked, link: '' }, 'link'],
    ['no tests', { ...paid, where: [] }, 'where'],
    ['more than five tests', { ...paid, where: Array(6).fill(total) }, 'where'],
    ['a test that is no object', { ...paid, where: [total, 'total'] }, 'where.1'],
    ['a test without path', { ...paid, where: [{ ...total, path: '' }] }, 'where.0.path'],
    ['a path of more than 20 steps', { ...paid, where: [{ ...total, path: `a${'.a'.repeat(20)}` }] }, 'where.0.path'],
    ['an operator that tests have not', { ...paid, where: [{ ...total, operator: 'within' }] }, 'where.0.operator'],
    ['a test without value', { ...paid, where: [{ ...total, value: undefined }] }, 'where.0.value'],
    ['times that are a number', { ...paid, times: 3 }, 'times'],
    ['times without a bound', { ...paid, times: {} }, 'times'],
    ['times of what never happened', { ...paid, operator: 'notTriggered', times: { atLeast: 2 } }, 'times'],
    ['a fraction of a time', { ...paid, times: { atLeast: 1.5 } }, 'times.atLeast'],
    ['more times than are counted', { ...paid, times: { atLeast: 10_001 } }, 'times.atLeast'],
    ['at least no time', { ...paid, times: { atLeast: 0 } }, 'times.atLeast'],
    ['at most less than at least', { ...paid, times: { atLeast: 3, atMost: 2 } }, 'times.atMost'],
    ['two sources', { ...clicked, of: { stepId: id, templateId: id } }, 'of'],
    ['an unknown source', { ...clicked, of: { segmentId: id } }, 'of'],
    ['a source that is no UUID', { ...clicked, of: { templateId: 'welcome' } }, 'of.templateId'],
    [
      'an anniversary in more than a year',
      { field: 'data.born', operator: 'anniversaryWithin', value: 367, unit: 'days' },
      'value',
    ],
  ];
  test.each(cases)('%s is refused by its name', (_, filter, place) => {
    expect(faultOf(one(filter))).toEqual({ path: `groups.0.filters.0.${place}` });
  });
});

describe('what is accepted comes out ready for use', () => {
  test('the example of the contract, whole', () => {
    const tree = {
      logic: 'AND',
      groups: [
        {
          filters: [{ field: 'subscribed', operator: 'equals', value: true }],
          conditions: {
            logic: 'OR',
            groups: [
              { filters: [plan] },
              {
                filters: [
                  { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' },
                  { field: 'email.opened', operator: 'notTriggered' },
                ],
              },
            ],
          },
        },
      ],
    };
    const expected: Condition = {
      logic: 'AND',
      groups: [
        {
          filters: [{ kind: 'subscribed', expected: true }],
          nested: {
            logic: 'OR',
            groups: [
              {
                filters: [{ kind: 'data', key: 'plan', path: ['plan'], test: { operator: 'equals', value: 'pro' } }],
                nested: null,
              },
              {
                filters: [
                  {
                    kind: 'event',
                    name: 'purchase',
                    test: { operator: 'triggeredWithin', milliseconds: 2_592_000_000 },
                  },
                  { kind: 'activity', activity: 'opened', test: { operator: 'notTriggered' } },
                ],
                nested: null,
              },
            ],
          },
        },
      ],
    };
    expect(parseCondition(tree)).toEqual(expected);
  });

  test('10 levels and 200 filters are allowed', () => {
    expect(faultOf(nested(10))).toBe('accepted');
    expect(faultOf({ logic: 'OR', groups: [{ filters: Array(200).fill(plan) }] })).toBe('accepted');
  });

  test('unknown keys, and values that an operator has no use for, are ignored', () => {
    expect(parsed({ field: 'data.plan', operator: 'exists', value: 5, unit: 'parsecs', note: 'x' })).toEqual(
      parsed({ field: 'data.plan', operator: 'exists' }),
    );
  });

  test('windows take fractions, zero and numbers written as text', () => {
    const length = (value: unknown, unit: string) => parsed({ field: 'createdAt', operator: 'within', value, unit });
    expect(length(0.5, 'hours')).toMatchObject({ test: { milliseconds: 1_800_000 } });
    expect(length('1.5', 'minutes')).toMatchObject({ test: { milliseconds: 90_000 } });
    expect(length(' 2 ', 'days')).toMatchObject({ test: { milliseconds: 172_800_000 } });
    expect(length(0, 'days')).toMatchObject({ test: { milliseconds: 0 } });
  });

  test('null on data means existence, the other way round', () => {
    expect(parsed({ ...plan, value: null })).toMatchObject({ test: { operator: 'notExists' } });
    expect(parsed({ ...plan, operator: 'notEquals', value: null })).toMatchObject({ test: { operator: 'exists' } });
  });

  test('addresses are lower-cased in ASCII only, and trimmed where whole ones are compared', () => {
    const text = (operator: string, value: string) => parsed({ field: 'email', operator, value });
    expect(text('equals', ' Ada@Example.COM ')).toMatchObject({ text: 'ada@example.com' });
    expect(text('contains', ' GMAIL')).toMatchObject({ text: ' gmail' });
    expect(text('contains', '\u212Aelvin')).toMatchObject({ text: '\u212Aelvin' });
  });

  test('subscribed takes the words true and false', () => {
    expect(parsed({ field: 'subscribed', operator: 'equals', value: 'false' })).toEqual({
      kind: 'subscribed',
      expected: false,
    });
    expect(parsed({ field: 'subscribed', operator: 'notEquals', value: 'false' })).toEqual({
      kind: 'subscribed',
      expected: true,
    });
  });

  test('an ISO date means its whole UTC day in equality, with or without a time; other dates mean their instant', () => {
    const day = { operator: 'in', from: Date.UTC(2026, 0, 15), until: Date.UTC(2026, 0, 16) };
    const test = (field: string, value: string) => parsed({ field, operator: 'equals', value });
    expect(test('createdAt', '2026-01-15')).toMatchObject({ test: day });
    expect(test('createdAt', '2026-01-16T01:30:00+02:00')).toMatchObject({ test: day });
    expect(test('createdAt', '2026-01-15 10:30')).toMatchObject({ test: day });
    expect(test('data.seen', '2026-01-15T10:30:00.000Z')).toMatchObject({ test: day });
    const instant = Date.UTC(2026, 0, 15, 10, 30);
    expect(test('createdAt', 'Thu, 15 Jan 2026 10:30:00 GMT')).toMatchObject({
      test: { from: instant, until: instant + 1 },
    });
    expect(test('data.seen', '2026-13-45')).toMatchObject({ test: { operator: 'equals', value: '2026-13-45' } });
  });

  test('contains takes numbers and booleans as text', () => {
    expect(parsed({ ...plan, operator: 'contains', value: 5.5 })).toMatchObject({ test: { text: '5.5' } });
    expect(parsed({ ...plan, operator: 'notContains', value: true })).toMatchObject({ test: { text: 'true' } });
  });
});
