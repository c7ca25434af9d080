import { isoInstant } from '../../core/database/columns.ts';
import type { Database } from '../../core/database/sql.ts';
import { clampLimit, decodeCursor, foreignCursor, isInstant, pageOf } from '../../core/lib/cursor.ts';
import { AppError, notFound } from '../../core/lib/errors.ts';
import { dateParameter } from '../../core/lib/span.ts';
import type { Cause } from './cause.ts';
import { changesBefore, contactBefore, type HistoryRow, historyBegan, namesOfAuthors } from './history-queries.ts';
import type { ChangeAuthor, ContactChangeBody, ContactHistoryPage, ListHistory } from './history-schema.ts';
import type { ContactBody } from './schema.ts';
import { getContact } from './service.ts';

/** What changed a contact, the latest first. @throws 404 CONTACT_NOT_FOUND, 400 for a cursor of another list */
export async function listHistory(
  db: Database,
  projectId: string,
  id: string,
  query: ListHistory,
): Promise<ContactHistoryPage> {
  await getContact(db, projectId, id);
  const limit = clampLimit(query.limit, 50, 200);
  const rows = await changesBefore(
    db,
    projectId,
    id,
    query.cursor === undefined ? null : placeOf(query.cursor),
    limit + 1,
  );
  const { page, cursor } = pageOf(rows, limit, (last) => [last.at]);
  const names = await namesOfAuthors(
    db,
    projectId,
    page.map(({ cause }) => cause),
  );
  return { data: page.map((row) => changeBody(row, names)), cursor };
}

function changeBody({ cause, moved, ...row }: HistoryRow, names: ReadonlyMap<string, string>): ContactChangeBody {
  const { id = null, type } = cause;
  const created = row.before === null;
  return {
    at: isoInstant(row.at),
    kind: moved ?? (created ? 'created' : 'changed'),
    created,
    cause: { type, id, by: authorOf(cause, names) },
    before: row.before ?? {},
    after: row.after,
    subscribed:
      row.subscribedBefore === row.subscribedAfter
        ? null
        : { before: row.subscribedBefore, after: row.subscribedAfter },
    email:
      row.emailBefore === null || row.emailAfter === null ? null : { before: row.emailBefore, after: row.emailAfter },
  };
}

/** Who asked for a change, by the names of `namesOfAuthors`. */
export function authorOf({ by }: Cause, names: ReadonlyMap<string, string>): ChangeAuthor {
  return by === undefined ? null : { ...by, name: names.get(by.id ?? '') ?? null };
}

/**
 * A contact as it was at an instant; `updatedAt` is the last change until then.
 * @throws 404 CONTACT_NOT_FOUND, also when it was created later; 410 TOO_LATE when the instant is older than the history
 */
export async function getContactAt(
  db: Database,
  projectId: string,
  id: string,
  text: string | undefined,
  keptDays: number,
): Promise<ContactBody> {
  const contact = await getContact(db, projectId, id);
  const at = dateParameter('at', text);
  if (at === null || at.getTime() >= Date.now()) return contact;
  if (at < new Date(contact.createdAt)) throw notYet(id, contact.createdAt, at);
  const began = isoInstant(await historyBegan(db, keptDays));
  if (at < new Date(began))
    throw new AppError(410, 'TOO_LATE', `The history of contacts reaches back to ${began}: "at" is before that`);
  // A change is shown with its millisecond, and belongs to it.
  const former = await contactBefore(db, projectId, id, new Date(at.getTime() + 1));
  if (former === null || former.isAbsent) throw notFound('contact', id);
  const { changedAt, email, subscribed, data } = former;
  return {
    ...contact,
    email,
    subscribed,
    data,
    updatedAt: changedAt === null ? contact.createdAt : isoInstant(changedAt),
  };
}

function notYet(id: string, createdAt: string, at: Date): AppError {
  const message = `The contact was created at ${createdAt}: at ${at.toISOString()} there was none`;
  return new AppError(404, 'CONTACT_NOT_FOUND', message, { details: { resource: 'contact', id, createdAt } });
}

function placeOf(cursor: string): string {
  const [at] = decodeCursor(cursor, 1);
  if (!isInstant(at)) throw foreignCursor();
  return at;
}
