import { pino } from 'pino';
import { jobActivities } from '../../activities/jobs.ts';
import type { SimulationDeps } from '../../src/automations/simulation/share.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import type { TestDatabase } from './database.ts';
import { type TestWorker, testWorker } from './worker.ts';

/** What simulations of tests need. */
export const testSimulations: SimulationDeps = {
  links: { pagesUrl: 'https://mail.test', apiUrl: 'https://mail.test', secret: 'a secret of the tests, long enough' },
  keptDays: 90,
};

/**
 * Serves the jobs of a test database, on queues of its own where none are named. `longestMs: 0` makes every step of a job an
 * activity of its own.
 */
export function jobsWorker(
  { db }: TestDatabase,
  { queuePrefix, ...changes }: { longestMs?: number; queuePrefix?: string } = {},
): Promise<TestWorker> {
  return testWorker({
    activities: jobActivities({
      db,
      log: pino({ level: 'silent' }),
      stopping: new AbortController().signal,
      encryptionKeys: readConfig({}).encryptionKeys,
      startsPerHour: 0,
      simulations: testSimulations,
      dispatchSoon() {},
      ...changes,
    }),
    queues: ['bulk'],
    ...(queuePrefix === undefined ? {} : { queuePrefix }),
  });
}
