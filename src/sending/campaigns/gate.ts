/** Lets a few at a time through, in the order in which they came. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Builds a gate for so many at once. The statements of campaigns go through one, so that they never take all connections
 * of the process while mail that must not wait asks for one.
 */
export function createGate(atOnce: number): Gate {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (inside >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
      else inside += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // The place goes to the next one directly, so that nobody slips in between.
        if (next) next();
        else inside -= 1;
      }
    },
  };
}
