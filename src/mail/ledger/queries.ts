import { createHash } from 'node:crypto';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { MessageClass, SourceType } from '../../lib/enums.ts';
import { activeTrace } from '../../lib/telemetry.ts';
import type { Holdout, QuietHours } from '../../projects/schema.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import { MailStatus } from '../status.ts';
import { acceptingMail } from './accept.ts';
import { failedEvent } from './counting.ts';
import type { Reason } from './reasons.ts';

/**
 * `emails.render` of a message that is not rendered yet: the sources and a snapshot of the values, so that what is
 * delivered is what the request and the contact said when the message was accepted.
 */
export interface StoredRender {
  /** Liquid source of the subject. */
  subject: string;
  /** Liquid source of the HTML body. */
  body: string;
  /** Liquid source of the text part; derived from the HTML when absent. */
  text?: string;
  /** Values of the request, inserted as they are: a secret key vouches for them. */
  data: JsonObjectValue;
  /** The contact's data after the upsert of the request; escaped where it stands in HTML. */
  contact: JsonObjectValue;
  subscribed: boolean;
  /** The context of the automation's run that sends it. */
  event?: JsonObjectValue | null;
  /** The mail brought its own content: subject, body and text are no Liquid. An empty body is mail without HTML. */
  isLiteral?: boolean;
  /** The recipient is an address that its author named: whether the contact is subscribed says nothing of it. */
  isForOthers?: boolean;
}

/** A stored attachment; `content` is base64 and gone once the mail is final. */
interface StoredAttachment {
  filename: string;
  content: string;
  contentType: string;
  disposition?: 'attachment' | 'inline';
  contentId?: string;
}

/** The facts of a mail in the ledger that belongs to no campaign. */
interface MailFacts {
  id: string;
  projectId: string;
  contactId: string;
  toAddress: string;
  toName: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  headers: Record<string, string> | null;
  attachments: StoredAttachment[] | null;
  sourceType: SourceType;
  messageClass: MessageClass;
  templateId: string | null;
  /** Override of the project's tracking mode. */
  tracking: boolean | null;
}

/** A claimed mail, with the state of the world at the claim. */
export interface ClaimedMail extends MailFacts {
  /** Final subject and body; null while `render` holds what they are made of. */
  subject: string | null;
  body: string | null;
  render: StoredRender | null;
  campaignId: string | null;
  /** Earlier attempts that failed. */
  attempts: number;
  /** Of the span that accepted it, where that was sampled. */
  traceparent: string | null;
  /** Milliseconds since the mail was queued, by the database's clock. */
  ageMs: number;
  /** The instant of the claim, in epoch milliseconds by the database's clock. */
  nowMs: number;
  /** Whether a step of a workflow has queued it, and whether nobody has changed its time since. */
  isOfStep: boolean;
  keepsTime: boolean;
  contact: { email: string; subscribed: boolean; data: JsonObjectValue };
  project: {
    name: string;
    disabled: boolean;
    tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
    language: string;
    escapeContactData: boolean;
    /** The control group; null for none. */
    holdout: Holdout | null;
    quietHours: QuietHours | null;
    timeZone: string | null;
  };
  /** Whether the sender's domain is verified for the project now. */
  domainVerified: boolean;
}

/** Whether mail is marketing to its contact, so that it goes to subscribed ones only (docs/contract/core.md#2-5). */
export function isMarketing({ messageClass, sourceType, render }: ClaimedMail): boolean {
  if (render?.isForOthers === true) return false;
  return messageClass === 'MARKETING' || (messageClass === 'HEADLESS' && sourceType !== 'TRANSACTIONAL');
}

/** Why a mail must not be handed over after all, or null (docs/contract/platform.md#9-2: final checks). */
export function refusalOf(mail: ClaimedMail): Reason | null {
  if (mail.project.disabled) return { code: 'project_disabled' };
  if (!mail.domainVerified) return { code: 'domain_unverified' };
  return isMarketing(mail) && !mail.contact.subscribed ? { code: 'not_subscribed' } : null;
}

/** A row's attachments as they are kept once the mail is final: named and typed, without their bytes. */
export function withoutBytes(column: string): string {
  return `case when jsonb_typeof(${column}) = 'array'
    then (select jsonb_agg(file - 'content') from jsonb_array_elements(${column}) file) else ${column} end`;
}

/** The sources of mail: a request, a campaign, a workflow; or received mail. */
export const mailSources = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const;

