import { type Sql, statement } from '../../core/database/sql.ts';
import { type Condition, compileCondition, type SegmentMap, type StoredSegment } from '../conditions/index.ts';
import type { WatchFacts } from './definition.ts';

const find = statement(
  'segments.find_some',
  `select id, type, condition, track_membership as "trackMembership" from segments
   where project_id = $1 and id = any($2::uuid[])`,
);

/** Finds segments of the project by id, for `resolveSegments`. */
export function segmentLookup(sql: Sql, projectId: string): (ids: string[]) => Promise<StoredSegment[]> {
  return (ids) => sql.rows<StoredSegment>(find, [projectId, ids]);
}

/** How many contacts of the project a condition holds for. */
export async function countMatching(
  sql: Sql,
  projectId: string,
  { condition, segments }: { condition: Condition; segments: SegmentMap },
  now: Date,
): Promise<number> {
  const compiled = compileCondition(condition, { projectId, now, segments, reach: 'all', firstParameter: 2 });
  const row = await sql.row<{ total: number }>(
    `select count(*)::int as total from contacts c where c.project_id = $1 and ${compiled.sql}`,
    [projectId, ...compiled.params],
  );
  return row?.total ?? 0;
}

const members = statement(
  'segments.members',
  'select count(*)::int as total from segment_memberships where segment_id = $1 and exited_at is null',
);

/** How many members a segment has by its membership rows. */
export async function countMembers(sql: Sql, segmentId: string): Promise<number> {
  const row = await sql.row<{ total: number }>(members, [segmentId]);
  return row?.total ?? 0;
}

/**
 * Makes writers of the project's segment definitions wait for one another until the transaction ends: what one of them
 * refers to must not change while it is checked.
 */
export async function lockDefinitions(sql: Sql, projectId: string): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock(hashtextextended('segments ' || $1, 0))", [projectId]);
}

/**
 * How many campaigns that are not over go to the segment, or are on their way to an audience whose condition asks for its
 * members: without it one that leaves its members out would go to everybody.
 */
export async function campaignsUsing(sql: Sql, projectId: string, segmentId: string): Promise<number> {
  const row = await sql.row<{ total: number }>(
    `select count(*)::int as total from campaigns
     where project_id = $1 and (segment_id = $2::uuid and status in ('DRAFT', 'SCHEDULED', 'SENDING')
       or audience_type = 'FILTERED' and status in ('SCHEDULED', 'SENDING')
         and strpos(lower(audience_condition::text), '"segment.' || $2::text || '"') > 0)`,
    [projectId, segmentId],
  );
  return row?.total ?? 0;
}

/** Writes what a segment depends on, forgets what was counted before, and asks for a full evaluation. */
export async function writeWatchFacts(sql: Sql, segmentId: string, facts: WatchFacts): Promise<void> {
  await sql.count(
    `update segments set watched_events = $2, watched_segments = $3, reads_contacts = $4, has_window = $5,
       settled_through = null, listed_through = null where id = $1`,
    [segmentId, facts.watchedEvents, facts.watchedSegments, facts.readsContacts, facts.hasWindow],
  );
}

/** The segments whose conditions refer to one, directly or through others. */
export function dependentsOf(
  sql: Sql,
  projectId: string,
  segmentId: string,
): Promise<{ id: string; name: string; condition: unknown }[]> {
  return sql.rows(
    'select id, name, condition from segments where project_id = $1 and $2 = any(watched_segments) order by id',
    [projectId, segmentId],
  );
}
