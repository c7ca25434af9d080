/** Whether `npm run test:soak` runs, which gives some tests more or larger input than `npm test` does. */
export const isLong = process.env.LONG_TESTS === '1';
