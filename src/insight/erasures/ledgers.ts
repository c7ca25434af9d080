import { type Database, sql } from '../../core/database/sql.ts';
import { leastId } from '../../core/lib/ids.ts';
import { ledgerHash } from '../../sending/campaigns/index.ts';
import type { ChangedLedger } from './entity.ts';
import type { Subject } from './subject.ts';

const rowsPerScan = 20_000;

/** Sends of campaigns whose ledgers name the contact, on the next page of the project's mail; `last` is null at its end. */
export async function findLedgers(
  tx: Database,
  { projectId, contactId, addresses }: Subject,
  after: string | null,
): Promise<{ last: string | null; found: ChangedLedger[] }> {
  const rows = await tx.rows<{ last: string; campaignId: string | null; sendSeq: number }>(sql`
    with page as materialized (
      select id, campaign_id, send_seq, contact_id, to_address from emails
      where project_id = ${projectId} and id > ${after ?? leastId} order by id limit ${rowsPerScan}),
    last as (select id from page order by id desc limit 1),
    found as (
      select distinct campaign_id, send_seq from page
      where campaign_id is not null and (contact_id = ${contactId} or to_address = any (${addresses}::text[])))
    select last.id as last, f.campaign_id as "campaignId", f.send_seq as "sendSeq" from last left join found f on true`);
  const found = rows.flatMap(({ campaignId, sendSeq }) =>
    campaignId === null ? [] : [{ campaignId, sendSeq, hashBefore: null, hashAfter: null }],
  );
  return { last: rows[0]?.last ?? null, found };
}

/** The hash of a ledger as it is now; null for one that is not final, whose hash nobody has seen. */
export async function hashOfLedger(db: Database, ledger: ChangedLedger): Promise<string | null> {
  const final = await db.row(sql`
    select from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = ${ledger.campaignId} and c.send_seq = ${ledger.sendSeq} and s.closed and c.status in ('SENT', 'CANCELLED')`);
  return final === null ? null : ledgerHash(db, ledger);
}
