import { contactDataText, flipEvents, withinDataLimits } from '../../audience/contacts/index.ts';
import type { SuppressionMatch } from '../../audience/suppressions/index.ts';
import type { TemplateType } from '../../content/templates/index.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { reserveAll, type UsageGate } from '../../platform/billing/index.ts';

/** One recipient of a request; the ids are those that its rows get. */
export interface SendRecipient {
  email: string;
  contact_id: string;
  email_id: string;
  flip_id: string;
  to_name: string | null;
  simulated: boolean;
  /** What the message takes in memory. */
  bytes: number;
  /** The rule that catches the message, which is then kept and not queued. */
  suppression: SuppressionMatch | null;
}

/** What all messages of a request share. */
export interface SendFacts {
  subscribed: boolean | null;
  /** Contact data to store and keys to remove. */
  set: JsonObjectValue;
  remove: readonly string[];
  subject: string;
  body: string;
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
}

// One statement, because a request to send is the hottest write of the service: contacts, the events of flipped
// subscriptions, the ledger rows and their places in the queue stand or fall together without a transaction around them.
const acceptance = (gate: string, recipients: string, answer: string) => `with ${gate}recipient as (
     select * from jsonb_to_recordset($2::jsonb)
       as r (email text, contact_id uuid, email_id uuid, flip_id uuid, to_name text, simulated boolean, bytes int, suppression jsonb)${recipients}),
   upserted as (
     insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
     select contact_id, $1, email, coalesce($3::boolean, false), coalesce($3::boolean, false),
       $4::jsonb || case when to_name is null then '{}' else jsonb_build_object('name', to_name) end
     from recipient order by email
     on conflict (project_id, email) do update set
       subscription_before = c.subscribed,
       subscribed = coalesce($3::boolean, c.subscribed),
       data = (c.data - $5::text[]) || excluded.data,
       updated_at = now()
     where c.subscribed <> coalesce($3::boolean, c.subscribed) or (c.data - $5::text[]) || excluded.data <> c.data
     returning *, xmax = 0 as is_new),
   contact as (
     select id, email, subscribed, data from upserted
     union all
     select c.id, c.email, c.subscribed, c.data from recipient join contacts c on c.project_id = $1 and c.email = recipient.email
     where not exists (select from upserted u where u.email = recipient.email)),
   flip as (
     ${flipEvents({
       id: 'recipient.flip_id',
       from: 'upserted flipped join recipient using (email)',
       where: 'not flipped.is_new and flipped.subscribed <> flipped.subscription_before',
     })}),
   accepted as (
     insert into emails (id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers,
       attachments, source_type, message_class, template_id, tracking, simulated, status, suppression)
     select r.email_id, $1, c.id, c.email, r.to_name, $6, $7, $8,
       jsonb_build_object('subject', $9::text, 'body', $10::text, 'data', $11::jsonb, 'contact', c.data, 'subscribed', c.subscribed),
       $12::jsonb, $13::jsonb, 'TRANSACTIONAL', $14, $15, $16, r.simulated,
       case when r.suppression is null then 'PENDING' else 'SUPPRESSED' end, r.suppression
     from recipient r join contact c using (email)
     returning id, contact_id, to_address, project_id, status),
   queued as (
     insert into email_queue (email_id, project_id, bytes)
     select id, project_id, (select bytes from recipient limit 1) from accepted where status = 'PENDING')
   ${answer}`;
const columns = 'id as "emailId", contact_id as "contactId", to_address as email';

const send = statement('transactional.send', acceptance('', '', `select ${columns} from accepted`));

// Room under the limit is taken before anything else; without it nobody is a recipient.
const sendWithin = statement(
  'transactional.send_within',
  acceptance(
    `reserved as (${reserveAll('$1::uuid', '$17', '$18::integer', '$19::integer')}),
   `,
    ' where exists (select from reserved)',
    `select exists (select from reserved) as "letIn", ${columns} from (values (1)) as one left join accepted on true`,
  ),
);

/** A message that was accepted. */
export interface AcceptedEmail {
  emailId: string;
  contactId: string;
  email: string;
}

/**
 * Upserts the contacts and queues one message for each recipient whose mail no rule catches. Addresses must differ from one another. A recipient
 * whose contact another transaction is inserting may be left out: run it again for those that are missing.
 */
export async function acceptEmails(
  sql: Sql,
  projectId: string,
  recipients: readonly SendRecipient[],
  facts: SendFacts,
): Promise<AcceptedEmail[]> {
  return withinDataLimits(sql.rows<AcceptedEmail>(send, valuesOf(projectId, recipients, facts)));
}

/**
 * `acceptEmails` that first takes room for the mail under a limit, in the same statement. Null, with nothing written, when
 * there is no room or its counter has not begun; an answer without some recipients has taken room for them.
 */
export async function acceptWithin(
  sql: Sql,
  projectId: string,
  recipients: readonly SendRecipient[],
  facts: SendFacts,
  gate: UsageGate,
): Promise<AcceptedEmail[] | null> {
  const values = [
    ...valuesOf(projectId, recipients, facts),
    gate.category,
    gate.limit,
    recipients.filter(({ suppression }) => suppression === null).length,
  ];
  const rows = await withinDataLimits(sql.rows<AcceptedEmail & { letIn: boolean }>(sendWithin, values));
  if (rows[0]?.letIn !== true) return null;
  return rows.filter(({ emailId }) => emailId !== null);
}

function valuesOf(projectId: string, recipients: readonly SendRecipient[], facts: SendFacts): unknown[] {
  return [
    projectId,
    JSON.stringify(recipients),
    facts.subscribed,
    contactDataText(facts.set),
    facts.remove,
    facts.from,
    facts.fromName,
    facts.replyTo,
    facts.subject,
    facts.body,
    JSON.stringify(facts.variables),
    facts.headers === null ? null : JSON.stringify(facts.headers),
    facts.attachments === null ? null : JSON.stringify(facts.attachments),
    facts.messageClass,
    facts.templateId,
    facts.tracking,
  ];
}

const subscribedAmong = statement(
  'transactional.subscribed',
  'select email from contacts where project_id = $1 and email = any($2::text[]) and subscribed',
);

/** Those of the addresses whose contacts are subscribed. */
export async function subscribedAddresses(
  sql: Sql,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await sql.rows<{ email: string }>(subscribedAmong, [projectId, addresses]);
  return new Set(rows.map((row) => row.email));
}
