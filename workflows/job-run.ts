import * as wf from '@temporalio/workflow';
import type { JobActivities } from '../activities/jobs.ts';
import { queries } from '../temporal/commands.ts';
import { pauseOf } from './turns.ts';

const regular = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '10 seconds' } as const;

/** The activities that do a job's work. After twenty attempts an operator has to check it. */
export const jobWork = wf.proxyActivities<Pick<JobActivities, 'importContactRows' | 'changeContactRows'>>({
  ...regular,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
});
const { failJob } = wf.proxyActivities<Pick<JobActivities, 'failJob'>>(regular);

/** How far a job is, for the Temporal Web UI; the service reads its row. */
export interface JobProgress {
  rows: number;
  failed: number;
  progress: number;
}
/** Answers `JobProgress`. */
const jobProgress = wf.defineQuery<JobProgress>(queries.progress);

/** How a job's execution ended. A job that failed completes its execution: only faults of our own fail it. */
export interface JobOutcome extends JobProgress {
  state: 'finished' | 'gone' | 'failed' | 'cancelled';
}

/**
 * Has a job's work done, share after share. A Temporal cancel, as an operator gives it in the Web UI, ends the job as
 * failed; what was done stays done.
 */
export async function runJob(
  jobId: string,
  work: (jobId: string) => Promise<JobProgress & { state: string }>,
): Promise<JobOutcome> {
  let seen: JobProgress = { rows: 0, failed: 0, progress: 0 };
  wf.setHandler(jobProgress, () => seen);
  try {
    for (let turn = 0; ; ) {
      const { state, rows, failed, progress } = await work(jobId);
      if (state === 'busy') {
        await wf.sleep(pauseOf(turn++));
        continue;
      }
      turn = 0;
      seen = { rows, failed, progress };
      wf.setCurrentDetails(`${rows} rows done, ${failed} of them failed · ${progress} %`);
      if (state === 'finished' || state === 'gone') return { state, ...seen };
    }
  } catch (error) {
    const cancelled = wf.isCancellation(error);
    if (!cancelled && !(error instanceof wf.ActivityFailure)) throw error;
    // What went wrong is in the log and in the history; it may name what is none of a caller's business.
    const reason = cancelled ? 'Cancelled by an operator' : 'Given up after too many failed attempts';
    await wf.CancellationScope.nonCancellable(() => failJob(jobId, reason));
    return { state: cancelled ? 'cancelled' : 'failed', ...seen };
  }
}
