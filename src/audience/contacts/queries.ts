import { boundedPage, type WithOmission } from '../../core/database/bounded-page.ts';
import { isoText } from '../../core/database/columns.ts';
import { recordingEvents } from '../../core/database/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { flipEvents } from './flip-queries.ts';
import { contactDataText, mostContactBytes, withinDataLimits } from './limit-queries.ts';
import type { ContactBody } from './schema.ts';

/** A contact of a list, whose data may be left out. */
export type ListedContact = Omit<ContactBody, 'data' | 'dataOmitted'> & WithOmission<JsonObjectValue>;

/** What an upsert does to one contact. `subscribed` null leaves it as it is; a new contact is subscribed then. */
export interface ContactWrite {
  email: string;
  subscribed: boolean | null;
  set: JsonObjectValue;
  remove: readonly string[];
}

/** The columns of a contact, of the alias `c`. */
export const contactColumns = raw(`c.id, c.email, c.subscribed, c.data, c.project_id as "projectId",
  ${isoText('c.created_at')} as "createdAt", ${isoText('c.updated_at')} as "updatedAt"`);

/**
 * The common table expressions of every upsert of one contact: `upserted` and `contact` (whether changed or not; empty in
 * the rare case that another transaction inserted it while this one ran: run the statement again). `why` is `because(…)`. The statement
 * records `upsertFlips`.
 * @throws ContactDataError
 */
export function upsertContactCtes(
  projectId: string,
  { email, subscribed, set, remove }: ContactWrite,
  why: Query,
): Query {
  const whenNew = subscribed ?? true;
  // `excluded.data` is what is to be set.
  return sql`
    given as (select ${newId()}::uuid as flip_id),
    upserted as (
      insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
      select ${newId()}::uuid, ${projectId}::uuid, ${email}::text, ${whenNew}::boolean, ${whenNew}::boolean,
        ${contactDataText(set)}::jsonb
      where ${why}
      on conflict (project_id, email) do update set
        subscription_before = c.subscribed,
        subscribed = coalesce(${subscribed}::boolean, c.subscribed),
        data = (c.data || excluded.data) - ${remove}::text[],
        updated_at = now()
      where c.subscribed <> coalesce(${subscribed}::boolean, c.subscribed)
        or (c.data || excluded.data) - ${remove}::text[] <> c.data
      returning *, xmax = 0 as is_new),
    contact as (
      select id, email, subscribed, data, project_id, created_at, updated_at, is_new from upserted
      union all
      select id, email, subscribed, data, project_id, created_at, updated_at, false from contacts
      where project_id = ${projectId} and email = ${email} and not exists (select from upserted))`;
}

/** The event of an upsert that flips a subscription. `limitedBy` is the key whose limits hold for what it starts. */
export function upsertFlips(limitedBy: string | null): Query {
  return flipEvents({
    id: '(select flip_id from given)',
    from: 'upserted flipped',
    where: 'not is_new and subscribed <> subscription_before',
    limitedBy,
  });
}

/**
 * Creates or changes a contact by its address and records a flip of its subscription, in one statement.
 * @throws ContactDataError
 */
export function upsertContactRow(
  db: Database,
  projectId: string,
  change: ContactWrite,
  why: Query,
): Promise<ContactBody & { isNew: boolean }> {
  return untilSeen<ContactBody & { isNew: boolean }>(
    db,
    recordingEvents({
      given: upsertContactCtes(projectId, change, why),
      events: upsertFlips(limitingKey(db)),
      result: sql`select ${contactColumns}, c.is_new as "isNew" from contact c`,
    }),
  );
}

/**
 * Runs an upsert again while it neither wrote nor saw the contact that another transaction is inserting.
 * @throws ContactDataError
 */
export async function untilSeen<Row extends object>(db: Database, upsert: Query): Promise<Row> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const row = await withinDataLimits(db.row<Row>(upsert));
    if (row !== null) return row;
  }
  throw new Error('The contact could neither be written nor read');
}

/** SQL of a list of contacts with as much data as an answer may carry; `rows` returns `contactColumns` in order. */
export function contactsWithin(rows: Query): Query {
  return boundedPage(rows, 'id, email, subscribed, "projectId", "createdAt", "updatedAt"', mostContactBytes);
}

/** One contact of the project, or null. */
export function findContact(db: Database, projectId: string, id: string): Promise<ListedContact | null> {
  return db.row<ListedContact>(
    contactsWithin(sql`select ${contactColumns} from contacts c where project_id = ${projectId} and id = ${id}`),
  );
}

const flipOfChange = (limitedBy: string | null) =>
  flipEvents({
    from: 'changed flipped, because',
    where: 'subscribed <> subscription_before',
    data: 'because.data',
    limitedBy,
  });

/** What is changed of a contact; null leaves a part as it is. */
export interface ContactChanges {
  email: string | null;
  subscribed: boolean | null;
  clearData: boolean;
  set: JsonObjectValue;
  remove: readonly string[];
  /** Why the subscription changes. */
  reason: string | null;
}

/**
 * Changes a contact by id, `why` being `because(…)`; null when the project has no such contact. A taken address raises 23505.
 * @throws ContactDataError, which ends the transaction
 */
export async function changeContact(
  db: Database,
  projectId: string,
  id: string,
  fields: ContactChanges,
  why: Query,
): Promise<ContactBody | null> {
  const { email, subscribed, clearData, set, remove, reason } = fields;
  return withinDataLimits(
    db.row<ContactBody>(
      recordingEvents({
        given: sql`because (data) as (
        select case when ${reason}::text is not null then jsonb_build_object('reason', ${reason}::text) end),
      changed as (
        update contacts as c set
          email = coalesce(given.email, c.email),
          subscription_before = c.subscribed,
          subscribed = coalesce(given.subscribed, c.subscribed),
          data = (case when clears then '{}' else c.data end || sets) - removes,
          updated_at = now()
        from (select ${email}::text, ${subscribed}::boolean, ${clearData}::boolean, ${contactDataText(set)}::jsonb,
          ${remove}::text[]) as given (email, subscribed, clears, sets, removes)
        where c.project_id = ${projectId} and c.id = ${id} and ${why}
          and (c.email <> coalesce(given.email, c.email) or c.subscribed <> coalesce(given.subscribed, c.subscribed)
            or (case when clears then '{}' else c.data end || sets) - removes <> c.data)
        returning c.*)`,
        events: flipOfChange(limitingKey(db)),
        result: sql`
      select ${contactColumns} from changed c
      union all
      select ${contactColumns} from contacts c
      where project_id = ${projectId} and id = ${id} and not exists (select from changed)`,
      }),
    ),
  );
}

/** Those of the addresses, in their stored form, that are contacts of the project. */
export async function existingAddresses(
  db: Database,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await db.rows<{ email: string }>(
    sql`select email from contacts where project_id = ${projectId} and email = any(${addresses}::text[])`,
  );
  return new Set(rows.map((row) => row.email));
}

/** A contact of a list in an answer. */
export function contactBody({ data, dataOmitted, ...row }: ListedContact): ContactBody {
  return { ...row, data: data ?? {}, ...(dataOmitted ? { dataOmitted } : {}) };
}

/** Whether an error is Postgres's refusal of a second row with the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23505';
}
