import { type Database, sql } from '../../core/database/sql.ts';
import { type Condition, compileCondition, type SegmentMap, type StoredSegment } from '../conditions/index.ts';
import type { WatchFacts } from './definition.ts';

/** Finds segments of the project by id, for `resolveSegments`. */
export function segmentLookup(db: Database, projectId: string): (ids: string[]) => Promise<StoredSegment[]> {
  return (ids) =>
    db.rows<StoredSegment>(sql`
      select id, type, condition, track_membership as "trackMembership" from segments
      where project_id = ${projectId} and id = any(${ids}::uuid[])`);
}

/** How many contacts of the project a condition holds for. */
export async function countMatching(
  db: Database,
  projectId: string,
  { condition, segments }: { condition: Condition; segments: SegmentMap },
  now: Date,
): Promise<number> {
  const compiled = compileCondition(condition, { projectId, now, segments, reach: 'all', firstParameter: 2 });
  const row = await db.row<{ total: number }>(
    `select count(*)::int as total from contacts c where c.project_id = $1 and ${compiled.sql}`,
    [projectId, ...compiled.params],
  );
  return row?.total ?? 0;
}

/** How many members a segment has by its membership rows. */
export async function countMembers(db: Database, segmentId: string): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`select count(*)::int as total from segment_memberships where segment_id = ${segmentId} and exited_at is null`,
  );
  return row?.total ?? 0;
}

/**
 * Makes writers of the project's segment definitions wait for one another until the transaction ends: what one of them
 * refers to must not change while it is checked.
 */
export async function lockDefinitions(db: Database, projectId: string): Promise<void> {
  await db.rows(sql`select pg_advisory_xact_lock(hashtextextended('segments ' || ${projectId}, 0))`);
}

/**
 * How many campaigns that are not over go to the segment, or are on their way to an audience whose condition asks for its
 * members: without it one that leaves its members out would go to everybody.
 */
export async function campaignsUsing(db: Database, projectId: string, segmentId: string): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`
      select count(*)::int as total from campaigns
      where project_id = ${projectId} and (segment_id = ${segmentId}::uuid and status in ('DRAFT', 'SCHEDULED', 'SENDING')
        or audience_type = 'FILTERED' and status in ('SCHEDULED', 'SENDING')
          and strpos(lower(audience_condition::text), '"segment.' || ${segmentId}::text || '"') > 0)`,
  );
  return row?.total ?? 0;
}

/** Writes what a segment depends on, forgets what was counted before, and asks for a full evaluation. */
export async function writeWatchFacts(db: Database, segmentId: string, facts: WatchFacts): Promise<void> {
  await db.count(
    sql`
      update segments set watched_events = ${facts.watchedEvents}, watched_segments = ${facts.watchedSegments}, reads_contacts = ${facts.readsContacts}, has_window = ${facts.hasWindow},
      settled_through = null, listed_through = null where id = ${segmentId}`,
  );
}

/** The segments whose conditions refer to one, directly or through others. */
export function dependentsOf(
  db: Database,
  projectId: string,
  segmentId: string,
): Promise<{ id: string; name: string; condition: unknown }[]> {
  return db.rows(
    sql`select id, name, condition from segments where project_id = ${projectId} and ${segmentId} = any(watched_segments) order by id`,
  );
}
