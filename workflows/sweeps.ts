import * as wf from '@temporalio/workflow';
import type { SweepActivities } from '../activities/sweeps.ts';

// The next minute comes anyway, so a sweep that keeps failing ends and shows red instead of piling up.
const { runChecks, removeOldRows } = wf.proxyActivities<SweepActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 3 },
});

/** Compares rows with what runs and puts right what a crash, or a lost Temporal store, left behind. Answers how much. */
export async function reconcile(): Promise<Record<string, number>> {
  return runChecks();
}

/** Removes rows that have been kept long enough. Answers how many of each kind. */
export async function retention(): Promise<Record<string, number>> {
  return removeOldRows();
}
