import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeasedRateLimit } from '../../../src/http/rate-leases.ts';
import { Windows } from './windows.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** How many of so many requests in a row are admitted. */
async function admitted(limit: LeasedRateLimit, requests: number): Promise<number> {
  let count = 0;
  for (let each = 0; each < requests; each++) if ((await limit.take('acme'))?.admitted) count++;
  return count;
}

test('a window is used up exactly, with few takes', async () => {
  const windows = new Windows();
  const limit = new LeasedRateLimit(windows, 1_000);
  expect(await admitted(limit, 1_000)).toBe(1_000);
  expect(windows.takes).toBe(107);
  expect(await admitted(limit, 200)).toBe(0);
  expect(await limit.take('acme')).toEqual({ admitted: false, limit: 1_000, remaining: 0, resetSeconds: 60 });
  expect((await limit.take('other'))?.admitted).toBe(true);
});

test('processes share a window, and never exceed it together', async () => {
  const windows = new Windows();
  const limits = [1, 2, 3].map(() => new LeasedRateLimit(windows, 100));
  const counts = await Promise.all(limits.map((limit) => admitted(limit, 100)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(100);
});

test('requests at the same moment share a take', async () => {
  const windows = new Windows();
  const limit = new LeasedRateLimit(windows, 1_000);
  const states = await Promise.all(Array.from({ length: 500 }, () => limit.take('acme')));
  expect(states.every((state) => state?.admitted)).toBe(true);
  expect(windows.takes).toBeLessThan(20);
});

test('the next window begins anew', async () => {
  const limit = new LeasedRateLimit(new Windows(), 10);
  expect(await admitted(limit, 11)).toBe(10);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(await limit.take('acme')).toMatchObject({ admitted: false, resetSeconds: 1 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await limit.take('acme')).toEqual({ admitted: true, limit: 10, remaining: 9, resetSeconds: 60 });
});

test('what is not used within a second goes back', async () => {
  const windows = new Windows();
  const limit = new LeasedRateLimit(windows, 1_000);
  await limit.take('acme');
  expect(windows.used.get('acme')).toBe(50);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(windows.used.get('acme')).toBe(1);
});

test('what is refused for counting as too many goes back, and so does what is left at the end', async () => {
  const windows = new Windows();
  const limit = new LeasedRateLimit(windows, 100);
  expect(await limit.take('acme', 101)).toMatchObject({ admitted: false });
  expect(windows.used.get('acme')).toBeGreaterThanOrEqual(100);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(windows.used.get('acme')).toBe(0);
  expect(await limit.take('acme', 7)).toMatchObject({ admitted: true, remaining: 93 });
  await limit.close();
  expect(windows.used.get('acme')).toBe(7);
});

test('a full window is asked for again after a second, for others give back', async () => {
  const windows = new Windows();
  const [one, other] = [new LeasedRateLimit(windows, 100), new LeasedRateLimit(windows, 100)];
  await one.take('acme', 90);
  await other.take('acme', 10);
  expect(await one.take('acme', 5)).toMatchObject({ admitted: false });
  windows.used.set('acme', 50);
  const before = windows.takes;
  expect(await one.take('acme', 5)).toMatchObject({ admitted: false });
  expect(windows.takes).toBe(before);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await one.take('acme', 5)).toMatchObject({ admitted: true });
});

test('while the store is away nothing is counted', async () => {
  const windows = new Windows();
  const limit = new LeasedRateLimit(windows, 100);
  windows.isAway = true;
  expect(await limit.take('acme')).toBeNull();
  windows.isAway = false;
  expect(await limit.take('acme')).toMatchObject({ admitted: true, remaining: 99 });
});

test('an owner may have a limit of its own, and a change of it counts in the window that is open', async () => {
  const limit = new LeasedRateLimit(new Windows(), 1_000);
  const take = (most: number) => limit.take('acme', 1, most);
  const states = [];
  for (let each = 0; each < 12; each++) states.push(await take(10));
  expect(states.filter((state) => state?.admitted)).toHaveLength(10);
  expect(states.at(-1)).toMatchObject({ admitted: false, limit: 10, remaining: 0 });
  vi.advanceTimersByTime(1_000);
  expect(await take(20)).toMatchObject({ admitted: true, limit: 20 });
  expect((await limit.take('other'))?.limit).toBe(1_000);
});
