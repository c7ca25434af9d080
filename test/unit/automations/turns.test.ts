import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longestTurnMs, turnAfter, turnsPerSecond } from '../../../src/automations/graph/wait-until.ts';
import { newId } from '../../../src/lib/ids.ts';
import { inFull } from '../../support/long.ts';

const until = Date.parse('2026-12-01T09:00:00Z');
const someId = fc.uuid({ version: 7 });
const rate = fc.integer({ min: 1, max: 500 });

test('the first contact continues at the instant itself, each later one after the one before, and no second has more than the rate', () => {
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 3_000 }), someId, (perSecond, people, id) => {
      const turns: number[] = [];
      for (let n = 0; n < Math.min(people, 1_800 * perSecond); n += 1)
        turns.push(turnAfter(turns.at(-1) ?? null, until, id, perSecond));
      expect(turns[0]).toBe(0);
      // As many turns further a whole second has passed: so any second has so many at most, wherever it begins.
      const aSecondOn = turns.slice(perSecond).map((turn, n) => turn - (turns[n] ?? 0));
      expect(aSecondOn.every((ms) => ms === 1_000)).toBe(true);
      expect(turns.every((turn, n) => n === 0 || turn > (turns[n - 1] ?? turn))).toBe(true);
    }),
    { numRuns: inFull(5_000, 200) },
  );
});

test('nobody continues before the instant, nor half an hour after it, whatever turn was the last', () => {
  fc.assert(
    fc.property(rate, fc.option(fc.integer({ min: 0, max: longestTurnMs - 1 })), someId, (perSecond, last, id) => {
      const turn = turnAfter(last, until, id, perSecond);
      expect(turn).toBeGreaterThanOrEqual(0);
      expect(turn).toBeLessThan(longestTurnMs);
      expect(Number.isInteger(turn)).toBe(true);
      // Where the next turn would be too late, contacts have one by their ID, which is the same whenever it is asked.
      if (last !== null && turn <= last) {
        expect(last + Math.ceil(1_000 / perSecond)).toBeGreaterThanOrEqual(longestTurnMs);
        expect(turn).toBe(turnAfter(longestTurnMs - 1, until, id, perSecond));
      }
    }),
    { numRuns: inFull(100_000, 5_000) },
  );
});

test('108,000 contacts fill the half hour at 60 a second, and those beyond are spread over all of it', () => {
  let last: number | null = null;
  const seconds = new Map<number, number>();
  const count = (turn: number) =>
    seconds.set(Math.floor(turn / 1_000), (seconds.get(Math.floor(turn / 1_000)) ?? 0) + 1);
  for (let n = 0; n < 108_000; n += 1) {
    last = turnAfter(last, until, newId(), turnsPerSecond);
    count(last);
  }
  expect([...new Set(seconds.values())]).toEqual([60]);
  expect(seconds.size).toBe(1_800);
  const minutes = new Map<number, number>();
  for (let n = 0; n < 30_000; n += 1) {
    const minute = Math.floor(turnAfter(last, until, newId(), turnsPerSecond) / 60_000);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  expect(minutes.size).toBe(30);
  for (const people of minutes.values()) expect(Math.abs(people - 1_000)).toBeLessThan(300);
});

test('no turn is later than the last instant that Postgres reads', () => {
  const end = Date.parse('9999-12-31T23:59:59.999Z');
  expect(turnAfter(null, end, newId(), turnsPerSecond)).toBe(0);
  expect(turnAfter(0, end, newId(), turnsPerSecond)).toBe(0);
  expect(turnAfter(0, end - 10, newId(), turnsPerSecond)).toBe(10);
});
