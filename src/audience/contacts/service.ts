import type { Sql } from '../../core/database/sql.ts';
import { splitData } from '../../core/lib/contact-data.ts';
import { clampLimit, decodeCursor, encodeCursor } from '../../core/lib/cursor.ts';
import { normaliseEmail } from '../../core/lib/email-address.ts';
import { conflict, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { countContacts, pageOfContacts, placeAfter } from './list-queries.ts';
import {
  type ContactRow,
  changeContact,
  contactBody,
  deleteContactRow,
  existingAddresses,
  findContact,
  isUniqueViolation,
  type ListedContact,
  upsertContactRow,
} from './queries.ts';
import type { ContactBody, ListContacts, LookupContacts, PatchContact, UpsertContact } from './schema.ts';

/** Creates or changes a contact by its address (contract page 1, 3.2); tells whether it is new. */
export async function upsertContact(
  sql: Sql,
  projectId: string,
  body: UpsertContact,
): Promise<{ contact: ContactBody; isNew: boolean }> {
  const { set, remove } = splitData((body.data ?? {}) as JsonObjectValue);
  const row = await upsertContactRow(sql, projectId, {
    newId: newId(),
    email: body.email,
    subscribed: body.subscribed ?? null,
    subscribedWhenNew: true,
    set,
    remove,
    flipEventId: newId(),
  });
  return { contact: contactBody(row), isNew: row.isNew };
}

/** One contact. @throws 404 CONTACT_NOT_FOUND */
export async function getContact(sql: Sql, projectId: string, id: string): Promise<ContactBody> {
  return contactBody(orNotFound(await findContact(sql, projectId, id), id));
}

/** Changes a contact (contract page 1, 3.3). @throws 404, 409 when the address is another contact's */
export async function patchContact(sql: Sql, projectId: string, id: string, body: PatchContact): Promise<ContactBody> {
  const { set, remove } = splitData((body.data ?? {}) as JsonObjectValue);
  try {
    const row = await changeContact(sql, projectId, id, {
      email: body.email ?? null,
      subscribed: body.subscribed ?? null,
      clearData: body.data === null,
      set,
      remove,
      flipEventId: newId(),
      emailId: null,
    });
    return contactBody(orNotFound(row, id));
  } catch (error) {
    if (isUniqueViolation(error))
      throw conflict('Another contact of this project has this address', { field: 'email' });
    throw error;
  }
}

/** Deletes a contact and everything of it. @throws 404 CONTACT_NOT_FOUND */
export async function deleteContact(sql: Sql, projectId: string, id: string): Promise<void> {
  if (!(await deleteContactRow(sql, projectId, id))) throw notFound('contact', id);
}

/** A page of contacts (contract page 1, 3.1). `total` is counted for the first page only. */
export async function listContacts(sql: Sql, projectId: string, query: ListContacts) {
  const limit = clampLimit(query.limit, 20, 100);
  // A cursor keeps the sort it was made with, so it says which one that was.
  const place = query.cursor === undefined ? null : decodeCursor(query.cursor, 4);
  const sort = (place ? place[2] : query.sort) === 'email' ? ('email' as const) : ('createdAt' as const);
  const dir = (place ? place[3] : query.dir) === 'asc' ? ('asc' as const) : ('desc' as const);
  const filter = {
    search: query.search ? query.search : null,
    subscribed: query.subscribed === 'true' ? true : query.subscribed === 'false' ? false : null,
  };
  const [rows, total] = await Promise.all([
    pageOfContacts(sql, projectId, { ...filter, limit, sort, dir, after: place && placeAfter(place, sort) }),
    place ? 0 : countContacts(sql, projectId, filter),
  ]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: page.map(contactBody),
    cursor: hasMore && last ? encodeCursor([sort === 'email' ? last.email : last.createdAt, last.id, sort, dir]) : null,
    hasMore,
    total,
  };
}

/** Which of the addresses are contacts of the project, in the caller's own spelling and order (contract page 1, 3.4). */
export async function lookupContacts(
  sql: Sql,
  projectId: string,
  { emails }: LookupContacts,
): Promise<{ found: string[]; notFound: string[] }> {
  const addresses = emails.map((spelling) => ({ spelling, email: normaliseEmail(spelling) }));
  const known = await existingAddresses(
    sql,
    projectId,
    addresses.flatMap(({ email }) => email ?? []),
  );
  const found: string[] = [];
  const notFound: string[] = [];
  for (const { spelling, email } of addresses) (email !== null && known.has(email) ? found : notFound).push(spelling);
  return { found, notFound };
}

function orNotFound<Row extends ContactRow | ListedContact>(row: Row | null, id: string): Row {
  if (row === null) throw notFound('contact', id);
  return row;
}
