import type { Readable } from 'node:stream';
import { newId } from '../../lib/ids.ts';
import { csvFile, streamOf } from '../../lib/text.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { Database } from '../../store/sql.ts';
import type { Composer } from '../engine/compose.ts';
import { type EmailSearch, emailSearch, findEmails } from './list-queries.ts';
import type { EmailFilters } from './schema.ts';
import { listedEmail } from './service.ts';

const columns = [
  'id',
  'to',
  'from',
  'subject',
  'status',
  'error',
  'source',
  'campaignId',
  'templateId',
  'opens',
  'clicks',
  'scheduledFor',
  'createdAt',
  'sentAt',
] as const;
const rowsPerPage = 1_000;
// Filling in the subjects of a whole page would keep other requests waiting.
const rowsPerTurn = 100;

/**
 * The mail that filters leave as a CSV file, which the audit log notes.
 * @throws 400 for a search without a person, tag or span, or what is no date
 */
export async function exportEmails(
  db: Database,
  compose: Composer,
  projectId: string,
  filters: EmailFilters,
  now: Date,
): Promise<Readable> {
  const search = await emailSearch(db, projectId, filters, now);
  // The log outlives its contacts, so it names none by address.
  const { to: _, ...named } = filters;
  const after = search?.contactId ? { ...named, contactId: search.contactId } : named;
  await db.transaction((tx) => recordChange(tx, projectId, { action: 'emails.exported', target: newId(), after }));
  return streamOf(csvFile(columns, emailPages(db, compose, search)));
}

/** A row for each mail, the latest first, some at a time. */
async function* emailPages(db: Database, compose: Composer, search: EmailSearch | null): AsyncGenerator<unknown[][]> {
  for (let before = search?.before ?? null; search !== null && before !== null; ) {
    const { rows, lookedUpTo } = await findEmails(db, { ...search, before }, { limit: rowsPerPage, look: rowsPerPage });
    for (let at = 0; at < rows.length; at += rowsPerTurn) {
      const emails = rows.slice(at, at + rowsPerTurn).map((row) => listedEmail(compose, row));
      yield emails.map((email) => columns.map((name) => email[name]));
    }
    before = lookedUpTo;
  }
}
