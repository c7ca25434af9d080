import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../src/lib/conditions/condition.ts';
import { ConditionFault } from '../../../src/lib/conditions/dates.ts';
import {
  checkSegmentReferences,
  dependsOn,
  maxExpandedFilters,
  mentionsEvent,
  mentionsField,
  resolveSegments,
  type StoredSegment,
  segmentReferences,
} from '../../../src/lib/conditions/segments.ts';

const id = (number: number) => `10000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function any(...filters: unknown[]): unknown {
  return { logic: 'OR', groups: filters.map((filter) => ({ filters: [filter] })) };
}

function memberOf(...numbers: number[]): unknown {
  return any(...numbers.map((number) => ({ field: `segment.${id(number)}`, operator: 'memberOfSegment' })));
}

const pro = any({ field: 'data.plan', operator: 'equals', value: 'pro' });

function dynamic(number: number, condition: unknown, trackMembership = false): StoredSegment {
  return { id: id(number), type: 'DYNAMIC', trackMembership, condition };
}

async function check(condition: unknown, stored: StoredSegment[], selfId?: string): Promise<unknown> {
  const parsed = parseCondition(condition);
  const segments = await resolveSegments(parsed, async (ids) => stored.filter((segment) => ids.includes(segment.id)));
  try {
    checkSegmentReferences(parsed, segments, selfId);
  } catch (error) {
    if (!(error instanceof ConditionFault)) throw error;
    return { path: error.path };
  }
  return 'accepted';
}

describe('references to segments', () => {
  const refused = { path: 'groups.0.filters.0.field' };

  test('are found at any depth, with their place; ids are read in either letter case', () => {
    const tree = parseCondition({
      logic: 'AND',
      groups: [
        {
          filters: [],
          conditions: {
            logic: 'AND',
            groups: [{ filters: [{ field: `segment.${id(0xabc).toUpperCase()}`, operator: 'notMemberOfSegment' }] }],
          },
        },
      ],
    });
    expect(segmentReferences(tree)).toEqual([
      { kind: 'segment', segmentId: id(0xabc), member: false, path: 'groups.0.conditions.groups.0.filters.0.field' },
    ]);
  });

  test('are loaded level by level, each segment once, and only by ids that are UUIDs', async () => {
    const asked: string[][] = [];
    const stored = [dynamic(1, memberOf(2, 3)), dynamic(2, memberOf(3)), dynamic(3, pro)];
    const tree = any(
      { field: `segment.${id(1)}`, operator: 'memberOfSegment' },
      { field: `segment.${id(2)}`, operator: 'memberOfSegment' },
      { field: 'segment.vip', operator: 'memberOfSegment' },
    );
    const segments = await resolveSegments(parseCondition(tree), async (ids) => {
      asked.push(ids);
      return stored.filter((segment) => ids.includes(segment.id));
    });
    expect(asked).toEqual([[id(1), id(2)], [id(3)]]);
    expect([...segments.keys()]).toEqual([id(1), id(2), id(3)]);
  });

  test('are accepted when every segment is there', async () => {
    const fixed: StoredSegment = { id: id(3), type: 'STATIC', trackMembership: false, condition: null };
    expect(await check(memberOf(1, 2, 3), [dynamic(1, pro), dynamic(2, memberOf(1, 3), true), fixed])).toBe('accepted');
  });

  test('to a segment that is unknown, or of another project and so not in the answer, are refused', async () => {
    expect(await check(memberOf(1), [])).toEqual(refused);
    expect(await check(any({ field: 'segment.vip', operator: 'memberOfSegment' }), [])).toEqual(refused);
    expect(await check(any({ field: 'segment.', operator: 'memberOfSegment' }), [])).toEqual(refused);
  });

  test('to itself, or around a circle of any length, tracked or not, are refused', async () => {
    expect(await check(memberOf(1), [dynamic(1, pro)], id(1))).toEqual(refused);
    expect(await check(memberOf(2), [dynamic(1, pro), dynamic(2, memberOf(1))], id(1))).toEqual(refused);
    const ring = [dynamic(1, pro), dynamic(2, memberOf(3), true), dynamic(3, memberOf(4)), dynamic(4, memberOf(1))];
    expect(await check(memberOf(2), ring, id(1))).toEqual(refused);
    expect(await check(memberOf(2), [dynamic(2, memberOf(3)), dynamic(3, memberOf(2))])).toEqual(refused);
  });

  test('that meet again without a circle are accepted', async () => {
    const stored = [dynamic(1, pro), dynamic(2, memberOf(1)), dynamic(3, memberOf(1)), dynamic(4, memberOf(2, 3))];
    expect(await check(memberOf(2, 3, 4), stored, id(9))).toBe('accepted');
  });

  test('that would multiply a condition beyond measure are refused, without the time that following them would take', async () => {
    const many = (number: number) => memberOf(...Array<number>(200).fill(number));
    const tower = Array.from({ length: 50 }, (_, index) => dynamic(index + 1, index === 0 ? pro : many(index)));
    expect(await check(many(50), tower)).toEqual({ path: '' });
    const wide = dynamic(1, any(...Array(200).fill({ field: 'data.a', operator: 'exists' })));
    const mentions = Math.floor(maxExpandedFilters / 201);
    expect(await check(memberOf(...Array<number>(mentions).fill(1)), [wide])).toBe('accepted');
    expect(await check(memberOf(...Array<number>(mentions + 1).fill(1)), [wide])).toEqual({ path: '' });
  });
});

describe('what a condition depends on', () => {
  const tree = parseCondition({
    logic: 'AND',
    groups: [
      {
        filters: [
          { field: 'data.address.city', operator: 'equals', value: 'Köln' },
          { field: 'email', operator: 'contains', value: '@example.com' },
          { field: 'event.purchase', operator: 'triggered' },
        ],
        conditions: {
          logic: 'OR',
          groups: [
            { filters: [{ field: 'user.signup', operator: 'notTriggered' }] },
            {
              filters: [
                { field: 'email.opened', operator: 'triggered' },
                { field: 'createdAt', operator: 'lessThan', value: '2026-01-01' },
              ],
            },
            { filters: [{ field: `segment.${id(1)}`, operator: 'memberOfSegment' }] },
          ],
        },
      },
    ],
  });

  test('is listed by kind', () => {
    expect(dependsOn(tree)).toEqual({
      dataKeys: ['address.city', 'address'],
      contactColumns: ['email', 'createdAt'],
      events: ['purchase', 'user.signup'],
      activities: ['opened'],
      segments: [id(1)],
      timeWindows: false,
    });
  });

  test('includes the conditions of untracked segments, and of those that these refer to', async () => {
    const stored = [
      dynamic(1, memberOf(2, 3)),
      dynamic(2, any({ field: 'data.seen', operator: 'within', value: 3, unit: 'days' })),
      dynamic(3, any({ field: 'data.tracked', operator: 'exists' }), true),
    ];
    const segments = await resolveSegments(tree, async (ids) => stored.filter((segment) => ids.includes(segment.id)));
    expect(dependsOn(tree, segments)).toMatchObject({
      dataKeys: ['address.city', 'address', 'seen'],
      segments: [id(1), id(2), id(3)],
      timeWindows: true,
    });
  });

  test.each([
    ['createdAt', 'within'],
    ['data.seen', 'olderThan'],
    ['data.seen', 'withinNext'],
    ['createdAt', 'anniversaryWithin'],
    ['event.purchase', 'triggeredWithin'],
    ['email.sent', 'triggeredOlderThan'],
    ['purchase', 'notTriggeredWithin'],
  ])('has a time window in %s %s', (field, operator) => {
    expect(dependsOn(parseCondition(any({ field, operator, value: 1, unit: 'days' }))).timeWindows).toBe(true);
  });

  test('answers whether a field or an event is mentioned, at any depth', () => {
    for (const field of ['data.address.city', 'data.address', 'email', 'createdAt']) {
      expect([field, mentionsField(tree, field)]).toEqual([field, true]);
    }
    for (const field of ['data.city', 'data.addr', 'address', 'updatedAt', 'subscribed', 'event', 'segment', 'date']) {
      expect([field, mentionsField(tree, field)]).toEqual([field, false]);
    }
    expect(mentionsEvent(tree, 'purchase')).toBe(true);
    expect(mentionsEvent(tree, 'user.signup')).toBe(true);
    expect(mentionsEvent(tree, 'email.opened')).toBe(false);
    expect(mentionsEvent(tree, 'Purchase')).toBe(false);
  });
});
