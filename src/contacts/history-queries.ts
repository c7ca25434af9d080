import { User } from '../accounts/entity.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { ApiKey } from '../projects/api-key-service.ts';
import { type Database, type Query, raw, sql } from '../store/sql.ts';
import type { Cause } from './write.ts';

/** A change of a contact. `before` is null when it was created; of the addresses both are null while it stays the same. */
export interface HistoryRow {
  /** In microseconds, as Postgres writes it. */
  at: string;
  cause: Cause;
  before: JsonObjectValue | null;
  after: JsonObjectValue;
  subscribedBefore: boolean | null;
  subscribedAfter: boolean;
  emailBefore: string | null;
  emailAfter: string | null;
  /** Set where the contact was deleted, or restored, and nothing of it changed. */
  moved: 'deleted' | 'restored' | null;
}

/** Rows of `contact_changes` with the fields that changed alone, in `before` and `after`. */
export const onlyChanged = (from: string) =>
  raw(`select project_id, contact_id, at, cause, limited_by, sign, data, subscribed, subscribed_before, email_before, email_after,
    before - same as before, after - same as after
  from ${from}, lateral (select array(select key from jsonb_each(before) where after -> key = value) as same) as s`);

const columns = raw(
  'contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after, email_before, email_after, moved, limited_by',
);

// Rows of `onlyChanged` in these columns. Jobs say their id, which is short, and keep the whole cause in their row.
const asHistory = (from: string) =>
  raw(`select c.contact_id, c.at, c.project_id,
    coalesce(j.cause, case when left(c.cause, 1) = '{' then c.cause::jsonb when c.cause is null then '{"type": "unknown"}'
      else jsonb_build_object('type', split_part(c.cause, '-', 1), 'id', c.cause) end) as cause,
    c.before, case when sign = 0 then c.after else c.data end as after, c.subscribed_before, c.subscribed as subscribed_after,
    c.email_before, c.email_after, null::text as moved, c.limited_by
  from ${from} c left join jobs j on j.id = c.cause where c.sign >= 0 and c.contact_id is not null`);

/**
 * The common table expressions that write the history of the changes in `gone`, rows of `onlyChanged`. That of contacts that were deleted
 * for good goes: a change whose contact is still there now is removed by the fold that takes the deletion, which comes later.
 */
export const historyOfFolded = sql`
    kept as (
      insert into contact_history (${columns})
      ${asHistory('gone')} and (exists (select from contacts where id = c.contact_id)
        or exists (select from contacts_trash where id = c.contact_id))),
    forgotten as (
      delete from contact_history where contact_id = any (array(
        select contact_id from gone where sign < 0 and contact_id is not null)))`;

/** The changes of a contact, whether they are folded or not. */
export function changesOf(projectId: string, contactId: string | Query): Query {
  return sql`(
    with waiting as (
      ${onlyChanged('contact_changes')} where project_id = ${projectId} and contact_id = ${contactId})
    select ${columns} from contact_history where project_id = ${projectId} and contact_id = ${contactId}
    union all
    ${asHistory('waiting')})`;
}

/** Changes of a contact before an instant, the latest first; from the last one on when that is null. */
export function changesBefore(
  db: Database,
  projectId: string,
  contactId: string,
  before: string | null,
  limit: number,
): Promise<HistoryRow[]> {
  return db.rows<HistoryRow>(sql`
    select at::text as at, cause, before, after, subscribed_before as "subscribedBefore", subscribed_after as "subscribedAfter",
      email_before as "emailBefore", email_after as "emailAfter", moved
    from ${changesOf(projectId, contactId)} h
    where at < coalesce(${before}::timestamptz, 'infinity') order by at desc limit ${limit}`);
}

/** Returns the names of the authors of changes by their IDs: the address of a user, the name of a key. */
export async function namesOfAuthors(
  db: Database,
  projectId: string,
  causes: readonly Cause[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(causes.flatMap(({ by }) => by?.id ?? []))];
  if (ids.length === 0) return new Map();
  const users = await db.em.find(User, { id: ids }, { fields: ['email'] });
  const keys = await db.em.find(ApiKey, { projectId, id: ids }, { fields: ['name'] });
  return new Map([
    ...users.map(({ id, email }) => [id, email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
  ]);
}

/** A contact as it was at an instant; `isAbsent` when it was created later, or was in the trash. */
export interface FormerContact {
  isAbsent: boolean;
  email: string;
  subscribed: boolean;
  data: JsonObjectValue;
  /** Of the last change until then, or null. */
  changedAt: string | null;
}

/** A contact as it was before an instant, by the changes since; null for one that is not there. */
export function contactBefore(
  db: Database,
  projectId: string,
  contactId: string,
  instant: Date,
): Promise<FormerContact | null> {
  return db.row<FormerContact>(sql`
    with change as materialized (select * from ${changesOf(projectId, contactId)} h),
    later as materialized (select * from change where at >= ${instant.toISOString()}::timestamptz),
    former as (
      select distinct on (key) key, l.before -> key as value
      from later l, jsonb_object_keys(l.before || l.after) as key where l.before is not null order by key, l.at)
    select exists (select from later where before is null)
        or coalesce((select moved from change where at < ${instant.toISOString()}::timestamptz order by at desc limit 1) = 'deleted', false)
        as "isAbsent",
      coalesce((select email_before from later where email_before is not null order by at limit 1), c.email) as email,
      coalesce((select subscribed_before from later order by at limit 1), c.subscribed) as subscribed,
      (c.data - array(select key from former))
        || coalesce((select jsonb_object_agg(key, value) from former where value is not null), '{}') as data,
      (select max(at)::text from change where at < ${instant.toISOString()}::timestamptz) as "changedAt"
    from contacts c where c.project_id = ${projectId} and c.id = ${contactId}`);
}

/** Since when every change is kept, as ISO text: since this service has a history, at most so many days. */
export async function historyBegan(db: Database, days: number): Promise<string> {
  const row = await db.row<{ began: string }>(sql`
    select greatest(now() - make_interval(days => ${days}),
      (select executed_at from mikro_orm_migrations where name = 'Migration20261122011000_contact_history'))::text as began`);
  if (row === null) throw new Error('A query without a table has one row');
  return row.began;
}

/**
 * Removes up to `limit` changes that are older than so many days. The newest change by each key with limits stays, as those limits
 * hold for what starts when time lets the contact enter a segment, however late.
 */
export function removeOldHistory(db: Database, days: number, limit: number): Promise<number> {
  return db.count(sql`
    delete from contact_history where ctid = any (array(
      select h.ctid from projects p cross join lateral (
        select ctid from contact_history old
        where project_id = p.id and at < now() - make_interval(days => ${days}) and (limited_by is null or exists (
          select from contact_history newer
          where newer.contact_id = old.contact_id and newer.at > old.at and newer.limited_by = old.limited_by))
        order by at limit ${limit}) h
      limit ${limit}))`);
}
