import { splitData } from '../lib/contact-data.ts';
import { conflict, notFound } from '../lib/errors.ts';
import { clampLimit, decodeCursor, pageOf } from '../lib/pages.ts';
import { normalizeEmail } from '../lib/validation/email-address.ts';
import { recordChange } from '../projects/audit/record.ts';
import { type Database, repeatable } from '../store/sql.ts';
import { Contact } from './entity.ts';
import {
  type ContactFilter,
  contactBody,
  contactSorts,
  countContacts,
  existingAddresses,
  findContact,
  isUniqueViolation,
  pageOfContacts,
  placeAfter,
} from './list-queries.ts';
import type {
  ContactBody,
  ContactHoldout,
  ListContacts,
  LookupContacts,
  PatchContact,
  UpsertContact,
} from './schema.ts';
import { holdoutOf } from './suppressions/matching.ts';
import { bringOneBack, lockContacts, trashContacts } from './trash-queries.ts';
import { upsertContactRow, type WrittenContact, writeContact, writingAs } from './write.ts';

/** Creates or changes a contact by its address (docs/contract/core.md#3-2). */
export async function upsertContact(
  db: Database,
  projectId: string,
  { subscribed, data, ...columns }: UpsertContact,
): Promise<ContactBody & { isNew: boolean }> {
  const { set, remove } = splitData(data ?? {});
  const change = { ...columns, subscribed: subscribed ?? null, set, remove };
  const write = (tx: Database) => upsertContactRow(tx, projectId, change, writingAs(tx, 'contact'));
  const { flipped: _, ...contact } = await (subscribed === true
    ? repeatable(db, async (tx) => notingResubscription(tx, await write(tx), null))
    : write(db));
  return contact;
}

// The audit log notes who subscribed a contact again.
async function notingResubscription(tx: Database, written: WrittenContact, reason: string | null) {
  const { id, projectId, flipped, subscribed } = written;
  if (flipped && subscribed)
    await recordChange(tx, projectId, { action: 'contact.resubscribed', target: id, after: { reason } });
  return written;
}

/** One contact. @throws 404 CONTACT_NOT_FOUND */
export async function getContact(db: Database, projectId: string, id: string): Promise<ContactBody> {
  const row = await findContact(db, projectId, id);
  if (row === null) throw notFound('contact', id);
  return contactBody(row);
}

/** Whether a contact is in the control group of its project. @throws 404 */
export async function contactHoldout(db: Database, projectId: string, id: string): Promise<ContactHoldout> {
  await getContact(db, projectId, id);
  return holdoutOf(db, projectId, id);
}

/** Changes a contact (docs/contract/core.md#3-3). @throws 404, 409 when the address is another contact's */
export async function patchContact(
  db: Database,
  projectId: string,
  id: string,
  { email, subscribed, data, reason, ...columns }: PatchContact,
): Promise<ContactBody> {
  const { set, remove } = splitData(data ?? {});
  try {
    const change = {
      ...columns,
      id,
      newEmail: email ?? null,
      subscribed: subscribed ?? null,
      clear: data === null,
      set,
      remove,
      ...(reason == null ? {} : { flipData: { reason } }),
    };
    const write = async (tx: Database) => {
      const written = await writeContact(tx, projectId, change, writingAs(tx, 'contact'));
      if (written === null) throw notFound('contact', id);
      return written;
    };
    const {
      isNew: _isNew,
      flipped: _flipped,
      ...contact
    } = await (subscribed === true
      ? repeatable(db, async (tx) => notingResubscription(tx, await write(tx), reason ?? null))
      : write(db));
    return contact;
  } catch (error) {
    if (isUniqueViolation(error))
      throw conflict('Another contact of this project has this address', { field: 'email' });
    throw error;
  }
}

/**
 * Deletes a contact with its events, emails and memberships; into the trash where it is to be restorable.
 * @throws 404 CONTACT_NOT_FOUND
 */
export function deleteContact(
  db: Database,
  projectId: string,
  id: string,
  { restorable }: { restorable: boolean },
): Promise<void> {
  return repeatable(db, async (tx) => {
    const deleted = restorable
      ? await trashContacts(tx, projectId, null, writingAs(tx, 'contact'), await lockContacts(tx, projectId, [id]))
      : await tx.em.nativeDelete(Contact, { projectId, id });
    if (deleted === 0) throw notFound('contact', id);
    await recordChange(tx, projectId, { action: 'contact.deleted', target: id });
  });
}

/**
 * Makes a contact of the trash a contact again, under its id and with all that was kept of it.
 * @throws 404 CONTACT_NOT_FOUND for one that is not in the trash, 409 when another contact has its address now
 */
export async function restoreContact(db: Database, projectId: string, id: string): Promise<ContactBody> {
  await repeatable(db, async (tx) => {
    const outcome = await bringOneBack(tx, projectId, id, writingAs(tx, 'contact'));
    if (outcome === 'absent') throw notFound('contact', id);
    if (outcome === 'taken') throw conflict('Another contact of this project has its address now', { field: 'email' });
    await recordChange(tx, projectId, { action: 'contact.restored', target: id });
  });
  return getContact(db, projectId, id);
}

/** A page of contacts (docs/contract/core.md#3-1). */
export function listContacts(db: Database, projectId: string, query: ListContacts) {
  const filter = {
    // An invalid address belongs to no contact.
    email: query.email ? (normalizeEmail(query.email) ?? '') : null,
    search: query.search ? query.search : null,
    subscribed: query.subscribed === 'true' ? true : query.subscribed === 'false' ? false : null,
  };
  return contactPage(db, projectId, filter, { ...query, limit: clampLimit(query.limit, 20, 100) });
}

/** How a page of a list is asked for. */
export interface ContactListRequest {
  limit: number;
  cursor?: string | undefined;
  sort?: string | undefined;
  dir?: string | undefined;
}

/** A page of the contacts that a filter leaves. `total` is counted for the first page only. */
export async function contactPage(
  db: Database,
  projectId: string,
  filter: ContactFilter,
  { limit, cursor, ...wanted }: ContactListRequest,
) {
  // A cursor keeps the sort it was made with, so it says which one that was.
  const place = cursor === undefined ? null : decodeCursor(cursor, 4);
  const sort = contactSorts.find((known) => known === (place ? place[2] : wanted.sort)) ?? 'createdAt';
  const dir = (place ? place[3] : wanted.dir) === 'asc' ? ('asc' as const) : ('desc' as const);
  const [rows, total] = await Promise.all([
    pageOfContacts(db, projectId, { ...filter, limit, sort, dir, after: place && placeAfter(place, sort) }),
    place ? 0 : countContacts(db, projectId, filter),
  ]);
  const { page, cursor: next } = pageOf(rows, limit, (last) => [last[sort], last.id, sort, dir]);
  return { data: page.map(contactBody), cursor: next, hasMore: next !== null, total };
}

/** Which of the addresses are contacts of the project, in the caller's own spelling and order (docs/contract/core.md#3-4). */
export async function lookupContacts(db: Database, projectId: string, { emails }: LookupContacts) {
  const addresses = emails.map((spelling) => ({ spelling, email: normalizeEmail(spelling) }));
  const stored = addresses.flatMap(({ email }) => email ?? []);
  const known = await existingAddresses(db, projectId, stored);
  const found: string[] = [];
  const notFound: string[] = [];
  for (const { spelling, email } of addresses) (email !== null && known.has(email) ? found : notFound).push(spelling);
  return { found, notFound };
}
