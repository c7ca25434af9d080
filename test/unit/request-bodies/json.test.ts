import { expect, test } from 'vitest';
import { exceededLimit, findNul, wellFormed } from '../../../src/http/bodies/json.ts';

const shape = (text: string, levels: number, values: number) => exceededLimit(Buffer.from(text), { levels, values });
const nested = (levels: number, core: unknown = 1) => {
  let value = core;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

test.each([
  ['{"a":[1,{"b":2}]}', 3],
  ['[]', 1],
  ['"text"', 0],
  ['{"brackets":"[[[{{{","escaped":"\\"[[["}', 1],
  ['[[],[],[[]]]', 3],
])('the levels of %s are %i', (text, levels) => {
  expect(shape(text, levels, 1_000)).toBeNull();
  if (levels > 0) expect(shape(text, levels - 1, 1_000)).toBe('levels');
});

test.each([
  ['[1,2,3]', 4],
  ['{"z":[{},{},{}]}', 8],
  ['{"commas":",,,,"}', 2],
])('the values of %s are at most %i', (text, values) => {
  expect(shape(text, 64, values)).toBeNull();
  expect(shape(text, 64, values - 1)).toBe('values');
});

test('two million levels are told without nesting a call', () => {
  expect(shape('['.repeat(2_000_000), 64, 1_000)).toBe('levels');
  expect(findNul(nested(200_000, 'a\u0000b'))).toContain('a.0.a');
  expect(() => wellFormed(nested(200_000, '\ud800'))).not.toThrow();
});

test('U+0000 is found at its first place, in strings and in keys', () => {
  expect(findNul({ a: { b: ['x', 'y\u0000'] }, c: '\u0000' })).toBe('a.b.1');
  expect(findNul({ a: { 'b\u0000': 1 } })).toBe('a');
  expect(findNul({ a: 'b' })).toBeNull();
});

test('halves of surrogate pairs become replacement characters, in strings and in keys', () => {
  const value = JSON.parse('{"a\\ud800":["\\udc00",{"b":"ok"}],"__proto__":"\\ud800"}') as object;
  const sound = wellFormed(value) as object;
  expect(JSON.stringify(sound)).toBe(
    JSON.stringify(JSON.parse('{"__proto__":"\ufffd","a\ufffd":["\ufffd",{"b":"ok"}]}')),
  );
});
