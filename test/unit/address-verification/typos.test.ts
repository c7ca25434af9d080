import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadLists, suggestDomain } from '../../../src/accounts/verification/addresses/typo.ts';
import { editDistance } from '../../../src/lib/text.ts';

const lists = loadLists();

describe('the distance of two words', () => {
  test.each([
    ['gmail', 'gmail', 0],
    ['gmial', 'gmail', 1],
    ['gmai', 'gmail', 1],
    ['ggmail', 'gmail', 1],
    ['gnail', 'gmail', 1],
    ['icould', 'icloud', 2],
    ['', 'ab', 2],
    ['ca', 'abc', 3],
  ])('from %j to %j is %i', (a, b, distance) => {
    expect(editDistance(a, b, 10)).toBe(distance);
  });

  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });

  test('is the same there and back, and zero only between equal words', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b, 20)).toBe(editDistance(b, a, 20));
        expect(editDistance(a, b, 20) === 0).toBe(a === b);
      }),
    );
  });

  test('up to a limit is the true one, and one more than the limit beyond it', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 8 }), (a, b, limit) => {
        expect(editDistance(a, b, limit)).toBe(Math.min(editDistance(a, b, 20), limit + 1));
      }),
    );
  });

  test('is one after one slip anywhere', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2, maxLength: 10 }), fc.nat(), (text, at) => {
        const characters = [...text].filter((c) => c.length === 1);
        fc.pre(characters.length > 1);
        const place = at % (characters.length - 1);
        const swapped = characters.toSpliced(place, 2, characters[place + 1] ?? '', characters[place] ?? '');
        fc.pre(swapped.join('') !== characters.join(''));
        expect(editDistance(swapped.join(''), characters.join(''), 3)).toBe(1);
        expect(editDistance(characters.toSpliced(place, 1).join(''), characters.join(''), 3)).toBe(1);
      }),
    );
  });
});

describe('a mistyped domain', () => {
  test.each([
    ['gmial.com', 'gmail.com'],
    ['gamil.com', 'gmail.com'],
    ['gmai.com', 'gmail.com'],
    ['gmal.com', 'gmail.com'],
    ['gmaill.com', 'gmail.com'],
    ['gnail.com', 'gmail.com'],
    ['mgail.com', 'gmail.com'],
    ['gmila.com', 'gmail.com'],
    ['gmail.con', 'gmail.com'],
    ['gmail.comm', 'gmail.com'],
    ['gmail.cmo', 'gmail.com'],
    ['gmail.co', 'gmail.com'],
    ['gmail.cm', 'gmail.com'],
    ['gmial.con', 'gmail.com'],
    ['yaho.com', 'yahoo.com'],
    ['yahooo.com', 'yahoo.com'],
    ['ahoo.com', 'yahoo.com'],
    ['yahoo.couk', 'yahoo.co.uk'],
    ['yaho.co.uk', 'yahoo.co.uk'],
    ['yhaoo.fr', 'yahoo.fr'],
    ['hotmial.com', 'hotmail.com'],
    ['hotmal.com', 'hotmail.com'],
    ['jotmail.com', 'hotmail.com'],
    ['homtial.com', 'hotmail.com'],
    ['hotmail.om', 'hotmail.com'],
    ['outlok.com', 'outlook.com'],
    ['outloook.com', 'outlook.com'],
    ['iclod.com', 'icloud.com'],
    ['icould.com', 'icloud.com'],
    ['protonmial.cmo', 'protonmail.com'],
    ['protnmial.com', 'protonmail.com'],
    ['comcst.net', 'comcast.net'],
    ['comcast.ne', 'comcast.net'],
    ['wanado.fr', 'wanadoo.fr'],
    ['t-onlnie.de', 't-online.de'],
    ['gmx.ed', 'gmx.de'],
    ['gmx.dee', 'gmx.de'],
    ['aol.con', 'aol.com'],
  ])('%s was meant to be %s', (typed, meant) => {
    expect(suggestDomain(typed, lists)).toBe(meant);
  });

  test.each([
    ['acme.con', 'acme.com'],
    ['mail.acme.ocm', 'mail.acme.com'],
    ['acme.nett', 'acme.net'],
    ['acme.ogr', 'acme.org'],
    ['acme.couk', 'acme.co.uk'],
    ['-acme.vom', '-acme.com'],
  ])('%s has a top-level domain that does not exist, and was meant to be %s', (typed, meant) => {
    expect(suggestDomain(typed, lists)).toBe(meant);
  });
});

describe('a real domain is no typo', () => {
  test.each([
    'mail.com',
    'email.com',
    'gail.com',
    'ymail.com',
    'hey.com',
    'gmx.de',
    'gmx.net',
    'web.de',
    'me.com',
    'mac.com',
    'msn.com',
    'man.com',
    'aol.com',
    'live.com',
    'love.com',
    'line.com',
    'cloud.com',
    'proton.me',
    'pm.me',
    'yahoo.ca',
    'yahoo.ie',
    'hotmail.gr',
    'hotmail.nl',
    'outlook.ie',
    'yandex.kz',
    'horizon.net',
    'vernon.net',
    'compact.net',
    'lapost.at',
    'mailbox.org',
    'posteo.de',
    'duck.com',
    'microsoft.com',
    'google.com',
    'a.co',
    'angel.co',
    'cam.ac.uk',
    'acme.com.co',
    'github.io',
    'news.bbc.co.uk',
    'gmail.example.com',
    '-acme.com',
  ])('%s', (domain) => {
    expect(suggestDomain(domain, lists)).toBeUndefined();
  });

  test.each([
    'fernpost.test',
    'kunde.example',
    'posta.example',
    'example.com',
    'mail.internal',
    'printer.local',
    'x.onion',
  ])('%s, whose ending is kept for tests and private networks', (domain) => {
    expect(suggestDomain(domain, lists)).toBeUndefined();
  });

  test('nor is any domain on a list', () => {
    const listed = [...lists.personal, ...lists.alias, ...lists.notTypos, ...lists.popular.map((p) => p.domain)];
    expect(listed.length).toBeGreaterThan(500);
    expect(listed.filter((domain) => suggestDomain(domain, lists) !== undefined)).toEqual([]);
    const disposable = [...lists.disposable];
    expect(disposable.length).toBeGreaterThan(150);
    expect(disposable.filter((domain) => suggestDomain(domain, lists) !== undefined)).toEqual([]);
  });
});

test('whatever is suggested is another domain, and no typo itself', () => {
  const popular = fc.constantFrom(...lists.popular.map((p) => p.domain));
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');
  let suggestions = 0;
  fc.assert(
    fc.property(popular, fc.nat(), letter, fc.boolean(), (domain, at, added, replace) => {
      const typed = [...domain].toSpliced(at % domain.length, replace ? 1 : 0, added).join('');
      const meant = suggestDomain(typed, lists);
      if (meant === undefined) return;
      suggestions++;
      expect(meant).not.toBe(typed);
      expect(suggestDomain(meant, lists)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
  expect(suggestions).toBeGreaterThan(100);
});
