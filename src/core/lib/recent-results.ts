interface Kept<Result> {
  result: Promise<Result>;
  until: number;
}

/** How long results are kept, and how many. */
export interface RecentResultsOptions {
  keepMs: number;
  /** The oldest ones go first when there are more. */
  entries: number;
  now(): number;
}

/**
 * Keeps results that are dear to find for a short while, in this process. Callers who ask for the same at the same time share
 * one answer. Use it only where an answer that is `keepMs` old is as good, and say so in the documentation.
 */
export class RecentResults<Result> {
  readonly #kept = new Map<string, Kept<Result>>();
  readonly #options: RecentResultsOptions;

  constructor(options: RecentResultsOptions) {
    this.#options = options;
  }

  /** The result for the key: a kept one, or what `find` answers. Only results that are `worthKeeping` stay; failures never do. */
  async get(key: string, find: () => Promise<Result>, worthKeeping: (result: Result) => boolean): Promise<Result> {
    const { keepMs, entries, now } = this.#options;
    const kept = this.#kept.get(key);
    if (kept && kept.until > now()) return kept.result;
    const entry = { result: find(), until: Number.POSITIVE_INFINITY };
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= entries) break;
      this.#kept.delete(oldest);
    }
    try {
      const result = await entry.result;
      if (worthKeeping(result)) entry.until = now() + keepMs;
      else this.#drop(key, entry);
      return result;
    } catch (error) {
      this.#drop(key, entry);
      throw error;
    }
  }

  /** Forgets the result of a key, because it has just been changed. */
  forget(key: string): void {
    this.#kept.delete(key);
  }

  #drop(key: string, entry: Kept<Result>): void {
    if (this.#kept.get(key) === entry) this.#kept.delete(key);
  }
}
