import { contactDataText } from '../../contacts/limits.ts';
import { contactsWritten, writingAs } from '../../contacts/write.ts';
import { activeTrace } from '../../lib/telemetry.ts';
import { groupCalls } from '../../store/postgres/grouped.ts';
import { type Database, limitingKey, raw, sql } from '../../store/sql.ts';
import { acceptingMail } from '../ledger/accept.ts';
import { type AcceptedEmail, contactsOf, type SendFacts, type SendRecipient, suppressedBy } from './queries.ts';

interface AcceptCall {
  /** The recipient's address. */
  unique: string;
  recipient: SendRecipient;
  facts: SendFacts;
  trace: string | null;
}

// Larger ones are not worth copying into a common parameter.
const mostBytes = 64 * 1024;

/**
 * `acceptEmails` for a request with one recipient, which may share its statement with others: when it leaves the subscription as it is,
 * removes no data, has no text, tags or time of its own, is made from templates and is not large. Null when it has to be accepted by itself.
 */
export async function acceptTogether(
  db: Database,
  projectId: string,
  recipient: SendRecipient,
  facts: SendFacts,
): Promise<AcceptedEmail | null> {
  const { scheduledFor, heldUntil } = facts.schedule;
  const isPlain = facts.text === null && facts.tags === null && scheduledFor === null && heldUntil === null;
  const leavesContact = facts.subscribed === null && facts.remove.length === 0;
  const mayShare = !db.isTransaction && isPlain && !facts.isLiteral && leavesContact && recipient.bytes <= mostBytes;
  if (!mayShare) return null;
  contactDataText(facts.set);
  return acceptGroup(db, projectId, { unique: recipient.email, recipient, facts, trace: activeTrace() });
}

const acceptGroup = groupCalls<AcceptCall, AcceptedEmail, Database>(async (db, projectId, calls) => {
  const contacts = calls.flatMap(({ recipient, facts }) => contactsOf([recipient], facts));
  const writing = { ...writingAs(db, 'send'), subscribedWhenNew: false, skipsHeld: true };
  const items = calls.map(({ recipient, facts, trace }) => ({
    ...recipient,
    traceparent: trace,
    from: facts.from,
    from_name: facts.fromName,
    reply_to: facts.replyTo,
    subject: facts.subject,
    body: facts.body,
    variables: facts.variables,
    headers: facts.headers,
    attachments: facts.attachments,
    message_class: facts.messageClass,
    template_id: facts.templateId,
    tracking: facts.tracking,
  }));
  const accepting = acceptingMail({
    projectId,
    columns: `id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments,
      source_type, message_class, template_id, tracking, simulated, status, suppression, limited_by, traceparent`,
    rows: sql`
      select i.email_id, ${projectId}, c.id, c.email, i.to_name, i."from", i.from_name, i.reply_to,
        jsonb_build_object('subject', i.subject, 'body', i.body, 'data', i.variables, 'contact', c.data,
          'subscribed', c.subscribed),
        i.headers, i.attachments, 'TRANSACTIONAL', i.message_class, i.template_id, i.tracking, i.simulated,
        ${suppressedBy('i')}, ${limitingKey(db)}::uuid, i.traceparent
      from item i join contact c using (email)`,
    queue: { bytes: raw('i.bytes'), beside: sql`join item i on i.email_id = a.id` },
  });
  const rows = await db.rows<AcceptedEmail>(sql`
    with item as materialized (
      select * from json_to_recordset(${JSON.stringify(items)}::json) as r (
        email text, email_id uuid, to_name text, simulated boolean, bytes int, suppression jsonb, held_out uuid,
        "from" text, from_name text, reply_to text, subject text, body text, variables jsonb, headers jsonb,
        attachments jsonb, message_class text, template_id uuid, tracking boolean, traceparent text)),
    contact as materialized (
      select id, email, subscribed, data from ${contactsWritten(projectId, contacts, writing)}),
    ${accepting}
    select id as "emailId", contact_id as "contactId", to_address as email from accepted`);
  const byId = new Map(rows.map((row) => [row.emailId, row]));
  return calls.map(({ recipient }) => byId.get(recipient.email_id) ?? null);
});
