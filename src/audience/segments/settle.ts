import { type Database, raw, sql } from '../../core/database/sql.ts';
import { lostContacts, settledHorizon, touchedContacts, type Watch } from './changes.ts';
import { computeMemberships } from './compute.ts';
import { storedDefinition } from './definition.ts';
import { countMatching, countMembers, type LockedSegment, lockedColumns } from './queries.ts';
import type { ComputedMembers } from './schema.ts';

/** What bringing a segment up to date came to. `untouched`: nothing that matters had changed. */
export type Settling =
  | { outcome: 'untouched' | 'busy' | 'gone' }
  | { outcome: 'counted'; memberCount: number }
  | ({ outcome: 'computed' } & ComputedMembers);

/** How a segment is brought up to date. */
export interface SettleOptions {
  now: Date;
  /**
   * A condition with time windows is evaluated for all contacts when it was not since this instant; null leaves the
   * passing of time alone.
   */
  windowsSince: Date | null;
}

interface SettleRow extends LockedSegment, Omit<Watch, 'settledThrough'> {
  settledThrough: string | null;
  stale: boolean;
}

// Beyond this, evaluating all contacts is cheaper than checking them one by one.
const mostCandidates = 20_000;

// What writes rows without a trace in the record of changes is corrected this often.
const fullAgain = '1 hour';

/**
 * Brings one segment up to date: a tracked DYNAMIC one is computed, of any other the count is refreshed. Nothing is done
 * when no change that matters was recorded since the last time; when few contacts changed, only they are checked again.
 * `busy`: another transaction holds the row, and will see what this one would have seen.
 */
export function settleSegment(db: Database, segmentId: string, options: SettleOptions): Promise<Settling> {
  return db.transaction(async (tx): Promise<Settling> => {
    const row = await tx.row<SettleRow>(sql`
      select ${lockedColumns}, watched_events as "watchedEvents", watched_segments as "watchedSegments",
        reads_contacts as "readsContacts", settled_through::text as "settledThrough",
        settled_through is null or evaluated_at is null or evaluated_at < now() - interval '${raw(fullAgain)}'
          or has_window and coalesce(evaluated_at < ${options.windowsSince}::timestamptz, false) as stale
      from segments where id = ${segmentId} for update skip locked`);
    if (row === null) {
      const there = await tx.row(sql`select from segments where id = ${segmentId}`);
      return { outcome: there === null ? 'gone' : 'busy' };
    }
    const horizon = await settledHorizon(tx);
    return row.type === 'DYNAMIC' && row.trackMembership
      ? settleTracked(tx, row, horizon, options.now)
      : settleCount(tx, row, horizon, options.now);
  });
}

async function settleTracked(db: Database, row: SettleRow, horizon: string, now: Date): Promise<Settling> {
  const touched = await touchedSince(db, row, mostCandidates + 1);
  if (touched !== null && touched.length === 0 && !(await lostSince(db, row))) return { outcome: 'untouched' };
  const computed = await computeMemberships(db, row, await storedDefinition(db, row.projectId, row.condition), {
    now,
    candidates: touched === null || touched.length > mostCandidates ? null : touched,
    settledThrough: horizon,
  });
  return { outcome: 'computed', ...computed };
}

async function settleCount(db: Database, row: SettleRow, horizon: string, now: Date): Promise<Settling> {
  const dynamic = row.type === 'DYNAMIC';
  // Requests that change members of a STATIC segment keep its count; only deletions of contacts do not.
  const touched = dynamic || row.stale ? await touchedSince(db, row, 1) : [];
  if (touched !== null && touched.length === 0 && !(await lostSince(db, row))) return { outcome: 'untouched' };
  const memberCount = await countNow(db, row, now);
  await writeCount(db, row.id, memberCount, horizon);
  return { outcome: 'counted', memberCount };
}

/** The contacts that changed in a way that matters; null when all have to be checked. */
async function touchedSince(db: Database, row: SettleRow, limit: number): Promise<string[] | null> {
  if (row.stale || row.settledThrough === null) return null;
  return touchedContacts(db, { ...row, settledThrough: row.settledThrough }, limit);
}

async function lostSince(db: Database, row: SettleRow): Promise<boolean> {
  return row.settledThrough === null || (await lostContacts(db, row.projectId, row.settledThrough));
}

/** How many contacts belong to a segment now: by its condition where it is DYNAMIC, else by its membership rows. */
export async function countNow(db: Database, segment: LockedSegment, now: Date): Promise<number> {
  if (segment.type === 'STATIC') return countMembers(db, segment.id);
  const definition = await storedDefinition(db, segment.projectId, segment.condition);
  return countMatching(db, segment.projectId, definition, now);
}

/** Writes a count that was taken from all contacts after `horizon`; the row must be locked. */
export async function writeCount(db: Database, segmentId: string, memberCount: number, horizon: string): Promise<void> {
  // A count does not change what tracking has seen.
  await db.count(
    sql`
      update segments set member_count = ${memberCount},
        settled_through = case when tracked then settled_through else ${horizon}::timestamptz end,
        evaluated_at = case when tracked then evaluated_at else now() end
      from (select track_membership and type = 'DYNAMIC' as tracked from segments where id = ${segmentId}) as own
      where id = ${segmentId}`,
  );
}
