import pLimit from 'p-limit';

/** How many calls may be under way at once, found by trying: what the server refuses halves it, what it takes raises it. */
export interface ConcurrencyLimit {
  /** Runs the call as soon as there is room for it. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** The server said that it has too much to do. */
  slower(): void;
  /** The present limit. */
  limit(): number;
}

/** A concurrency limit that begins at, and never goes above, `most` calls. */
export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const limited = pLimit(most);
  let taken = 0;
  return {
    run: (call) =>
      limited(async () => {
        const result = await call();
        // One step up for each full round of calls that the server took.
        if (++taken >= limited.concurrency) {
          taken = 0;
          limited.concurrency = Math.min(most, limited.concurrency + 1);
        }
        return result;
      }),
    slower() {
      taken = 0;
      limited.concurrency = Math.max(1, Math.floor(limited.concurrency / 2));
    },
    limit: () => limited.concurrency,
  };
}
