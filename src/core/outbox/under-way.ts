interface UnderWayDeps<T> {
  /** Most of them at once. */
  most: number;
  /** Which of them have not come to anything yet. */
  still(items: readonly T[]): Promise<readonly T[]>;
  /** After so many milliseconds one does not count any more: whatever holds it up must not hold up the others. */
  forgetMs?: number;
  /** Milliseconds of a clock. */
  now?(): number;
}

/** What was begun and has not come to anything yet: only so much at once. One for each process and kind of work. */
export class UnderWay<T> {
  readonly #deps: Required<UnderWayDeps<T>>;
  /** The least quota that is worth a batch. */
  readonly #enough: number;
  #begun = new Map<T, number>();

  constructor(deps: UnderWayDeps<T>) {
    this.#deps = { forgetMs: 10_000, now: () => performance.now(), ...deps };
    this.#enough = Math.max(1, Math.ceil(deps.most / 4));
  }

  /** Says that one was begun. */
  add(item: T): void {
    this.#begun.set(item, this.#deps.now());
  }

  /** How many more may be begun now; none while there are only a few, which would make small batches of the rest. */
  async remaining(): Promise<number> {
    const { most, still, forgetMs, now } = this.#deps;
    if (most - this.#begun.size < this.#enough) {
      const since = now() - forgetMs;
      const young = [...this.#begun].filter(([, at]) => at > since);
      const left = new Set(await still(young.map(([item]) => item)));
      this.#begun = new Map(young.filter(([item]) => left.has(item)));
    }
    const remaining = most - this.#begun.size;
    return remaining < this.#enough ? 0 : remaining;
  }
}
