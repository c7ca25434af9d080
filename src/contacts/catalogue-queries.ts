import { idByHash } from '../lib/ids.ts';
import { lockName } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { ContactField } from './entity.ts';
import { historyOfFolded, onlyChanged } from './history-queries.ts';
import { mostCatalogueKeys } from './limits.ts';

/** Most distinct values of a key that are kept; beyond it, and with values longer than this, the key is open-ended. */
const mostListedValues = 1_000;
const longestListedValue = 200;

const changesPerFold = 10_000;

/**
 * Brings the catalogue of a project and the history of its contacts up to date with every committed change. Returns how many
 * changes that were. Work is bounded by what changed since the last time, never by how many contacts there are.
 */
export async function foldContactChanges(db: Database, projectId: string, stop?: AbortSignal): Promise<number> {
  let folded = 0;
  const touched = new Set<string>();
  for (;;) {
    const changes = await db.transaction((tx) => foldSome(tx, projectId, touched));
    folded += changes;
    if (changes < changesPerFold || stop?.aborted) return folded;
  }
}

async function foldSome(db: Database, projectId: string, touched: Set<string>): Promise<number> {
  if ((await db.row(sql`select 1 from projects where id = ${projectId} for key share`)) === null)
    return db.count(sql`delete from contact_changes where project_id = ${projectId}`);
  await lockName(db, `contact catalogue ${projectId}`);
  const { changes, keys } = await countChanges(db, projectId);
  for (const key of keys) touched.add(key);
  await db.count(sql`
    update contact_fields set open_ended = true
    where project_id = ${projectId} and not open_ended and key_hash in (
      select key_hash from contact_field_values where project_id = ${projectId} and key_hash = any(${keys}::uuid[])
      group by key_hash having count(*) > ${raw(mostListedValues)})`);
  // While changes are left over, a count of zero may hide two that cancel each other: it is final only after the last.
  if (changes < changesPerFold && touched.size > 0) await deleteEmpty(db, projectId, [...touched]);
  if (keys.length > 0) await noteWhetherFull(db, projectId);
  return changes;
}

