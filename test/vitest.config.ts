import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

// What needs nothing but Node, and what starts its own servers because starting them is what it tests.
const alone = [
  ...['unit', 'replay', 'start'].map((folder) => `test/${folder}/**/*.test.ts`),
  'packages/*/test/**/*.test.ts',
];

/** Tests in the folders above stand alone; all others share one Postgres and one Temporal, started before the first of them. */
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
          include: alone,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'services',
          root,
          include: ['test/**/*.test.ts'],
          exclude: alone,
          // Far above what they take: on a loaded machine a test may be slow, but not wrong.
          testTimeout: 180_000,
          hookTimeout: 240_000,
          globalSetup: [fileURLToPath(new URL('./support/services.ts', import.meta.url))],
        },
      },
    ],
  },
});
