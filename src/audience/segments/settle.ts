import type { Database, Sql } from '../../core/database/sql.ts';
import { lostContacts, settledHorizon, touchedContacts, type Watch } from './changes.ts';
import { type ComputeTarget, computeMemberships } from './compute.ts';
import { storedDefinition } from './definition.ts';
import { countMatching, countMembers } from './queries.ts';
import type { SegmentType } from './schema.ts';

/** What bringing a segment up to date came to. `untouched`: nothing that matters had changed. */
export type Settling =
  | { outcome: 'untouched' | 'busy' | 'gone' }
  | { outcome: 'counted'; memberCount: number }
  | { outcome: 'computed'; added: number; removed: number; total: number };

/** How a segment is brought up to date. */
export interface SettleOptions {
  now: Date;
  /**
   * A condition with time windows is evaluated for all contacts when it was not since this instant; null leaves the
   * passing of time alone.
   */
  windowsSince: Date | null;
}

/** A segment's row as evaluating it needs it. */
export interface LockedSegment extends ComputeTarget {
  type: SegmentType;
  condition: unknown;
  trackMembership: boolean;
}

interface SettleRow extends LockedSegment, Omit<Watch, 'settledThrough'> {
  settledThrough: string | null;
  stale: boolean;
}

const columns = 'id, project_id as "projectId", name, type, condition, track_membership as "trackMembership"';

/** Locks a segment of the project until the transaction ends and waits for its turn; null when there is none. */
export function lockSegment(sql: Sql, projectId: string, id: string): Promise<LockedSegment | null> {
  return sql.row<LockedSegment>(`select ${columns} from segments where project_id = $1 and id = $2 for update`, [
    projectId,
    id,
  ]);
}

// More contacts than this are cheaper to find anew than to look up one by one.
const mostCandidates = 20_000;

// Whatever writes rows in a way that the record of changes does not tell is put right this often.
const fullAgain = '1 hour';

const lockForSettling = `
  select ${columns}, watched_events as "watchedEvents", watched_segments as "watchedSegments",
    reads_contacts as "readsContacts", settled_through::text as "settledThrough",
    settled_through is null or evaluated_at is null or evaluated_at < now() - interval '${fullAgain}'
      or has_window and $2::timestamptz is not null and evaluated_at < $2::timestamptz as stale
  from segments where id = $1 for update skip locked`;

/**
 * Brings one segment up to date: a tracked DYNAMIC one is computed, of any other the count is refreshed. Nothing is done
 * when no change that matters was recorded since the last time; when few contacts changed, only they are asked again.
 * `busy`: somebody else has the row, and will see what we would have seen.
 */
export function settleSegment(db: Database, segmentId: string, options: SettleOptions): Promise<Settling> {
  return db.transaction(async (sql): Promise<Settling> => {
    const row = await sql.row<SettleRow>(lockForSettling, [segmentId, options.windowsSince]);
    if (row === null) {
      const there = await sql.row('select from segments where id = $1', [segmentId]);
      return { outcome: there === null ? 'gone' : 'busy' };
    }
    const horizon = await settledHorizon(sql);
    return row.type === 'DYNAMIC' && row.trackMembership
      ? settleTracked(sql, row, horizon, options.now)
      : settleCount(sql, row, horizon, options.now);
  });
}

async function settleTracked(sql: Sql, row: SettleRow, horizon: string, now: Date): Promise<Settling> {
  const touched = await touchedSince(sql, row, mostCandidates + 1);
  if (touched !== null && touched.length === 0 && !(await lostSince(sql, row))) return { outcome: 'untouched' };
  const computed = await computeMemberships(sql, row, await storedDefinition(sql, row.projectId, row.condition), {
    now,
    candidates: touched === null || touched.length > mostCandidates ? null : touched,
    settledThrough: horizon,
  });
  return { outcome: 'computed', ...computed };
}

async function settleCount(sql: Sql, row: SettleRow, horizon: string, now: Date): Promise<Settling> {
  const dynamic = row.type === 'DYNAMIC';
  // Members of a STATIC segment come and go by requests, which keep its count; only deletions pass by it.
  const touched = dynamic || row.stale ? await touchedSince(sql, row, 1) : [];
  if (touched !== null && touched.length === 0 && !(await lostSince(sql, row))) return { outcome: 'untouched' };
  const memberCount = await countNow(sql, row, now);
  await writeCount(sql, row.id, memberCount, horizon);
  return { outcome: 'counted', memberCount };
}

/** The contacts that changed in a way that matters; null when all have to be asked. */
async function touchedSince(sql: Sql, row: SettleRow, limit: number): Promise<string[] | null> {
  if (row.stale || row.settledThrough === null) return null;
  return touchedContacts(sql, { ...row, settledThrough: row.settledThrough }, limit);
}

async function lostSince(sql: Sql, row: SettleRow): Promise<boolean> {
  return row.settledThrough === null || (await lostContacts(sql, row.projectId, row.settledThrough));
}

/** How many contacts belong to a segment now: by its condition where it is DYNAMIC, else by its membership rows. */
export async function countNow(sql: Sql, segment: LockedSegment, now: Date): Promise<number> {
  if (segment.type === 'STATIC') return countMembers(sql, segment.id);
  const definition = await storedDefinition(sql, segment.projectId, segment.condition);
  return countMatching(sql, segment.projectId, definition, now);
}

/** Writes a count that was taken from all contacts after `horizon`; the row must be locked. */
export async function writeCount(sql: Sql, segmentId: string, memberCount: number, horizon: string): Promise<void> {
  // What tracking has seen is not a matter of counting.
  await sql.count(
    `update segments set member_count = $2,
       settled_through = case when tracked then settled_through else $3::timestamptz end,
       evaluated_at = case when tracked then evaluated_at else now() end
     from (select track_membership and type = 'DYNAMIC' as tracked from segments where id = $1) as own
     where id = $1`,
    [segmentId, memberCount, horizon],
  );
}
