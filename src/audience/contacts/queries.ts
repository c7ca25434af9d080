import { boundedPage, type WithOmission } from '../../core/database/bounded-page.ts';
import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { flipEvents } from './flip-queries.ts';
import { contactDataText, mostContactBytes, withinDataLimits } from './limit-queries.ts';
import type { ContactBody } from './schema.ts';

/** A contact as SQL answers it. */
export interface ContactRow {
  id: string;
  email: string;
  subscribed: boolean;
  data: JsonObjectValue;
  projectId: string;
  createdAt: string;
  updatedAt: string;
}

/** A contact of a list, whose data may be left out. */
export type ListedContact = Omit<ContactRow, 'data'> & WithOmission<JsonObjectValue>;

/** What an upsert does to one contact. `subscribed` null leaves it, or takes the default for a new contact. */
export interface ContactWrite {
  /** The id the contact gets when it is new. */
  newId: string;
  email: string;
  subscribed: boolean | null;
  subscribedWhenNew: boolean;
  set: JsonObjectValue;
  remove: readonly string[];
  /** Id of the `contact.subscribed` or `contact.unsubscribed` event, should there be one. */
  flipEventId: string;
}

/** The columns of a `ContactRow`. */
const contactColumns = `id, email, subscribed, data, project_id as "projectId", created_at::text as "createdAt", updated_at::text as "updatedAt"`;

/**
 * The common table expressions of every upsert of one contact: `upserted`, `contact` (whether changed or not; empty in
 * the rare case that another transaction inserted it while this one ran: run the statement again) and `flip`.
 * Parameters: $1 project, $2 id when new, $3 email, $4 subscribed or null, $5 subscribed when new, $6 data to set,
 * $7 keys to remove, $8 id of the flip event.
 */
export const upsertContactCtes = `
  upserted as (
    insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
    values ($2, $1, $3, coalesce($4::boolean, $5::boolean), coalesce($4::boolean, $5::boolean), $6::jsonb)
    on conflict (project_id, email) do update set
      subscription_before = c.subscribed,
      subscribed = coalesce($4::boolean, c.subscribed),
      data = (c.data || $6::jsonb) - $7::text[],
      updated_at = now()
    where c.subscribed <> coalesce($4::boolean, c.subscribed) or (c.data || $6::jsonb) - $7::text[] <> c.data
    returning *, xmax = 0 as is_new),
  contact as (
    select id, email, subscribed, data, project_id, created_at, updated_at, is_new from upserted
    union all
    select id, email, subscribed, data, project_id, created_at, updated_at, false from contacts
    where project_id = $1 and email = $3 and not exists (select from upserted)),
  flip as (
    ${flipEvents({ id: '$8', from: 'upserted flipped', where: 'not is_new and subscribed <> subscription_before' })})`;

const upsert = statement(
  'contacts.upsert',
  `with ${upsertContactCtes} select ${contactColumns}, is_new as "isNew" from contact`,
);

/** The parameters of `upsertContactCtes`. */
export function upsertValues(projectId: string, change: ContactWrite): unknown[] {
  return [
    projectId,
    change.newId,
    change.email,
    change.subscribed,
    change.subscribedWhenNew,
    contactDataText(change.set),
    change.remove,
    change.flipEventId,
  ];
}

/**
 * Creates or changes a contact by its address and records a flip of its subscription, in one statement.
 * @throws ContactDataError
 */
export async function upsertContactRow(
  sql: Sql,
  projectId: string,
  change: ContactWrite,
): Promise<ContactRow & { isNew: boolean }> {
  const values = upsertValues(projectId, change);
  return untilSeen(() => withinDataLimits(sql.row<ContactRow & { isNew: boolean }>(upsert, values)));
}

/** Runs an upsert statement again while it neither wrote nor saw the contact that another transaction is inserting. */
export async function untilSeen<Row>(run: () => Promise<Row | null>): Promise<Row> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const row = await run();
    if (row !== null) return row;
  }
  throw new Error('The contact could neither be written nor read');
}