/** Moves changes into the counts and the history. Returns how many they were, and the keys they touched. */
async function countChanges(db: Database, projectId: string): Promise<{ changes: number; keys: string[] }> {
  // A value is identified by its kind and text; numbers have one form, because jsonb keeps 1 and 1.0 apart in text only.
  const [counted] = await db.rows<{ changes: number; keys: string[] }>(sql`
    with taken as materialized (
      delete from contact_changes where ctid = any(array(
        select ctid from contact_changes where project_id = ${projectId} limit ${changesPerFold}))
      returning *),
    gone as materialized (${onlyChanged('taken')}),
    ${historyOfFolded},
    signed as materialized (
      select data, subscribed, sign from gone where sign <> 0
      union all select before, subscribed_before, -1 from gone where sign = 0
      union all select after, subscribed, 1 from gone where sign = 0),
    totals as (
      insert into contact_totals as t (project_id, contacts, subscribed)
      select ${projectId}, sum(sign), coalesce(sum(sign) filter (where subscribed), 0) from signed having count(*) > 0
      on conflict (project_id) do update set
        contacts = t.contacts + excluded.contacts, subscribed = t.subscribed + excluded.subscribed),
    held as materialized (
      select key, value, sum(sign)::integer as contacts from signed, jsonb_each(data)
      group by key, value having sum(sign) <> 0),
    texts as materialized (
      select md5(key)::uuid as key_hash, key, contact_value_kind(value) as kind, contacts,
        case jsonb_typeof(value)
          when 'number' then trim_scale((value #>> '{}')::numeric)::text
          when 'string' then value #>> '{}' when 'boolean' then value #>> '{}' end as text
      from held),
    changed as materialized (
      select key_hash, key,
        coalesce(sum(contacts) filter (where kind = 'boolean'), 0) as booleans,
        coalesce(sum(contacts) filter (where kind = 'number'), 0) as numbers,
        coalesce(sum(contacts) filter (where kind = 'date'), 0) as dates,
        coalesce(sum(contacts) filter (where kind in ('string', 'json')), 0) as texts,
        coalesce(sum(contacts) filter (where kind = 'null'), 0) as nulls,
        count(*) > ${raw(mostListedValues)} or coalesce(max(length(text)), 0) > ${raw(longestListedValue)} as open_ended
      from texts group by key_hash, key),
    numbered as (
      select changed.*, f.key_hash is not null as is_known,
        row_number() over (partition by f.key_hash is not null order by changed.key_hash) as place
      from changed left join contact_fields f on f.project_id = ${projectId} and f.key_hash = changed.key_hash),
    admitted as materialized (
      select * from numbered
      where is_known
        or place <= ${raw(mostCatalogueKeys)} - (select count(*) from contact_fields where project_id = ${projectId})),
    fields as (
      insert into contact_fields as f (project_id, key_hash, key, booleans, numbers, dates, texts, nulls, open_ended)
      select ${projectId}, key_hash, key, booleans, numbers, dates, texts, nulls, open_ended from admitted order by key_hash
      on conflict (project_id, key_hash) do update set
        booleans = f.booleans + excluded.booleans, numbers = f.numbers + excluded.numbers,
        dates = f.dates + excluded.dates, texts = f.texts + excluded.texts, nulls = f.nulls + excluded.nulls,
        open_ended = f.open_ended or excluded.open_ended
      returning key_hash, open_ended),
    listed as (
      insert into contact_field_values as v (project_id, key_hash, kind, value, contacts)
      select ${projectId}, key_hash, case kind when 'date' then 'string' else kind end, text, sum(contacts)
      from texts join fields using (key_hash)
      where not fields.open_ended and text <> ''
      group by 2, 3, 4 having sum(contacts) <> 0
      on conflict (project_id, key_hash, kind, value) do update set contacts = v.contacts + excluded.contacts)
    select (select count(*) from gone)::integer as changes, array(select key_hash from fields) as keys`);
  return counted ?? { changes: 0, keys: [] };
}

// A count below zero belongs to a key that was not counted while the catalogue was full.
async function deleteEmpty(db: Database, projectId: string, keys: readonly string[]): Promise<void> {
  await db.count(sql`
    with unlisted as (
      delete from contact_field_values v using contact_fields f
      where v.project_id = ${projectId} and v.key_hash = any(${keys}::uuid[])
        and f.project_id = ${projectId} and f.key_hash = v.key_hash and (f.open_ended or v.contacts <= 0))
    delete from contact_fields
    where project_id = ${projectId} and key_hash = any(${keys}::uuid[])
      and booleans <= 0 and numbers <= 0 and dates <= 0 and texts <= 0 and nulls <= 0`);
}

// While a catalogue is full, writes of contacts refuse keys that it does not have.
async function noteWhetherFull(db: Database, projectId: string): Promise<void> {
  await db.row(sql`
    with state as (
      select count(*) >= ${raw(mostCatalogueKeys)} as is_full from contact_fields where project_id = ${projectId}),
    filled as (
      insert into full_catalogues (project_id) select ${projectId} from state where is_full on conflict do nothing),
    emptied as (
      delete from full_catalogues where project_id = ${projectId} and not (select is_full from state))
    select 1`);
}

/** Brings the catalogues of all projects up to date, or begins to when it is stopped. Returns how many changes there were. */
export async function foldAllContactChanges(db: Database, stop?: AbortSignal): Promise<number> {
  // A walk from project to project along the index, however many changes each of them has.
  const projects = await db.rows<{ id: string }>(sql`
    with recursive p (id) as (
      (select project_id from contact_changes order by project_id limit 1)
      union all
      select (select c.project_id from contact_changes c where c.project_id > p.id order by c.project_id limit 1)
      from p where p.id is not null)
    select id from p where id is not null`);
  let folded = 0;
  for (const { id } of projects) {
    if (stop?.aborted) break;
    folded += await foldContactChanges(db, id, stop);
  }
  return folded;
}

