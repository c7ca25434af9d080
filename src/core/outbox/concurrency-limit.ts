import pLimit from 'p-limit';

/** How many calls may be under way at once, found by trying: what the server refuses halves it, what it takes raises it. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #limited: ReturnType<typeof pLimit>;
  #taken = 0;

  /** Begins at, and never goes above, `most` calls. */
  constructor(most: number) {
    this.#most = most;
    this.#limited = pLimit(most);
  }

  /** Runs the call as soon as the limit allows. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#limited(async () => {
      const result = await call();
      // One step up for each full round of calls that the server took.
      if (++this.#taken >= this.limit) this.#change(this.limit + 1);
      return result;
    });
  }

  /** The server said that it has too much to do. */
  slower(): void {
    this.#change(Math.floor(this.limit / 2));
  }

  /** The present limit. */
  get limit(): number {
    return this.#limited.concurrency;
  }

  #change(limit: number): void {
    this.#taken = 0;
    this.#limited.concurrency = Math.max(1, Math.min(this.#most, limit));
  }
}
