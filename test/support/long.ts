/** Whether tests do all that was promised, which takes long and repeats cases that smaller numbers reach too. */
export const isFull = process.env.FULL_TESTS === '1';

/** How much of something a test does: all that was promised with FULL_TESTS=1, and otherwise enough to reach every case. */
export const inFull = (full: number, otherwise: number): number => (isFull ? full : otherwise);