/** Folds what is left, so that the statement that follows reads a catalogue that knows every committed change. */
export async function bringCatalogueUpToDate(db: Database, projectId: string): Promise<void> {
  if (await hasUnfolded(db, projectId)) await foldContactChanges(db, projectId);
}

/** Whether changes of contacts wait for the next fold. */
export async function hasUnfolded(db: Database, projectId: string): Promise<boolean> {
  return (await db.row(sql`select 1 from contact_changes where project_id = ${projectId} limit 1`)) !== null;
}

/** How many contacts the project has, and how many of them are subscribed. */
export async function contactTotals(
  db: Database,
  projectId: string,
): Promise<{ contacts: number; subscribed: number }> {
  // Changes that are not folded yet count too; they are few, because workers fold all the time.
  const [totals] = await db.rows<{ contacts: number; subscribed: number }>(sql`
    select (coalesce(t.contacts, 0) + coalesce(c.contacts, 0))::integer as contacts,
      (coalesce(t.subscribed, 0) + coalesce(c.subscribed, 0))::integer as subscribed
    from (select sum(sign) as contacts,
            sum(case sign when 0 then subscribed::int - subscribed_before::int else sign * subscribed::int end) as subscribed
          from contact_changes where project_id = ${projectId}) c
      left join contact_totals t on t.project_id = ${projectId}`);
  return totals ?? { contacts: 0, subscribed: 0 };
}

/** Every key that contacts of the project hold, as of the last fold. */
export function fieldCounts(db: Database, projectId: string): Promise<ContactField[]> {
  const isHeld = ['booleans', 'numbers', 'dates', 'texts', 'nulls'].map((kind) => ({ [kind]: { $gt: 0 } }));
  return db.em.find(ContactField, { projectId, $or: isHeld }, { disableIdentityMap: true });
}

/** One key, or null when no contact holds it, as of the last fold. */
export function fieldCountsOf(db: Database, projectId: string, key: string): Promise<ContactField | null> {
  return db.em.findOne(ContactField, { projectId, keyHash: idByHash(key) }, { disableIdentityMap: true });
}

/** How many contacts hold a value other than null. */
export function holders(field: ContactField): number {
  return field.booleans + field.numbers + field.dates + field.texts;
}

/** A distinct value of a key: its JSON type and its text. */
export interface FieldValue {
  kind: 'boolean' | 'number' | 'string';
  value: string;
}
/** Longer values of an open-ended key are useless as a choice, and are left out. */
const longestSampledValue = 10_000;
/** How many contacts are searched for the values of an open-ended key. */
const sampledContacts = 5_000;

/** Distinct values of a key in the order of their text: all of them, unless the key is open-ended. */
export function valuesOfKey(db: Database, projectId: string, key: string, limit: number): Promise<FieldValue[]> {
  return db.rows<FieldValue>(sql`
    select kind, value from contact_field_values
    where project_id = ${projectId} and key_hash = md5(${key})::uuid and contacts > 0
    order by value collate "C", kind limit ${limit}`);
}

/** Distinct values that the newest `sampledContacts` contacts hold under a key, in the order of their text. */
export function valuesOfNewestContacts(
  db: Database,
  projectId: string,
  key: string,
  limit: number,
): Promise<FieldValue[]> {
  return db.rows<FieldValue>(sql`
    with newest as materialized (
      select data -> ${key} as value from contacts where project_id = ${projectId} 
      order by created_at desc, id desc limit ${sampledContacts}),
    texts as materialized (
      select jsonb_typeof(value) as kind, value #>> '{}' as text from newest)
    select distinct kind, text collate "C" as value
    from (select kind, case kind when 'number' then trim_scale(text::numeric)::text else text end as text from texts
          where kind in ('boolean', 'number', 'string') and text <> '' and length(text) <= ${raw(longestSampledValue)}) v
    order by 2, 1 limit ${limit}`);
}
