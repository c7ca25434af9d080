import { describe, expect, test } from 'vitest';
import { retryDelay } from '../../../src/mail/engine/attempts.ts';
import { backOff } from '../../../src/mail/engine/breaker.ts';

const hour = 3_600_000;

describe('what a provider asks to be waited for', () => {
  test('is waited for where it is longer than our own pause', () => {
    expect(retryDelay(0, 20_000, 0)).toBe(20_000);
    expect(backOff(1, false, 20_000, 0)).toBe(20_000);
    expect(retryDelay(0, 10, 0)).toBe(750);
  });

  test.each([30 * 86_400_000, Number('9'.repeat(400)) * 1000])(
    'is an hour at most, whatever a header says: %d ms',
    (asked) => {
      expect(retryDelay(0, asked, 0)).toBe(hour);
      expect(backOff(1, false, asked, 0)).toBe(hour);
      expect(backOff(9, true, asked, 0)).toBe(hour);
    },
  );
});
