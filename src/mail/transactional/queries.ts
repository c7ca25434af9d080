import { reserveWhole, type UsageGate } from '../../billing/usage-queries.ts';
import { withinDataLimits } from '../../contacts/limits.ts';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import { type ContactRow, contactsWritten, writingAs } from '../../contacts/write.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { activeTrace } from '../../lib/telemetry.ts';
import { lockName } from '../../store/columns.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../../store/sql.ts';
import type { TemplateType } from '../../templates/queries.ts';
import type { SendTime } from '../emails/schedule.ts';
import { acceptingMail } from '../ledger/accept.ts';

/** One recipient of a request; the ids are those that its rows get. */
export interface SendRecipient {
  email: string;
  contact_id: string;
  email_id: string;
  flip_id: string;
  to_name: string | null;
  simulated: boolean;
  /** Bytes that the message takes in memory. */
  bytes: number;
  /** The rule that suppresses the message, which is then kept and not queued. */
  suppression: SuppressionMatch | null;
  /** The contact that was found in the control group, where that suppresses the message. */
  held_out: string | null;
}

/** The part of a request that all its messages share. */
export interface SendFacts {
  subscribed: boolean | null;
  /** Contact data to store and keys to remove. */
  set: JsonObjectValue;
  remove: readonly string[];
  subject: string;
  body: string;
  /** Liquid source of the text part; null where it is derived from the HTML. */
  text: string | null;
  /** Values of the request for its templates. */
  variables: JsonObjectValue;
  from: string;
  fromName: string;
  replyTo: string | null;
  headers: Record<string, string> | null;
  attachments: readonly object[] | null;
  messageClass: TemplateType;
  templateId: string | null;
  tracking: boolean | null;
  tags: Readonly<Record<string, string>> | null;
  schedule: SendTime;
  /** Subject, body and text are no templates. */
  isLiteral: boolean;
}

/** A message that was accepted. */
export interface AcceptedEmail {
  emailId: string;
  contactId: string;
  email: string;
}

/**
 * Upserts the contacts and queues one message for each recipient whose mail no rule suppresses. Addresses must differ from one
 * another.
 */
export function acceptEmails(
  db: Database,
  projectId: string,
  recipients: readonly SendRecipient[],
  facts: SendFacts,
): Promise<AcceptedEmail[]> {
  return withinDataLimits(
    db.rows<AcceptedEmail>(sql`
      with let_in as (select),
      ${acceptance(db, projectId, recipients, facts)}
      select ${columns} from accepted`),
  );
}

/**
 * `acceptEmails` that first takes quota for the mail under a limit, in the same statement. Null, with nothing written, when
 * there is none left or its counter has not begun; an answer without some recipients has taken quota for them.
 */
export async function acceptWithin(
  db: Database,
  projectId: string,
  recipients: readonly SendRecipient[],
  facts: SendFacts,
  gate: UsageGate,
): Promise<AcceptedEmail[] | null> {
  const wanted = recipients.filter(({ suppression }) => suppression === null).length;
  // Quota is taken before anything else.
  const query = sql`
    with let_in as (${reserveWhole(projectId, gate, wanted)}),
    ${acceptance(db, projectId, recipients, facts)}
    select exists (select from let_in) as "letIn", ${columns} from (values (1)) as one left join accepted on true`;
  const rows = await withinDataLimits(db.rows<AcceptedEmail & { letIn: boolean }>(query));
  if (rows[0]?.letIn !== true) return null;
  return rows.filter(({ emailId }) => emailId !== null);
}

const columns = sql`id as "emailId", contact_id as "contactId", to_address as email`;

const mailColumns = `id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments,
  source_type, message_class, template_id, tracking, simulated, status, suppression, scheduled_for, held_until,
  limited_by, traceparent`;

