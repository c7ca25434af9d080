import type { MessageClass } from '@fernpost/message-content';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import type { SourceType } from '../../core/lib/message-kinds.ts';
import { acceptingMail, type ReasonCode } from '../ledger/index.ts';

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

const again = `project_id, contact_id, to_address, to_name, "from", from_name, reply_to, render, headers, attachments, source_type,
  message_class, template_id, workflow_execution_id, tracking, simulated`;

/**
 * Queues the accepted content of a mail once more, as a new mail with its tags that says which one it repeats. False when its contact is
 * gone.
 */
export async function queueAgain(tx: Database, projectId: string, id: string, newId: string): Promise<boolean> {
  const accepting = acceptingMail({
    projectId,
    columns: `id, ${again}`,
    rows: sql`
      select ${newId}, ${raw(again)} from emails join lateral (
        select from contacts c where c.id = contact_id for key share) contact on true
      where id = ${id} and project_id = ${projectId}`,
    queue: {
      beside: sql`cross join (select render from emails where id = ${id}) earlier`,
      bytes: sql`coalesce((select f.bytes from failed_attachments f where f.email_id = ${id}),
        octet_length(render ->> 'subject') + octet_length(render ->> 'body')
        + coalesce(octet_length(render ->> 'text'), 0) + coalesce(octet_length((render -> 'data')::text), 0))`,
    },
    tags: sql`select name, value from email_tags where email_id = ${id}`,
  });
  const added = await tx.count(sql`
    with ${accepting}
    insert into email_resends (email_id, resend_of, project_id) select id, ${id}, ${projectId}::uuid from accepted`);
  return added === 1;
}
