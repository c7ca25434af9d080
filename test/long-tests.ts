/** Files that take too long for `npm test`. `npm run test:soak` runs them, and CI does. */
export const longTests = [
  'test/e2e/drill.test.ts',
  'test/api/idempotency-kills.test.ts',
  'test/browser/awkward-texts.test.ts',
  'test/workflows/automation-run-crowd.test.ts',
  'test/workflows/temporal-store.test.ts',
];

/** Files that run in both, in `npm run test:soak` with more or larger input (`isLong`). */
export const longForms = ['test/api/hostile-bodies.test.ts', 'test/workflows/automation-migration.test.ts'];
