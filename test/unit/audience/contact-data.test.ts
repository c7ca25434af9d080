import { contactKeys } from '@fernpost/earlier-name';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitData, unwrapData } from '../../../src/lib/contact-data.ts';
import { AppError } from '../../../src/lib/errors.ts';

describe('contact data of a request', () => {
  test('is stored, ignored, deleted or passed on as the contract says', () => {
    const split = splitData({
      plan: 'team',
      score: 0,
      newsletter: false,
      city: '',
      trial: null,
      tags: ['a'],
      profile: { a: 1 },
      code: { value: '4711', persistent: false },
      kept: { value: 'x', persistent: true },
      gone: { value: null, persistent: false },
    });
    expect(split.set).toEqual({
      plan: 'team',
      score: 0,
      newsletter: false,
      tags: ['a'],
      profile: { a: 1 },
      kept: { value: 'x', persistent: true },
    });
    expect(split.remove).toEqual(['trial']);
    expect(split.variables).toMatchObject({ city: '', trial: null, code: '4711', gone: null, plan: 'team' });
  });

  test('reserved names are dropped, ordinary ones that look like fields are not', () => {
    const { set } = splitData({
      id: 1,
      email: 'x',
      unsubscribeUrl: 'x',
      subscribeUrl: 'x',
      manageUrl: 'x',
      fernpost_id: 'x',
      fernpost_email: 'x',
      [contactKeys.id]: 'x',
      [contactKeys.email]: 'x',
      subscribed: true,
      createdAt: 'y',
    });
    expect(set).toEqual({ subscribed: true, createdAt: 'y' });
  });

  test('keys that could reach a prototype are dropped at any depth', () => {
    const { set } = splitData(
      JSON.parse('{"__proto__":{"admin":true},"a":{"constructor":1,"b":[{"prototype":2,"c":3}]}}'),
    );
    expect(JSON.stringify(set)).toBe('{"a":{"b":[{"c":3}]}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('a locale must be text', () => {
    expect(() => splitData({ locale: 5 })).toThrow(AppError);
    expect(splitData({ locale: 'pt-BR' }).set).toEqual({ locale: 'pt-BR' });
    expect(splitData({ locale: null }).remove).toEqual(['locale']);
  });

  test('no key is both set and removed, and every accepted key is a variable', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const accepted = Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'locale'));
        const { set, remove, variables } = splitData(accepted);
        expect(remove.filter((key) => Object.hasOwn(set, key))).toEqual([]);
        for (const key of [...Object.keys(set), ...remove]) expect(Object.hasOwn(variables, key)).toBe(true);
        expect(unwrapData(accepted)).toEqual(variables);
      }),
    );
  });

  test('text that Postgres would refuse is mended, and data without a bottom is refused', () => {
    const { set } = splitData({ 'k\ud800': 'a\udc00b', list: ['\ud83d', { 'x\udfff': '😀' }] });
    expect(set).toEqual({ 'k\ufffd': 'a\ufffdb', list: ['\ufffd', { 'x\ufffd': '😀' }] });
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(splitData({ a: nested(99) }).set).toHaveProperty('a');
    for (const levels of [102, 100_000]) {
      const refused = () => splitData({ a: nested(levels) });
      expect(refused, `${levels}`).toThrow(AppError);
      expect(refused).toThrow(/"data" must not be nested/);
    }
  });
});
