import type { MessageClass } from '@fernpost/message-content';
import { type Database, sql } from '../../core/database/sql.ts';
import type { SourceType } from '../../core/lib/message-kinds.ts';
import type { ReasonCode } from '../ledger/index.ts';

/** What decides whether a mail may be sent again. */
export interface EarlierMail {
  status: string;
  sourceType: SourceType | 'INBOUND';
  messageClass: MessageClass;
  campaignId: string | null;
  from: string;
  to: string;
  reasonCode: ReasonCode | null;
  /** What it was to be made of is still there. */
  hasContent: boolean;
  /** It had attachments, and their bytes are gone. */
  lacksFiles: boolean;
}

/** A mail of the project, which nothing settles until the transaction has ended; null for none. */
export function lockEarlier(tx: Database, projectId: string, id: string): Promise<EarlierMail | null> {
  return tx.row(sql`
    select status, source_type as "sourceType", message_class as "messageClass", campaign_id as "campaignId", "from",
      to_address as "to", reason ->> 'code' as "reasonCode", render is not null as "hasContent",
      coalesce(attachments @? '$[*] ? (!exists(@.content))', false) as "lacksFiles"
    from emails where project_id = ${projectId} and id = ${id} for no key update`);
}

/** The latest mail that repeats one that is locked, so that it sees what committed while the lock was waited for. */
export async function findLatestResend(tx: Database, id: string): Promise<string | null> {
  const row = await tx.row<{ id: string }>(sql`
    select email_id as id from email_resends where resend_of = ${id} order by email_id desc limit 1`);
  return row?.id ?? null;
}

/** Queues the accepted content of a mail once more, as a new mail with its tags that says which one it repeats. */
export async function queueAgain(tx: Database, id: string, newId: string): Promise<void> {
  await tx.count(sql`
    with added as (
      insert into emails (id, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments,
        source_type, message_class, template_id, workflow_execution_id, tracking, simulated)
      select ${newId}, project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments,
        source_type, message_class, template_id, workflow_execution_id, tracking, simulated
      from emails where id = ${id}
      returning id, project_id, render),
    tagged as (
      insert into email_tags (email_id, name, value, project_id)
      select a.id, t.name, t.value, a.project_id from added a, email_tags t where t.email_id = ${id}),
    pointed as (
      insert into email_resends (email_id, resend_of, project_id) select id, ${id}, project_id from added)
    insert into email_queue (email_id, project_id, bytes)
    select id, project_id, coalesce((select f.bytes from failed_attachments f where f.email_id = ${id}),
      octet_length(render ->> 'subject') + octet_length(render ->> 'body')
      + coalesce(octet_length(render ->> 'text'), 0) + coalesce(octet_length((render -> 'data')::text), 0))
    from added`);
}
