import { type Database, sql } from '../../core/database/sql.ts';
import { redactEntries } from '../../platform/audit/index.ts';
import type { StepPage } from './steps.ts';
import type { Subject } from './subject.ts';

const entriesPerPage = 100;

/** Takes the details out of entries of the audit log that name the contact. */
export async function redactAudit(
  tx: Database,
  { projectId, contactId, erasureId, pattern }: Subject,
): Promise<StepPage> {
  const names = sql`(target = ${contactId} and action not in ('contact.erased', 'contact.erasure_repeated')
    or coalesce(concat_ws(' ', target, before, after) ~* ${pattern}::text, false))`;
  const rows = await redactEntries(tx, projectId, { by: erasureId, target: contactId, which: names }, entriesPerPage);
  return { rows, after: rows === entriesPerPage ? erasureId : null };
}
