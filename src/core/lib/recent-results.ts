import { LRUCache } from 'lru-cache';

/** How many results are kept, and by which clock. */
interface RecentResultsOptions {
  /** Those unused for longest go first when there are more. */
  entries: number;
  /** Milliseconds that only grow. */
  now(): number;
}

/**
 * Keeps results that are dear to find for a short while, in this process. Callers who ask for the same at the same time share
 * one answer. Use it only where an answer of that age is as good, and say so in the documentation.
 */
export class RecentResults<Result> {
  readonly #kept: LRUCache<string, Promise<Result>>;
  readonly #now: () => number;

  constructor({ entries, now }: RecentResultsOptions) {
    this.#kept = new LRUCache({ max: entries, perf: { now }, ttlResolution: 0 });
    this.#now = now;
  }

  /** The result for the key: a kept one, or what `find` answers, which is kept for `keepMs`. Failures never are. */
  get(key: string, find: () => Promise<Result>, keepMs: (result: Result, tookMs: number) => number): Promise<Result> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const begun = this.#now();
    const found = find();
    this.#kept.set(key, found);
    found.then(
      (result) => this.#keep(key, found, keepMs(result, this.#now() - begun)),
      () => this.#keep(key, found, 0),
    );
    return found;
  }

  /** Forgets the result of a key, because it has just been changed. */
  forget(key: string): void {
    this.#kept.delete(key);
  }

  #keep(key: string, found: Promise<Result>, ttl: number): void {
    if (this.#kept.peek(key) !== found) return;
    if (ttl > 0) this.#kept.set(key, found, { ttl });
    else this.#kept.delete(key);
  }
}
