import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { choice, coded, codedAt, sentenceOf, textField } from '../../../src/lib/validation/fields.ts';
import { fieldProblems } from '../../../src/lib/validation/problems.ts';

describe('problems of a request', () => {
  const Shape = v.pipe(
    v.object({
      name: textField('name', 1, 3),
      kind: v.picklist(['a', 'b']),
      to: v.union([
        v.pipe(v.string(), v.email()),
        v.array(v.union([v.pipe(v.string(), v.email()), v.object({ email: v.string() })])),
      ]),
      inner: v.optional(v.array(v.object({ count: v.number() }))),
    }),
    codedAt('custom', 'kind', (value) => value.kind !== 'b' || value.name === 'b', 'b needs the name b'),
  );
  const problems = (input: unknown) => {
    const parsed = v.safeParse(Shape, input);
    return parsed.success
      ? []
      : fieldProblems(parsed.issues).map(({ field, code, received }) => [field, code, received]);
  };

  test('carry the dotted path and a code', () => {
    expect(problems({ name: '', kind: 'c', to: 'no', inner: [{ count: 1 }, { count: 'x' }] })).toEqual([
      ['name', 'too_small', undefined],
      ['kind', 'invalid_enum_value', undefined],
      ['to', 'invalid_string', undefined],
      ['inner.1.count', 'invalid_type', 'string'],
    ]);
    expect(problems({ name: 'abcd', to: [5, 'no'] })).toEqual([
      ['name', 'too_big', undefined],
      ['kind', 'invalid_type', 'undefined'],
      ['to.0', 'invalid_union', undefined],
      ['to.1', 'invalid_string', undefined],
    ]);
    expect(problems({ name: 'a', kind: 'b', to: [] })).toEqual([['kind', 'custom', undefined]]);
    expect(problems({ name: 'a', kind: 'a', to: null })).toEqual([['to', 'invalid_union', undefined]]);
  });
});

test('a check with a code of its own is told by that code, and its message stays as it is', () => {
  const Even = v.pipe(
    v.number(),
    coded('odd', (value) => value % 2 === 0, 'must be even'),
  );
  const { issues = [] } = v.safeParse(v.object({ count: Even }), { count: 3 });
  expect(issues.map(({ message }) => message)).toEqual(['must be even']);
  expect(fieldProblems(issues, 'order')).toEqual([{ field: 'order.count', code: 'odd', message: 'must be even' }]);
});

test('a message says what is expected, what is absent, and which words there are', () => {
  const Shape = v.object({ name: v.string(), count: v.number(), kind: choice(['a', 'b']) });
  const { issues = [] } = v.safeParse(Shape, { name: null, kind: 'c' });
  expect(fieldProblems(issues)).toEqual([
    { field: 'name', code: 'invalid_type', message: 'must be string, not null', received: 'null' },
    { field: 'count', code: 'invalid_type', message: 'is required', received: 'undefined' },
    { field: 'kind', code: 'invalid_enum_value', message: 'must be one of a, b' },
  ]);
});

test.each([
  ['to.1', 'must be an email address', '"to.1" must be an email address'],
  ['to', 'is required', '"to" is required'],
  ['event', 'event must not be empty', '"event" must not be empty'],
  ['template', 'send either "template", or both', '"template" is invalid: send either "template", or both'],
  ['', 'must be an object, not an array', 'The request body must be an object, not an array'],
])('a problem of the field %j that says %j is told in a sentence', (field, message, told) => {
  expect(sentenceOf({ field, message, code: 'custom' })).toBe(told);
});
