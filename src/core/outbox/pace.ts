/** How many calls may be under way at once, found by trying: what the server refuses halves it, what it takes raises it. */
export interface Pace {
  /** Runs the call as soon as there is room for it. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** The server said that it has too much to do. */
  slower(): void;
  /** The present limit. */
  limit(): number;
}

/** A pace that begins at, and never goes above, `most` calls. */
export function createPace(most: number): Pace {
  let limit = most;
  let running = 0;
  let taken = 0;
  const waiting: (() => void)[] = [];
  const admit = () => {
    while (running < limit) {
      const next = waiting.shift();
      if (next === undefined) return;
      running++;
      next();
    }
  };
  return {
    async run(call) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        admit();
      });
      try {
        const result = await call();
        // One step up for each full round of calls that the server took.
        if (++taken >= limit) {
          taken = 0;
          limit = Math.min(most, limit + 1);
        }
        return result;
      } finally {
        running--;
        admit();
      }
    },
    slower() {
      taken = 0;
      limit = Math.max(1, Math.floor(limit / 2));
    },
    limit: () => limit,
  };
}
