import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  domainOf,
  EmailField,
  isEmail,
  localPartOf,
  normalizeEmail,
} from '../../../src/lib/validation/email-address.ts';

const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const alphanumeric = [...letters, ...'0123456789'];
// RFC 5322, 3.2.3: atext.
const localCharacters = [...alphanumeric, ..."!#$%&'*+-/=?^_`{|}~"];
const labelCharacters = [...alphanumeric, '-'];

function word(characters: string[], minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength });
}

function dotted(part: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
}

const localPart = dotted(word(localCharacters, 1, 12));
const label = word(labelCharacters, 1, 12).filter((text) => !/^-|-$/.test(text));
const top = fc.oneof(
  word(letters, 2, 8),
  label.map((text) => `xn--${text}`),
);
const domain = fc.tuple(dotted(label), top).map((parts) => parts.join('.'));
const address = fc.tuple(localPart, domain).map(([local, host]) => `${local}@${host}`);
const blanks = fc.constantFrom('', ' ', '\t', '\r\n', '\u00a0', '\ufeff ');

describe('an address of the contract’s form', () => {
  test('is accepted in any letter case, with blanks around it, and comes out trimmed and lower-cased', () => {
    fc.assert(
      fc.property(address, blanks, blanks, (text, before, after) => {
        expect(normalizeEmail(before + text + after)).toBe(text.toLowerCase());
        expect(v.parse(EmailField, before + text + after)).toBe(text.toLowerCase());
      }),
    );
  });

  test('stays as it is when it is normalised again', () => {
    fc.assert(
      fc.property(address, (text) => {
        const once = normalizeEmail(text);
        expect(once).not.toBeNull();
        expect(normalizeEmail(once ?? '')).toBe(once);
      }),
    );
  });

  test('falls apart into its local part and its domain', () => {
    fc.assert(
      fc.property(localPart, domain, (local, host) => {
        expect(localPartOf(`${local}@${host}`)).toBe(local);
        expect(domainOf(`${local}@${host}`)).toBe(host);
      }),
    );
  });

  test.each([
    ['a@b.co', 'the shortest there is'],
    ["o'neil+news_2026-01.x@sub.example.co.uk", 'every character that is allowed'],
    ['1@2.example', 'digits only'],
    ['juergen@xn--mller-kva.example', 'a domain in its ASCII form'],
    ['info@example.xn--p1ai', 'below a top-level domain in its ASCII form'],
    ['info@EXAMPLE.XN--VERMGENSBERATUNG-PWB', 'the same in capitals'],
    ["!#$%&'*+-/=?^_`{|}~@example.com", 'every character of an atom'],
    [`${'a'.repeat(242)}@example.com`, 'of 254 characters'],
  ])('%s is one: %s', (text) => {
    expect(isEmail(text)).toBe(true);
  });
});

describe('anything else', () => {
  test.each([
    ['', 'nothing'],
    ['   ', 'blanks'],
    ['example.com', 'no @'],
    ['@example.com', 'no local part'],
    ['ada@', 'no domain'],
    ['ada@example', 'a domain without a dot'],
    ['ada@@example.com', 'two @ together'],
    ['ada@home@example.com', 'two @ apart'],
    ['.ada@example.com', 'a leading dot'],
    ['ada.@example.com', 'a trailing dot'],
    ['ada..lovelace@example.com', 'a double dot'],
    ['ada@.example.com', 'an empty first label'],
    ['ada@example..com', 'an empty label'],
    ['ada@example.com.', 'a dot at the end'],
    ['ada@example.c', 'a top label of one letter'],
    ['ada@example.c0m', 'a digit in the top label'],
    ['ada@example.xn--', 'a top label without what stands behind its prefix'],
    ['ada@example.xn--p1ai-', 'a top label that ends with a hyphen'],
    ['ada@-example.com', 'a label that begins with a hyphen'],
    ['ada@example-.com', 'a label that ends with a hyphen'],
    ['ada@mail.-example.com', 'a later label that begins with a hyphen'],
    ['ada@exa_mple.com', 'an underscore in the domain'],
    ['ada@[127.0.0.1]', 'an address literal'],
    ['ada lovelace@example.com', 'a blank inside'],
    ['"ada lovelace"@example.com', 'a quoted local part'],
    ['Ada <ada@example.com>', 'a display name'],
    ['ada@example.com, bob@example.com', 'two addresses'],
    ['ada@example.com\nbcc: eve@example.com', 'a second line'],
    ['ada\u0000@example.com', 'U+0000'],
    ['jürgen@example.com', 'a letter outside ASCII'],
    ['ada@exämple.com', 'a domain outside ASCII'],
    [`${'a'.repeat(243)}@example.com`, 'of 255 characters'],
  ])('%j is refused: %s', (text) => {
    expect(normalizeEmail(text)).toBeNull();
    expect(v.safeParse(EmailField, text).success).toBe(false);
  });

  test('an address with one character that is not allowed is refused', () => {
    const allowed = new Set([...localCharacters, '.', '@']);
    const stranger = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((c) => !allowed.has(c));
    fc.assert(
      fc.property(localPart, stranger, localPart, domain, (before, odd, after, host) => {
        expect(isEmail(`${before}${odd}${after}@${host}`)).toBe(false);
        expect(isEmail(`${before}@x${odd}${host}`)).toBe(false);
      }),
    );
  });

  test('a letter that becomes ASCII only by lower-casing does not slip in as somebody else', () => {
    const kelvinSign = '\u212a';
    expect(kelvinSign.toLowerCase()).toBe('k');
    expect(normalizeEmail(`${kelvinSign}lara@example.com`)).toBeNull();
    expect(v.safeParse(EmailField, `${kelvinSign}lara@example.com`).success).toBe(false);
  });

  test('a long text made to be slow is refused like any other', () => {
    expect(isEmail(`${'a.'.repeat(200_000)}@example.com`)).toBe(false);
    expect(isEmail(`ada@${'a-'.repeat(200_000)}.`)).toBe(false);
  });
});

describe('in a request', () => {
  test('a malformed address is a problem of its format, a number one of its type', () => {
    const malformed = v.safeParse(EmailField, 'not-an-email');
    expect(malformed.issues).toMatchObject([
      { type: 'regex', message: 'must be an email address', received: '"not-an-email"' },
    ]);
    expect(v.safeParse(EmailField, 5).issues).toMatchObject([{ type: 'string', received: '5' }]);
  });
});
