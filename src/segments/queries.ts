import { conditionQuery } from '../contacts/conditions.ts';
import { countFitting } from '../contacts/list-queries.ts';
import { openStatuses, unfinishedStatuses } from '../lib/enums.ts';
import { lockName } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { lostContacts, settledHorizon, touchedContacts, type Watch } from './changes.ts';
import type { Definition, WatchFacts } from './definition.ts';
import type { SegmentType } from './schema.ts';

/** A segment's row as evaluating it needs it. */
export interface LockedSegment {
  id: string;
  projectId: string;
  name: string;
  type: SegmentType;
  condition: unknown;
  trackMembership: boolean;
}

/** The columns of a `LockedSegment`. */
export const lockedColumns = raw(
  'id, project_id as "projectId", name, type, condition, track_membership as "trackMembership"',
);

/** How many contacts of the project a condition holds for. */
export async function countMatching(
  db: Database,
  projectId: string,
  { condition, segments }: Definition,
  now: Date,
): Promise<number> {
  return countFitting(db, projectId, conditionQuery(condition, { projectId, now, segments, reach: 'all' }));
}

/** How many members a segment has by its membership rows. */
export async function countMembers(db: Database, segmentId: string): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`select count(*)::int as total from segment_memberships where segment_id = ${segmentId} and exited_at is null`,
  );
  return row?.total ?? 0;
}

/** A segment as listing its contacts needs it. */
interface ListedSegment extends Omit<Watch, 'settledThrough'> {
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

/**
 * Serializes writers of the project's segment definitions until the transaction ends: what one of them refers to must not
 * change while it is checked.
 */
export function lockDefinitions(db: Database, projectId: string): Promise<void> {
  return lockName(db, `segments ${projectId}`);
}

/**
 * How many unfinished campaigns go to the segment, or are scheduled or sending to an audience whose condition refers to it:
 * without the segment, one that excludes its members would go to everybody. Only those of others than the key `except`, which wrote them
 * and began their sends, and their drafts with such a condition too, where it is not null.
 */
export async function campaignsUsing(
  db: Database,
  projectId: string,
  segmentId: string,
  except: string | null = null,
): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`
      select count(*)::int as total from campaigns c
      where project_id = ${projectId} and status in ${raw(unfinishedStatuses.sql)} and (segment_id = ${segmentId}::uuid
        or audience_type = 'FILTERED' and (status in ${raw(openStatuses.sql)} or ${except}::uuid is not null)
          and strpos(lower(audience_condition::text), '"segment.' || ${segmentId}::text || '"') > 0)
        and (${except}::uuid is null
          or not coalesce((select bool_and(v.author_id is not distinct from ${except}::text) from content_versions v
            where v.project_id = c.project_id and v.item_id = c.id), false)
          or status in ${raw(openStatuses.sql)} and exists (select from campaign_sends s
            where s.campaign_id = c.id and s.send_seq = c.send_seq and s.limited_by is distinct from ${except}::uuid))`,
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
