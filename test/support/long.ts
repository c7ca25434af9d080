/** Whether `npm run test:soak` runs, which gives some tests more or larger input than `npm test` does. */
export const isLong = process.env.LONG_TESTS === '1';

/** Of a test that is long, how much it does in CI, or with FULL_TESTS=1 all that was promised, whose rest repeats the same cases. */
export const inFull = (full: number, inCi: number): number => (process.env.FULL_TESTS === '1' ? full : inCi);
