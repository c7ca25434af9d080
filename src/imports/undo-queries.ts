import { bringBack, lockContacts, trashContacts } from '../contacts/trash-queries.ts';
import { contactsWritten } from '../contacts/write.ts';
import { leastId } from '../lib/ids.ts';
import { type Database, type Query, sql } from '../store/sql.ts';
import type { JobRow } from './queries.ts';

/** The job whose changes are taken back. */
export interface Undone {
  projectId: string;
  jobId: string;
  /** Whether fields that were changed since are restored as well. */
  restoresConflicts: boolean;
}

/** The effect of an undo, in contacts; conflicts are counted by field, and what is kept by reason. */
export interface UndoPreview {
  deletes: number;
  restores: number;
  conflicts: { key: string; count: number }[];
  keeps: { reason: string; count: number }[];
}

/** How far an undo is: first among the contacts that the job changed, then in its trash. */
export interface UndoPlace {
  after?: string;
  trashAfter?: string;
}

/** The result of undoing the changes of some contacts. */
export interface UndoStep {
  /** Where the next step begins; null when nothing is left. */
  next: UndoPlace | null;
  /** Contacts of this step, and those of them that were restored, deleted or brought back. */
  contacts: number;
  changed: number;
}

// The common table expressions of what an undo would do with the contacts `ids`. `fate` has a row for each that is still there:
// created contacts are deleted (`deletes`) or kept for a reason (`keeps`), others get `set` and lose `remove`; `flips` says whether the
// subscription goes back to `was_subscribed`. `named` has the fields that somebody has changed since.
function plan({ projectId, jobId, restoresConflicts }: Undone, ids: readonly string[]): Query {
  return sql`
    own as materialized (
      select h.* from contact_history h where h.contact_id = any (${ids}::uuid[]) and h.cause ->> 'id' = ${jobId}
        and h.moved is distinct from 'deleted'),
    job as materialized (select created_at, finished_at, spec ->> 'segmentId' as segment_id from jobs where id = ${jobId}),
    created as materialized (select contact_id as id from own where before is null or moved = 'restored'),
    person as materialized (
      select c.*, c.id in (select id from created) as is_created from contacts c
      where c.project_id = ${projectId} and c.id = any (${ids}::uuid[]) order by c.email),
    touched as materialized (
      select distinct on (o.contact_id, k.key) o.contact_id as id, k.key, o.before -> k.key as was,
        last_value(o.after -> k.key) over (partition by o.contact_id, k.key order by o.at
          rows between unbounded preceding and unbounded following) as became
      from own o, jsonb_object_keys(o.before || o.after) as k (key)
      where o.contact_id not in (select id from created) order by o.contact_id, k.key, o.at),
    field as materialized (
      select t.*, p.data -> t.key is not distinct from t.became as is_own from touched t join person p using (id)
      where t.was is distinct from t.became and p.data -> t.key is distinct from t.was),
    restored as materialized (
      select id, jsonb_object_agg(key, was) filter (where was is not null) as set, array_agg(key) filter (where was is null) as remove
      from field where is_own or ${restoresConflicts}::boolean group by id),
    named as materialized (select key, count(*)::int as count from field where not is_own group by key),
    flip as materialized (
      select distinct on (contact_id) contact_id as id, subscribed_before as was_subscribed, last_value(subscribed_after) over w as became,
        last_value(at) over w as at
      from own where subscribed_before <> subscribed_after
      window w as (partition by contact_id order by at rows between unbounded preceding and unbounded following)
      order by contact_id, at),
    fate as materialized (
      select p.id, p.email, p.subscribed, p.data, p.created_at, n.id is not null as is_created, n.why is null and n.id is not null as deletes,
        f.set, f.remove, x.was_subscribed,
        n.id is null and x.was_subscribed <> p.subscribed and x.was_subscribed <> x.became and s.why is null as flips,
        coalesce(n.why, case when n.id is null and x.was_subscribed <> p.subscribed then s.why end) as keeps
      from person p
      left join restored f on f.id = p.id
      left join flip x on x.id = p.id
      left join lateral (
        select case
          when exists (select from contact_history h where h.contact_id = p.id and h.at > x.at and h.subscribed_before <> h.subscribed_after)
            then 'subscription changed since'
          when x.was_subscribed and exists (select from emails e where e.contact_id = p.id and (e.bounced_at is not null or e.complained_at is not null))
            then 'bounced or complained' end as why) s on true
      left join lateral (
        select p.id, case
          when p.updated_at > (select finished_at from job) then 'changed since'
          when exists (select from emails e where e.contact_id = p.id and e.created_at >= (select created_at from job)) then 'has mail'
          when exists (select from events e where e.contact_id = p.id and e.created_at >= (select created_at from job)
            and e.name !~ '^segment\\..*\\.(entry|exit)$'
            -- The job's own changes of the subscription, as of an address that its file repeats.
            and not (e.name in ('contact.subscribed', 'contact.unsubscribed') and e.created_at <= (select finished_at from job)
              and not exists (select from contact_history h where h.contact_id = p.id and h.cause ->> 'id' is distinct from ${jobId}
                and h.subscribed_before <> h.subscribed_after))) then 'has events'
          when exists (select from segment_memberships m join segments g on g.id = m.segment_id and g.type = 'STATIC'
            where m.contact_id = p.id and m.entered_at >= (select created_at from job)
              and m.segment_id::text is distinct from (select segment_id from job))
            then 'was added to a segment' end as why
        where p.is_created) n on true)`;
}

