import pLimit from 'p-limit';

/** Lets a few at a time through, in the order in which they came. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Builds a gate for so many at once. The statements of campaigns go through one, so that they never take all connections
 * of the process while mail that must not wait asks for one.
 */
export function createGate(atOnce: number): Gate {
  const limit = pLimit(atOnce);
  return { run: (work) => limit(work) };
}
