import * as wf from '@temporalio/workflow';
import type { CampaignActivities } from '../activities/campaign.ts';
import type { JobActivities } from '../activities/jobs.ts';
import { queries } from '../temporal/commands.ts';
import { isHistoryLong } from './steps.ts';
import { pauseOf } from './sweeps.ts';

const regular = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '10 seconds' } as const;

/** The activities that do a job's work. After twenty attempts an operator has to check it. */
const jobWork = wf.proxyActivities<Pick<JobActivities, 'importContactRows' | 'changeContactRows'>>({
  ...regular,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
});
const { failJob } = wf.proxyActivities<Pick<JobActivities, 'failJob'>>(regular);

/** How far a job is, for the Temporal Web UI; the service reads its row. */
interface JobProgress {
  rows: number;
  failed: number;
  progress: number;
}
/** Answers `JobProgress`. */
const jobProgress = wf.defineQuery<JobProgress>(queries.progress);

/** How a job's execution ended. A job that failed completes its execution: only faults of our own fail it. */
interface JobOutcome extends JobProgress {
  state: 'finished' | 'gone' | 'failed' | 'cancelled';
}

/**
 * Has a job's work done, share after share. A Temporal cancel, as an operator gives it in the Web UI, ends the job as
 * failed; what was done stays done.
 */
async function runJob(
  jobId: string,
  work: (jobId: string) => Promise<JobProgress & { state: string; waitMs?: number }>,
): Promise<JobOutcome> {
  let seen: JobProgress = { rows: 0, failed: 0, progress: 0 };
  wf.setHandler(jobProgress, () => seen);
  try {
    for (let turn = 0; ; ) {
      const { state, rows, failed, progress, waitMs } = await work(jobId);
      seen = { rows, failed, progress };
      wf.setCurrentDetails(`${rows} rows done, ${failed} of them failed · ${progress} %`);
      if (state === 'busy') {
        await wf.sleep(waitMs ?? pauseOf(turn++));
        // A job that keeps a pace may take weeks.
        if (waitMs !== undefined && isHistoryLong()) await wf.continueAsNew<typeof bulkContacts>({ jobId });
        continue;
      }
      turn = 0;
      if (state === 'finished' || state === 'gone') return { state, ...seen };
    }
  } catch (error) {
    const cancelled = wf.isCancellation(error);
    if (!cancelled && !(error instanceof wf.ActivityFailure)) throw error;
    // The cause is in the log and in the history; it may name internals that callers must not see.
    const reason = cancelled ? 'Cancelled by an operator' : 'Given up after too many failed attempts';
    await wf.CancellationScope.nonCancellable(() => failJob(jobId, reason));
    return { state: cancelled ? 'cancelled' : 'failed', ...seen };
  }
}

/** Subscribes, unsubscribes or deletes many contacts; the job's row says where to go on. */
export async function bulkContacts({ jobId }: { jobId: string }): Promise<JobOutcome> {
  return runJob(jobId, (id) => jobWork.changeContactRows(id));
}

/** Imports the rows of a CSV file, whatever dies in between: the job's row says where to go on. */
export async function importContacts({ jobId }: { jobId: string }): Promise<JobOutcome> {
  return runJob(jobId, (id) => jobWork.importContactRows(id));
}

const { reviewContacts } = wf.proxyActivities<Pick<CampaignActivities, 'reviewContacts'>>({
  ...regular,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
});
const { failDryRun } = wf.proxyActivities<Pick<CampaignActivities, 'failDryRun'>>(regular);

/**
 * Reviews a campaign before it is sent, share after share; the row holds place and findings. Cancelling the execution in the Web
 * UI ends the dry run as failed. Answers how many contacts were passed.
 */
export async function dryRun({ dryRunId }: { dryRunId: string }): Promise<number> {
  let contacts = 0;
  try {
    for (let turn = 0; ; ) {
      const share = await reviewContacts(dryRunId);
      ({ contacts } = share);
      if (share.state === 'busy') {
        await wf.sleep(pauseOf(turn++));
        continue;
      }
      turn = 0;
      wf.setCurrentDetails(`${contacts} contacts passed`);
      if (share.state === 'over') return contacts;
      if (isHistoryLong()) await wf.continueAsNew<typeof dryRun>({ dryRunId });
    }
  } catch (error) {
    const cancelled = wf.isCancellation(error);
    if (!cancelled && !(error instanceof wf.ActivityFailure)) throw error;
    const reason = cancelled ? 'Cancelled by an operator' : 'Given up after too many failed attempts';
    await wf.CancellationScope.nonCancellable(() => failDryRun(dryRunId, reason));
    return contacts;
  }
}
