import type { SuppressedEmail } from '../../audience/suppressions/index.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';

/** A suppressed mail with what rendering it needs; nothing rendered it, because nobody was to get it. */
export interface SuppressedMailRow extends Omit<SuppressedEmail, 'subject' | 'body'> {
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
  e.complained_at::text as "complainedAt", e.opens, e.clicks, mail_reason_text(e.reason) as error, e.to_address as "recipientAddress", e.suppression,
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
): Promise<SuppressedMailRow[]> {
  return sql.rows<SuppressedMailRow>(page, [projectId, after?.[0] ?? null, after?.[1] ?? null, limit]);
}

const one = statement(
  'suppressions.email',
  `select ${columns} from emails e ${joins}
   where e.project_id = $1 and e.id = $2 and e.suppression is not null and e.status = 'SUPPRESSED'`,
);

/** One suppressed mail of a project, or null. */
export function findSuppressedMail(sql: Sql, projectId: string, id: string): Promise<SuppressedMailRow | null> {
  return sql.row<SuppressedMailRow>(one, [projectId, id]);
}
