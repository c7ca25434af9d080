import { type ContactRow, writeContacts } from '../../src/contacts/write.ts';
import type { Database } from '../../src/store/sql.ts';

/**
 * Writes contacts as the service does, so that their history, the catalogue and the totals have them; those whose row says nothing else
 * are subscribed. A test that needs rows alone may insert them.
 */
export function putContacts(db: Database, projectId: string, rows: readonly ContactRow[]): Promise<unknown> {
  return writeContacts(db, projectId, rows, { cause: '{"type":"unknown"}', subscribedWhenNew: true });
}
