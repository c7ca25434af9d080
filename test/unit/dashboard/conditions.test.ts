import { describe, expect, test } from 'vitest';
import {
  changeFilter,
  changeGroup,
  narrowed,
  newForm,
  newTest,
  withActivity,
  withDataKey,
  withKind,
  withOperator,
  withTests,
} from '../../../dashboard/src/conditions/edits.ts';
import {
  type FieldKind,
  maxFilters,
  maxLevels,
  maxTests,
  maxTimes,
  needsOf,
  operatorsOf,
  testOperators,
  typesFor,
  units,
  usualActivity,
} from '../../../dashboard/src/conditions/grammar.ts';
import { conditionSentence } from '../../../dashboard/src/conditions/sentence.ts';
import {
  type FormFilter,
  fieldName,
  filtersIn,
  formOf,
  missingOf,
  type Tree,
  type TreeFilter,
  treeOf,
} from '../../../dashboard/src/conditions/tree.ts';
import {
  maxFilters as mostFilters,
  maxLevels as mostLevels,
  parseCondition,
} from '../../../src/lib/conditions/condition.ts';
import { maxWhere, maxTimes as mostTimes, whereOperators } from '../../../src/lib/conditions/filters.ts';

const segmentId = '0199d1f2-7e6b-7a51-9a54-2f8ad2f0c111';
const ofFilters = (...filters: TreeFilter[]): Tree => ({ logic: 'AND', groups: [{ filters }] });
const contract: Tree = {
  logic: 'AND',
  groups: [
    {
      filters: [{ field: 'subscribed', operator: 'equals', value: true }],
      conditions: {
        logic: 'OR',
        groups: [
          { filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] },
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

const kinds = Object.keys(operatorsOf) as FieldKind[];
const nameFor: Record<FieldKind, string> = {
  email: '',
  subscribed: '',
  createdAt: '',
  updatedAt: '',
  data: 'plan',
  trigger: 'total',
  event: 'order.paid',
  activity: 'clicked',
  segment: segmentId,
};
const textFor = {
  text: 'Grün & Söhne',
  number: '2.5',
  boolean: 'false',
  day: '2026-02-28',
  moment: '2026-02-28T08:30Z',
  null: '',
  json: '["a",{"b":1}]',
};

/** A filled-in filter for every kind, operator and type of value that the builder offers. */
const everything: FormFilter[] = kinds.flatMap((kind) =>
  operatorsOf[kind].flatMap((operator) =>
    typesFor(kind, operator).map((type) => {
      const filter = withOperator(withKind(formOf(contract).groups[0]?.filters[0] as FormFilter, kind), operator);
      return { ...filter, name: nameFor[kind], type, text: textFor[type] };
    }),
  ),
);

describe('a tree and its form', () => {
  test.each<[string, Tree]>([
    ['the example of the contract', contract],
    [
      'text, numbers, truth and nothing',
      ofFilters(
        ...['x', '', 5, 0, -1.5, true, false, null].map((value) => ({ field: 'data.a', operator: 'equals', value })),
      ),
    ],
    [
      'lists and objects',
      ofFilters(
        ...[[1, 'a'], { a: { b: null } }, []].map((value) => ({ field: 'data.a.b', operator: 'notEquals', value })),
      ),
    ],
    [
      'dates in every spelling',
      ofFilters(
        ...['2026-01-01', '2026-01-01T10:00Z', '2026-01-01T10:00:00.000+02:00', 'Jan 1 2026'].map((value) => ({
          field: 'createdAt',
          operator: 'lessThan',
          value,
        })),
      ),
    ],
    [
      'windows as numbers and as text',
      ofFilters(
        { field: 'updatedAt', operator: 'within', value: '7', unit: 'hours' },
        { field: 'data.x', operator: 'olderThan', value: 0.5, unit: 'minutes' },
      ),
    ],
    [
      'events with and without prefix',
      ofFilters(
        { field: 'purchase', operator: 'triggered' },
        { field: 'trigger.x', operator: 'triggered' },
        { field: 'event.a.b/ü', operator: 'notTriggered' },
      ),
    ],
    [
      'activities in either spelling',
      ofFilters({ field: 'email.open', operator: 'triggered' }, { field: 'email.opened', operator: 'triggered' }),
    ],
    ['words for a subscription', ofFilters({ field: 'subscribed', operator: 'notEquals', value: 'false' })],
    ['membership', ofFilters({ field: `segment.${segmentId}`, operator: 'notMemberOfSegment' })],
    ['a group without filters', { logic: 'OR', groups: [{ filters: [], conditions: contract }] }],
  ])('%s comes back as it was', (_, tree) => {
    expect(() => parseCondition(tree)).not.toThrow();
    expect(treeOf(formOf(tree))).toEqual(tree);
  });

  test('what the API ignores is left out', () => {
    const tree = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.a', operator: 'exists', value: 3, unit: 'days' }], conditions: null }],
    };
    expect(treeOf(formOf(tree))).toEqual(ofFilters({ field: 'data.a', operator: 'exists' }));
  });

  test('every part of a form has a key of its own', () => {
    const form = formOf({ logic: 'AND', groups: [...contract.groups, ...contract.groups] });
    const keys = [...filtersIn(form)].map(({ key }) => key);
    expect(keys).toHaveLength(8);
    expect(new Set(keys).size).toBe(8);
  });
});

describe('the grammar of the builder', () => {
  test('every operator of every field with every type of value is what the service accepts', () => {
    expect(everything.length).toBeGreaterThan(60);
    for (const filter of everything) {
      const [only] = treeOf({ key: 'c', logic: 'AND', groups: [{ key: 'g', filters: [filter], nested: null }] }).groups;
      const raw = only?.filters[0];
      expect(missingOf(filter), JSON.stringify(raw)).toBeNull();
      expect(() => parseCondition(ofFilters(raw as TreeFilter), true), JSON.stringify(raw)).not.toThrow();
    }
  });

  test('no operator that the service has for a field is missing', () => {
    const all = [...new Set(kinds.flatMap((kind) => operatorsOf[kind]))];
    for (const kind of kinds) {
      const field = fieldName({ kind, name: nameFor[kind], isBare: false });
      for (const operator of all) {
        // 'true' is a value that every field with this operator takes, but those that need a date or a number.
        const accepted = ['true', '2026-01-01', 1].some((value) => {
          try {
            return parseCondition(ofFilters({ field, operator, value, unit: 'days' }), kind === 'trigger') !== null;
          } catch {
            return false;
          }
        });
        expect(operatorsOf[kind].includes(operator), `${field} ${operator}`).toBe(accepted);
      }
    }
  });

  test('limits and units are those of the service', () => {
    expect({ maxLevels, maxFilters }).toEqual({ maxLevels: mostLevels, maxFilters: mostFilters });
    expect({ maxTests, maxTimes, testOperators: [...testOperators].sort() }).toEqual({
      maxTests: maxWhere,
      maxTimes: mostTimes,
      testOperators: [...whereOperators].sort(),
    });
    for (const unit of units)
      expect(() => parseCondition(ofFilters({ field: 'createdAt', operator: 'within', value: 1, unit }))).not.toThrow();
    expect(usualActivity('complaint')).toBe('complained');
  });
});

test('every operator of a test of event data with every type of value is what the service accepts', () => {
  const bought = withKind(newForm().groups[0]?.filters[0] as FormFilter, 'event');
  for (const operator of testOperators)
    for (const type of typesFor('trigger', operator)) {
      const test = { ...withOperator(newTest(), operator), name: 'order.total', type, text: textFor[type] };
      const filter = withTests({ ...bought, name: 'purchase' }, [test, test]);
      expect(missingOf(filter), `${operator} ${type}`).toBeNull();
      const tree = treeOf({ key: 'c', logic: 'AND', groups: [{ key: 'g', filters: [filter], nested: null }] });
      expect(() => parseCondition(tree), JSON.stringify(tree)).not.toThrow();
      expect(treeOf(formOf(tree))).toEqual(tree);
      expect(tree.groups[0]?.filters[0]?.where).toHaveLength(2);
    }
});

describe('what is not filled in', () => {
  const happened = { kind: 'event', name: 'purchase', operator: 'triggered' } as const;
  test.each<[string, Partial<FormFilter>]>([
    ['no text for an address', {}],
    ['a number that is none', { kind: 'data', name: 'score', operator: 'greaterThan', type: 'number', text: 'many' }],
    [
      'a number too large to be one',
      { kind: 'data', name: 'score', operator: 'equals', type: 'number', text: '1e999' },
    ],
    ['no name of a field', { kind: 'data', name: '', operator: 'exists' }],
    ['no segment', { kind: 'segment', name: '', operator: 'memberOfSegment' }],
    ['a negative time', { kind: 'createdAt', operator: 'within', type: 'number', text: '-1', unit: 'days' }],
    ['half of some JSON', { kind: 'data', name: 'a', operator: 'equals', type: 'json', text: '{"a":' }],
    ['an empty day', { kind: 'createdAt', operator: 'equals', type: 'day', text: '' }],
    ['no path in event data', { ...happened, tests: [{ ...newTest(), type: 'text', text: 'x' }] }],
    ['no value of a test', { ...happened, tests: [{ ...withOperator(newTest(), 'contains'), name: 'total' }] }],
    ['half a time', { ...happened, more: { times: { atLeast: 1.5 } } }],
    ['too many times', { ...happened, more: { times: { atMost: 10_001 } } }],
    ['most below fewest', { ...happened, more: { times: { atLeast: 3, atMost: 2 } } }],
    ['at least never', { ...happened, more: { times: { atLeast: 0 } } }],
    ['no times at all', { ...happened, more: { times: {} } }],
    ['no campaign', { ...happened, kind: 'activity', name: 'opened', more: { of: { campaignId: '' } } }],
  ])('%s is told, and the service refuses it too', (_, part) => {
    const [filter] = [...filtersIn(newForm())];
    const unfinished = { ...filter, ...part } as FormFilter;
    expect(missingOf(unfinished)).toMatch(/\.$/);
    const form = { key: 'c', logic: 'AND' as const, groups: [{ key: 'g', filters: [unfinished], nested: null }] };
    // Whether a segment exists is looked up after the tree was read.
    if (unfinished.kind !== 'segment') expect(() => parseCondition(treeOf(form))).toThrow(/at groups\.0\.filters\.0/);
  });
});

describe('edits', () => {
  test('a value stays where it fits the next operator, and goes where it does not', () => {
    const number = {
      ...withKind(newForm().groups[0]?.filters[0] as FormFilter, 'data'),
      type: 'number' as const,
      text: '5',
    };
    expect(withOperator(number, 'greaterThan')).toMatchObject({ type: 'number', text: '5' });
    expect(withOperator(number, 'contains')).toMatchObject({ type: 'text', text: '' });
    expect(withOperator(number, 'within')).toMatchObject({ type: 'number', text: '', unit: 'days' });
    expect(needsOf(withKind(number, 'segment').operator)).toBe('nothing');
  });

  test('a contact field brings the type of its values', () => {
    const data = withKind(newForm().groups[0]?.filters[0] as FormFilter, 'data');
    expect(withDataKey(data, 'score', 'number')).toMatchObject({ name: 'score', type: 'number' });
    expect(withDataKey(data, 'vip', 'boolean')).toMatchObject({ type: 'boolean', text: 'true' });
    expect(withDataKey({ ...data, text: 'pro' }, 'unheard-of', undefined)).toMatchObject({ type: 'text', text: 'pro' });
    expect(withDataKey(withOperator(data, 'exists'), 'score', 'number').operator).toBe('exists');
  });

  test('what narrows a filter stays until the filter is about something else', () => {
    const where = [{ path: 'total', operator: 'greaterThan', value: 50 }];
    const bought = { field: 'event.purchase', operator: 'triggered', where, times: { atLeast: 2 } };
    const clicked = {
      field: 'email.clicked',
      operator: 'notTriggered',
      link: 'https://acme.com',
      of: { stepId: segmentId },
    };
    expect(treeOf(formOf(ofFilters(bought, clicked)))).toEqual(ofFilters(bought, clicked));
    const [filter] = [...filtersIn(formOf(ofFilters(bought)))];
    const filterOf = (changed: FormFilter) =>
      treeOf({ key: '', logic: 'AND', groups: [{ key: '', filters: [changed], nested: null }] }).groups[0]?.filters[0];
    expect(filterOf(withOperator(filter as FormFilter, 'notTriggered'))).toEqual({
      field: 'event.purchase',
      operator: 'notTriggered',
      where,
    });
    expect(filterOf({ ...withKind(filter as FormFilter, 'activity') })).toEqual({
      field: 'email.opened',
      operator: 'triggered',
    });
    const [click] = [...filtersIn(formOf(ofFilters(clicked)))];
    const opened = { field: 'email.opened', operator: 'notTriggered', of: clicked.of };
    expect(filterOf(withActivity(click as FormFilter, 'opened'))).toEqual(opened);
    expect(filterOf(narrowed(withActivity(click as FormFilter, 'opened'), { of: null }))).toEqual({
      field: 'email.opened',
      operator: 'notTriggered',
    });
  });

  test('groups and filters are changed and taken out by their keys alone', () => {
    const form = formOf({ logic: 'OR', groups: [...contract.groups, ...contract.groups] });
    const [first, second] = form.groups;
    expect(changeGroup(form, first?.key ?? '', () => null).groups).toEqual([second]);
    const emptied = changeFilter(second as (typeof form.groups)[number], second?.filters[0]?.key ?? '', null);
    expect(emptied).toEqual({ ...second, filters: [] });
  });
});

describe('a condition as a sentence', () => {
  const sentence = (tree: Tree) => conditionSentence(tree, new Map([[segmentId, 'VIP customers']]));
  const filterText = (filter: TreeFilter) => sentence(ofFilters(filter));

  test('joins filters, groups and nested conditions without ambiguity', () => {
    expect(sentence(contract)).toBe(
      'Contacts who are subscribed and (whose plan is “pro” or (who triggered “purchase” within the last 30 days and who never opened an email)).',
    );
    const [subscribed, plan, score] = [
      { field: 'subscribed', operator: 'equals', value: true },
      { field: 'data.plan', operator: 'equals', value: 'pro' },
      { field: 'data.score', operator: 'greaterThan', value: 1200.5 },
    ];
    expect(sentence(ofFilters(subscribed, plan, score))).toBe(
      'Contacts who are subscribed, whose plan is “pro”, and whose score is more than 1,200.5.',
    );
    expect(sentence({ logic: 'OR', groups: [{ filters: [subscribed] }, { filters: [plan] }] })).toBe(
      'Contacts who are subscribed or whose plan is “pro”.',
    );
    expect(sentence({ logic: 'OR', groups: [{ filters: [subscribed, plan] }, { filters: [score] }] })).toBe(
      'Contacts (who are subscribed and whose plan is “pro”) or whose score is more than 1,200.5.',
    );
    // An empty nested condition adds nothing.
    const nested = { logic: 'AND', groups: [{ filters: [plan] }] };
    expect(sentence({ logic: 'AND', groups: [{ filters: [], conditions: nested }] })).toBe(
      'Contacts whose plan is “pro”.',
    );
  });

  test.each<[TreeFilter, string]>([
    [{ field: 'subscribed', operator: 'notEquals', value: true }, 'who are not subscribed'],
    [{ field: 'subscribed', operator: 'notEquals', value: 'false' }, 'who are subscribed'],
    [{ field: 'email', operator: 'contains', value: '@acme.com' }, 'whose email address contains “@acme.com”'],
    [{ field: 'data.plan', operator: 'notExists' }, 'whose plan has no value'],
    [{ field: 'data.vip', operator: 'equals', value: false }, 'whose vip is no'],
    [{ field: 'data.tags', operator: 'equals', value: ['a', null] }, 'whose tags is ["a",null]'],
    [{ field: 'data.manager', operator: 'notEquals', value: null }, 'whose manager is not empty'],
    [{ field: 'data.renewal', operator: 'lessThan', value: '2026-03-01' }, 'whose renewal is before Mar 1, 2026'],
    [
      { field: 'data.renewal', operator: 'greaterThanOrEqual', value: '2026-03-01T08:30:00Z' },
      'whose renewal is at or after Mar 1, 2026, 8:30 AM UTC',
    ],
    [{ field: 'createdAt', operator: 'equals', value: '2024-02-29' }, 'whose creation date is Feb 29, 2024'],
    [{ field: 'createdAt', operator: 'within', value: 1, unit: 'days' }, 'whose creation date is within the last day'],
    [
      { field: 'updatedAt', operator: 'olderThan', value: 36, unit: 'hours' },
      'whose last update is more than 36 hours ago',
    ],
    [
      { field: 'trigger.total', operator: 'greaterThan', value: 50 },
      'whose triggering event has a total that is more than 50',
    ],
    [{ field: `segment.${segmentId}`, operator: 'memberOfSegment' }, 'who are in the segment “VIP customers”'],
    [
      { field: `segment.${segmentId.toUpperCase()}`, operator: 'notMemberOfSegment' },
      'who are not in the segment “VIP customers”',
    ],
    [{ field: 'purchase', operator: 'triggered' }, 'who triggered “purchase”'],
    [{ field: 'event.purchase', operator: 'notTriggered' }, 'who never triggered “purchase”'],
    [
      { field: 'event.purchase', operator: 'triggeredOlderThan', value: 0.5, unit: 'days' },
      'who triggered “purchase”, but not within the last 0.5 days',
    ],
    [{ field: 'email.click', operator: 'triggered' }, 'who clicked a link'],
    [
      { field: 'email.opened', operator: 'notTriggeredWithin', value: 90, unit: 'days' },
      'who did not open an email within the last 90 days',
    ],
    [{ field: 'email.complained', operator: 'notTriggered' }, 'who never reported an email as spam'],
    [
      { field: 'email.bounced', operator: 'triggeredWithin', value: 2, unit: 'minutes' },
      'who had an email bounce within the last 2 minutes',
    ],
    [
      { field: 'data.trialEnds', operator: 'withinNext', value: 3, unit: 'days' },
      'whose trialEnds is within the next 3 days',
    ],
    [
      { field: 'data.born', operator: 'anniversaryWithin', value: 7, unit: 'days' },
      'whose born has its anniversary within 7 days',
    ],
    [
      {
        field: 'event.purchase',
        operator: 'triggeredWithin',
        value: 90,
        unit: 'days',
        where: [
          { path: 'total', operator: 'greaterThanOrEqual', value: 50 },
          { path: 'coupon', operator: 'notExists' },
        ],
        times: { atLeast: 2, atMost: 5 },
      },
      'who triggered “purchase” where total is at least 50 and coupon has no value at least 2 times and at most 5 times within the last 90 days',
    ],
    [
      { field: 'email.clicked', operator: 'triggered', link: 'https://acme.com', of: { campaignId: segmentId } },
      'who clicked a link to “https://acme.com” of the campaign “VIP customers”',
    ],
    [
      { field: 'email.opened', operator: 'notTriggered', of: { stepId: '0199d1f2-7e6b-7a51-9a54-2f8ad2f0c222' } },
      'who never opened an email of one workflow step',
    ],
    [{ field: 'email.opened', operator: 'triggered', of: { templateId: '' } }, 'who opened an email of the template …'],
    // Still to be completed.
    [{ field: 'data.', operator: 'equals', value: '' }, 'whose … is …'],
    [{ field: 'email', operator: 'equals' }, 'whose email address is …'],
    [
      { field: 'event.purchase', operator: 'triggeredWithin', unit: 'days' },
      'who triggered “purchase” within the last …',
    ],
  ])('%j', (filter, words) => {
    expect(filterText(filter)).toBe(words.endsWith('…') ? `Contacts ${words}` : `Contacts ${words}.`);
  });

  test('says every operator of every kind in words', () => {
    for (const kind of kinds)
      for (const operator of operatorsOf[kind]) {
        const filter = withOperator(
          { ...withKind(newForm().groups[0]?.filters[0] as FormFilter, kind), name: nameFor[kind] },
          operator,
        );
        const text = sentence(
          treeOf({ key: '', logic: 'AND', groups: [{ key: '', filters: [filter], nested: null }] }),
        );
        expect(text, `${kind} ${operator}`).toMatch(/^Contacts who(se)? .*[.…]$/);
        // No name of the API is left in it.
        expect(text).not.toMatch(/[a-z][A-Z]/);
      }
  });
});
