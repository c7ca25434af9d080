import type { MessageClass } from '@fernpost/message-content';
import { mailPayload } from '../../audience/events/index.ts';
import { limitsOfKeys, type SuppressionMatch, suppressionOfKey } from '../../audience/suppressions/index.ts';
import { findTemplate, type TemplateRow } from '../../content/templates/index.ts';
import { isoText } from '../../core/database/columns.ts';
import { newEvent, recordingEvents } from '../../core/database/record-events.ts';
import { type Database, type Query, raw, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { SourceType } from '../../core/lib/message-kinds.ts';
import { insertQueued, isSimulated, type NewMail } from '../../sending/ledger/index.ts';
import { StepFailure } from './failure.ts';
import type { LockedRun } from './run-queries.ts';
import type { StepContact } from './values.ts';

/** The recipient of a step's mail. */
export type MailRecipient = { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string };

/** The template of a step as it is now. @throws StepFailure when there is none */
export async function templateOf(db: Database, projectId: string, templateId: string | null): Promise<TemplateRow> {
  if (templateId === null) throw new StepFailure('The step has no template');
  const template = await findTemplate(db, projectId, templateId);
  if (template === null) throw new StepFailure(`The template ${templateId} no longer exists`);
  return template;
}

/** What mail is sent as. */
export interface MailKind {
  sourceType: SourceType;
  messageClass: MessageClass;
}

/** What mail made from a template is sent as (docs/contract/campaigns-and-workflows.md#1-2). */
export function mailKind({ type }: Pick<TemplateRow, 'type'>): MailKind {
  return { sourceType: type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'WORKFLOW', messageClass: type };
}

/**
 * Puts the mail of a step into ledger and queue: the template as it is now, and a snapshot of the values, so that what is
 * delivered is what the step meant. Its row is keyed by the step execution. To a contact that is not subscribed, mail that
 * needs it is only written down as FAILED. Answers the output of the step.
 */
export async function sendStepMail(
  tx: Database,
  run: LockedRun,
  contact: StepContact,
  stepRunId: string,
  template: TemplateRow,
  recipient: MailRecipient,
): Promise<JsonObjectValue> {
  const { sourceType, messageClass } = mailKind(template);
  const isCustom = recipient.type === 'CUSTOM';
  const toAddress = isCustom ? recipient.customEmail : contact.email;
  const mail: NewMail = {
    id: newId(),
    projectId: run.projectId,
    contactId: contact.id,
    toAddress,
    toName: null,
    from: template.from,
    fromName: template.fromName ?? run.project.name,
    replyTo: template.replyTo,
    content: {
      render: {
        subject: template.subject,
        body: template.body,
        data: {},
        contact: contact.data,
        subscribed: contact.subscribed,
        event: run.context,
        ...(isCustom ? { isForOthers: true } : {}),
      },
    },
    headers: null,
    attachments: null,
    sourceType,
    messageClass,
    templateId: template.id,
    workflowExecutionId: run.id,
    workflowStepExecutionId: stepRunId,
    tracking: null,
  };
  const output = { emailId: mail.id, sentAt: run.now, recipientType: recipient.type, recipientEmail: toAddress };
  if (messageClass !== 'TRANSACTIONAL' && !isCustom && !contact.subscribed) {
    await keepSkipped(tx, mail);
    return { ...output, skipped: 'unsubscribed' };
  }
  const suppression = await suppressionFor(tx, run, mail);
  if (suppression !== null) {
    await keepSuppressed(tx, mail, suppression);
    return { ...output, skipped: 'suppressed' };
  }
  await insertQueued(tx, [mail]);
  return output;
}

/** Why the keys that started a run keep its mail from being sent; null where it may go. */
async function suppressionFor(tx: Database, run: LockedRun, mail: NewMail): Promise<SuppressionMatch | null> {
  const keys = await limitsOfKeys(tx, run.projectId, run.limitedBy ?? []);
  const found = keys.map((key) => suppressionOfKey(key, { to: mail.toAddress, from: mail.from }, new Date(run.now)));
  return found.find((each) => each !== null) ?? null;
}

/** Whether a step's output says that a mail waits to be delivered. */
export function hasQueuedMail(output: JsonObjectValue): boolean {
  return typeof output.emailId === 'string' && output.skipped === undefined;
}

// The row of mail that is not queued: `end` is its status with the reason for it.
function keeping(mail: NewMail, end: Query): Query {
  return sql`
      insert into emails (id, project_id, contact_id, to_address, "from", from_name, reply_to, render, source_type,
        message_class, template_id, workflow_execution_id, workflow_step_execution_id, simulated, status, reason, suppression)
      values (${mail.id}, ${mail.projectId}, ${mail.contactId}, ${mail.toAddress}, ${mail.from}, ${mail.fromName},
        ${mail.replyTo}, ${'render' in mail.content ? mail.content.render : null}, ${mail.sourceType}, ${mail.messageClass},
        ${mail.templateId}, ${mail.workflowExecutionId}, ${mail.workflowStepExecutionId}, ${isSimulated(mail.toAddress)}, ${end})
      on conflict (workflow_step_execution_id) where workflow_step_execution_id is not null do nothing`;
}

async function keepSuppressed(tx: Database, mail: NewMail, suppression: SuppressionMatch): Promise<void> {
  await tx.count(keeping(mail, sql`'SUPPRESSED', null, ${JSON.stringify(suppression)}::jsonb`));
}

async function keepSkipped(tx: Database, mail: NewMail): Promise<void> {
  const given = sql`kept as (${keeping(mail, sql`'FAILED', '{"code": "not_subscribed"}'::jsonb, null::jsonb`)} returning *)`;
  const event = newEvent({
    projectId: sql`k.project_id`,
    contactId: sql`k.contact_id`,
    emailId: sql`k.id`,
    name: 'email.failed',
    data: sql`${raw(mailPayload('k'))} || jsonb_build_object(
      'subject', k.render ->> 'subject', 'error', mail_reason_text(k.reason), 'failedAt', ${raw(isoText('k.created_at'))})`,
    mailAt: sql`k.created_at`,
  });
  await tx.count(recordingEvents({ given, events: sql`select ${event} from kept k` }));
}
