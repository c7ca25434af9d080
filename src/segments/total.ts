import { type Database, raw, sql } from '../store/sql.ts';
import { lostContacts, settledHorizon, touchedContacts, type Watch } from './changes.ts';
import type { Definition } from './definition.ts';
import { countMatching, countMembers } from './queries.ts';
import type { SegmentType } from './schema.ts';

/** A segment as listing its contacts needs it. */
export interface ListedSegment extends Omit<Watch, 'settledThrough'> {
  id: string;
  type: SegmentType;
  condition: unknown;
  listedCount: number | null;
  /** Changes stamped before this instant are in the count; null when it does not hold any more. */
  listedThrough: string | null;
  /** Whether time may have changed the count. */
  aged: boolean;
}

// Contacts leave a time window at any moment: the total of a list may be this old, its rows are not.
const windowsAgeAfter = '10 seconds';

/** A segment of the project with the total of its last list; null when there is none. */
export function findListed(db: Database, projectId: string, id: string): Promise<ListedSegment | null> {
  return db.row<ListedSegment>(
    sql`
      select id, project_id as "projectId", type, condition, watched_events as "watchedEvents",
        watched_segments as "watchedSegments", reads_contacts as "readsContacts", listed_count as "listedCount",
        listed_through::text as "listedThrough",
        has_window and listed_at < now() - interval '${raw(windowsAgeAfter)}' as aged
      from segments where project_id = ${projectId} and id = ${id}`,
  );
}

/**
 * How many contacts a segment has now. Counting a large audience takes longer than showing a page of it, so the last
 * count is taken where the record of changes proves that it still holds.
 */
export async function exactTotal(
  db: Database,
  segment: ListedSegment,
  definition: Definition | null,
  now: Date,
): Promise<number> {
  const { listedCount, listedThrough } = segment;
  if (listedCount !== null && listedThrough !== null && !segment.aged) {
    const [touched, lost] = await Promise.all([
      definition === null ? [] : touchedContacts(db, { ...segment, settledThrough: listedThrough }, 1),
      lostContacts(db, segment.projectId, listedThrough),
    ]);
    if (touched.length === 0 && !lost) return listedCount;
  }
  const through = await settledHorizon(db);
  const total =
    definition === null
      ? await countMembers(db, segment.id)
      : await countMatching(db, segment.projectId, definition, now);
  // The count is kept only where the segment has not changed since, and without waiting for a lock.
  await db.count(
    sql`
      update segments set listed_count = ${total}, listed_through = ${through}::timestamptz, listed_at = now()
      where id = (select id from segments where id = ${segment.id} and listed_through is not distinct from ${listedThrough}::timestamptz
        and condition is not distinct from ${segment.condition === null ? null : JSON.stringify(segment.condition)}::jsonb for no key update skip locked)`,
  );
  return total;
}
