import type { RecoverableKind } from '../../core/outbox/recovery.ts';
import { stalledJobs } from './queries.ts';
import { startOf } from './service.ts';

/** Imports and bulk changes whose execution may be lost; a new one goes on from where the rows stand. */
export const recoverableJobs: RecoverableKind = {
  name: 'jobs',
  afterMs: 5 * 60_000,
  async stalled(sql, query) {
    const jobs = await stalledJobs(sql, query);
    return jobs.map((job) => ({ at: job.at, id: job.id, start: startOf(job), wake: null, isOlder: false }));
  },
};
