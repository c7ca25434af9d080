import type { Readable } from 'node:stream';
import type { Database } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { contactPage } from '../contacts/index.ts';
import { contactsCsv } from './export.ts';
import { checkedFilter } from './filter.ts';
import type { ExportContacts, SearchContacts } from './schema.ts';

/** A page of the contacts that a filter leaves. @throws 400 for its condition, and for a cursor of another list */
export async function searchContacts(db: Database, projectId: string, { filter, ...page }: SearchContacts, now: Date) {
  return contactPage(db, projectId, await checkedFilter(db, projectId, filter, now), page);
}

/** The contacts that a filter leaves as a CSV file, which the audit log notes. @throws 400 for its condition */
export async function exportContacts(
  db: Database,
  projectId: string,
  { filter, contactIds, excludeIds, columns }: ExportContacts,
  now: Date,
): Promise<Readable> {
  const which = await checkedFilter(db, projectId, filter, now);
  await db.transaction((tx) =>
    recordChange(tx, projectId, {
      action: 'contacts.exported',
      target: newId(),
      after: { columns, ...(filter ? { filter } : {}), ...(contactIds ? { contacts: contactIds.length } : {}) },
    }),
  );
  return contactsCsv(db, projectId, which, { columns, contactIds, excludeIds });
}
