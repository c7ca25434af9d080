import { expect, test } from 'vitest';
import { createConnectionLimiter } from '../../../src/domains/providers/one-by-one.ts';

const never = Number.POSITIVE_INFINITY;

test('no more calls run at once than there are connections, and each gets its turn', async () => {
  const limiter = createConnectionLimiter(3);
  let running = 0;
  let most = 0;
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      limiter.run(never, async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return n;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(results).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

test('calls begin no closer together than the rate allows, in a busy process too', async () => {
  const limiter = createConnectionLimiter(10);
  limiter.limit(100);
  // Timers that are set at the end of a long turn of the event loop fire too early.
  const busyUntil = performance.now() + 15;
  while (performance.now() < busyUntil);
  const start = performance.now();
  const began: number[] = [];
  await Promise.all(Array.from({ length: 10 }, () => limiter.run(never, async () => began.push(performance.now()))));
  // Turns are dealt from the first call on, which may itself begin late; sums of doubles differ in their last digits.
  began.sort((one, other) => one - other);
  for (const [turn, at] of began.entries()) expect(at - start).toBeGreaterThan(10 * turn - 0.001);
});

test('a call whose turn comes after its deadline does not run, and a failed one gives its connection back', async () => {
  const limiter = createConnectionLimiter(1);
  await expect(limiter.run(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  limiter.rest(60_000);
  let ran = false;
  const late = await limiter.run(performance.now() + 1000, async () => {
    ran = true;
  });
  expect([late, ran]).toEqual([null, false]);
});
