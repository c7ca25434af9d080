import { createHash } from 'node:crypto';
import { type Options, stringify } from 'csv-stringify/sync';
import type { Database } from '../../core/database/sql.ts';
import type { SendKey } from './ledger.ts';
import { ledgerPage } from './recipients-queries.ts';
import type { LedgerVerdict } from './verdicts.ts';

const columns = ['emailId', 'contactId', 'email', 'verdict', 'reason', 'messageId', 'sentAt'] as const;
// RFC 4180; a cell that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, CSV injection).
const format: Options = { record_delimiter: 'windows', escape_formulas: true };
const rowsPerPage = 5000;

/**
 * The ledger of a send as CSV, in the order of contact ids, a page of rows at a time: header line, CRLF, UTF-8. Nothing in
 * it changes once every row has its verdict, whatever recipients do later. `verdict` leaves out all other rows.
 */
export async function* ledgerFile(
  db: Database,
  send: Pick<SendKey, 'campaignId' | 'sendSeq'>,
  verdict: LedgerVerdict | null = null,
): AsyncGenerator<string> {
  yield stringify([[...columns]], format);
  for (let after: string | null = null; ; ) {
    const rows = await ledgerPage(db, send, after, rowsPerPage);
    const lines = rows
      .filter((row) => verdict === null || row.verdict === verdict)
      .map((row) => columns.map((name) => row[name]));
    if (lines.length > 0) yield stringify(lines, format);
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1)?.contactId ?? null;
  }
}

/** SHA-256 of the whole ledger's CSV, in hex: whoever has the file can compute it again. */
export async function ledgerHash(db: Database, send: Pick<SendKey, 'campaignId' | 'sendSeq'>): Promise<string> {
  const hash = createHash('sha256');
  for await (const text of ledgerFile(db, send)) hash.update(text);
  return hash.digest('hex');
}