/** Which mail of a project: `first` is the least of its ids, `before` is above them. */
interface MailRange {
  projectId: string;
  sources: readonly string[];
  first: string;
  before: string;
  limit: number;
}

/** The columns of the mail `e` that a walk along an index answers. */
export const walkedColumns = sql`e.id, e.contact_id, e.to_address, e.source_type, e.status, e.simulated, e.created_at, e.bounced_at,
  e.complained_at`;

/**
 * The newest mail of a project by `walkedColumns`, at most `limit` of each source, for a caller that orders it by id and takes `limit` rows of
 * it: the index `emails_project` has the source before the id, and Postgres merges its ranges only where each has an order and an end of its own.
 */
export function newestMail({ projectId, sources, first, before, limit }: MailRange): Query {
  const ranges = sources.map(
    (source) => sql`(
      select ${walkedColumns} from emails e
      where e.project_id = ${projectId} and e.source_type = ${source} and e.id >= ${first}::uuid and e.id < ${before}::uuid
      order by e.id desc limit ${limit})`,
  );
  return join(ranges, ' union all ');
}

const longestKept = 300;

/** The key of a report as receipts keep it: an index takes short texts only, so that a longer one stands there by its hash. */
export function receiptKey(key: string): string {
  return key.length <= longestKept ? key : `sha256:${createHash('sha256').update(key).digest('base64url')}`;
}

/** A new mail that is no campaign's. Ids of automations are null where none sends it. */
export interface NewMail extends MailFacts {
  /** The final texts, or what the worker renders them from. */
  content: { subject: string; body: string } | { render: StoredRender };
  workflowExecutionId: string | null;
  workflowStepExecutionId: string | null;
  /** The key whose limits hold for what the mail starts. */
  limitedBy?: string | null;
  /** When it is sent, as an ISO instant, where it waits for the end of quiet hours. */
  heldUntil?: string;
  /** Absent for mail that is sent. */
  unsent?: Unsent;
}

/** Recipients there are simulators, whose bounces and complaints say nothing of a project (docs/contract/platform.md#10-7). */
export const simulatorDomains = ['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com'];

/** Whether an address belongs to a simulator, so that what happens to it counts for no reputation. */
export function isSimulated(address: string): boolean {
  return simulatorDomains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
}

/** Returns the bytes that texts and files of a queued mail take in memory; contact data, which has a limit of its own, is not counted. */
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

/** The status of a mail that is not to be sent from the start: it is kept with the reason, and not queued. */
type Unsent =
  | { status: typeof MailStatus.SUPPRESSED; suppression: SuppressionMatch }
  | { status: typeof MailStatus.FAILED; reason: Reason };

// The rows stand under the same names in the parameter, in `mail` and in the ledger.
const columns = `id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, subject, body, render, headers, attachments,
  source_type, message_class, template_id, workflow_execution_id, workflow_step_execution_id, tracking, simulated, status, reason, suppression,
  limited_by, traceparent, held_until`;

function rowOf({ content, unsent, heldUntil, ...mail }: NewMail) {
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
    limited_by: mail.limitedBy,
    traceparent: activeTrace(),
    held_until: heldUntil,
    status: MailStatus.PENDING,
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
    queue: {
      bytes: raw('m.bytes'),
      beside: sql`join mail m on m.id = a.id`,
      due: raw('coalesce(m.held_until, now())'),
    },
  });
  // One row is made of text in JSON, so that a list of any length is one parameter.
  const given = sql`
    mail as (
      select * from jsonb_to_recordset(${JSON.stringify(mails.map(rowOf))}::jsonb) as m (
        id uuid, project_id uuid, contact_id uuid, to_address text, to_name text, "from" text, from_name text, reply_to text,
        subject text, body text, render jsonb, headers jsonb, attachments jsonb, source_type text, message_class text,
        template_id uuid, workflow_execution_id uuid, workflow_step_execution_id uuid, tracking boolean, simulated boolean,
        status text, reason jsonb, suppression jsonb, limited_by uuid, traceparent text, held_until timestamptz, bytes int, message_id text, campaign_id uuid)),
    ${accepting}`;
  const from = sql`accepted a join mail m on m.id = a.id where a.status = 'FAILED'`;
  const failed = { ...failedEvent('m', `m.render ->> 'subject'`), from };
  return await tx.count(recordingEvents({ given, events: [failed], result: sql`select id from accepted` }));
}
