import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { isEmail, normalizeEmail } from '../../../src/lib/validation/email-address.ts';

describe('the list export of a mailing tool', () => {
  const rows = parse(readFileSync(new URL('../../data/audience.csv', import.meta.url)), {
    bom: true,
    columns: true,
  }) as Record<string, string>[];
  const cells = rows.map((row) => row['Email Address'] ?? '');

  test('has 2 000 rows, of which exactly the empty and the malformed ones have no address', () => {
    expect(cells).toHaveLength(2000);
    const refused = cells.filter((cell) => !isEmail(cell));
    expect(new Set(refused.map((cell) => cell.trim()))).toEqual(new Set(['', 'not-an-email']));
  });

  test('holds the same person in several spellings, and they become one', () => {
    const spellings = new Set(cells.filter((cell) => isEmail(cell)));
    const people = new Set([...spellings].map((cell) => normalizeEmail(cell)));
    expect(people.size).toBeGreaterThan(1900);
    expect(spellings.size).toBeGreaterThan(people.size);
    for (const person of people)
      expect(person).toMatch(/^[a-z0-9.+_'-]+@(example\.(com|org)|mail\.example\.net|(posta|kunde)\.example)$/);
  });
});
