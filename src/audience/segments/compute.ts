import { newEvent, recordingEvents } from '../../core/database/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../../core/database/sql.ts';
import { conditionQuery } from '../conditions/index.ts';
import type { Definition } from './definition.ts';
import type { LockedSegment } from './queries.ts';
import type { ComputedMembers } from './schema.ts';
import { memberEvent } from './slug.ts';

/** How far a compute goes. */
export interface ComputeScope {
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
  const limitedBy = await limitOf(db, segment);
  const current = sql`segment_memberships where segment_id = ${id}::uuid and exited_at is null`;
  const change = (name: string) =>
    newEvent({
      projectId,
      contactId: sql`m.contact_id`,
      name,
      data: entry.data,
      limitedBy,
    });
  const given = sql`
     matching as materialized (
       select c.id from contacts c where c.project_id = ${projectId}::uuid ${among('c.id')} and ${matches}),
     member as materialized (select contact_id as id from ${current} ${among('contact_id')}),
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
       member_count = (select count(*) from ${candidates === null ? raw('member') : current}) + done.added - done.removed
     from done where s.id = ${id}::uuid
     returning done.added, done.removed, s.member_count as total)`;
  const events = sql`
    select ${change(entry.name)} from entered m union all select ${change(exit.name)} from exited m`;
  const row = await db.row<ComputedMembers>(recordingEvents({ given, events, result: sql`select * from counted` }));
  if (row === null) throw new Error(`Segment ${id} is gone although its row is locked`);
  return row;
}

// The key whose limits hold for what the event of `m` starts: that of the request, or else a test key that has changed the contact, or
// was the cause of an event of it, since the segment was settled.
async function limitOf(db: Database, { id, projectId }: LockedSegment): Promise<Query> {
  const key = limitingKey(db);
  if (key !== null) return sql`${key}::uuid`;
  const rows = await db.rows<{ id: string }>(
    sql`select id from api_keys where project_id = ${projectId} and recipients is not null`,
  );
  if (rows.length === 0) return sql`null::uuid`;
  const since = sql`coalesce((select settled_through from segments where id = ${id}::uuid), '-infinity')`;
  return sql`(
    select by.key::uuid from (
      select coalesce(j.limited_by::text, case when left(c.cause, 1) = '{' then c.cause::jsonb #>> '{by,id}' end) as key
      from contact_changes c left join jobs j on j.id = c.cause
      where c.project_id = ${projectId}::uuid and c.contact_id = m.contact_id and c.at >= ${since}
      union all
      select h.cause #>> '{by,id}' from contact_history h where h.contact_id = m.contact_id and h.at >= ${since}
      union all
      select e.limited_by::text from events e where e.contact_id = m.contact_id and e.created_at >= ${since}) by
    where by.key = any(${rows.map((row) => row.id)}::text[]) limit 1)`;
}
