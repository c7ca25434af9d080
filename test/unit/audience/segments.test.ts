import { segmentSlug } from '@fernpost/workflow-graph';
import { describe, expect, test } from 'vitest';
import { wantedAddresses } from '../../../src/segments/members.ts';
import { inOrder } from '../../../src/segments/sweep.ts';

const id = '0199b1f0-0000-7000-8000-000000000001';

describe('the slug of a name', () => {
  test.each([
    ['VIP Users!', 'vip-users'],
    ['  Spaced   out\tname ', 'spaced-out-name'],
    ['snake_case and-dash', 'snake_case-and-dash'],
    ['a - b -- c', 'a-b-c'],
    ['-edge-', 'edge'],
    ['!edge !', 'edge'],
    ['Größe 42', 'gre-42'],
    ['ACME (2026)', 'acme-2026'],
    ['no\u00a0break', 'no-break'],
    ['日本', id],
    ['!?', id],
    [' - ', id],
  ])('%j is %s', (name, slug) => {
    expect(segmentSlug({ id, name })).toBe(slug);
  });
});

test('of several spellings of an address the first is kept, and what is no address is told apart', () => {
  const { spellings, malformed } = wantedAddresses([
    ' Anna@Kunde.example',
    'anna@kunde.example',
    'Ben',
    'ben ',
    '',
    'x@y',
  ]);
  expect([...spellings]).toEqual([['anna@kunde.example', ' Anna@Kunde.example']]);
  expect(malformed).toEqual(['Ben', '', 'x@y']);
});

describe('the order of a sweep', () => {
  const segment = (name: string, ...watchedSegments: string[]) => ({ id: name, watchedSegments });
  const order = (...segments: { id: string; watchedSegments: string[] }[]) => inOrder(segments).map((each) => each.id);

  test('puts a segment after those that it refers to', () => {
    expect(order(segment('a', 'b', 'c'), segment('b', 'c'), segment('c'), segment('d'))).toEqual(['c', 'b', 'a', 'd']);
  });

  test('ends where segments are gone or refer to one another in a circle', () => {
    expect(order(segment('a', 'gone'), segment('b', 'c'), segment('c', 'b')).toSorted()).toEqual(['a', 'b', 'c']);
  });
});
