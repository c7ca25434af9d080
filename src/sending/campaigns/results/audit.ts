import { type Database, raw, sql } from '../../../core/database/sql.ts';
import { ledgerFormat, ledgerHash } from './ledger-file.ts';
import { countedSend } from './recipients-queries.ts';
import type { CampaignAudit } from './schema.ts';
import { type LedgerVerdict, reasonSql, verdictSql } from './verdicts.ts';

const mostReasons = 10;

/**
 * The ledger of a campaign's current send, added up. While it is under way the counters may trail the rows; once every row
 * has its verdict they must agree, except for rows that went with contacts who were deleted later.
 * @throws 404 CAMPAIGN_NOT_FOUND
 */
export async function auditCampaign(db: Database, projectId: string, id: string): Promise<CampaignAudit> {
  const send = await countedSend(db, projectId, id);
  // Counted from the rows, not from counters: this is what the counters are held against. A provider names the recipient in
  // many of its refusals; without the address those of one kind are counted together.
  const rows = await db.rows<{ verdict: LedgerVerdict; reason: string | null; count: number }>(sql`
    select ${raw(verdictSql('e'))} as verdict, replace(${raw(reasonSql('e'))}, e.to_address, '…') as reason, count(*)::int as count
    from emails e where e.campaign_id = ${id}::uuid and e.send_seq = ${send.sendSeq}::int
    group by 1, 2 order by count desc, reason`);
  const of = (verdict: LedgerVerdict) => rows.reduce((sum, row) => sum + (row.verdict === verdict ? row.count : 0), 0);
  const counts = {
    recipients: rows.reduce((sum, { count }) => sum + count, 0),
    handedOver: of('handed_over'),
    skipped: of('skipped'),
    failed: of('failed'),
    unknown: of('unknown'),
    pending: of('pending'),
  };
  // Before that rows may still be added, or go: a cancelled campaign is cleaned up first.
  const isOver = send.closed && (send.status === 'SENT' || send.status === 'CANCELLED');
  const isFinal = isOver && counts.unknown === 0 && counts.pending === 0;
  const counted = send.sent + send.skipped + send.failed;
  // A report can prove later that a message which was given up did leave; then the row says so, and the counters as well.
  const agrees =
    counts.handedOver <= send.sent &&
    counts.skipped <= send.skipped &&
    counts.failed <= send.failed &&
    counted === send.total;
  return {
    ...counts,
    removed: isOver ? Math.max(0, send.total - counts.recipients) : 0,
    addsUp: isFinal && agrees,
    hash: isFinal ? await ledgerHash(db, send) : null,
    hashFormat: ledgerFormat,
    reasons: rows.flatMap(({ reason, count }) => (reason === null ? [] : [{ reason, count }])).slice(0, mostReasons),
  };
}
