import { recordingEvents } from '../../core/database/record-events.ts';
import { type Database, sql, unprepared } from '../../core/database/sql.ts';
import {
  type ContactFilter,
  flipEvents,
  limitedByJob,
  matchesNobody,
  matching,
  movingToTrash,
  trashContacts,
} from '../contacts/index.ts';
import { enterMembers, type LockedSegment } from '../segments/index.ts';

/** What a step did to the contacts it was given. */
export interface BulkStep {
  changed: number;
  /** Those that exist, changed or not. */
  existing: string[];
}

const flips = flipEvents({ from: 'changed flipped', limitedBy: limitedByJob });

/** Subscribes or unsubscribes those of the contacts that are not yet so, and records each change as an event. */
export async function subscribeSome(
  db: Database,
  projectId: string,
  ids: readonly string[],
  subscribed: boolean,
): Promise<BulkStep> {
  // Contacts are locked in the order of their addresses, as every statement that writes many of them does.
  const given = sql`
    wanted as materialized (
      select id, subscribed from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])
      order by email for update),
    changed as (
      update contacts c set subscription_before = c.subscribed, subscribed = ${subscribed}, updated_at = now()
      from wanted where c.id = wanted.id and wanted.subscribed <> ${subscribed}
      returning c.id, c.project_id, c.subscribed)`;
  const result = sql`select (select count(*) from changed)::integer as changed, array(select id from wanted) as existing`;
  const [step] = await db.rows<BulkStep>(recordingEvents({ given, events: flips, result }));
  return step ?? nothing;
}

const nothing: BulkStep = { changed: 0, existing: [] };

/** Moves contacts into the trash of the job. */
export async function deleteSome(
  tx: Database,
  job: { id: string; projectId: string },
  ids: readonly string[],
): Promise<BulkStep> {
  await movingToTrash(tx, job.id);
  // Locked first: what the trash keeps of them is read after that.
  const locked = await tx.rows<{ id: string }>(sql`
    select id from contacts where project_id = ${job.projectId} and id = any (${ids}::uuid[]) order by email for update`);
  const existing = locked.map(({ id }) => id);
  return { changed: await trashContacts(tx, job.projectId, { jobId: job.id, cause: job.id }, existing), existing };
}

/** Makes contacts members of a STATIC segment that the transaction has locked. */
export async function enterSome(db: Database, segment: LockedSegment, ids: readonly string[]): Promise<BulkStep> {
  const contacts = await db.rows<{ id: string; email: string }>(
    sql`select id, email from contacts where project_id = ${segment.projectId} and id = any(${ids}::uuid[])`,
  );
  const members = await enterMembers(
    db,
    segment,
    contacts.map(({ email }) => email),
  );
  return {
    changed: [...members.values()].filter(Boolean).length,
    existing: contacts.filter(({ email }) => members.has(email)).map(({ id }) => id),
  };
}

/**
 * The next `limit` contacts that a filter leaves, in the order of their ids. A job is not for contacts that were created
 * after it.
 */
export async function matchingContacts(
  db: Database,
  job: { id: string; projectId: string },
  filter: ContactFilter,
  excludeIds: readonly string[],
  after: string,
  limit: number,
): Promise<string[]> {
  if (matchesNobody(filter)) return [];
  const rows = await db.rows<{ id: string }>(
    unprepared(sql`
      select c.id from contacts c where ${matching(job.projectId, filter)}
        and c.created_at <= (select created_at from jobs where jobs.id = ${job.id})
        and not (c.id = any(${excludeIds}::uuid[])) and c.id > ${after}::uuid
      order by c.id limit ${limit}`),
  );
  return rows.map(({ id }) => id);
}
