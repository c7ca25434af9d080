import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wilson } from '../../src/automations/runtime/goals.ts';

test('the interval is that of published tables, also where nobody or everybody is in', () => {
  // Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I, method 3.
  const published = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const;
  for (const [met, of, low, high] of published) {
    const interval = wilson(met, of);
    expect(interval?.low).toBeCloseTo(low, 4);
    expect(interval?.high).toBeCloseTo(high, 4);
  }
  expect(wilson(0, 20)?.low).toBe(0);
  expect(wilson(20, 20)?.high).toBe(1);
  expect(wilson(0, 0)).toBeNull();
});

test('the interval holds the share, lies within 0 and 1, mirrors, and is narrower the more there are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
      const met = Math.round(of * share);
      const { low, high } = wilson(met, of) ?? { low: 2, high: -1 };
      const mirrored = wilson(of - met, of);
      const more = wilson(met * 10, of * 10) ?? { low: 0, high: 1 };
      expect(low).toBeLessThanOrEqual(met / of + 1e-12);
      expect(high).toBeGreaterThanOrEqual(met / of - 1e-12);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(mirrored?.low).toBeCloseTo(1 - high, 12);
      expect(more.high - more.low).toBeLessThan(high - low);
    }),
  );
});
