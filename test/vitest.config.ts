import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { browserTests, longTests } from './long-tests.ts';
import { SlowFirst } from './support/slow-first.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isLong = process.env.LONG_TESTS === '1';

// A file that somebody names runs, whichever command runs it otherwise.
const named = process.argv.slice(2).filter((argument) => argument.endsWith('.test.ts'));
const left = (isLong ? [] : [...longTests, ...browserTests]).filter(
  (file) => !named.some((name) => name.endsWith(file) || file.endsWith(name)),
);

// What needs nothing but Node, and what starts its own servers because starting them is what it tests.
const alone = [
  ...['unit', 'replay', 'start'].map((folder) => `test/${folder}/**/*.test.ts`),
  '{packages,tools}/*/test/**/*.test.ts',
];
// These replace parts of modules, name schemas for the whole process, or count the steps of a V8 that compiles nothing, which files that share a process would notice.
const isolated = [
  'test/unit/openapi/**/*.test.ts',
  'test/unit/core/lib.test.ts',
  'tools/local-stack/test/log-file.test.ts',
  'test/unit/content-limits.test.ts',
  'test/unit/core/hostile-input.test.ts',
  'packages/renderer/test/limits.test.ts',
];

// Code that a process has compiled before is not compiled again by the API and worker processes that tests start and kill.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../.cache/compiled', import.meta.url));
// Of what pip installs, little is used.
process.env.PIP_NO_COMPILE ??= '1';

// What is waited for comes in its own time; on a loaded machine that is not within the second that Vitest allows, and may take minutes.
// Far above what they take: on a loaded machine a test may be slow, but not wrong.
const patience = {
  expect: { poll: { timeout: 300_000, interval: 50 } },
  testTimeout: 1_800_000,
  hookTimeout: 1_800_000,
};
const services = {
  name: 'services',
  root,
  include: ['test/**/*.test.ts'],
  exclude: [...alone, ...left],
  // Loading the service again for every file would take a third of the processor time.
  isolate: false,
  ...patience,
  globalSetup: [fileURLToPath(new URL('./support/services.ts', import.meta.url))],
  setupFiles: [fileURLToPath(new URL('./support/temporal-runtime.ts', import.meta.url))],
};

/**
 * Tests in the folders above stand alone; all others share one Postgres and one Temporal, started before the first of them. The
 * files of a worker share its modules, unless they are named as isolated. LONG_TESTS=1, as `npm run test:soak` sets it, adds what takes
 * too long for `npm test`.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    // More than there are cores, since tests of durable work wait for much of their time, those that take long for most of it. Still more
    // would crowd Postgres.
    maxWorkers: Math.min(availableParallelism() + (isLong ? 4 : 2), 16),
    // Tests of one file that may run side by side: pages of one browser.
    maxConcurrency: 3,
    sequence: { sequencer: SlowFirst },
    reporters: ['default', 'json'],
    outputFile: { json: fileURLToPath(new URL('../.cache/test-results.json', import.meta.url)) },
    projects: [
      { test: { name: 'unit', root, include: alone, exclude: [...isolated, ...left], isolate: false, ...patience } },
      { test: { name: 'isolated', root, include: isolated, ...patience } },
      { test: services },
    ],
  },
});
