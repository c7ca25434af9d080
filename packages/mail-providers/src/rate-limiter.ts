import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';

/** Spreads the calls of one process over time and over so many connections. */
export interface ConnectionLimiter {
  /**
   * Runs the work when its turn has come; answers null, without running it, when that would be after `deadline`
   * (`performance.now()`).
   */
  run<T>(deadline: number, work: () => Promise<T>): Promise<T | null>;
  /** Calls a second from now on; null for no limit. */
  limit(rate: number | null): void;
  /** Nobody begins for a while: the provider has said that it is too fast. */
  rest(milliseconds: number): void;
}

/** A limiter for so many calls at once. */
export function createConnectionLimiter(connections: number): ConnectionLimiter {
  const connected = pLimit(connections);
  let gapMs = 0;
  let next = 0;
  return {
    run: (deadline, work) =>
      connected(async () => {
        const now = performance.now();
        const turn = Math.max(now, next);
        if (turn > deadline) return null;
        next = turn + gapMs;
        if (turn > now) await pause(turn - now);
        return await work();
      }),
    limit(rate) {
      gapMs = rate === null || rate <= 0 ? 0 : 1000 / rate;
    },
    rest(milliseconds) {
      next = Math.max(next, performance.now() + milliseconds);
    },
  };
}
