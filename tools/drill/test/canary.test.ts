import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { LedgerRow } from '../src/balance.ts';
import { canarySheet, canarySucceeded, chosen, compareSent, moments, planCanary } from '../src/canary/report.ts';
import type { CanaryResult } from '../src/canary/run.ts';

const campaign = '019f0000-0000-7000-8000-000000000001';
const rows: LedgerRow[] = Array.from({ length: 40 }, (_, n) => ({
  id: `mail-${n}`,
  contactId: `019f0000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  to: `person-${n}@birdwatch.example`,
  sent: true,
}));

test('the plan kills every process at as many moments as there are rounds', () => {
  for (const rounds of [1, 2, 3]) {
    const plan = planCanary({ seed: 7, rounds });
    const kills = moments.flatMap((moment) => plan[moment]);
    for (const victim of ['worker', 'api', 'postgres', 'temporal', 'sandbox'] as const)
      expect(kills.filter((kill) => kill === victim)).toHaveLength(rounds);
    for (const moment of moments) expect(new Set(plan[moment]).size).toBe(plan[moment].length);
  }
  expect(planCanary({ seed: 7, rounds: 1 })).toEqual(planCanary({ seed: 7, rounds: 1 }));
});

test('the canary is those of lowest hash, and a message to anybody else is found', () => {
  const canary = chosen(rows, campaign, 4);
  const hashes = rows.map(({ contactId }) =>
    createHash('sha256')
      .update(Buffer.from(`${campaign}${contactId}`.replaceAll('-', ''), 'hex'))
      .digest('hex'),
  );
  const highest = [...hashes].sort()[3] ?? '';
  expect(new Set(canary.map(({ id }) => id))).toEqual(
    new Set(rows.filter((_, n) => (hashes[n] ?? '') <= highest).map(({ id }) => id)),
  );
  const messages = canary.map(({ id, to }) => ({ id: `message of ${id}`, to, emailId: id }));
  expect(compareSent(rows, messages, canary)).toMatchObject({
    messages: 4,
    outside: [],
    missingInSlice: [],
    twice: [],
  });
  const other = rows.find((row) => !canary.includes(row)) as LedgerRow;
  const spoilt = [
    ...messages.slice(1),
    { id: 'x', to: other.to, emailId: other.id },
    messages[1] as (typeof messages)[0],
  ];
  expect(compareSent(rows, spoilt, canary)).toMatchObject({
    messages: 5,
    outside: [other.to],
    missingInSlice: [canary[0]?.to],
    twice: [canary[1]?.to],
  });
});

describe('the balance sheet', () => {
  const sent = { recipients: 600, messages: 30, outside: [], missingInSlice: [], twice: [], unrecorded: 0 };
  const audience = (count: number) => Array.from({ length: count }, (_, n) => `person-${n}@birdwatch.example`);
  const cancelled = (): CanaryResult => ({
    slice: 30,
    wave: 3,
    canary: {
      state: 'STOPPED',
      endedAt: '2026-11-22T21:48:42.311Z',
      counts: { mailed: 30, delivered: 30, bounced: 3 },
      stopped: { code: 'canary_bounce_rate', count: 1, of: 30, limit: 3 },
    },
    sentAt: '2026-11-22T21:48:00.000Z',
    waveAt: '2026-11-22T21:48:40.000Z',
    atStop: structuredClone(sent),
    balance: {
      ...structuredClone(sent),
      addsUp: true,
      verdicts: { handedOver: 30, skipped: 570, failed: 0 },
      missing: audience(570),
    },
    killed: new Map([['worker', 1]]),
    restarts: [],
  });
  const options = { recipients: 600, canary: 'cancel' as const };

  test('balances when the canary alone has mail', () => {
    expect(canarySucceeded(cancelled(), options)).toBe(true);
    const sheet = canarySheet(cancelled(), options).join('\n');
    expect(sheet).toContain('42.3 s after the request, 2.3 s after the first bounce');
    expect(sheet).toMatch(/outside the canary +0\n/);
    expect(canarySucceeded(cancelled(), { recipients: 600, canary: 'resume' })).toBe(false);
  });

  test.each<[string, (result: CanaryResult) => void]>([
    ['it did not stop', (result) => Object.assign(result, { canary: null })],
    [
      'it stopped for something else',
      ({ canary }) => Object.assign(canary?.stopped ?? {}, { code: 'canary_too_few_delivered' }),
    ],
    ['somebody else had mail', ({ atStop }) => atStop?.outside.push('person-1@birdwatch.example')],
    ['more was sent than the canary', ({ atStop }) => Object.assign(atStop ?? {}, { messages: 31 })],
    ['somebody got it twice', ({ balance }) => balance?.twice.push('person-1@birdwatch.example')],
    ['somebody got it after the end', ({ balance }) => Object.assign(balance ?? {}, { messages: 31 })],
    ['the audit does not add up', ({ balance }) => Object.assign(balance ?? {}, { addsUp: false })],
    ['a verdict is open', ({ balance }) => Object.assign(balance?.verdicts ?? {}, { skipped: 569 })],
    ['the time was over', (result) => Object.assign(result, { balance: null })],
  ])('does not balance when %s', (_, spoil) => {
    const result = cancelled();
    spoil(result);
    expect(canarySucceeded(result, options)).toBe(false);
    expect(canarySheet(result, options).at(-1)).toContain('NOT');
  });
});
