import { type FilterQuery, LockMode } from '@mikro-orm/core';
import { type Database, type Query, raw, sql } from '../store/sql.ts';
import { TrashedContact } from './entity.ts';
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
 * Locks those of the contacts that the project has, in the order of their addresses, as every statement that writes many of them does. Returns
 * their IDs. What the transaction reads of them after that stays as it is.
 */
export async function lockContacts(tx: Database, projectId: string, ids: readonly string[]): Promise<string[]> {
  const locked = await tx.rows<{ id: string }>(sql`
    select id from contacts where project_id = ${projectId} and id = any (${ids}::uuid[]) order by email for update`);
  return locked.map(({ id }) => id);
}

/**
 * Moves contacts of a project, which the transaction has locked, into the trash, that of a job unless it is null. Returns how many. What
 * follows a deletion (forget_contacts.sql) knows them by their rows in the trash.
 */
export function trashContacts(
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
    noted as (
      ${noteMoved('deleted', writing)} from contacts where project_id = ${projectId} and id = any (${ids}::uuid[]))
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
  const ids = await lockTrashed(tx, { jobId, id: { $gt: after } }, limit);
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
  if ((await lockTrashed(tx, { projectId, id }, 1)).length === 0) return 'absent';
  return (await restoreSome(tx, projectId, writing, [id])) === 1 ? 'restored' : 'taken';
}

async function lockTrashed(tx: Database, which: FilterQuery<TrashedContact>, limit: number): Promise<string[]> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const trashed = await tx.em.find(TrashedContact, which, { fields: ['id'], orderBy: { id: 'asc' }, limit, lockMode });
  return trashed.map(({ id }) => id);
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
    noted as (${noteMoved('restored', writing)} from back),
    recounted as (insert into contact_losses (project_id) select distinct project_id from back)
    select id from back where subscribed and exists (
      select from emails e where e.contact_id = back.id
        and (e.bounced_at >= back.deleted_at or e.complained_at >= back.deleted_at))`);
}

// The statement up to its `from`, which names the contacts.
function noteMoved(moved: 'deleted' | 'restored', { cause, limitedBy = null }: ContactWriting): Query {
  return sql`
    insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after, moved, limited_by)
    select id, clock_timestamp(), project_id,
      case when left(${cause}::text, 1) = '{' then ${cause}::text::jsonb else (select cause from jobs where id = ${cause}) end,
      '{}', '{}', subscribed, subscribed, ${moved}, ${limitedBy}::uuid`;
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

async function emptySome(db: Database, limit: number): Promise<number> {
  const row = await db.row<{ deleted: number }>(sql`
    with gone as (
      delete from contacts_trash where id = any (array(
        select id from contacts_trash where deleted_at < now() - make_interval(days => ${trashDays})
        order by deleted_at limit ${limit} for update skip locked))
      returning id),
    mail as (delete from emails where contact_id = any (array(select id from gone))),
    happened as (delete from events where contact_id = any (array(select id from gone))),
    ran as (delete from automation_runs where contact_id = any (array(select id from gone))),
    entered as (delete from automation_entries where contact_id = any (array(select id from gone))),
    changed as (delete from contact_history where contact_id = any (array(select id from gone)))
    select count(*)::int as deleted from gone`);
  return row?.deleted ?? 0;
}
