import type { Database } from '../db/sql.ts';
import { enqueue, type OutboxTicket } from '../outbox/enqueue.ts';
import { stalledJobs } from './queries.ts';
import { startOf } from './service.ts';

/** What the check for stalled jobs needs. */
export interface JobRecoveryDeps {
  db: Database;
  /** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
  isOpen(workflowId: string): Promise<boolean>;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

const stalledAfterSeconds = 300;
const jobsPerRun = 100;

/**
 * Starts jobs again that are not over although no execution works on them, as after a lost Temporal store: they go on
 * from where their rows stand. Answers how many.
 */
export async function restartStalledJobs(deps: JobRecoveryDeps, afterSeconds = stalledAfterSeconds): Promise<number> {
  let restarted = 0;
  for (const job of await stalledJobs(deps.db, afterSeconds, jobsPerRun)) {
    const start = startOf(job);
    if (await deps.isOpen(start.id)) continue;
    const again = { ...start, restart: `stalled-${Date.now()}` };
    deps.dispatchSoon(await deps.db.transaction((sql) => enqueue(sql, again)));
    restarted += 1;
  }
  return restarted;
}
