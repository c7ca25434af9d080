import { type Database, raw, sql, unprepared } from '../../core/database/sql.ts';
import { type ContactFilter, flipEvents, matchesNobody, matching } from '../contacts/index.ts';

/** What a step did to the contacts it was given. */
export interface BulkStep {
  changed: number;
  /** Those that exist, changed or not. */
  existing: string[];
}

const flip = raw(flipEvents({ from: 'changed flipped' }));

/** Subscribes or unsubscribes those of the contacts that are not yet so, and records each change as an event. */
export async function subscribeSome(
  db: Database,
  projectId: string,
  ids: readonly string[],
  subscribed: boolean,
): Promise<BulkStep> {
  // Contacts are locked in the order of their addresses, as every statement that writes many of them does.
  const [step] = await db.rows<BulkStep>(sql`
    with wanted as materialized (
      select id, subscribed from contacts where project_id = ${projectId} and id = any(${ids}::uuid[])
      order by email for update),
    changed as (
      update contacts c set subscription_before = c.subscribed, subscribed = ${subscribed}, updated_at = now()
      from wanted where c.id = wanted.id and wanted.subscribed <> ${subscribed}
      returning c.id, c.project_id, c.subscribed),
    flip as (${flip})
    select (select count(*) from changed)::integer as changed, array(select id from wanted) as existing`);
  return step ?? nothing;
}

const nothing: BulkStep = { changed: 0, existing: [] };

/** Deletes contacts with their events, emails and memberships. */
export async function deleteSome(db: Database, projectId: string, ids: readonly string[]): Promise<BulkStep> {
  const [step] = await db.rows<BulkStep>(sql`
    with wanted as materialized (
      select id from contacts where project_id = ${projectId} and id = any(${ids}::uuid[]) order by email for update),
    gone as (delete from contacts c using wanted where c.id = wanted.id returning c.id)
    select (select count(*) from gone)::integer as changed, array(select id from wanted) as existing`);
  return step ?? nothing;
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
      select id from contacts where ${matching(job.projectId, filter)}
        and created_at <= (select created_at from jobs where jobs.id = ${job.id})
        and not (id = any(${excludeIds}::uuid[])) and id > ${after}::uuid
      order by id limit ${limit}`),
  );
  return rows.map(({ id }) => id);
}
