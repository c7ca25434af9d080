import { isoInstant, isoInstantOrNull } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { lowestId } from './expansion.ts';
import type { SendKey } from './ledger.ts';
import type { LedgerRecipient, ReportedRecipient } from './report-schema.ts';
import { type LedgerVerdict, reasonSql, verdictSql } from './verdicts.ts';

// The verdict is worked out for the rows of a page only, found by the index of the send.
const page = statement(
  'campaigns.ledger_page',
  `with page as materialized (
     select e.id, e.contact_id, e.campaign_id, e.send_seq, e.to_address, e.status, e.reason, e.suppression, e.message_id,
       e.sent_at, e.updated_at
     from emails e
     where e.campaign_id = $1::uuid and e.send_seq = $2::int and e.contact_id > $3::uuid
     order by e.campaign_id, e.send_seq, e.contact_id limit $4::int)
   select p.id as "emailId", p.contact_id as "contactId", p.to_address as email, ${verdictSql('p')} as verdict,
     ${reasonSql('p')} as reason, p.message_id as "messageId", p.sent_at::text as "sentAt", p.updated_at::text as "updatedAt"
   from page p order by p.contact_id`,
);

interface LedgerRow extends Omit<LedgerRecipient, 'occurredAt'> {
  updatedAt: string;
}

/** The next rows of a send's ledger after a contact (null: from the first on), in the order of contact ids. */
export async function ledgerPage(
  sql: Sql,
  { campaignId, sendSeq }: Pick<SendKey, 'campaignId' | 'sendSeq'>,
  after: string | null,
  limit: number,
): Promise<LedgerRecipient[]> {
  const rows = await sql.rows<LedgerRow>(page, [campaignId, sendSeq, after ?? lowestId, limit]);
  return rows.map(({ updatedAt, ...row }) => {
    const sentAt = isoInstantOrNull(row.sentAt);
    return { ...row, sentAt, occurredAt: sentAt ?? isoInstant(updatedAt) };
  });
}

const reported = (kind: 'bounced' | 'complained') =>
  statement(
    `campaigns.${kind}_page`,
    `select e.id as "emailId", e.contact_id as "contactId", e.to_address as email, e.${kind}_at::text as "occurredAt"
     from emails e
     where e.project_id = $1::uuid and e.campaign_id = $2::uuid and e.send_seq = $3::int and e.${kind}_at is not null
       and ($4::timestamptz is null or (e.${kind}_at, e.id) < ($4::timestamptz, $5::uuid))
     order by e.${kind}_at desc, e.id desc limit $6::int`,
  );
const reportedPages = { bounced: reported('bounced'), complained: reported('complained') };

/** Recipients whose message bounced or was complained about, newest first, after a place. */
export async function reportedPage(
  sql: Sql,
  kind: 'bounced' | 'complained',
  { projectId, campaignId, sendSeq }: SendKey,
  after: readonly [string, string] | null,
  limit: number,
): Promise<ReportedRecipient[]> {
  const values = [projectId, campaignId, sendSeq, after?.[0] ?? null, after?.[1] ?? null, limit];
  const rows = await sql.rows<ReportedRecipient>(reportedPages[kind], values);
  return rows.map((row) => ({ ...row, occurredAt: isoInstant(row.occurredAt) }));
}

/** A campaign's current send with its counters. */
export interface CountedSend extends SendKey {
  status: string;
  /** Whether it has ended, cleanup included. */
  closed: boolean;
  total: number;
  sent: number;
  skipped: number;
  failed: number;
  bounced: number;
  complained: number;
}

const counted = statement(
  'campaigns.counted_send',
  `select c.project_id as "projectId", c.id as "campaignId", c.send_seq as "sendSeq", c.status,
     coalesce(s.closed, false) as closed, c.total_recipients as total, c.sent_count as sent, c.skipped_count as skipped,
     c.failed_count as failed, c.bounced_count as bounced, c.complained_count as complained
   from campaigns c left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
   where c.project_id = $1 and c.id = $2`,
);

/** The current send of a campaign of the project, or null. */
export function countedSend(sql: Sql, projectId: string, id: string): Promise<CountedSend | null> {
  return sql.row<CountedSend>(counted, [projectId, id]);
}

/** How many recipients have a verdict by the counters; null where no counter tells. */
export function countedOf(send: CountedSend, verdict: LedgerVerdict | null): number | null {
  // Of a campaign that has not begun it is an estimate of its audience, which has no rows yet.
  if (verdict === null) return send.status === 'DRAFT' || send.status === 'SCHEDULED' ? 0 : send.total;
  if (verdict === 'handed_over') return send.sent;
  if (verdict === 'skipped') return send.skipped;
  return verdict === 'failed' ? send.failed : null;
}
