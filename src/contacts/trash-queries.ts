import { type Database, type Query, raw, sql } from '../store/sql.ts';
import { type ContactWriting, contactsWritten, writeContacts } from './write.ts';

/** Days for which deleted contacts can be brought back. */
export const trashDays = 7;

/**
 * The contacts together with those in the trash, as a table of a query: mail, events and executions of a contact that can be brought
 * back are still shown. Each of the two is read by its index.
 */
export const contactsAndTrash = raw(`(
  select id, project_id, email, subscribed, data from contacts
  union all select id, project_id, email, subscribed, data from contacts_trash)`);

/**
 * Moves contacts of a project, which the transaction has locked, into the trash, that of a job unless it is null. Returns how many. What
 * follows a deletion (forget_contacts.sql) knows them by their rows in the trash.
 */
export async function trashContacts(
  tx: Database,
  projectId: string,
  jobId: string | null,
  writing: ContactWriting,
  ids: readonly string[],
): Promise<number> {
  return tx.count(sql`
    with kept as (
      insert into contacts_trash (id, project_id, job_id, email, subscribed, data, created_at, memberships)
      select c.id, c.project_id, ${jobId}, c.email, c.subscribed, c.data, c.created_at, coalesce(m.rows, '[]')
      from contacts c left join lateral (
        select jsonb_agg(jsonb_build_object('segmentId', segment_id, 'enteredAt', entered_at, 'exitedAt', exited_at)) as rows
        from segment_memberships where contact_id = c.id) m on true
      where c.project_id = ${projectId} and c.id = any (${ids}::uuid[])),
    noted as (${noteMoved('deleted', writing, sql`contacts where project_id = ${projectId} and id = any (${ids}::uuid[])`)})
    delete from contacts where project_id = ${projectId} and id = any (${ids}::uuid[])`);
}

/** The result of restoring a page of the trash. */
export interface BroughtBack {
  /** The last contact of the page; null when none was left. */
  last: string | null;
  contacts: number;
  /** Those that are contacts again; the address of each other one is taken, and it stays in the trash. */
  restored: number;
}

/**
 * Makes the next `limit` contacts that a job has deleted contacts again, for the undo that writes so: under their ID, with their memberships
 * in segments that still exist. Who bounced, complained or left meanwhile is not subscribed.
 */
export async function bringBack(
  tx: Database,
  { projectId, jobId }: { projectId: string; jobId: string },
  writing: ContactWriting,
  after: string,
  limit: number,
): Promise<BroughtBack> {
  const page = await tx.rows<{ id: string }>(sql`
    select id from contacts_trash where job_id = ${jobId} and id > ${after}::uuid order by id limit ${limit} for update`);
  const ids = page.map(({ id }) => id);
  const last = ids.at(-1) ?? null;
  if (last === null) return { last, contacts: 0, restored: 0 };
  return { last, contacts: ids.length, restored: await restoreSome(tx, projectId, writing, ids) };
}

/**
 * Makes one contact of the trash a contact again, whoever has deleted it, in a transaction. Returns whether it was in the trash, and
 * whether it is a contact now: its address may be taken.
 */
export async function bringOneBack(
  tx: Database,
  projectId: string,
  id: string,
  writing: ContactWriting,
): Promise<'restored' | 'taken' | 'absent'> {
  const row = await tx.row(sql`select 1 from contacts_trash where project_id = ${projectId} and id = ${id} for update`);
  if (row === null) return 'absent';
  return (await restoreSome(tx, projectId, writing, [id])) === 1 ? 'restored' : 'taken';
}

async function restoreSome(
  tx: Database,
  projectId: string,
  given: ContactWriting,
  ids: readonly string[],
): Promise<number> {
  const trashed = sql`(
    select coalesce(jsonb_agg(jsonb_build_object('newId', id, 'email', email, 'subscribed', subscribed, 'set', data, 'createdAt', created_at)), '[]')
    from contacts_trash where project_id = ${projectId} and id = any (${ids}::uuid[]))`;
  const writing = { ...given, restores: true };
  const back = await tx.rows<{ id: string }>(
    sql`select id from ${contactsWritten(projectId, trashed, { ...writing, subscribedWhenNew: false })}`,
  );
  const restored = back.map(({ id }) => id);
  if (restored.length === 0) return 0;
  const left = await reattach(tx, given, restored);
  if (left.length > 0)
    await writeContacts(
      tx,
      projectId,
      left.map(({ id }) => ({ id, subscribed: false, flipData: { reason: 'undo' } })),
      writing,
    );
  return restored.length;
}

// Returns those who have bounced or complained since, and are subscribed.
function reattach(tx: Database, writing: ContactWriting, ids: readonly string[]): Promise<{ id: string }[]> {
  return tx.rows<{ id: string }>(sql`
    with back as (delete from contacts_trash where id = any (${ids}::uuid[]) returning *),
    members as (
      insert into segment_memberships (segment_id, contact_id, entered_at, exited_at)
      select m."segmentId", back.id, m."enteredAt", m."exitedAt"
      from back, jsonb_to_recordset(back.memberships) as m ("segmentId" uuid, "enteredAt" timestamptz, "exitedAt" timestamptz)
      where exists (select from segments s where s.id = m."segmentId")
      on conflict do nothing),
    noted as (${noteMoved('restored', writing, raw('back'))}),
    recounted as (insert into contact_losses (project_id) select distinct project_id from back)
    select id from back where subscribed and exists (
      select from emails e where e.contact_id = back.id
        and (e.bounced_at >= back.deleted_at or e.complained_at >= back.deleted_at))`);
}

function noteMoved(moved: 'deleted' | 'restored', { cause, limitedBy = null }: ContactWriting, from: Query) {
  const why = cause.startsWith('{') ? sql`${cause}::jsonb` : sql`(select cause from jobs where id = ${cause})`;
  return sql`
    insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after, moved, limited_by)
    select id, clock_timestamp(), project_id, ${why}, '{}', '{}', subscribed, subscribed, ${moved}, ${limitedBy}::uuid
    from ${from}`;
}

// A contact goes with its events and mail, which may be many.
const deletionsPerStep = 200;

/** Deletes up to `limit` contacts for good that have been in the trash for their time, with their mail, events, executions and history. */
export async function emptyTrash(db: Database, limit: number): Promise<number> {
  for (let deleted = 0; ; ) {
    const most = Math.min(deletionsPerStep, limit - deleted);
    const step = await emptySome(db, most);
    deleted += step;
    if (step < most || deleted >= limit) return deleted;
  }
}

function emptySome(db: Database, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const gone = await tx.rows<{ id: string }>(sql`
      delete from contacts_trash where id = any (array(
        select id from contacts_trash where deleted_at < now() - make_interval(days => ${trashDays})
        order by deleted_at limit ${limit} for update skip locked)) returning id`);
    const ids = gone.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.count(sql`delete from emails where contact_id = any (${ids}::uuid[])`);
    await tx.count(sql`delete from events where contact_id = any (${ids}::uuid[])`);
    await tx.count(sql`delete from automation_runs where contact_id = any (${ids}::uuid[])`);
    await tx.count(sql`delete from automation_entries where contact_id = any (${ids}::uuid[])`);
    await tx.count(sql`delete from contact_history where contact_id = any (${ids}::uuid[])`);
    return ids.length;
  });
}