/** The contacts that a job changed, from one on, in the order of their ids. */
async function changedBy(db: Database, { projectId, jobId }: Undone, after: string, limit: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select distinct contact_id as id from contact_history
    where project_id = ${projectId} and hashtextextended(cause ->> 'id', 0) = hashtextextended(${jobId}, 0)
      and cause ->> 'type' in ('import', 'bulk', 'undo') and cause ->> 'id' = ${jobId} and contact_id > ${after}::uuid
      and moved is distinct from 'deleted'
      and at >= (select created_at from jobs where id = ${jobId})
      and at <= (select coalesce(finished_at, now()) + interval '1 second' from jobs where id = ${jobId})
    order by 1 limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** The effect of an undo on some of the contacts that a job changed; `last` is the last of them, null when there is none. */
export type PreviewPage = UndoPreview & { contacts: number; last: string | null };

/** Returns what the undo of a job would do now with the next contacts that it changed, `limit` at most. */
export async function previewPage(db: Database, undone: Undone, after: string, limit: number): Promise<PreviewPage> {
  const ids = await changedBy(db, undone, after, limit);
  const row = await db.row<UndoPreview>(sql`
    with ${plan(undone, ids)},
    stays as (select keeps as reason, count(*)::int as count from fate where keeps is not null group by keeps)
    select (select count(*) from fate where deletes)::int as deletes,
      (select count(*) from fate where set is not null or remove is not null or flips)::int as restores,
      coalesce((select jsonb_agg(named) from named), '[]') as conflicts,
      coalesce((select jsonb_agg(stays) from stays), '[]') as keeps`);
  const none = { deletes: 0, restores: 0, conflicts: [], keeps: [] };
  return { ...(row ?? none), contacts: ids.length, last: ids.at(-1) ?? null };
}

/** How many contacts that a job deleted would come back, and how many addresses are taken. */
export async function previewDeletions(db: Database, { jobId }: Undone): Promise<{ restores: number; taken: number }> {
  const row = await db.row<{ restores: number; taken: number }>(sql`
    select count(*) filter (where not taken)::int as restores, count(*) filter (where taken)::int as taken
    from (
      select exists (select from contacts c where c.project_id = t.project_id and c.email = t.email) as taken
      from contacts_trash t where job_id = ${jobId}) found`);
  return row ?? { restores: 0, taken: 0 };
}

// The rows of `write_contacts` that take back what the job did to those who stay.
const restoring = sql`(
  select coalesce(jsonb_agg(jsonb_build_object('id', id, 'set', coalesce(set, '{}'), 'remove', coalesce(to_jsonb(remove), '[]'),
    'subscribed', case when flips then was_subscribed end, 'flipData', jsonb_build_object('reason', 'undo'))), '[]')
  from fate where set is not null or remove is not null or flips)`;

/** Takes back what the job did to the next contacts, on behalf of the undo `by`; in a transaction. */
export async function undoSome(
  tx: Database,
  undone: Undone,
  by: JobRow,
  { after = leastId, trashAfter }: UndoPlace,
  limit: number,
): Promise<UndoStep> {
  const ids = trashAfter === undefined ? await changedBy(tx, undone, after, limit) : [];
  const last = ids.at(-1);
  if (last === undefined) return undoDeletions(tx, undone, by, trashAfter ?? leastId, limit);
  await lockContacts(tx, undone.projectId, ids);
  const [step] = await tx.rows<{ changed: number; doomed: string[] }>(sql`
    with ${plan(undone, ids)},
    written as materialized (
      select changed from ${contactsWritten(undone.projectId, restoring, { cause: by.id, limitedBy: by.limitedBy, restores: true })})
    select (select count(*) from written where changed)::int as changed, array(select id from fate where deletes) as doomed`);
  const { changed, doomed } = step ?? { changed: 0, doomed: [] };
  const deleted = await trashContacts(tx, undone.projectId, by.id, { cause: by.id, limitedBy: by.limitedBy }, doomed);
  return { next: { after: last }, contacts: ids.length, changed: changed + deleted };
}

async function undoDeletions(
  tx: Database,
  undone: Undone,
  by: JobRow,
  after: string,
  limit: number,
): Promise<UndoStep> {
  const { last, contacts, restored } = await bringBack(
    tx,
    undone,
    { cause: by.id, limitedBy: by.limitedBy },
    after,
    limit,
  );
  return { next: last === null ? null : { trashAfter: last }, contacts, changed: restored };
}
