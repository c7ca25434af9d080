import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Tests below test/unit need nothing but Node; all others share one Postgres and one Temporal, started before the first of them. */
export default defineConfig({
  test: {
    pool: 'forks',
    // Each worker brings its own database and its own Temporal worker; more of them than this only queue for the processor.
    maxWorkers: 2,
    reporters: ['default', 'json'],
    outputFile: { json: fileURLToPath(new URL('../.cache/test-results.json', import.meta.url)) },
    projects: [
      {
        test: {
          name: 'unit',
          root,
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'services',
          root,
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          globalSetup: [fileURLToPath(new URL('./support/services.ts', import.meta.url))],
        },
      },
    ],
  },
});