// One statement, because a request to send is the hottest write of the service: contacts, the events of flipped
// subscriptions, the ledger rows and their places in the queue stand or fall together without a transaction around them.
// Without a row of `let_in`, which the statement begins with, nobody is a recipient.
function acceptance(db: Database, projectId: string, recipients: readonly SendRecipient[], facts: SendFacts): Query {
  const { from, fromName, replyTo, subject, body, variables, headers, attachments } = facts;
  const [scheduledFor, heldUntil] = [facts.schedule.scheduledFor, facts.schedule.heldUntil].map(
    (at) => at?.toISOString() ?? null,
  );
  const accepting = acceptingMail({
    projectId,
    columns: mailColumns,
    rows: sql`
      select r.email_id, ${projectId}::uuid, c.id, c.email, r.to_name, ${from}, ${fromName}, ${replyTo},
        jsonb_build_object('subject', ${subject}::text, 'body', ${body}::text, 'data', ${JSON.stringify(variables)}::jsonb,
          'contact', c.data, 'subscribed', c.subscribed)
          || ${JSON.stringify({ text: facts.text ?? undefined, isLiteral: facts.isLiteral || undefined })}::jsonb,
        ${headers && JSON.stringify(headers)}::jsonb, ${attachments && JSON.stringify(attachments)}::jsonb, 'TRANSACTIONAL',
        ${facts.messageClass}, ${facts.templateId}::uuid, ${facts.tracking}::boolean, r.simulated,
        ${suppressedBy('r')},
        ${scheduledFor}::timestamptz, ${heldUntil}::timestamptz, ${limitingKey(db)}::uuid, ${activeTrace()}::text
      from recipient r join contact c using (email)`,
    queue: {
      bytes: recipients[0]?.bytes ?? 0,
      due: sql`coalesce(${scheduledFor}::timestamptz, ${heldUntil}::timestamptz, now())`,
    },
    tags: facts.tags && sql`select key as name, value from jsonb_each_text(${JSON.stringify(facts.tags)}::jsonb)`,
  });
  const written = contactsWritten(projectId, contactsOf(recipients, facts), {
    ...writingAs(db, facts.isLiteral ? 'smtp' : 'send'),
    subscribedWhenNew: facts.subscribed ?? false,
  });
  return sql`recipient as (
      select * from jsonb_to_recordset(${JSON.stringify(recipients)}::jsonb)
        as r (email text, email_id uuid, to_name text, simulated boolean, suppression jsonb, held_out uuid)),
    contact as materialized (
      select w.id, w.email, w.subscribed, w.data from (select where exists (select from let_in)) once, ${written} w),
    ${accepting}`;
}

/** The status and the suppression of a recipient's mail. Only the contact who was found to be held out is: another request may have made one. */
export const suppressedBy = (recipient: string) =>
  raw(`case when ${recipient}.suppression is null or ${recipient}.held_out <> c.id then 'PENDING' else 'SUPPRESSED' end,
        case when ${recipient}.held_out <> c.id then null else ${recipient}.suppression end`);

/** Returns the rows that write the contacts of the recipients. A name of the message is stored, whatever the data says. */
export function contactsOf(
  recipients: readonly SendRecipient[],
  { subscribed, set, remove }: Pick<SendFacts, 'subscribed' | 'set' | 'remove'>,
): ContactRow[] {
  return recipients.map(({ email, contact_id, flip_id, to_name }) => ({
    email,
    newId: contact_id,
    flipId: flip_id,
    subscribed,
    set: to_name === null ? set : { ...set, name: to_name },
    remove: to_name === null ? remove : remove.filter((key) => key !== 'name'),
  }));
}

/** Bytes of mail with attachments that a project has scheduled. Others that ask wait until the transaction has ended. */
export async function scheduledBytes(tx: Database, projectId: string): Promise<number> {
  await lockName(tx, `scheduled mail ${projectId}`);
  const row = await tx.row<{ bytes: number }>(sql`
    select coalesce(sum(q.bytes), 0)::float8 as bytes from email_queue q join emails e on e.id = q.email_id
    where q.project_id = ${projectId} and q.claim_id is null and q.due_at > now() and e.attachments is not null`);
  return row?.bytes ?? 0;
}

/** The contacts of the addresses that have one. */
export async function contactsOfAddresses(
  db: Database,
  projectId: string,
  addresses: readonly string[],
): Promise<Map<string, { id: string; subscribed: boolean }>> {
  const rows = await db.rows<{ email: string; id: string; subscribed: boolean }>(
    sql`select email, id, subscribed from contacts where project_id = ${projectId} and email = any(${addresses}::text[])`,
  );
  return new Map(rows.map(({ email, ...contact }) => [email, contact]));
}
