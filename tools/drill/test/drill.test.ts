import { describe, expect, test } from 'vitest';
import { balanceSheet, type DrillResult, succeeded } from '../src/balance.ts';
import { planDrill, readOptions, victims } from '../src/plan.ts';

describe('the plan of a drill', () => {
  test('kills every process and brings every fault as often as asked for, Temporal first, spread over the campaign', () => {
    const plan = planDrill({ seed: 7, rounds: 3 });
    const kills = plan.flatMap((one) => ('kill' in one ? [one.kill] : []));
    for (const victim of victims) expect(kills.filter((kill) => kill === victim)).toHaveLength(3);
    const faults = plan.flatMap((one) =>
      'fault' in one ? [`${one.fault.kind} ${one.fault.status ?? ''} ${one.fault.path}`] : [],
    );
    expect(new Set(faults)).toEqual(
      new Set([
        'status 500 /email/batch',
        'status 429 /email/batch',
        'hang  /email/batch',
        'drop-answer  /email/batch',
        'status 500 /messages/outbound',
      ]),
    );
    expect(faults).toHaveLength(15);
    expect(plan[0]).toEqual({ at: 0, kill: 'temporal' });
    const places = plan.map(({ at }) => at);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(Math.max(...places)).toBeLessThan(0.91);
  });

  test('is the same for the same seed and another for another', () => {
    expect(planDrill({ seed: 7, rounds: 2 })).toEqual(planDrill({ seed: 7, rounds: 2 }));
    expect(planDrill({ seed: 7, rounds: 2 })).not.toEqual(planDrill({ seed: 8, rounds: 2 }));
  });
});

describe('the command line of a drill', () => {
  test('has defaults, and repeats a seed', () => {
    expect(readOptions(['--seed', '7'])).toEqual({
      recipients: 20_000,
      seed: 7,
      rounds: 3,
      minutes: 15,
      keep: false,
      canary: null,
    });
    expect(readOptions([]).seed).toBeGreaterThan(0);
  });

  test('takes a canary, and says what follows once that has stopped the campaign', () => {
    expect(readOptions(['--canary']).canary).toBe('resume');
    expect(readOptions(['--canary', '--cancel']).canary).toBe('cancel');
  });

  test.each([
    [['--recipients', '5']],
    [['--recipients', 'many']],
    [['--rounds', '0']],
    [['--minutes', '1.5']],
    [['--nonsense']],
    [['20000']],
    [['--cancel']],
  ])('%j is refused with the usage', (args) => {
    expect(() => readOptions(args)).toThrow();
  });
});

describe('the balance sheet', () => {
  const good = (): DrillResult => ({
    balance: {
      recipients: 1_500,
      verdicts: { handedOver: 1_500, skipped: 0, failed: 0, open: 0 },
      reasons: [],
      addsUp: true,
      messages: 1_500,
      missing: [],
      twice: [],
      unrecorded: 0,
      letters: { accepted: 40, uncertain: 1, missing: [], twice: [] },
    },
    finished: true,
    sendMs: 41_250,
    killed: { worker: 1, api: 1, postgres: 1, temporal: 1 },
    disturbed: new Map([['answers 500', 3]]),
    restarts: ['The API ended by SIGKILL and starts again in 1 s.'],
  });

  test('balances when everybody got it once and the ledger says so', () => {
    expect(succeeded(good(), 1_500)).toBe(true);
    const sheet = balanceSheet(good(), 1_500).join('\n');
    expect(sheet).toMatch(/missing +0\n/);
    expect(sheet).toMatch(/twice +0\n/);
    expect(sheet).toContain('Everybody got it, nobody got it twice');
  });

  test.each<[string, (result: DrillResult) => void]>([
    ['somebody is missing', ({ balance }) => balance.missing.push('person-000001@birdwatch.example')],
    ['somebody got it twice', ({ balance }) => balance.twice.push('person-000001@birdwatch.example')],
    ['a row failed', ({ balance }) => Object.assign(balance.verdicts, { handedOver: 1_499, failed: 1 })],
    ['the audience is not whole', ({ balance }) => Object.assign(balance, { recipients: 1_499 })],
    ['the audit does not add up', ({ balance }) => Object.assign(balance, { addsUp: false })],
    ['the sink has more than the ledger', ({ balance }) => Object.assign(balance, { messages: 1_501 })],
    ['the ledger does not know what was sent', ({ balance }) => Object.assign(balance, { unrecorded: 1 })],
    ['a letter is missing', ({ balance }) => balance.letters.missing.push('letter-1@shop.example')],
    ['a letter came twice', ({ balance }) => balance.letters.twice.push('letter-1@shop.example')],
    ['the time was over', (result) => Object.assign(result, { finished: false })],
  ])('does not balance when %s', (_, spoil) => {
    const result = good();
    spoil(result);
    expect(succeeded(result, 1_500)).toBe(false);
    expect(balanceSheet(result, 1_500).at(-1)).toContain('NOT');
  });
});
