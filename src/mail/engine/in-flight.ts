/** Work of one kind that is under way at once, such as claims. A failure waits until the rest has ended. */
export class InFlight {
  readonly #works = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;

  get size(): number {
    return this.#works.size;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  add(work: Promise<void>): void {
    const one: Promise<void> = work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#works.delete(one));
    this.#works.add(one);
  }

  /** Resolves once one of them has ended. Never rejects for them. */
  async next(): Promise<void> {
    await Promise.race(this.#works);
  }

  /** Resolves once all have ended. Never rejects for them. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }

  /** Runs what adds work, and resolves once all of that has ended. Rejects with the first failure. */
  async whole<T>(main: () => Promise<T>): Promise<T> {
    const result = await main().finally(() => this.ended());
    if (this.#failure !== null) throw this.#failure.error;
    return result;
  }
}
