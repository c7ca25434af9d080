import { afterEach, describe, expect, test, vi } from 'vitest';
import { KeyedTurns, type TurnRest } from '../../../src/lib/keyed-turns.ts';

const refused = new Error('refused');
const turnsOf = (limits: { atOnce?: number; waiting?: number | null; waitMs?: number | null; rest?: TurnRest } = {}) =>
  new KeyedTurns({ atOnce: 1, waiting: null, waitMs: null, ...limits, refusal: () => refused });

/** Work that lasts until it is told to end, and says when it began. */
function work() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const seen = { began: false };
  return {
    seen,
    end: resolve,
    run: () => {
      seen.began = true;
      return promise;
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

afterEach(() => void vi.useRealTimers());

describe('turns by key', () => {
  test('are taken in order, and other keys do not wait', async () => {
    const turns = turnsOf();
    const [first, second, third, other] = [work(), work(), work(), work()];
    const results = [turns.run('a', first.run), turns.run('a', second.run), turns.run('a', third.run)];
    const elsewhere = turns.run('b', other.run);
    await settled();
    expect([first, second, third, other].map(({ seen }) => seen.began)).toEqual([true, false, false, true]);
    first.end('1');
    await settled();
    expect([second.seen.began, third.seen.began]).toEqual([true, false]);
    second.end('2');
    third.end('3');
    other.end('4');
    expect(await Promise.all([...results, elsewhere])).toEqual(['1', '2', '3', '4']);
  });

  test('are refused to more than may wait, and given back when work fails', async () => {
    const turns = turnsOf({ waiting: 1 });
    const first = work();
    const running = turns.run('a', first.run);
    const waiting = turns.run('a', async () => 'second');
    await expect(turns.run('a', async () => 'third')).rejects.toBe(refused);
    first.end('first');
    expect(await Promise.all([running, waiting])).toEqual(['first', 'second']);
    const failure = new Error('broken');
    await expect(turns.run('a', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await turns.run('a', async () => 'fourth')).toBe('fourth');
  });

  test('are waited for as long as is allowed, and whoever gave up is not given one', async () => {
    const turns = turnsOf({ waitMs: 1 });
    const first = work();
    const running = turns.run('a', first.run);
    const second = work();
    await expect(turns.run('a', second.run)).rejects.toBe(refused);
    first.end('first');
    await running;
    expect(second.seen.began).toBe(false);
    expect(await turns.run('a', async () => 'third')).toBe('third');
  });

  test('rest after a while of work without a pause, and not under keys that were idle', async () => {
    vi.useFakeTimers();
    const turns = turnsOf({ rest: { freeMs: 100, times: 3, mostMs: 150 } });
    const ends: number[] = [];
    const began = performance.now();
    const lasting = (ms: number) => async () => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      ends.push(performance.now() - began);
    };
    const all = [60, 40, 20, 80, 10].map((ms) => turns.run('a', lasting(ms)));
    await vi.runAllTimersAsync();
    await Promise.all(all);
    // The rest is 60 ms after 20 ms of work, and 150 ms instead of 240 after 80 ms.
    expect(ends).toEqual([60, 100, 120, 260, 420]);
    await vi.advanceTimersByTimeAsync(150);
    const again = [50, 50].map((ms) => turns.run('a', lasting(ms)));
    const since = performance.now() - began;
    await vi.runAllTimersAsync();
    await Promise.all(again);
    expect(ends.slice(-2)).toEqual([since + 50, since + 100]);
  });

  test('are taken one at a time after a while of work without a pause', async () => {
    vi.useFakeTimers();
    const turns = turnsOf({ atOnce: 2, rest: { freeMs: 100, times: 1, mostMs: 10 } });
    let [running, most] = [0, 0];
    const lasting = (ms: number) => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
    };
    const first = [60, 60].map((ms) => turns.run('a', lasting(ms)));
    const next = [50, 50, 50].map((ms) => turns.run('a', lasting(ms)));
    await vi.advanceTimersByTimeAsync(65);
    expect([most, running]).toEqual([2, 1]);
    most = 0;
    await vi.runAllTimersAsync();
    await Promise.all([...first, ...next]);
    expect(most).toBe(1);
    const again = [50, 50].map((ms) => turns.run('a', lasting(ms)));
    await vi.advanceTimersByTimeAsync(10);
    expect(running).toBe(2);
    await vi.runAllTimersAsync();
    await Promise.all(again);
  });

  test('are tried without waiting', async () => {
    const turns = turnsOf();
    const first = work();
    const running = turns.tryRun('a', first.run);
    expect(turns.tryRun('a', async () => 'second')).toBeNull();
    first.end('first');
    expect(await running).toBe('first');
    expect(await turns.tryRun('a', async () => 'third')).toBe('third');
  });
});
