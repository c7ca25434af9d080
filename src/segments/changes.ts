import type { Logger } from 'pino';
import { workflowId } from '../../temporal/commands.ts';
import type { TemporalConnection } from '../../temporal/connection.ts';
import { describeFailure } from '../lib/network.ts';
import { performCommand } from '../store/outbox/calls.ts';
import { type Database, raw, sql, unprepared } from '../store/sql.ts';

/** The columns of a segment that say which changes matter to it. */
export interface Watch {
  projectId: string;
  watchedEvents: readonly string[];
  watchedSegments: readonly string[];
  readsContacts: boolean;
  /** Changes stamped at or after this instant may not have been seen yet. */
  settledThrough: string;
}

/** How long transactions of others hold back the horizon, in seconds. */
export interface HorizonTimes {
  /** One that has written nothing for so long only reads, as a dump does. */
  quietSeconds: number;
  /** One that was left open for so long holds back nothing more. */
  longestSeconds: number;
}

// Stamps are cut to milliseconds, and a transaction begins a moment before others can see that it did.
const marginSeconds = 2;
const usualTimes: HorizonTimes = { quietSeconds: 60, longestSeconds: 15 * 60 };

/**
 * An instant before which nothing can appear any more: rows are stamped with the beginning of their transaction, and the
 * oldest one that may still write began after it. Whatever a statement that follows does not see is stamped later.
 * Every transaction of the service counts, and every one that waits for a lock, whatever its age: either may write when it goes on, and has
 * not necessarily an ID by then. Migrations and heavy reads stamp nothing that anybody follows, so they count as others: those that only read
 * do not count after a minute, and those that write do not after a quarter of an hour, or a forgotten one would make every change since its
 * beginning be checked again and again. What such a transaction changes is found by the hourly evaluation of all contacts.
 */
export async function settledHorizon(db: Database, times = usualTimes): Promise<string> {
  const row = await db.row<{ horizon: string }>(sql`
    select (least(now(), min(xact_start) filter (where counts),
        min(greatest(xact_start, now() - make_interval(secs => ${times.longestSeconds})))
          filter (where backend_xid is not null or xact_start > clock_timestamp() - make_interval(secs => ${times.quietSeconds})))
      - make_interval(secs => ${marginSeconds}))::text as horizon
    from (
      select xact_start, backend_xid, coalesce(wait_event_type = 'Lock', false)
        or application_name like 'fernpost-%' and application_name not in ('fernpost-migrate', 'fernpost-reads') as counts
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) other`);
  if (row === null) throw new Error('Postgres did not answer');
  return row.horizon;
}

/**
 * The contacts with a change, since the segment was settled, that its condition may depend on; at most `limit`. The tables
 * themselves are the record of what changed, each through an index, so that no writer has to note it: every kind of change
 * has an instant, and activities of mail are events.
 */
export async function touchedContacts(db: Database, watch: Watch, limit: number): Promise<string[]> {
  const { projectId, watchedEvents, watchedSegments, settledThrough: since } = watch;
  // New contacts are changed ones too: both instants are the same at first.
  const column = raw(watch.readsContacts ? 'updated_at' : 'created_at');
  // The conditions on the number of names and segments keep what is not watched from being read at all.
  const rows = await db.rows<{ id: string }>(
    unprepared(sql`
      select distinct id from (
        (select id from contacts where project_id = ${projectId} and ${column} >= ${since}::timestamptz limit ${limit})
        union all
        (select contact_id from events
          where ${watchedEvents.length} > 0 and project_id = ${projectId} and name = any(${watchedEvents}::text[])
            and created_at >= ${since}::timestamptz limit ${limit})
        union all
        (select contact_id from segment_memberships
          where ${watchedSegments.length} > 0 and segment_id = any(${watchedSegments}::uuid[])
            and entered_at >= ${since}::timestamptz and exited_at is null limit ${limit})
        union all
        (select contact_id from segment_memberships
          where ${watchedSegments.length} > 0 and segment_id = any(${watchedSegments}::uuid[])
            and exited_at >= ${since}::timestamptz and exited_at is not null limit ${limit})) as touched (id)
      where id is not null limit ${limit}`),
  );
  return rows.map((row) => row.id);
}

