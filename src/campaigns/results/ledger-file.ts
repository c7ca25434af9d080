import { createHash } from 'node:crypto';
import { csvFile } from '../../lib/text.ts';
import type { Database } from '../../store/sql.ts';
import type { SendKey } from '../delivery/ledger.ts';
import { ledgerPage } from './recipients-queries.ts';
import type { LedgerVerdict } from './verdicts.ts';

const columns = ['emailId', 'contactId', 'email', 'verdict', 'reason', 'messageId', 'sentAt', 'version'] as const;
/** Which columns the file has: 2 since it ends with the version of the content. Whoever kept a hash needs it to compare. */
export const ledgerFormat = 2;
const rowsPerPage = 5000;

/**
 * The ledger of a send as CSV, in the order of contact ids, a page of rows at a time: header line, CRLF, UTF-8. Nothing in
 * it changes once every row has its verdict, whatever recipients do later. `verdict` leaves out all other rows.
 */
export function ledgerFile(
  db: Database,
  send: Pick<SendKey, 'campaignId' | 'sendSeq'>,
  verdict: LedgerVerdict | null = null,
): AsyncGenerator<string> {
  return csvFile(columns, ledgerPages(db, send, verdict));
}

async function* ledgerPages(
  db: Database,
  send: Pick<SendKey, 'campaignId' | 'sendSeq'>,
  verdict: LedgerVerdict | null,
): AsyncGenerator<unknown[][]> {
  for (let after: string | null = null; ; ) {
    const rows = await ledgerPage(db, send, after, rowsPerPage);
    const wanted = rows.filter((row) => verdict === null || row.verdict === verdict);
    yield wanted.map((row) => columns.map((name) => row[name]));
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
