import * as wf from '@temporalio/workflow';
import type { SegmentActivities } from '../activities/automation.ts';
import type { SweepReport } from '../src/segments/sweep.ts';
import { isHistoryLong } from './steps.ts';

// One statement over a million contacts may take minutes where many of them change.
const { settleTouchedSegments, settleSegmentsPage } = wf.proxyActivities<SegmentActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds', maximumAttempts: 5 },
});

/** How long a project with a segment that cannot be evaluated is left to the schedule. */
const afterFailure = '5 minutes';

/** Computes the tracked segments of one project after its data changed. Answers what that came to. */
export async function segmentCompute({ projectId }: { projectId: string }): Promise<SweepReport> {
  const report = await settleTouchedSegments(projectId);
  // While this execution is open no other one of the project starts, so the fault is not met again every few seconds.
  if (report.failed > 0) await wf.sleep(afterFailure, { summary: 'a segment cannot be evaluated; the log says why' });
  return report;
}

/** Where a sweep over all projects stands. */
export interface SegmentSweepInput {
  /** The project after which to go on. */
  after: string | null;
  /** ISO instant at which the sweep began. */
  since: string;
  soFar: SweepReport | null;
}

/**
 * Brings every segment of every project up to date: the schedule starts it every five minutes. Tracked DYNAMIC ones are
 * computed, the others counted; those that nothing has touched are passed over. Answers what that came to.
 */
export async function segmentSweep(input?: SegmentSweepInput): Promise<SweepReport | null> {
  let { after, since, soFar } = input ?? { after: null, since: new Date().toISOString(), soFar: null };
  for (;;) {
    const page = await settleSegmentsPage(after, since);
    soFar = soFar === null ? page.report : sum(soFar, page.report);
    after = page.after;
    if (after === null) return soFar;
    if (isHistoryLong()) await wf.continueAsNew<typeof segmentSweep>({ after, since, soFar });
  }
}

function sum(one: SweepReport, other: SweepReport): SweepReport {
  const total = { ...one };
  for (const key of Object.keys(other) as (keyof SweepReport)[]) total[key] += other[key];
  return total;
}