/** Whether contacts of the project were deleted since. Memberships go with them; counts do not. */
export async function lostContacts(db: Database, projectId: string, since: string): Promise<boolean> {
  const row = await db.row<{ lost: boolean }>(
    sql`select max(at) >= ${since}::timestamptz as lost from contact_losses where project_id = ${projectId}`,
  );
  return row?.lost ?? false;
}

/** SQL: whether changes of a segment `s` are followed: it was computed once, or was defined a moment ago. */
export const isFollowed = raw("(s.settled_through is not null or s.updated_at > now() - interval '1 minute')");

/**
 * The projects with tracked segments whose members may have changed since they were settled. Asks indexes only, so it may
 * be asked often. A segment that was defined within the last minute is computed as well; what fails then is left to the schedule.
 */
export async function touchedProjects(db: Database): Promise<string[]> {
  // The same questions as `touchedContacts`, for all tracked segments at once and without the answers. Each is for the
  // latest instant, which is one step into an index; asked whether there is any row since, Postgres would expect many and
  // read the table in search of the first.
  const rows = await db.rows<{ projectId: string }>(sql`
    select distinct s.project_id as "projectId" from segments s
    where s.track_membership and s.type = 'DYNAMIC' and ${isFollowed} and (
      s.settled_through is null
      or (select max(c.created_at) from contacts c where c.project_id = s.project_id) >= s.settled_through
      or s.reads_contacts and (select max(c.updated_at) from contacts c where c.project_id = s.project_id) >= s.settled_through
      or exists (
        select from unnest(s.watched_events) as w (name)
        where (select max(e.created_at) from events e where e.project_id = s.project_id and e.name = w.name)
          >= s.settled_through)
      or exists (
        select from unnest(s.watched_segments) as w (id)
        where (select max(m.entered_at) from segment_memberships m where m.segment_id = w.id and m.exited_at is null)
            >= s.settled_through
          or (select max(m.exited_at) from segment_memberships m where m.segment_id = w.id and m.exited_at is not null)
            >= s.settled_through))`);
  return rows.map((row) => row.projectId);
}

interface SegmentWatchDeps {
  /** Finds the projects with tracked segments whose members may have changed. */
  touchedProjects(): Promise<string[]>;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
}

/**
 * Builds the watch that a worker runs every few seconds: it looks for projects whose segments need computing, starts that and
 * answers how many it started. A project is computed when it is found touched for the second
 * time in a row: a burst of changes is one compute, and a caller who computes by request comes first. A start that is
 * lost is made by the next watch; of several workers' starts Temporal takes one.
 */
export function createSegmentWatch({
  touchedProjects,
  temporal,
  queuePrefix,
  log,
}: SegmentWatchDeps): () => Promise<number> {
  let before = new Set<string>();
  let failing = false;
  return async () => {
    const touched = await touchedProjects();
    const due = touched.filter((projectId) => before.has(projectId));
    before = new Set(touched.filter((projectId) => !before.has(projectId)));
    let started = 0;
    for (const projectId of due) if (await start(projectId)) started += 1;
    return started;
  };

  async function start(projectId: string): Promise<boolean> {
    try {
      const outcome = await performCommand(temporal, queuePrefix, {
        type: 'start',
        workflow: 'segmentCompute',
        id: workflowId.segments(projectId),
        input: { projectId },
        // An execution that has ended does not count.
        restart: 'touched',
        searchAttributes: { ProjectId: projectId, Kind: 'segments' },
        staticSummary: 'Computes the tracked segments of one project after its data changed',
      });
      failing = false;
      return outcome === 'done';
    } catch (error) {
      if (!failing) {
        const reason = describeFailure(error, temporal.settings);
        log.warn({ projectId }, `segments could not be computed, the next check repeats it: ${reason}`);
      }
      failing = true;
      return false;
    }
  }
}