/** The columns of a `ContactRow` without its data, as they are called in a list (see `contactsWithin`). */
const listedColumns = 'id, email, subscribed, "projectId", "createdAt", "updatedAt"';

/** The columns of a contact for a list, of the table or alias `c`. */
export const contactsColumnsOf = `c.id, c.email, c.subscribed, c.data, c.project_id as "projectId", c.created_at::text as "createdAt",
  c.updated_at::text as "updatedAt"`;

/** SQL of a list of contacts with as much data as an answer may carry; `rows` answers `contactsColumnsOf` in order. */
export function contactsWithin(rows: string): string {
  return boundedPage(rows, listedColumns, mostContactBytes);
}

const find = statement(
  'contacts.find',
  contactsWithin(`select ${contactsColumnsOf} from contacts c where project_id = $1 and id = $2`),
);

/** One contact of the project, or null. */
export function findContact(sql: Sql, projectId: string, id: string): Promise<ListedContact | null> {
  return sql.row<ListedContact>(find, [projectId, id]);
}

const change = statement(
  'contacts.change',
  `with changed as (
     update contacts as c set
       email = coalesce($3, c.email),
       subscription_before = c.subscribed,
       subscribed = coalesce($4::boolean, c.subscribed),
       data = (case when $5::boolean then '{}' else c.data end || $6::jsonb) - $7::text[],
       updated_at = now()
     where project_id = $1 and id = $2
       and (c.email <> coalesce($3, c.email) or c.subscribed <> coalesce($4::boolean, c.subscribed)
         or (case when $5::boolean then '{}' else c.data end || $6::jsonb) - $7::text[] <> c.data)
     returning *),
   flip as (
     ${flipEvents({ id: '$8', emailId: '$9::uuid', from: 'changed flipped', where: 'subscribed <> subscription_before' })})
   select ${contactColumns} from changed
   union all
   select ${contactColumns} from contacts where project_id = $1 and id = $2 and not exists (select from changed)`,
);

/**
 * Changes a contact by id; null when the project has no such contact. A taken address raises 23505.
 * @throws ContactDataError, which ends the transaction
 */
export async function changeContact(
  sql: Sql,
  projectId: string,
  id: string,
  fields: {
    email: string | null;
    subscribed: boolean | null;
    clearData: boolean;
    set: JsonObjectValue;
    remove: readonly string[];
    flipEventId: string;
    /** The mail whose link led to the change. */
    emailId: string | null;
  },
): Promise<ContactRow | null> {
  const values = [
    projectId,
    id,
    fields.email,
    fields.subscribed,
    fields.clearData,
    contactDataText(fields.set),
    fields.remove,
    fields.flipEventId,
    fields.emailId,
  ];
  return withinDataLimits(sql.row<ContactRow>(change, values));
}

/** Deletes a contact with its events, emails and memberships. Answers whether there was one. */
export async function deleteContactRow(sql: Sql, projectId: string, id: string): Promise<boolean> {
  return (await sql.count('delete from contacts where project_id = $1 and id = $2', [projectId, id])) > 0;
}

const existing = statement(
  'contacts.existing',
  'select email from contacts where project_id = $1 and email = any($2::text[])',
);

/** Those of the addresses, in their stored form, that are contacts of the project. */
export async function existingAddresses(
  sql: Sql,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await sql.rows<{ email: string }>(existing, [projectId, addresses]);
  return new Set(rows.map((row) => row.email));
}

/** The contact as the API shows it. */
export function contactBody(row: ContactRow | ListedContact): ContactBody {
  return {
    id: row.id,
    email: row.email,
    subscribed: row.subscribed,
    data: row.data ?? {},
    ...('dataOmitted' in row && row.dataOmitted ? { dataOmitted: true as const } : {}),
    projectId: row.projectId,
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** Whether an error is Postgres's refusal of a second row with the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23505';
}
