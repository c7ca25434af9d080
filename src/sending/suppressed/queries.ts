import type { SuppressedEmail, SuppressionMatch } from '../../audience/suppressions/schema.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { usageMoved } from '../../platform/billing/counting-queries.ts';
import type { ProjectFacts } from '../../platform/projects/directory.ts';
import { withoutBytes } from '../ledger/sql.ts';

/** A suppressed mail with what rendering it needs; nothing rendered it, because nobody was to get it. */
export interface SuppressedRow extends Omit<SuppressedEmail, 'subject' | 'body'> {
  messageClass: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';
  /** The sources, or the final texts where `rendered`; null once they are emptied. */
  subject: string | null;
  body: string | null;
  rendered: boolean;
  /** Values of the request. */
  data: JsonObjectValue | null;
  /** The context of an automation's run. */
  event: JsonObjectValue | null;
  contact: { id: string; email: string; subscribed: boolean; data: JsonObjectValue };
  project: Pick<ProjectFacts, 'name' | 'tracking' | 'language' | 'escapeContactData'>;
}

const columns = `
  e.id, e.project_id as "projectId", e.contact_id as "contactId", e.to_name as "toName", e.from_name as "fromName",
  e.reply_to as "replyTo", e."from", e.headers, e.attachments, e.source_type as "sourceType",
  e.message_class as "messageClass", e.template_id as "templateId", e.campaign_id as "campaignId",
  e.workflow_execution_id as "workflowExecutionId", e.workflow_step_execution_id as "workflowStepExecutionId",
  e.message_id as "messageId", e.status, e.sent_at::text as "sentAt", e.delivered_at::text as "deliveredAt",
  e.opened_at::text as "openedAt", e.clicked_at::text as "clickedAt", e.bounced_at::text as "bouncedAt",
  e.complained_at::text as "complainedAt", e.opens, e.clicks, e.error, e.to_address as "recipientAddress", e.suppression,
  e.created_at::text as "createdAt", e.updated_at::text as "updatedAt",
  coalesce(e.render ->> 'subject', e.subject, k.subject) as subject,
  coalesce(e.render ->> 'body', e.body, k.body) as body,
  e.render is null and e.subject is not null as rendered,
  e.render -> 'data' as data, nullif(e.render -> 'event', 'null') as event,
  jsonb_build_object('id', c.id, 'email', c.email, 'subscribed', coalesce((e.render ->> 'subscribed')::boolean, c.subscribed),
    'data', coalesce(e.render -> 'contact', c.data)) as contact,
  jsonb_build_object('name', p.name, 'tracking', p.tracking, 'language', p.language,
    'escapeContactData', p.escape_contact_data) as project`;

const joins = `join contacts c on c.id = e.contact_id join projects p on p.id = e.project_id
  left join campaigns k on k.id = e.campaign_id`;

const page = statement(
  'suppressions.emails',
  `select ${columns} from emails e ${joins}
   where e.project_id = $1 and e.suppression is not null and e.status = 'SUPPRESSED'
     and ($2::timestamptz is null or (e.created_at, e.id) < ($2::timestamptz, $3::uuid))
   order by e.created_at desc, e.id desc limit $4`,
);

/** Suppressed mail of a project, newest first, after a place. */
export function suppressedMail(
  sql: Sql,
  projectId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<SuppressedRow[]> {
  return sql.rows<SuppressedRow>(page, [projectId, after?.[0] ?? null, after?.[1] ?? null, limit]);
}

const one = statement(
  'suppressions.email',
  `select ${columns} from emails e ${joins}
   where e.project_id = $1 and e.id = $2 and e.suppression is not null and e.status = 'SUPPRESSED'`,
);

/** One suppressed mail of a project, or null. */
export function findSuppressedMail(sql: Sql, projectId: string, id: string): Promise<SuppressedRow | null> {
  return sql.row<SuppressedRow>(one, [projectId, id]);
}

/** A mail that a rule caught at hand-over; texts are null where they are not rendered. */
export interface CaughtMail {
  id: string;
  suppression: SuppressionMatch;
  subject: string | null;
  body: string | null;
}

const caught = (guard: string) => `
  update emails e set status = 'SUPPRESSED', suppression = k.suppression::jsonb, subject = coalesce(k.subject, e.subject),
    body = coalesce(k.body, e.body), render = case when k.subject is null then e.render end,
    attachments = ${withoutBytes('e.attachments')}, updated_at = now()
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as k (id, suppression, subject, body)
  where e.id = k.id and e.status in ('PENDING', 'SENDING') and e.sent_at is null and ${guard}
  returning e.project_id, e.source_type, e.message_class, e.created_at`;
// A suppressed mail gives back its room under the month's limit.
const counted = `${usageMoved('caught', 'false', 'true')} select count(*) from caught`;

const caughtInQueue = statement(
  'suppressions.catch_queued',
  `with held as (delete from email_queue where email_id = any($1::uuid[]) and claim_id = $5 returning email_id),
   caught as (${caught('e.id in (select email_id from held)')}),
   ${counted}`,
);
const caughtInLedger = statement(
  'suppressions.catch_pending',
  `with caught as (${caught('$5::text is null')}), ${counted}`,
);

/** Ends mail as SUPPRESSED: that of a queue while this claim holds it, or (null) that of a campaign while it waits. */
export async function writeCaught(sql: Sql, mails: readonly CaughtMail[], claimId: string | null): Promise<void> {
  await sql.count(claimId === null ? caughtInLedger : caughtInQueue, [
    mails.map(({ id }) => id),
    mails.map(({ suppression }) => JSON.stringify(suppression)),
    mails.map(({ subject }) => subject),
    mails.map(({ body }) => body),
    claimId,
  ]);
}
