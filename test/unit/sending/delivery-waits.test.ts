import { describe, expect, test } from 'vitest';
import { retryDelay } from '../../../src/mail/engine/attempts.ts';
import { backOff } from '../../../src/mail/engine/breaker.ts';
import { judgeUnconfirmed } from '../../../src/mail/engine/look-up.ts';

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

describe('mail whose provider cannot be asked', () => {
  const judged = (sinceMs: number, ageMs = sinceMs) => {
    const mail = { emailId: 'lost', attempts: 0, ageMs, sinceMs, lagMs: Math.max(0, 60_000 - sinceMs) };
    return judgeUnconfirmed(mail, { accepted: null, unsure: new Set(), proofMs: 0 }, false);
  };

  test.each([
    [0, 60_000],
    [100_000, 10_000],
    [16 * 60_000, 60_000],
    [23 * hour, 60_000],
  ])('waits and is not sent again unchecked: after %d ms another %d', (sinceMs, delayMs) => {
    expect(judged(sinceMs)).toEqual({ kind: 'wait', delayMs });
  });

  test('is given up a day after its hand-over, whatever its age', () => {
    expect(judged(hour, 25 * hour).kind).toBe('wait');
    expect(judged(25 * hour)).toEqual({ kind: 'failed', reason: { code: 'submission_unknown' } });
  });
});
