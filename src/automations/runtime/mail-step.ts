import { limitsOfKeys, suppressionOfHoldout, suppressionOfKey } from '../../contacts/suppressions/matching.ts';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { MessageClass, SourceType } from '../../lib/enums.ts';
import { newId } from '../../lib/ids.ts';
import { heldUntil } from '../../mail/emails/schedule.ts';
import { acceptMail, type NewMail } from '../../mail/ledger/queries.ts';
import type { Database } from '../../store/sql.ts';
import { findTemplate, type TemplateRow } from '../../templates/queries.ts';
import type { StepContact } from './condition.ts';
import { StepFailure } from './directive.ts';
import type { LockedRun } from './run-queries.ts';

/** The recipient of a step's mail. */
export type MailRecipient = { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string };

/** The template of a step as it is now. @throws StepFailure when there is none */
export async function templateOf(db: Database, projectId: string, templateId: string | null): Promise<TemplateRow> {
  if (templateId === null) throw new StepFailure('The step has no template');
  const template = await findTemplate(db, projectId, templateId);
  if (template === null) throw new StepFailure(`The template ${templateId} no longer exists`);
  return template;
}

/** The kind and class of a mail. */
export interface MailKind {
  sourceType: SourceType;
  messageClass: MessageClass;
}

/** Returns the kind of the mail that is made from a template (docs/contract/campaigns-and-workflows.md#1-2). */
export function mailKind({ type }: Pick<TemplateRow, 'type'>): MailKind {
  return { sourceType: type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'WORKFLOW', messageClass: type };
}

/**
 * Puts the mail of a step into ledger and queue: the template as it is now, and a snapshot of the values, so that what is
 * delivered is what the step meant. Its row is keyed by the step execution. To a contact that is not subscribed, mail that
 * needs it is only written down as FAILED; in quiet hours it is due after their end. Answers the output of the step.
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
    limitedBy: limitOf(run),
  };
  const output = { emailId: mail.id, sentAt: run.now, recipientType: recipient.type, recipientEmail: toAddress };
  const fate = await fateOfMail(tx, run, contact, { from: template.from, messageClass, recipient });
  if ('unsent' in fate) {
    await acceptMail(tx, [{ ...mail, unsent: fate.unsent }]);
    return { ...output, skipped: fate.skipped };
  }
  await acceptMail(tx, [fate.heldUntil === null ? mail : { ...mail, heldUntil: fate.heldUntil }]);
  return fate.heldUntil === null ? output : { ...output, heldUntil: fate.heldUntil, heldBy: 'quietHours' };
}

/** What becomes of the mail of a step: it is written down and not sent, or waits for the end of quiet hours, or leaves at once. */
export type MailFate = { skipped: string; unsent: NonNullable<NewMail['unsent']> } | { heldUntil: string | null };

/** Decides what becomes of the mail of a step. Writes nothing. */
export async function fateOfMail(
  db: Database,
  run: LockedRun,
  contact: StepContact,
  { from, messageClass, recipient }: { from: string; messageClass: MessageClass; recipient: MailRecipient },
): Promise<MailFate> {
  const isCustom = recipient.type === 'CUSTOM';
  if (messageClass !== 'TRANSACTIONAL' && !isCustom && !contact.subscribed)
    return { skipped: 'unsubscribed', unsent: { status: 'FAILED', reason: { code: 'not_subscribed' } } };
  const toAddress = isCustom ? recipient.customEmail : contact.email;
  const suppression = await suppressionFor(
    db,
    run,
    { toAddress, from, contactId: contact.id, messageClass },
    recipient,
  );
  if (suppression !== null) {
    const skipped = suppression.kind === 'HOLDOUT' ? 'holdout' : 'suppressed';
    return { skipped, unsent: { status: 'SUPPRESSED', suppression } };
  }
  const due = isCustom ? null : heldUntil(run.project, messageClass, contact, Date.parse(run.now));
  return { heldUntil: due === null ? null : new Date(due).toISOString() };
}

/**
 * The key whose limits hold for what a step starts. Of several keys none stands for all: no key has the ID of the run, and so its limits
 * let nobody be reached.
 */
export function limitOf({ id, limitedBy }: LockedRun): string | null {
  const [key = null, ...others] = new Set(limitedBy);
  return others.length > 0 ? id : key;
}

/** Why the keys that started a run, or the control group, keep its mail from being sent; null where it may go. */
async function suppressionFor(
  tx: Database,
  run: LockedRun,
  { toAddress: to, from, contactId, messageClass }: Pick<NewMail, 'toAddress' | 'from' | 'contactId' | 'messageClass'>,
  recipient: MailRecipient,
): Promise<SuppressionMatch | null> {
  const { projectId, project, limitedBy } = run;
  const now = new Date(run.now);
  const keys = await limitsOfKeys(tx, projectId, limitedBy ?? []);
  const found = keys.map((key) => suppressionOfKey(key, { to, from }, now));
  const isMarketing = messageClass !== 'TRANSACTIONAL' && recipient.type === 'CONTACT';
  const heldOut = isMarketing ? suppressionOfHoldout(project.holdout, { projectId, contactId, to }, now) : null;
  return found.find((each) => each !== null) ?? heldOut;
}

/** Whether a step's output says that a mail waits to be delivered. */
export function hasQueuedMail(output: JsonObjectValue): boolean {
  return typeof output.emailId === 'string' && output.skipped === undefined;
}
