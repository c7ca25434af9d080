import {
  type SegmentSweepDeps,
  type SweepPage,
  type SweepReport,
  settlePage,
  settleTouched,
} from '../src/audience/segments/index.ts';
import { alive } from './alive.ts';

/** The activities of segments, as workflows call them. */
export type SegmentActivities = ReturnType<typeof segmentActivities>;

const heartbeatMs = 5000;
// A page is one activity: long enough to be worth it, short enough that the Web UI shows how far a sweep is.
const pageShareMs = 20_000;

/** Builds the activities that keep segments up to date. Safe to repeat: what is settled is found settled. */
export function segmentActivities(deps: SegmentSweepDeps) {
  return {
    /** Computes the tracked segments of a project that changes of data have touched. */
    settleTouchedSegments: (projectId: string): Promise<SweepReport> =>
      alive(heartbeatMs, () => settleTouched(deps, projectId)),

    /** Brings the segments of the projects after one up to date; `since` is the ISO instant at which the sweep began. */
    settleSegmentsPage: (after: string | null, since: string): Promise<SweepPage> =>
      alive(heartbeatMs, () => settlePage(deps, after, new Date(since), pageShareMs)),
  };
}
