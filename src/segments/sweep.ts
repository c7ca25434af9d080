import { AppError } from '../lib/errors.ts';
import { isUuid, leastId } from '../lib/ids.ts';
import { type Database, sql } from '../store/sql.ts';
import { isFollowed } from './changes.ts';
import { Segment } from './definition.ts';
import { type Settling, settleSegment } from './settle.ts';

export interface SegmentSweepDeps {
  db: Database;
  log: { warn(facts: object, text: string): void };
  clock(): Date;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
}

/** How many segments a sweep computed, counted and left alone, and how many contacts entered and left them. */
export interface SweepReport {
  computed: number;
  counted: number;
  untouched: number;
  /** Segments that another transaction was computing. */
  busy: number;
  /** Segments that could not be evaluated; the log says why. */
  failed: number;
  entered: number;
  left: number;
}

/** A report of nothing. */
export function emptyReport(): SweepReport {
  return { computed: 0, counted: 0, untouched: 0, busy: 0, failed: 0, entered: 0, left: 0 };
}

interface Listed {
  id: string;
  tracked: boolean;
  followed: boolean;
  watchedSegments: string[];
}

/** Computes the tracked segments of a project whose members may have changed, because data did. */
export async function settleTouched(deps: SegmentSweepDeps, projectId: string): Promise<SweepReport> {
  const report = emptyReport();
  const segments = (await segmentsOf(deps.db, projectId)).filter(({ tracked, followed }) => tracked && followed);
  await settleAll(deps, projectId, segments, null, report);
  return report;
}

/** Where a sweep over all projects goes on; null when it is through. */
export interface SweepPage {
  after: string | null;
  report: SweepReport;
}

/**
 * Brings the segments of the next projects up to date, in the order of project ids, until `shareMs` have passed or none
 * is left. `since` is when the sweep began: what was evaluated later is not evaluated again for the sake of time.
 */
export async function settlePage(
  deps: SegmentSweepDeps,
  after: string | null,
  since: Date,
  shareMs: number,
): Promise<SweepPage> {
  const report = emptyReport();
  const endsAt = performance.now() + shareMs;
  const { em } = deps.db.session();
  let last = after;
  do {
    const further = { projectId: { $gt: last !== null && isUuid(last) ? last : leastId } };
    const next = await em.findOne(Segment, further, { orderBy: { projectId: 'asc' }, fields: ['projectId'] });
    if (next === null) return { after: null, report };
    await settleAll(deps, next.projectId, await segmentsOf(deps.db, next.projectId), since, report);
    last = next.projectId;
  } while (performance.now() < endsAt);
  return { after: last, report };
}

async function settleAll(
  deps: SegmentSweepDeps,
  projectId: string,
  segments: readonly Listed[],
  windowsSince: Date | null,
  report: SweepReport,
): Promise<void> {
  for (const { id } of inOrder(segments)) {
    if (deps.stopping.aborted) throw new Error('The worker stops; another one continues');
    try {
      note(report, await settleSegment(deps.db, id, { now: deps.clock(), windowsSince }));
    } catch (error) {
      if (!isOfTheSegment(error)) throw error;
      report.failed += 1;
      deps.log.warn({ err: error, segmentId: id, projectId }, 'a segment could not be evaluated');
    }
  }
}

function segmentsOf(db: Database, projectId: string): Promise<Listed[]> {
  return db.rows<Listed>(
    sql`
      select id, track_membership and type = 'DYNAMIC' as tracked, ${isFollowed} as followed,
        watched_segments as "watchedSegments"
      from segments s where project_id = ${projectId} order by id`,
  );
}

/** Segments after those that their conditions refer to, so that one pass carries a change through all of them. */
export function inOrder<Segment extends { id: string; watchedSegments: readonly string[] }>(
  segments: readonly Segment[],
): Segment[] {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  const ordered = new Set<Segment>();
  const begun = new Set<Segment>();
  const visit = (segment: Segment) => {
    if (begun.has(segment)) return;
    begun.add(segment);
    for (const id of segment.watchedSegments) {
      const referred = byId.get(id);
      if (referred) visit(referred);
    }
    ordered.add(segment);
  };
  for (const segment of segments) visit(segment);
  return [...ordered];
}

function note(report: SweepReport, settling: Settling): void {
  switch (settling.outcome) {
    case 'computed':
      report.computed += 1;
      report.entered += settling.added;
      report.left += settling.removed;
      break;
    case 'counted':
      report.counted += 1;
      break;
    case 'busy':
      report.busy += 1;
      break;
    default:
      report.untouched += 1;
  }
}

// A condition that cannot be evaluated must not stop the others; an unavailable database stops them all. The first
// two characters of Postgres's error codes are the class: connections, resources, operator's intervention.
function isOfTheSegment(error: unknown): boolean {
  if (error instanceof AppError) return true;
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57)/.test(code);
}
