import type { JsonObjectValue } from '../lib/contact-data.ts';
import { newId } from '../lib/ids.ts';
import { type Author, type Database, limitingKey, Query, raw, sql } from '../store/sql.ts';
import { contactColumns } from './entity.ts';
import { contactDataText, mostContactBytes, withinDataLimits } from './limits.ts';
import type { ContactBody, UpsertContact } from './schema.ts';

/** The causes of changes of contacts; `unknown` stands for a program other than the service. */
export const causeTypes = [
  'contact',
  'field',
  'segment',
  'track',
  'send',
  'smtp',
  'inbound',
  'report',
  'page',
  'step',
  'import',
  'bulk',
  'undo',
  'unknown',
] as const;
export type CauseType = (typeof causeTypes)[number];

/** Why a contact was changed, as its history keeps it. */
export interface Cause {
  type: CauseType;
  /** Of the job, of the workflow whose step it was, of the segment it was added to, or of the mail that led to it. */
  id?: string;
  /** Who asked for it, where somebody did. */
  by?: Pick<Author, 'kind' | 'id'>;
}

/** The columns that requests set as they are. */
type GivenColumns = Omit<UpsertContact, 'subscribed' | 'data'>;

/**
 * A requested change of one contact, which is named by `id`, or by `email`, an address in its stored form, which becomes a contact if none has
 * it and `subscribedWhenNew` is given.
 */
export interface ContactRow extends Partial<GivenColumns> {
  id?: string;
  /** Data to store, and keys to remove. */
  set?: JsonObjectValue;
  remove?: readonly string[];
  /** Whether all other data goes. */
  clear?: boolean;
  /** Null leaves the subscription as it is. */
  subscribed?: boolean | null;
  /** Data to store if this subscribes the contact. */
  consent?: JsonObjectValue;
  newEmail?: string | null;
  /** The ID of the contact if it is new; made here when absent. */
  newId?: string;
  /** ID, mail and data of the event that a change of the subscription is. */
  flipId?: string;
  flipEmailId?: string;
  flipData?: JsonObjectValue;
}

/** How contacts are written. */
export interface ContactWriting {
  /** Why, as `causeText` writes it, or the ID of a job. */
  cause: string;
  /** The key whose limits hold for what the change starts, then or later; kept with the change, so that they outlive the key. */
  limitedBy?: Query | string | null;
  /** Whether new contacts are subscribed whose rows do not say; without it only existing contacts are written. */
  subscribedWhenNew?: boolean;
  /** Whether contacts that other transactions hold are left out rather than waited for. */
  skipsHeld?: boolean;
  /** Whether this brings back what was there before: without limits of data, and without a beginning in the history. */
  restores?: boolean;
}

/** The cause of what the author of this session changes. */
export function causeOf({ author }: Database, type: CauseType, id?: string | null): Cause {
  return { type, ...(id ? { id } : {}), ...(author && { by: { kind: author.kind, id: author.id } }) };
}

/** `ContactWriting` for what the author of this session changes. */
export function writingAs(db: Database, type: CauseType, id?: string | null): ContactWriting {
  return { cause: JSON.stringify(causeOf(db, type, id)), limitedBy: limitingKey(db) };
}

/**
 * SQL of a table of the contacts as they are after they were written: id, email, subscribed, data, project_id, created_at, updated_at, is_new,
 * changed and flipped. Reading it writes them (migrations/functions/write_contacts.sql says what follows from it), so it belongs into a
 * materialized common table expression that the statement reads in any case. `rows` may be SQL of a jsonb array of `ContactRow`.
 * @throws ContactDataError
 */
export function contactsWritten(
  projectId: string | Query,
  rows: readonly ContactRow[] | Query,
  { cause, limitedBy = null, subscribedWhenNew, skipsHeld = false, restores = false }: ContactWriting,
): Query {
  return sql`write_contacts(project => ${projectId}::uuid, given => ${rows instanceof Query ? rows : rowsText(rows, subscribedWhenNew !== undefined)}::jsonb,
    cause => ${cause}::text, limited_by => ${limitedBy}::uuid, subscribed_when_new => ${subscribedWhenNew ?? null}::boolean,
    waits => ${raw(String(!skipsHeld))}, restores => ${raw(String(restores))})`;
}

// Leaves out what asks for nothing, and gives each contact that may be new its ID.
function rowsText(rows: readonly ContactRow[], creates: boolean): string {
  const text = JSON.stringify(
    rows.map(({ remove, clear, ...row }) => ({
      ...(creates ? { newId: newId() } : {}),
      ...row,
      ...(remove?.length ? { remove } : {}),
      ...(clear ? { clear } : {}),
    })),
  );
  if (text.length > mostContactBytes) for (const { set = {} } of rows) contactDataText(set);
  return text;
}

/** How many contacts were created, and how many others changed. */
export interface WrittenCounts {
  created: number;
  updated: number;
}

/** Writes contacts. @throws ContactDataError, with nothing written, when the data of one would exceed a limit */
export async function writeContacts(
  db: Database,
  projectId: string,
  rows: readonly ContactRow[],
  writing: ContactWriting,
): Promise<WrittenCounts> {
  if (rows.length === 0) return { created: 0, updated: 0 };
  const counts = await withinDataLimits(
    db.row<WrittenCounts>(sql`
      select count(*) filter (where is_new)::integer as created, count(*) filter (where changed and not is_new)::integer as updated
      from ${contactsWritten(projectId, rows, writing)}`),
  );
  return counts ?? { created: 0, updated: 0 };
}

/** A contact as it is after it was written. */
export interface WrittenContact extends ContactBody {
  isNew: boolean;
  /** Whether the write has changed the subscription of a contact that was there before. */
  flipped: boolean;
}

/** Writes one contact; null when it does not exist. A taken address raises 23505. @throws ContactDataError */
export function writeContact(
  db: Database,
  projectId: string,
  row: ContactRow,
  writing: ContactWriting,
): Promise<WrittenContact | null> {
  return withinDataLimits(
    db.row<WrittenContact>(sql`
      select ${contactColumns}, c.is_new as "isNew", c.flipped from ${contactsWritten(projectId, [row], writing)} c`),
  );
}

/** An upsert of one contact. `subscribed` null leaves it as it is; a new contact is subscribed then. */
export interface ContactWrite extends GivenColumns {
  subscribed: boolean | null;
  set: JsonObjectValue;
  remove: readonly string[];
}

/** Creates or changes a contact by its address. @throws ContactDataError */
export async function upsertContactRow(
  db: Database,
  projectId: string,
  change: ContactWrite,
  writing: ContactWriting,
): Promise<WrittenContact> {
  const written = await writeContact(db, projectId, change, { ...writing, subscribedWhenNew: true });
  if (written === null) throw new Error('A contact was not written');
  return written;
}
