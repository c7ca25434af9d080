import type { SuppressionMatch } from '../../audience/suppressions/index.ts';
import { recordingEvents } from '../../core/database/record-events.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { acceptingMail } from './accept.ts';
import { failedEvent } from './failed.ts';
import type { Reason } from './reasons.ts';
import type { StoredRender } from './stored-render.ts';
import type { MailFacts } from './types.ts';

/** A new mail that is no campaign's. Ids of automations are null where none sends it. */
export interface NewMail extends MailFacts {
  /** The final texts, or what the worker renders them from. */
  content: { subject: string; body: string } | { render: StoredRender };
  workflowExecutionId: string | null;
  workflowStepExecutionId: string | null;
  /** Absent for mail that is sent. */
  unsent?: Unsent;
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

/** What a mail is from the start where it is not to be sent: kept with the reason, and not queued. */
export type Unsent = { status: 'SUPPRESSED'; suppression: SuppressionMatch } | { status: 'FAILED'; reason: Reason };

// The rows stand under the same names in the parameter, in `mail` and in the ledger.
const columns = `id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, subject, body, render, headers, attachments,
  source_type, message_class, template_id, workflow_execution_id, workflow_step_execution_id, tracking, simulated, status, reason, suppression`;

function rowOf({ content, unsent, ...mail }: NewMail) {
  const texts = 'render' in content ? content.render : content;
  return {
    id: mail.id,
    project_id: mail.projectId,
    contact_id: mail.contactId,
    to_address: mail.toAddress,
    to_name: mail.toName,
    from: mail.from,
    from_name: mail.fromName,
    reply_to: mail.replyTo,
    ...content,
    headers: mail.headers,
    attachments: mail.attachments,
    source_type: mail.sourceType,
    message_class: mail.messageClass,
    template_id: mail.templateId,
    workflow_execution_id: mail.workflowExecutionId,
    workflow_step_execution_id: mail.workflowStepExecutionId,
    tracking: mail.tracking,
    simulated: isSimulated(mail.toAddress),
    status: 'PENDING',
    ...unsent,
    bytes: contentBytes(texts, mail.attachments),
  };
}

/**
 * Accepts mail of one project by one statement, inside the caller's transaction; wake the project's delivery after the commit. A second
 * mail of the same step of an automation is left out, and mail to a contact that is gone. Answers how many were accepted.
 */
export async function acceptMail(tx: Database, mails: readonly NewMail[]): Promise<number> {
  const [first] = mails;
  if (first === undefined) return 0;
  const accepting = acceptingMail({
    projectId: first.projectId,
    columns,
    rows: sql`
      select ${raw(columns)} from mail join lateral (
        select id as present from contacts c where c.id = contact_id and c.project_id = mail.project_id for key share) contact on true`,
    onConflict: sql`on conflict (workflow_step_execution_id) where workflow_step_execution_id is not null do nothing`,
    queue: { bytes: sql`m.bytes`, beside: sql`join mail m on m.id = a.id` },
  });
  // One row is made of text in JSON, so that a list of any length is one parameter.
  const given = sql`
    mail as (
      select * from jsonb_to_recordset(${JSON.stringify(mails.map(rowOf))}::jsonb) as m (
        id uuid, project_id uuid, contact_id uuid, to_address text, to_name text, "from" text, from_name text, reply_to text,
        subject text, body text, render jsonb, headers jsonb, attachments jsonb, source_type text, message_class text,
        template_id uuid, workflow_execution_id uuid, workflow_step_execution_id uuid, tracking boolean, simulated boolean,
        status text, reason jsonb, suppression jsonb, bytes int, message_id text, campaign_id uuid)),
    ${accepting}`;
  const result = sql`select id from accepted`;
  const events = sql`select ${failedEvent('m', `m.render ->> 'subject'`)} from accepted a join mail m on m.id = a.id where a.status = 'FAILED'`;
  const fails = mails.some(({ unsent }) => unsent?.status === 'FAILED');
  return await tx.count(fails ? recordingEvents({ given, events, result }) : sql`with ${given} ${result}`);
}
