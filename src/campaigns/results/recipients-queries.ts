import { createHash } from 'node:crypto';
import { type CampaignStatus, editableStatuses } from '../../lib/enums.ts';
import { notFound } from '../../lib/errors.ts';
import { greatestId, leastId } from '../../lib/ids.ts';
import { csvFile } from '../../lib/text.ts';
import { versionSql } from '../../mail/ledger/reasons.ts';
import { isoInstant, isoInstantOrNull } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import type { SendKey } from '../delivery/ledger.ts';
import type { LedgerRecipient, ReportedRecipient } from './schema.ts';
import { type Deed, type Ledger, type LedgerVerdict, ledgerRows, reasonSql, verdictSql } from './verdicts.ts';

/** Which rows of a ledger a page has: those between two contacts (null: from the first, to the last), of all or of those who did something. */
export interface LedgerPart {
  after: string | null;
  through?: string | null;
  deed?: Deed | null;
}

/** The next rows of a part of a send's ledger, in the order of contact ids. */
export async function ledgerPage(
  db: Database,
  send: Ledger,
  { after, through = null, deed = null }: LedgerPart,
  limit: number,
): Promise<LedgerRecipient[]> {
  const { from, where, at } = ledgerRows(send, deed);
  // The verdict is worked out for the rows of a page only, found by the index of the send.
  const rows = await db.rows<LedgerRecipient>(sql`
    with page as materialized (
      select e.id, e.contact_id, e.campaign_id, e.send_seq, e.to_address, e.status, e.reason, e.suppression, e.message_id,
        e.sent_at, e.held_until, e.content_version, ${at} as at
      from ${from}
      where e.campaign_id = ${send.campaignId}::uuid and e.send_seq = ${send.sendSeq}::int and e.contact_id > ${after ?? leastId}::uuid
        and e.contact_id <= ${through ?? greatestId}::uuid and ${where}
      order by e.campaign_id, e.send_seq, e.contact_id limit ${limit}::int)
    select p.id as "emailId", p.contact_id as "contactId", p.to_address as email, ${raw(verdictSql('p'))} as verdict,
      ${raw(reasonSql('p'))} as reason, p.message_id as "messageId", p.sent_at::text as "sentAt", ${raw(versionSql('p'))} as version,
      p.at::text as "occurredAt", (case when p.status = 'PENDING' and p.held_until > now() then p.held_until end)::text as "heldUntil"
    from page p order by p.contact_id`);
  return rows.map((row) => ({
    ...row,
    sentAt: isoInstantOrNull(row.sentAt),
    heldUntil: isoInstantOrNull(row.heldUntil),
    occurredAt: isoInstant(row.occurredAt),
  }));
}

/** The contact of the last of the next `rows` rows of a send's ledger; null when fewer are left. Reads the index of the send alone. */
export async function ledgerPlace(
  db: Database,
  { campaignId, sendSeq }: Ledger,
  after: string | null,
  rows: number,
): Promise<string | null> {
  const place = await db.row<{ id: string }>(sql`
    select e.contact_id as id from emails e
    where e.campaign_id = ${campaignId}::uuid and e.send_seq = ${sendSeq}::int and e.contact_id > ${after ?? leastId}::uuid
    order by e.campaign_id, e.send_seq, e.contact_id offset ${rows - 1}::int limit 1`);
  return place?.id ?? null;
}

/** Recipients whose message bounced or was complained about, newest first, after a place. */
export async function reportedPage(
  db: Database,
  kind: 'bounced' | 'complained',
  { projectId, campaignId, sendSeq }: SendKey,
  after: readonly [string, string] | null,
  limit: number,
): Promise<ReportedRecipient[]> {
  const at = raw(`e.${kind}_at`);
  const [before, id] = after ?? ['infinity', leastId];
  const rows = await db.rows<ReportedRecipient>(sql`
    select e.id as "emailId", e.contact_id as "contactId", e.to_address as email, ${at}::text as "occurredAt"
    from emails e
    where e.project_id = ${projectId}::uuid and e.campaign_id = ${campaignId}::uuid and e.send_seq = ${sendSeq}::int
      and ${at} is not null and (${at}, e.id) < (${before}::timestamptz, ${id}::uuid)
    order by ${at} desc, e.id desc limit ${limit}::int`);
  return rows.map((row) => ({ ...row, occurredAt: isoInstant(row.occurredAt) }));
}

