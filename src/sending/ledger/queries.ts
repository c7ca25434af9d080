import { type Database, sql } from '../../core/database/sql.ts';
import type { StoredRender } from './stored-render.ts';
import type { MailFacts } from './types.ts';

/** A new mail that is no campaign's. Ids of automations are null where none sends it. */
export interface NewMail extends MailFacts {
  /** The final texts, or what the worker renders them from. */
  content: { subject: string; body: string } | { render: StoredRender };
  workflowExecutionId: string | null;
  workflowStepExecutionId: string | null;
}

/** Recipients there are simulators, whose bounces and complaints say nothing of a project (docs/contract/platform.md#10-7). */
export const simulatorDomains = ['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com'];

/** Whether an address belongs to a simulator, so that what happens to it counts for no reputation. */
export function isSimulated(address: string): boolean {
  return simulatorDomains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
}

/** What the texts and files of a queued mail take in memory, in bytes; contact data, which has a limit of its own, is not counted. */
export function contentBytes(
  { subject, body, text, data }: { subject: string; body: string; text?: string | null | undefined; data?: unknown },
  attachments: readonly object[] | null,
): number {
  const files = (attachments ?? []).reduce(
    (sum, file) => sum + ((file as { content?: string }).content?.length ?? 0),
    0,
  );
  const values = data === undefined || data === null ? 0 : Buffer.byteLength(JSON.stringify(data));
  return files + Buffer.byteLength(body) + Buffer.byteLength(subject) + Buffer.byteLength(text ?? '') + values;
}

/**
 * Puts mail into the ledger and the queue by one statement, inside the caller's transaction; wake the project's delivery
 * after the commit. A second mail of the same step of an automation is left out. Answers how many were put in.
 */
export async function insertQueued(tx: Database, mails: readonly NewMail[]): Promise<number> {
  if (mails.length === 0) return 0;
  const rows = mails.map(({ content, ...mail }) => ({
    ...mail,
    ...content,
    simulated: isSimulated(mail.toAddress),
    bytes: contentBytes('render' in content ? content.render : content, mail.attachments),
  }));
  // One row is made of text in JSON, so that a list of any length is one parameter.
  return tx.count(sql`
    with mail as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as m (
        id uuid, "projectId" uuid, "contactId" uuid, "toAddress" text, "toName" text, "from" text, "fromName" text, "replyTo" text,
        subject text, body text, render jsonb, headers jsonb, attachments jsonb, "sourceType" text, "messageClass" text,
        "templateId" uuid, "workflowExecutionId" uuid, "workflowStepExecutionId" uuid, tracking boolean, simulated boolean, bytes int)),
    added as (
      insert into emails (id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, subject, body, render,
        headers, attachments, source_type, message_class, template_id, workflow_execution_id, workflow_step_execution_id,
        tracking, simulated)
      select id, "projectId", "contactId", "toAddress", "toName", "from", "fromName", "replyTo", subject, body, render,
        headers, attachments, "sourceType", "messageClass", "templateId", "workflowExecutionId", "workflowStepExecutionId",
        tracking, simulated
      from mail
      on conflict (workflow_step_execution_id) where workflow_step_execution_id is not null do nothing
      returning id, project_id)
    insert into email_queue (email_id, project_id, bytes) select a.id, a.project_id, m.bytes from added a join mail m on m.id = a.id`);
}
