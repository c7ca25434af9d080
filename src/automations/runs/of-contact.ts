import { getContact } from '../../audience/contacts/index.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { executionBody } from '../rows.ts';
import { type ListedRun, listedRuns } from './queries.ts';
import type { ContactExecutions } from './schema.ts';

const mostRuns = 100;

/** The latest executions of a contact, of any workflow. @throws 404 for the contact */
export async function executionsOfContact(
  db: Database,
  projectId: string,
  contactId: string,
): Promise<ContactExecutions> {
  await getContact(db, projectId, contactId);
  const rows = await db.rows<ListedRun & { workflowName: string }>(sql`
    select (select a.name from automations a where a.id = r.automation_id) as "workflowName", ${listedRuns}
    where r.project_id = ${projectId} and r.contact_id = ${contactId}
    order by r.started_at desc, r.id desc limit ${raw(String(mostRuns))}`);
  return {
    data: rows.map(({ workflowName, ...row }) => ({
      ...executionBody(row),
      currentStep: row.currentStep,
      workflow: { id: row.workflowId, name: workflowName },
    })),
  };
}
