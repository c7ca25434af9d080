import * as v from 'valibot';
import { AppError, notFound } from '../lib/errors.ts';
import { CursorParameter, clampLimit, decodeCursor, foreignCursor, isInstant, pageOf } from '../lib/pages.ts';
import { dateParameter } from '../lib/time.ts';
import { dayParameter, field, Instant, limitParameter, nameSchemas } from '../lib/validation/fields.ts';
import { isoInstant } from '../store/columns.ts';
import type { Database } from '../store/sql.ts';
import { changesBefore, contactBefore, type HistoryRow, historyBegan, namesOfAuthors } from './history-queries.ts';
import type { ContactBody } from './schema.ts';
import { getContact } from './service.ts';
import { type Cause, causeTypes } from './write.ts';

/** `GET /contacts/{id}`. */
export const ReadContact = v.object({
  at: dayParameter('The contact as it was at this instant, such as `2026-11-01T12:00:00Z`; as it is when absent.'),
});

/** `GET /contacts/{id}/history`. */
export const ListHistory = v.object({ limit: limitParameter(50, 200), cursor: CursorParameter });
export type ListHistory = v.InferOutput<typeof ListHistory>;

/** Who asked for a change, as the API shows it. */
export const ChangeAuthor = v.pipe(
  v.nullable(
    v.object({
      kind: field(
        '`user`: a member. `key`: an API key. `mcp`: a language model that uses a key.',
        v.picklist(['user', 'key', 'mcp']),
      ),
      id: field(
        'ID of the user or of the key with scopes; null for the secret key of the project.',
        v.nullable(v.string()),
      ),
      name: field(
        'Email address of the user, or name of the key; null for the secret key of the project.',
        v.nullable(v.string()),
      ),
    }),
  ),
  v.description('Who asked for it: a member by address, a key with scopes by name, or the secret key of the project.'),
);
export type ChangeAuthor = v.InferOutput<typeof ChangeAuthor>;

const ContactChangeBody = v.object({
  at: field('Time of the change.', Instant),
  kind: field(
    'What the change was. One that deleted or restored the contact has no fields.',
    v.picklist(['created', 'changed', 'deleted', 'restored']),
  ),
  created: field('The change created the contact: all of its data is in `after`.', v.boolean()),
  cause: field(
    'What made the change.',
    v.object({
      type: field('Type of the cause.', v.picklist(causeTypes)),
      id: field(
        'Of the job, of the workflow, of the segment it was added to, or of the mail that led to the change.',
        v.nullable(v.string()),
      ),
      by: ChangeAuthor,
    }),
  ),
  before: field('Fields that changed, as they were.', v.record(v.string(), v.unknown())),
  after: field('Fields that changed, as they became.', v.record(v.string(), v.unknown())),
  subscribed: field(
    'The change of the subscription; null when it did not change.',
    v.nullable(
      v.object({
        before: field('Whether the contact was subscribed before; null for a new contact.', v.nullable(v.boolean())),
        after: field('Whether the contact was subscribed afterwards.', v.boolean()),
      }),
    ),
  ),
  email: field(
    'The change of the email address; null when it did not change.',
    v.nullable(
      v.object({
        before: field('Email address before the change.', v.string()),
        after: field('Email address after the change.', v.string()),
      }),
    ),
  ),
});
type ContactChangeBody = v.InferOutput<typeof ContactChangeBody>;

/** A page of changes, the latest first. */
export const ContactHistoryPage = v.object({
  data: field('Changes of the contact, newest first.', v.array(ContactChangeBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});
export type ContactHistoryPage = v.InferOutput<typeof ContactHistoryPage>;

nameSchemas({ ContactChange: ContactChangeBody, ContactHistory: ContactHistoryPage });

/** Returns a page of the changes of a contact, latest first. @throws 404 CONTACT_NOT_FOUND, 400 for a cursor of another list */
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
