import { Contact } from '../contacts/entity.ts';
import { type ContactFilter, matchesNobody, matching } from '../contacts/list-queries.ts';
import { lockContacts, trashContacts } from '../contacts/trash-queries.ts';
import { contactsWritten } from '../contacts/write.ts';
import { enterMembers } from '../segments/members.ts';
import type { LockedSegment } from '../segments/queries.ts';
import { type Database, sql } from '../store/sql.ts';
import type { JobRow } from './queries.ts';

/** The result of a step of a bulk job. */
export interface BulkStep {
  changed: number;
  /** Those that exist, changed or not. */
  existing: string[];
}

/** Subscribes or unsubscribes those of the contacts that are not yet so, on behalf of a job. */
export async function subscribeSome(
  db: Database,
  { id, projectId, limitedBy }: JobRow,
  ids: readonly string[],
  subscribed: boolean,
): Promise<BulkStep> {
  const rows = ids.map((contactId) => ({ id: contactId, subscribed }));
  const [step] = await db.rows<BulkStep>(sql`
    select count(*) filter (where changed)::integer as changed, coalesce(array_agg(id), '{}') as existing
    from ${contactsWritten(projectId, rows, { cause: id, limitedBy })}`);
  return step ?? nothing;
}

const nothing: BulkStep = { changed: 0, existing: [] };

/** Moves contacts into the trash of the job. */
export async function deleteSome(
  tx: Database,
  { id, projectId, limitedBy }: JobRow,
  ids: readonly string[],
): Promise<BulkStep> {
  const existing = await lockContacts(tx, projectId, ids);
  return { changed: await trashContacts(tx, projectId, id, { cause: id, limitedBy }, existing), existing };
}

/** Makes contacts members of a STATIC segment that the transaction has locked. */
export async function enterSome(
  db: Database,
  segment: LockedSegment,
  { limitedBy }: JobRow,
  ids: readonly string[],
): Promise<BulkStep> {
  const where = { projectId: segment.projectId, id: [...ids] };
  const contacts = await db.em.find(Contact, where, { fields: ['email'], disableIdentityMap: true });
  const members = await enterMembers(
    db,
    segment,
    contacts.map(({ email }) => email),
    limitedBy,
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
    sql`
      select c.id from contacts c where ${matching(job.projectId, filter)}
        and c.created_at <= (select created_at from jobs where jobs.id = ${job.id})
        and not (c.id = any(${excludeIds}::uuid[])) and c.id > ${after}::uuid
      order by c.id limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}
