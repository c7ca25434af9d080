import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppError } from '../../../src/lib/errors.ts';
import { instantOf, isUuid, newId } from '../../../src/lib/ids.ts';
import { clampLimit, decodeCursor, encodeCursor, isInstant } from '../../../src/lib/pages.ts';
import { seal, unseal } from '../../../src/lib/seal.ts';
import { cutText } from '../../../src/lib/text.ts';
import { noSoonerThan } from '../../../src/lib/time.ts';
import { isoInstant } from '../../../src/store/columns.ts';

describe('ids', () => {
  test('are version 7 UUIDs, all different, in the order in which they were made', () => {
    const ids = Array.from({ length: 20_000 }, () => newId());
    expect(ids.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] ?? ''))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  test('stay in order when the clock steps back a little, and follow it when it was wrong by more than an hour', () => {
    const ahead = Date.now() + 86_400_000;
    const ids = [ahead, ahead - 3_000_000, ahead - 3_600_000].map((at) => newId(at));
    expect([...ids].sort()).toEqual(ids);
    expect(instantOf(newId(ahead - 3_700_000)).getTime()).toBe(ahead - 3_700_000);
  });
});

test('a text is cut to its length, and never in the middle of a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, length) => {
      const cut = cutText(text, length);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1);
      expect(cut.length).toBeLessThanOrEqual(length);
    }),
  );
  expect(cutText('x🪿', 2)).toBe('x');
});

describe('cursors', () => {
  test('come back as they were made', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 3, maxLength: 3 }), (place) => {
        expect(decodeCursor(encodeCursor(place), 3)).toEqual(place);
      }),
    );
  });

  test('an instant in them is one that Postgres reads as well', () => {
    for (const part of ['2026-03-01T09:15:00.123Z', '2026-03-01 09:15:00.1+00', '2028-02-29 00:00:00+00'])
      expect([part, isInstant(part)]).toEqual([part, true]);
    for (const part of [
      '2026-02-31T00:00:00Z',
      '2027-02-29 00:00:00+00',
      '0000-01-01T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:00:60Z',
      '2026-01-01',
      'Jan 5',
      20260101,
      null,
    ])
      expect([part, isInstant(part)]).toEqual([part, false]);
  });

  test('anything else is a 400 and never another error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          decodeCursor(text, 3);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          expect((error as AppError).status).toBe(400);
        }
      }),
    );
    expect(() => decodeCursor(encodeCursor(['a']), 2)).toThrow(AppError);
  });

  test.each([
    [undefined, 20],
    ['abc', 20],
    ['0', 20],
    ['-5', 20],
    ['7', 7],
    ['101', 100],
  ])('a limit of %s is %d', (text, limit) => {
    expect(clampLimit(text, 20, 100)).toBe(limit);
  });
});

describe('instants', () => {
  test.each([
    ['2026-01-15 10:30:00+00', '2026-01-15T10:30:00.000Z'],
    ['2026-01-15 10:30:00.1+00', '2026-01-15T10:30:00.100Z'],
    ['2026-01-15 10:30:00.123456+00', '2026-01-15T10:30:00.123Z'],
  ])('%s is %s', (text, iso) => {
    expect(isoInstant(text)).toBe(iso);
  });
});

describe('sealed secrets', () => {
  test('open with their key only, and no two look alike', () => {
    const one = seal('sk_secret', 'key one');
    expect(one).not.toContain('sk_secret');
    expect(unseal(one, 'key one')).toBe('sk_secret');
    expect(seal('sk_secret', 'key one')).not.toBe(one);
    expect(() => unseal(one, 'key two')).toThrow();
    // The last character carries bits that do not count.
    const changed = one.replace(/^v1\.(.)/, (_, first) => `v1.${first === 'A' ? 'B' : 'A'}`);
    expect(() => unseal(changed, 'key one')).toThrow();
  });
});

test('work that must not be told by its time is answered no sooner than said, also when it fails', async () => {
  vi.useFakeTimers();
  try {
    const settled: string[] = [];
    void noSoonerThan(100, async () => 'done').then((value) => settled.push(value));
    noSoonerThan(100, () => Promise.reject(new Error('failed'))).catch((error: Error) => settled.push(error.message));
    await vi.advanceTimersByTimeAsync(99);
    expect(settled).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(settled.sort()).toEqual(['done', 'failed']);
  } finally {
    vi.useRealTimers();
  }
});
