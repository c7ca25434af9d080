import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ConcurrencyLimit, cutBytes } from '../../../src/store/outbox/calls.ts';
import { backOffMs } from '../../../src/store/outbox/dispatcher.ts';
import { Outage } from '../../../src/store/outbox/store-state.ts';

/** Calls that end when told to. */
function heldCalls() {
  const open: (() => void)[] = [];
  let most = 0;
  return {
    call: () =>
      new Promise<void>((resolve) => {
        open.push(resolve);
        most = Math.max(most, open.length);
      }),
    async endOne() {
      open.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    running: () => open.length,
    most: () => most,
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a refused call waits one second, then twice as long each time, never more than five minutes', () => {
  expect([0, 1, 2, 3].map(backOffMs)).toEqual([1000, 2000, 4000, 8000]);
  expect(backOffMs(9)).toBe(300_000);
  expect(backOffMs(1_000_000)).toBe(300_000);
});

test('never more calls are under way than the limit, and none is forgotten', async () => {
  const limiter = new ConcurrencyLimit(3);
  const held = heldCalls();
  let ended = 0;
  const all = Array.from({ length: 10 }, () => limiter.run(held.call).then(() => ended++));
  await turn();
  expect(held.running()).toBe(3);
  for (let n = 0; n < 10; n++) await held.endOne();
  await Promise.all(all);
  expect(ended).toBe(10);
  expect(held.most()).toBe(3);
});

test('a refusal halves the limit down to one, and calls that are taken raise it again up to the first limit', async () => {
  const limiter = new ConcurrencyLimit(8);
  limiter.slower();
  expect(limiter.limit).toBe(4);
  for (let n = 0; n < 5; n++) limiter.slower();
  expect(limiter.limit).toBe(1);
  for (let n = 0; n < 100; n++) await limiter.run(async () => undefined);
  expect(limiter.limit).toBe(8);
});

test('a call that fails makes room for the next', async () => {
  const limiter = new ConcurrencyLimit(1);
  await expect(limiter.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await expect(limiter.run(async () => 'taken')).resolves.toBe('taken');
});

test('texts for the Web UI are cut to bytes without cutting through a character', () => {
  expect(cutBytes('Campaign "Spring"', 200)).toBe('Campaign "Spring"');
  expect(cutBytes('Grüße', 4)).toBe('Grü');
  expect(cutBytes('Grüße', 3)).toBe('Gr');
  expect(cutBytes('🌷🌷🌷', 10)).toBe('🌷🌷');
  expect(Buffer.byteLength(cutBytes('é'.repeat(150), 200))).toBe(200);
});

test('an outage makes one line, and a call that began before others reached Temporal none', () => {
  const lines: string[] = [];
  const outage = new Outage(pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) }));
  const lost = 'outbox: no connection; work is kept and starts when Temporal is back';
  const begun = outage.answers;
  for (let n = 0; n < 5; n++) outage.lost('no connection', begun);
  outage.reached();
  expect(lines).toEqual([lost, 'outbox: Temporal is back']);
  // It pauses all the same: what such a call tells may be how things are.
  outage.lost('no connection', begun);
  expect([lines.length, outage.isOpen, outage.isDown]).toEqual([2, true, true]);
  outage.reached();
  expect(lines).toHaveLength(2);
  outage.lost('no connection', begun);
  outage.lost('no connection', outage.answers);
  outage.lost('no connection', outage.answers);
  expect(lines).toEqual([lost, 'outbox: Temporal is back', lost]);
});
