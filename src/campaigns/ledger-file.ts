import { createHash } from 'node:crypto';
import type { Sql } from '../db/sql.ts';
import { csvLine } from '../lib/csv-lines.ts';
import type { SendKey } from './ledger.ts';
import { ledgerPage } from './recipients-queries.ts';
import type { LedgerVerdict } from './verdicts.ts';

const header = csvLine(['emailId', 'contactId', 'email', 'verdict', 'reason', 'messageId', 'sentAt']);
const rowsPerPage = 5000;

/**
 * The ledger of a send as CSV, in the order of contact ids, a page of rows at a time: header line, CRLF, UTF-8. Nothing in
 * it changes once every row has its verdict, whatever recipients do later. `verdict` leaves out all other rows.
 */
export async function* ledgerFile(
  sql: Sql,
  send: Pick<SendKey, 'campaignId' | 'sendSeq'>,
  verdict: LedgerVerdict | null = null,
): AsyncGenerator<string> {
  yield header;
  for (let after: string | null = null; ; ) {
    const rows = await ledgerPage(sql, send, after, rowsPerPage);
    const lines = rows
      .filter((row) => verdict === null || row.verdict === verdict)
      .map((row) =>
        csvLine([row.emailId, row.contactId, row.email, row.verdict, row.reason, row.messageId, row.sentAt]),
      );
    if (lines.length > 0) yield lines.join('');
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1)?.contactId ?? null;
  }
}

/** SHA-256 of the whole ledger's CSV, in hex: whoever has the file can compute it again. */
export async function ledgerHash(sql: Sql, send: Pick<SendKey, 'campaignId' | 'sendSeq'>): Promise<string> {
  const hash = createHash('sha256');
  for await (const text of ledgerFile(sql, send)) hash.update(text);
  return hash.digest('hex');
}
