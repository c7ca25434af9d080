import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isHeldOut, suppressionOf } from '../../../src/contacts/suppressions/matching.ts';
import type { MatchingRule } from '../../../src/contacts/suppressions/schema.ts';
import { matchesGlob } from '../../../src/lib/text.ts';

const at = new Date('2026-03-15T12:34:56.789Z');
const rule = (kind: MatchingRule['kind'], pattern: string, name = `${kind} ${pattern}`): MatchingRule => ({
  id: '0199b1f0-0000-7000-8000-000000000001',
  name,
  kind,
  pattern,
});
const catches = (kind: MatchingRule['kind'], pattern: string, address: string) =>
  suppressionOf([rule(kind, pattern)], address, at) !== null;

describe('a rule', () => {
  test.each<[MatchingRule['kind'], string, string, boolean]>([
    ['ADDRESS', 'qa@acme.test', 'qa@acme.test', true],
    ['ADDRESS', 'qa@acme.test', 'qa+1@acme.test', false],
    ['ADDRESS', 'qa@acme.test', 'qa@mail.acme.test', false],
    ['DOMAIN', 'acme.test', 'anybody@acme.test', true],
    ['DOMAIN', 'acme.test', 'anybody@mail.acme.test', false],
    ['DOMAIN', 'acme.test', 'anybody@notacme.test', false],
    ['PREFIX', 'test-', 'test-17@acme.test', true],
    ['PREFIX', 'test-', 'my-test-17@acme.test', false],
    ['PREFIX', 'acme', 'x@acme.test', false],
    ['PREFIX', 't*', 'test@acme.test', false],
    ['SUFFIX', '+qa', 'anna+qa@acme.test', true],
    ['SUFFIX', '+qa', 'anna+qa2@acme.test', false],
    ['SUFFIX', 'test', 'x@acme.test', false],
    ['WILDCARD', '*@acme.test', 'a.b@acme.test', true],
    ['WILDCARD', '*@acme.test', 'a.b@acme.test.example', false],
    ['WILDCARD', 'qa?@*.test', 'qa1@mail.acme.test', true],
    ['WILDCARD', 'qa?@*.test', 'qa@mail.acme.test', false],
    ['WILDCARD', '*+*@*', 'anna+news@acme.test', true],
    ['WILDCARD', 'a.b@acme.test', 'axb@acme.test', false],
  ])('%s %s and %s: %s', (kind, pattern, address, expected) => {
    expect(catches(kind, pattern, address)).toBe(expected);
  });
});

test('the first rule that matches counts, and the match says which it was', () => {
  const rules = [rule('DOMAIN', 'other.test'), rule('PREFIX', 'qa', 'QA team'), rule('DOMAIN', 'acme.test')];
  expect(suppressionOf(rules, 'qa7@acme.test', at)).toEqual({
    ruleId: '0199b1f0-0000-7000-8000-000000000001',
    name: 'QA team',
    kind: 'PREFIX',
    pattern: 'qa',
    recipient: 'qa7@acme.test',
    matchedAt: '2026-03-15T12:34:56.789Z',
  });
  expect(suppressionOf(rules, 'anna@example.com', at)).toBeNull();
  expect(suppressionOf([], 'anna@example.com', at)).toBeNull();
});

describe('wildcards', () => {
  test('match what the regular expression of the same meaning matches', () => {
    let matched = 0;
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '@'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '@', '*', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, letters, (glob, text) => {
        const source = glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
        const expected = new RegExp(`^${source}$`).test(text);
        if (expected) matched += 1;
        expect(matchesGlob(glob, text)).toBe(expected);
      }),
      { numRuns: 5000 },
    );
    expect(matched).toBeGreaterThan(100);
  });

  test('take no longer for patterns that make a regular expression try everything', () => {
    const address = `${'a'.repeat(240)}@acme.test`;
    expect(matchesGlob(`${'a*'.repeat(120)}b@acme.test`, address)).toBe(false);
  });
});

describe('the control group', () => {
  const ids = Array.from({ length: 100_000 }, (_, n) => `0199b1f0-0000-7000-8000-${n.toString(16).padStart(12, '0')}`);
  const members = (percent: number, key = 'a key', until: string | null = null) =>
    ids.filter((id) => isHeldOut({ key, percent, until }, id, at));

  test('has its share of the contacts, and keeps its members while that grows', () => {
    let before = new Set<string>();
    for (const percent of [0, 0.5, 5, 20, 50, 100]) {
      const now = new Set(members(percent));
      expect(Math.abs((100 * now.size) / ids.length - percent)).toBeLessThan(0.5);
      expect([...before].filter((id) => !now.has(id))).toEqual([]);
      before = now;
    }
    expect(before.size).toBe(ids.length);
  });

  test('is the same each time, and another by another key', () => {
    const [first, again] = [members(10), members(10)];
    expect(again).toEqual(first);
    const other = new Set(members(10, 'another key'));
    const both = first.filter((id) => other.has(id)).length;
    expect(both / first.length).toBeGreaterThan(0.05);
    expect(both / first.length).toBeLessThan(0.15);
  });

  test('ends at its instant', () => {
    const end = (ms: number) => new Date(at.getTime() + ms).toISOString();
    expect([members(100, 'k', end(1)).length, members(100, 'k', end(0)).length]).toEqual([ids.length, 0]);
    expect(isHeldOut(null, ids[0] ?? '', at)).toBe(false);
  });
});
