/** What was begun and has not come to anything yet: only so much at once. One for each process and kind of work. */
export interface UnderWay<T> {
  /** How many more may be begun now; none while there is only a little room, which would make small batches of the rest. */
  room(): Promise<number>;
  /** Says that one was begun. */
  add(item: T): void;
}

/** What such a count is built from. */
export interface UnderWayDeps<T> {
  /** Most of them at once. */
  most: number;
  /** Which of them have not come to anything yet. */
  still(items: readonly T[]): Promise<readonly T[]>;
  /** After so many milliseconds one does not count any more: whatever holds it up must not hold up the others. */
  forgetMs?: number;
  /** Milliseconds of a clock. */
  now?(): number;
}

/** Begins with nothing under way. */
export function createUnderWay<T>({
  most,
  still,
  forgetMs = 10_000,
  now = () => performance.now(),
}: UnderWayDeps<T>): UnderWay<T> {
  let begun = new Map<T, number>();
  const enough = Math.max(1, Math.ceil(most / 4));
  return {
    add(item) {
      begun.set(item, now());
    },
    async room() {
      if (most - begun.size < enough) {
        const since = now() - forgetMs;
        const young = [...begun].filter(([, at]) => at > since);
        const left = new Set(await still(young.map(([item]) => item)));
        begun = new Map(young.filter(([item]) => left.has(item)));
      }
      const room = most - begun.size;
      return room < enough ? 0 : room;
    },
  };
}
