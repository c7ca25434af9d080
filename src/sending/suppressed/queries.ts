import type { SuppressedEmail } from '../../audience/suppressions/index.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { type StoredMail, storedMailColumns, storedMailJoins } from '../emails/index.ts';

/** A suppressed mail with what rendering it needs; nothing rendered it, because nobody was to get it. */
export interface SuppressedMailRow extends Omit<SuppressedEmail, 'subject' | 'body'>, StoredMail {}

const columns = sql`${storedMailColumns}, e.contact_id as "contactId", e.headers, e.attachments,
  e.template_id as "templateId", e.campaign_id as "campaignId", e.workflow_execution_id as "workflowExecutionId",
  e.workflow_step_execution_id as "workflowStepExecutionId", e.message_id as "messageId", e.status, e.sent_at::text as "sentAt",
  e.delivered_at::text as "deliveredAt", e.opened_at::text as "openedAt", e.clicked_at::text as "clickedAt",
  e.bounced_at::text as "bouncedAt", e.complained_at::text as "complainedAt", e.opens, e.clicks,
  mail_reason_text(e.reason) as error, e.suppression, e.created_at::text as "createdAt", e.updated_at::text as "updatedAt"`;

const suppressed = sql`e.suppression is not null and e.status = 'SUPPRESSED'`;

/** Suppressed mail of a project, newest first, after a place. */
export function suppressedMail(
  db: Database,
  projectId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<SuppressedMailRow[]> {
  const [at = null, id = null] = after ?? [];
  return db.rows<SuppressedMailRow>(sql`
    select ${columns} from ${storedMailJoins}
    where e.project_id = ${projectId} and ${suppressed}
      and (${at}::timestamptz is null or (e.created_at, e.id) < (${at}::timestamptz, ${id}::uuid))
    order by e.created_at desc, e.id desc limit ${limit}`);
}

/** One suppressed mail of a project, or null. */
export function findSuppressedMail(db: Database, projectId: string, id: string): Promise<SuppressedMailRow | null> {
  return db.row<SuppressedMailRow>(
    sql`select ${columns} from ${storedMailJoins} where e.project_id = ${projectId} and e.id = ${id} and ${suppressed}`,
  );
}
