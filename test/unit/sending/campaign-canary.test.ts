import { expect, test } from 'vitest';
import { type CanaryFacts, decideCanary } from '../../../src/launches/canary/decide.ts';
import { canarySentence, holdSeconds, holdText, stopSentence } from '../../../src/launches/canary/view.ts';

const counts = { pending: 0, mailed: 1000, delivered: 900, bounced: 0, complained: 0, unsubscribed: 0 };
const decide = (changes: Partial<CanaryFacts['counts']>, facts: Partial<CanaryFacts> = {}) =>
  decideCanary({
    counts: { ...counts, ...changes },
    openClaims: 0,
    held: 0,
    stopIf: { bounceRate: 3, complaintRate: 0.1, unsubscribeRate: 2 },
    minDelivered: 300,
    isHoldOver: false,
    isProjectDisabled: false,
    isReleased: false,
    ...facts,
  });

test.each([
  ['bounced', 'canary_bounce_rate', 29, 30, 31, 3],
  ['complained', 'canary_complaint_rate', 0, 1, 2, 0.1],
  ['unsubscribed', 'canary_unsubscribe_rate', 19, 20, 21, 2],
] as const)('%s: below and at the limit it goes on, above it stops', (kind, code, below, at, above, limit) => {
  expect(decide({ [kind]: below })).toEqual({ next: 'hold' });
  expect(decide({ [kind]: at })).toEqual({ next: 'hold' });
  const stopped = { code, count: above, of: 1000, limit };
  expect(decide({ [kind]: above })).toEqual({ next: 'stop', stopped });
  expect(decide({ [kind]: above }, { isHoldOver: true })).toEqual({ next: 'stop', stopped });
});

test('limits are compared exactly, whatever floating-point numbers make of them', () => {
  for (let hundredths = 0; hundredths <= 10_000; hundredths += 1) {
    const stopIf = { bounceRate: hundredths / 100 };
    expect(decide({ mailed: 10_000, bounced: hundredths }, { stopIf }).next).toBe('hold');
    if (hundredths < 10_000) expect(decide({ mailed: 10_000, bounced: hundredths + 1 }, { stopIf }).next).toBe('stop');
  }
});

test('a limit of 0 allows none, and no limit allows all', () => {
  expect(decide({ complained: 1 }, { stopIf: { complaintRate: 0 } }).next).toBe('stop');
  expect(decide({ complained: 0 }, { stopIf: { complaintRate: 0 } }).next).toBe('hold');
  expect(decide({ complained: 1000, bounced: 1000 }, { stopIf: { complaintRate: null } }).next).toBe('hold');
});

test('while the slice is being sent a limit breaks only when the rest could not mend it', () => {
  expect(decide({ mailed: 100, pending: 900, bounced: 30 }).next).toBe('send');
  expect(decide({ mailed: 100, pending: 900, bounced: 31 }).next).toBe('stop');
  expect(decide({ mailed: 1000, pending: 0 }, { openClaims: 1 }).next).toBe('send');
});

test('at the end of the hold enough must be known as delivered', () => {
  expect(decide({ delivered: 300 }, { isHoldOver: true })).toEqual({ next: 'pass' });
  expect(decide({ delivered: 299 }, { isHoldOver: true })).toEqual({
    next: 'stop',
    stopped: { code: 'canary_too_few_delivered', count: 299, of: 1000, limit: 300 },
  });
  expect(decide({ delivered: 299 })).toEqual({ next: 'hold' });
});

test('the canary of a disabled project holds nobody back, and still stops what it would stop', () => {
  const isProjectDisabled = true;
  expect(decide({ delivered: 0 }, { isProjectDisabled })).toEqual({ next: 'pass' });
  expect(decide({ mailed: 900, pending: 100 }, { isProjectDisabled })).toEqual({ next: 'send' });
  expect(decide({ bounced: 31 }, { isProjectDisabled }).next).toBe('stop');
});

test('once a person has decided, no limit counts and only the rest of the slice is waited for', () => {
  expect(decide({ bounced: 1000 }, { isReleased: true })).toEqual({ next: 'pass' });
  expect(decide({ bounced: 1000, pending: 3 }, { isReleased: true })).toEqual({ next: 'send' });
  expect(decide({}, { isReleased: true, openClaims: 1 })).toEqual({ next: 'send' });
});

test('holds are read and written', () => {
  expect(['90s', '60m', '24h', '1s'].map(holdSeconds)).toEqual([90, 3600, 86_400, 1]);
  expect(['', '0m', '60', '1d', '-5m', '1.5h'].map(holdSeconds)).toEqual(Array(6).fill(Number.NaN));
  expect([90, 3600, 86_400, 120].map(holdText)).toEqual(['90s', '1h', '24h', '2m']);
});

test('sentences say what is waited for and what broke', () => {
  const base = { recipients: 1000, stopped: null, releasedAt: null, heldUntil: '2026-11-22T10:41:00.000Z' };
  const said = { ...counts, delivered: 412 };
  expect(canarySentence({ ...base, state: 'HOLDING', counts: said })).toBe(
    'Canary: 412 of 1,000 delivered, continues at 2026-11-22T10:41:00.000Z',
  );
  expect(canarySentence({ ...base, state: 'PASSED', counts: said })).toBeNull();
  expect(stopSentence({ code: 'canary_bounce_rate', count: 41, of: 1000, limit: 3 })).toBe(
    'Paused by the canary: 41 of 1,000 bounced (4.1%), more than the limit of 3%',
  );
  expect(stopSentence({ code: 'canary_too_few_delivered', count: 12, of: 1000, limit: 300 })).toBe(
    'Paused by the canary: 12 of 1,000 were reported as delivered, and at least 300 are needed',
  );
});