/** A campaign's current send with its counters. */
export interface CountedSend extends SendKey {
  status: CampaignStatus;
  /** Whether it has ended, cleanup included. */
  closed: boolean;
  total: number;
  sent: number;
  skipped: number;
  failed: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

/** The current send of a campaign of the project. @throws 404 CAMPAIGN_NOT_FOUND */
export async function countedSend(db: Database, projectId: string, id: string): Promise<CountedSend> {
  const send = await db.row<CountedSend>(sql`
    select c.project_id as "projectId", c.id as "campaignId", c.send_seq as "sendSeq", c.status,
      coalesce(s.closed, false) as closed, c.total_recipients as total, c.sent_count as sent, c.skipped_count as skipped,
      c.failed_count as failed, c.delivered_count as delivered, c.opened_count as opened, c.clicked_count as clicked,
      c.bounced_count as bounced, c.complained_count as complained, c.unsubscribed_count as unsubscribed
    from campaigns c left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.project_id = ${projectId} and c.id = ${id}`);
  if (send === null) throw notFound('campaign', id);
  return send;
}

/** How many recipients have a verdict, or did something, by the counters; null where no counter tells. */
export function countedOf(send: CountedSend, verdict: LedgerVerdict | null, deed: Deed | null): number | null {
  if (deed !== null) {
    // Of those who did not, no counter says how many bounced or clicked without an open.
    const { did, link } = deed;
    const isCounted = did !== 'not_opened' && did !== 'not_clicked' && link === null && verdict === null;
    return isCounted ? send[did] : null;
  }
  // Of a campaign that has not begun it is an estimate of its audience, which has no rows yet.
  if (verdict === null) return editableStatuses.has(send.status) ? 0 : send.total;
  if (verdict === 'handed_over') return send.sent;
  if (verdict === 'skipped') return send.skipped;
  return verdict === 'failed' ? send.failed : null;
}

const columns = ['emailId', 'contactId', 'email', 'verdict', 'reason', 'messageId', 'sentAt', 'version'] as const;
/** Which columns the file has: 2 since it ends with the version of the content. Whoever kept a hash needs it to compare. */
export const ledgerFormat = 2;
const rowsPerPage = 5000;

/**
 * The ledger of a send as CSV, in the order of contact ids, a page of rows at a time: header line, CRLF, UTF-8. Nothing in
 * it changes once every row has its verdict, whatever recipients do later. `verdict` and `deed` leave out all other rows.
 */
export function ledgerFile(
  db: Database,
  send: Ledger,
  verdict: LedgerVerdict | null = null,
  deed: Deed | null = null,
): AsyncGenerator<string> {
  return csvFile(columns, ledgerPages(db, send, verdict, deed));
}

async function* ledgerPages(
  db: Database,
  send: Ledger,
  verdict: LedgerVerdict | null,
  deed: Deed | null,
): AsyncGenerator<unknown[][]> {
  for (let after: string | null = null; ; ) {
    const rows = await ledgerPage(db, send, { after, deed }, rowsPerPage);
    const wanted = rows.filter((row) => verdict === null || row.verdict === verdict);
    yield wanted.map((row) => columns.map((name) => row[name]));
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1)?.contactId ?? null;
  }
}

/** SHA-256 of the whole ledger's CSV, in hex: whoever has the file can compute it again. */
export async function ledgerHash(db: Database, send: Ledger): Promise<string> {
  const hash = createHash('sha256');
  for await (const text of ledgerFile(db, send)) hash.update(text);
  return hash.digest('hex');
}
