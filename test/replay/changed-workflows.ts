import * as wf from '@temporalio/workflow';
import type { SegmentActivities } from '../../activities/automation.ts';
import * as current from '../../workflows/index.ts';

// What a careless, and a careful, new version of the workflows could look like: each keeps its type's name.
const { settleTouchedSegments } = wf.proxyActivities<SegmentActivities>({ startToCloseTimeout: '1 minute' });

/** A step more at the beginning. */
export async function emailDelivery(input: { projectId: string }): Promise<unknown> {
  await wf.sleep('1 second');
  return current.emailDelivery(input);
}

/** Another activity in the place of its own. */
export async function reconcile(): Promise<unknown> {
  return current.retention();
}

/** A step less: it does not pause after a failure. */
export async function segmentCompute({ projectId }: { projectId: string }): Promise<unknown> {
  return settleTouchedSegments(projectId);
}

/** A step more at the end. */
export async function segmentSweep(): Promise<unknown> {
  const report = await current.segmentSweep();
  await wf.sleep('1 second');
  return report;
}

/** A step more, taken only by executions that begin with this version. */
export async function retention(): Promise<unknown> {
  if (wf.patched('pause-before-retention')) await wf.sleep('1 second');
  return current.retention();
}
