import { type Database, sql } from '../../core/database/sql.ts';
import type { MessageClass, SourceType } from '../../core/lib/message-kinds.ts';
import type { StoredRender } from './stored-render.ts';
import type { StoredAttachment } from './types.ts';

/** A new mail that is no campaign's. Ids of automations are null where none sends it. */
export interface NewMail {
  id: string;
  projectId: string;
  contactId: string;
  toAddress: string;
  toName: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  /** The final texts, or what the worker renders them from. */
  content: { subject: string; body: string } | StoredRenderContent;
  headers: Record<string, string> | null;
  attachments: StoredAttachment[] | null;
  sourceType: SourceType;
  messageClass: MessageClass;
  templateId: string | null;
  workflowExecutionId: string | null;
  workflowStepExecutionId: string | null;
  tracking: boolean | null;
}

/** Content that is rendered at hand-over. */
interface StoredRenderContent {
  render: StoredRender;
}

/** Recipients there are simulators, whose bounces and complaints say nothing of a project (contract page 3, 10.7). */
export const simulatorDomains = ['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com'];

/** Whether an address belongs to a simulator, so that what happens to it counts for no reputation. */
export function isSimulated(address: string): boolean {
  return simulatorDomains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
}

const columns = sql`id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, subject, body, render,
  headers, attachments, source_type, message_class, template_id, workflow_execution_id, workflow_step_execution_id,
  tracking, simulated`;

/** What the texts and files of a queued mail take in memory, in bytes; contact data, which has a limit of its own, is not counted. */
export function contentBytes(
  { subject, body, data }: { subject: string; body: string; data?: unknown },
  attachments: readonly object[] | null,
): number {
  const files = (attachments ?? []).reduce(
    (sum, file) => sum + ((file as { content?: string }).content?.length ?? 0),
    0,
  );
  const values = data === undefined || data === null ? 0 : Buffer.byteLength(JSON.stringify(data));
  return files + Buffer.byteLength(body) + Buffer.byteLength(subject) + values;
}

/**
 * Puts mail into the ledger and the queue by one statement, inside the caller's transaction; wake the project's delivery
 * after the commit. A second mail of the same step of an automation is left out. Answers how many were put in.
 */
export async function insertQueued(tx: Database, mails: readonly NewMail[]): Promise<number> {
  if (mails.length === 0) return 0;
  const rows = mails.map((mail) => {
    const rendered = 'render' in mail.content ? null : mail.content;
    return {
      id: mail.id,
      project_id: mail.projectId,
      contact_id: mail.contactId,
      to_address: mail.toAddress,
      to_name: mail.toName,
      from: mail.from,
      from_name: mail.fromName,
      reply_to: mail.replyTo,
      subject: rendered?.subject ?? null,
      body: rendered?.body ?? null,
      render: 'render' in mail.content ? mail.content.render : null,
      headers: mail.headers,
      attachments: mail.attachments,
      source_type: mail.sourceType,
      message_class: mail.messageClass,
      template_id: mail.templateId,
      workflow_execution_id: mail.workflowExecutionId,
      workflow_step_execution_id: mail.workflowStepExecutionId,
      tracking: mail.tracking,
      simulated: isSimulated(mail.toAddress),
      bytes: contentBytes(rendered ?? (mail.content as StoredRenderContent).render, mail.attachments),
    };
  });
  // One row is made of text in JSON, so that a list of any length is one parameter.
  return tx.count(sql`
    with mail as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as m (
        id uuid, project_id uuid, contact_id uuid, to_address text, to_name text, "from" text, from_name text, reply_to text,
        subject text, body text, render jsonb, headers jsonb, attachments jsonb, source_type text, message_class text,
        template_id uuid, workflow_execution_id uuid, workflow_step_execution_id uuid, tracking boolean, simulated boolean, bytes int)),
    added as (
      insert into emails (${columns})
      select ${columns} from mail
      on conflict (workflow_step_execution_id) where workflow_step_execution_id is not null do nothing
      returning id, project_id)
    insert into email_queue (email_id, project_id, bytes) select a.id, a.project_id, m.bytes from added a join mail m on m.id = a.id`);
}
