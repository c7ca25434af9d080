import { conditionQuery } from '../contacts/conditions.ts';
import { recordingEvents } from '../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../store/sql.ts';
import { lostContacts, settledHorizon, touchedContacts, type Watch } from './changes.ts';
import { type Definition, Segment, storedDefinition } from './definition.ts';
import { memberEvent } from './pages.ts';
import { countMatching, countMembers, type LockedSegment, lockedColumns } from './queries.ts';
import type { ComputedMembers } from './schema.ts';

/** How far a compute goes. */
interface ComputeScope {
  /** The instant that time windows count back from. */
  now: Date;
  /** The contacts to ask; null asks all of the project. */
  candidates: readonly string[] | null;
  /** Changes stamped before this instant will have been seen; text as Postgres gave it. */
  settledThrough: string;
}

/**
 * Brings the memberships of a segment in line with its condition, by one statement: contacts that match and are no
 * members enter (again), members that do not match leave, each change has its event, and the row has the new count.
 * The segment's row must be locked by the transaction, or two computes would both emit the same change.
 *
 * Contacts that change are locked first, so that a deletion cannot come in between; those that
 * another transaction holds, most likely to delete them, are skipped, and the segment does not count as settled then.
 */
export async function computeMemberships(
  db: Database,
  segment: LockedSegment,
  { condition, segments }: Definition,
  { now, candidates, settledThrough }: ComputeScope,
): Promise<ComputedMembers> {
  const { id, projectId } = segment;
  const [entry, exit] = [memberEvent(segment, 'entry'), memberEvent(segment, 'exit')];
  const among = (column: string) =>
    candidates === null ? raw('') : sql`and ${raw(column)} = any(${candidates}::uuid[])`;
  const matches = conditionQuery(condition, {
    projectId,
    now,
    segments,
    reach: candidates === null ? 'all' : 'page',
  });
  const change = (name: string, from: Query) => ({
    projectId,
    contactId: sql`m.contact_id`,
    name,
    data: entry.data,
    limitedBy: limitOf(limitingKey(db), id),
    from,
  });
  const given = sql`
     matching as materialized (
       select c.id from contacts c where c.project_id = ${projectId}::uuid ${among('c.id')} and ${matches}),
     member as materialized (
       select contact_id as id from segment_memberships
       where segment_id = ${id}::uuid and exited_at is null ${among('contact_id')}),
     changed as (
       select coalesce(matching.id, member.id) as id, member.id is null as enters
       from matching full join member using (id) where matching.id is null or member.id is null),
     held as materialized (
       select c.id, changed.enters from changed join contacts c on c.id = changed.id for key share of c skip locked),
     entered as (
       insert into segment_memberships (segment_id, contact_id) select ${id}::uuid, id from held where enters
       on conflict (segment_id, contact_id) do update set entered_at = excluded.entered_at, exited_at = null
       returning contact_id),
     exited as (
       update segment_memberships m set exited_at = now() from held
       where not held.enters and m.segment_id = ${id}::uuid and m.contact_id = held.id
       returning m.contact_id),
     done as (
       select (select count(*) from entered)::int as added, (select count(*) from exited)::int as removed,
         (select count(*) from held) = (select count(*) from changed) as complete),
     counted as (
     update segments s set settled_through = case when done.complete then ${settledThrough}::timestamptz else s.settled_through end,
       evaluated_at = case when done.complete and ${candidates === null}::boolean then now() else s.evaluated_at end,
       member_count = done.added - done.removed + case when ${candidates === null}::boolean then (select count(*) from member)
         else (select count(*) from segment_memberships where segment_id = ${id}::uuid and exited_at is null) end
     from done where s.id = ${id}::uuid
     returning done.added, done.removed, s.member_count as total)`;
  const events = [change(entry.name, sql`entered m`), change(exit.name, sql`exited m`)];
  const row = await db.row<ComputedMembers>(recordingEvents({ given, events, result: sql`select * from counted` }));
  if (row === null) throw new Error(`Segment ${id} is gone although its row is locked`);
  return row;
}

// SQL of the key whose limits hold for what the event of `m` starts: that of the request, or one that has changed the contact, or was the
// cause of an event of it. What happened before the segment was settled last counts only where time alone lets contacts enter. Of several
// keys none stands for all: an ID that no key has lets nobody be reached.
function limitOf(key: string | null, segmentId: string): Query {
  return sql`(
    select case when count(distinct by.key) > 1 then ${segmentId}::uuid else (array_agg(by.key))[1] end
    from (
      select coalesce(case when not has_window then settled_through end, '-infinity') as since
      from segments where id = ${segmentId}::uuid) settled,
    lateral (
      select ${key}::uuid as key
      union all
      select limited_by from contact_changes where contact_id = m.contact_id and limited_by is not null and at >= since
      union all
      select limited_by from contact_history where contact_id = m.contact_id and limited_by is not null and at >= since
      union all
      select limited_by from events where contact_id = m.contact_id and limited_by is not null and created_at >= since) by
    where by.key is not null)`;
}

/** The result of bringing a segment up to date. `untouched`: nothing that matters had changed. */
export type Settling =
  | { outcome: 'untouched' | 'busy' | 'gone' }
  | { outcome: 'counted'; memberCount: number }
  | ({ outcome: 'computed' } & ComputedMembers);

/** How a segment is brought up to date. */
interface SettleOptions {
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

// Writes that leave no trace in the record of changes are found this often.
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
    if (row === null) return { outcome: (await tx.em.count(Segment, { id: segmentId })) === 0 ? 'gone' : 'busy' };
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
