import type { Readable } from 'node:stream';
import { AppError, badRequest } from '../../lib/errors.ts';
import { clampLimit, decodeId, decodeInstantAndId, encodeCursor, pageOf } from '../../lib/pages.ts';
import { streamOf } from '../../lib/text.ts';
import type { Database } from '../../store/sql.ts';
import {
  type CountedSend,
  countedOf,
  countedSend,
  ledgerFile,
  ledgerPage,
  ledgerPlace,
  reportedPage,
} from './recipients-queries.ts';
import type { LedgerRecipient, ListRecipients, ReportedRecipient } from './schema.ts';
import { type Deed, deeds, type LedgerVerdict, verdicts } from './verdicts.ts';

/** A page of recipients as the interface answers it. */
export interface ListedRecipients {
  success: true;
  data: LedgerRecipient[] | ReportedRecipient[];
  cursor?: string;
  hasMore: boolean;
  total: number | null;
}

/** Rows that one request looks through at most, however few of them have the verdict that is asked for. */
const mostSeen = 20_000;

/**
 * The recipients of a campaign's current send: with `type` those whose mail bounced or was complained about, newest first;
 * otherwise the ledger, in the order of contact ids, of one `verdict` or of all, and of those who `did` something. A page may
 * hold fewer than `limit` rows although there is more: `hasMore` and `cursor` say so.
 * @throws 404, 400 for a verdict or deed that there is none of or a cursor of another list
 */
export async function listRecipients(
  db: Database,
  projectId: string,
  id: string,
  query: ListRecipients,
): Promise<ListedRecipients> {
  const send = await countedSend(db, projectId, id);
  const limit = clampLimit(query.limit, 50, 100);
  const deed = readDeed(query);
  if (query.type !== undefined) return reportedRecipients(db, send, query, limit);
  const verdict = readVerdict(query.verdict);
  const data: LedgerRecipient[] = [];
  let after = query.cursor === undefined ? null : decodeId(query.cursor);
  const through = deed === null ? null : await ledgerPlace(db, send, after, mostSeen);
  for (let seen = 0; ; ) {
    // Where few rows have the verdict, larger steps find them.
    const step = verdict === null ? limit + 1 : 2000;
    const rows = await ledgerPage(db, send, { after, through, deed }, step);
    seen += rows.length;
    for (const row of rows) {
      if (verdict !== null && row.verdict !== verdict) continue;
      if (data.length === limit) return answer(data, data.at(-1)?.contactId ?? null);
      data.push(row);
    }
    if (rows.length < step) return answer(data, through);
    after = rows.at(-1)?.contactId ?? null;
    if (seen >= mostSeen) return answer(data, after);
  }

  function answer(found: LedgerRecipient[], next: string | null): ListedRecipients {
    return {
      success: true,
      data: found,
      ...(next === null ? {} : { cursor: encodeCursor([next]) }),
      hasMore: next !== null,
      total: countedOf(send, verdict, deed),
    };
  }
}

/**
 * The ledger as a stream of CSV, of one verdict or of all, and of those who did something.
 * @throws 404, 400 for a verdict or deed that there is none of and for `type`, whose lists are no files
 */
export async function recipientsCsv(
  db: Database,
  projectId: string,
  id: string,
  query: ListRecipients,
): Promise<Readable> {
  const send = await countedSend(db, projectId, id);
  if (query.type !== undefined) throw badRequest('"type" has no CSV form: leave it out for the whole ledger');
  return streamOf(ledgerFile(db, send, readVerdict(query.verdict), readDeed(query)));
}

async function reportedRecipients(
  db: Database,
  send: CountedSend,
  { type, cursor }: ListRecipients,
  limit: number,
): Promise<ListedRecipients> {
  const kind = type === 'complained' ? 'complained' : 'bounced';
  const rows = await reportedPage(db, kind, send, placeOf(cursor), limit + 1);
  const { page, cursor: next } = pageOf(rows, limit, (last) => [last.occurredAt, last.emailId]);
  return {
    success: true,
    data: page,
    ...(next === null ? {} : { cursor: next }),
    hasMore: next !== null,
    total: send[kind],
  };
}

function readVerdict(text: string | undefined): LedgerVerdict | null {
  if (text === undefined || text === '' || text === 'all') return null;
  const verdict = verdicts.find((known) => known === text.toLowerCase());
  if (verdict === undefined) throw badRequest(`"verdict" must be one of ${verdicts.join(', ')}, or all`);
  return verdict;
}

function readDeed({ did, link, type }: ListRecipients): Deed | null {
  const named = link || null;
  if (named !== null && did !== 'clicked') throw badRequest('"link" applies to "did=clicked" only', { field: 'link' });
  if (!did) return null;
  const known = deeds.find((each) => each === did);
  if (known === undefined) throw badRequest(`"did" must be one of ${deeds.join(', ')}`, { field: 'did' });
  if (type !== undefined) throw badRequest('"did" cannot be combined with "type"', { field: 'did' });
  return { did: known, link: named };
}

// A cursor that this list did not issue is its first page (docs/contract/campaigns-and-workflows.md#2-5).
function placeOf(cursor: string | undefined): [string, string] | null {
  if (cursor === undefined) return null;
  try {
    return decodeInstantAndId(cursor);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
