import { listFields } from '../contacts/fields-service.ts';
import { longestKey } from '../lib/contact-data.ts';
import { cutText } from '../lib/text.ts';
import type { Database } from '../store/sql.ts';
import { type CsvPlace, type CsvRecord, RecordTooLong, readCsv, readFileFrom } from './csv.ts';
import { type ImportMapping, keyOf, matchColumns, nameOf } from './import-mapping.ts';
import { type ImportColumns, readHeader } from './import-rows.ts';
import type { ImportOptions } from './schema.ts';

/** A file whose header was read: what its columns are for and where its first data row begins. */
export interface OpenedFile {
  columns: ImportColumns;
  firstRow: CsvPlace;
  /** Length of the file in bytes; known when the whole of it was checked. */
  size: number;
}

/** Rows that are written together. */
export interface Slice {
  records: CsvRecord[];
  next: CsvPlace;
  /** The line of a record whose quotes are never closed; only on the last slice. */
  unclosedFrom: number | null;
}

const longestHeader = 256 * 1024;
const headerTooLong = `The header is longer than ${longestHeader / 1024} kB`;
// A contact has at most 1,000 fields; some columns may be skipped.
const mostColumns = 2_000;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Checks a whole file before its first row is written. Returns what is wrong with it as a sentence for users. */
export async function checkFile(db: Database, jobId: string, mapping?: ImportMapping): Promise<OpenedFile | string> {
  const opened = await openFile(db, jobId, mapping);
  // Nothing else needs to be read of such a file.
  if (opened === headerTooLong) return opened;
  const size = await sizeOfUtf8(readFileFrom(db, jobId, 0));
  if (typeof size === 'string') return size;
  if (size === 0) return 'The file is empty';
  if (typeof opened === 'string') return opened;
  const rest = readFileFrom(db, jobId, opened.firstRow.offset);
  for await (const { records, unclosedFrom } of readCsv(rest, opened.firstRow))
    if (records.length > 0 || unclosedFrom !== null) return { ...opened, size };
  return 'The file has a header but no data row';
}

/**
 * The mapping with which a file is imported: with `matchFields` also of the columns that were not named, so that it stays the same
 * however often the job goes on, whatever fields contacts have by then. A file without a usable header is left to `openFile`.
 */
export async function mappingFor(
  db: Database,
  projectId: string,
  jobId: string,
  { mapping, matchFields }: Pick<ImportOptions, 'mapping' | 'matchFields'>,
): Promise<ImportMapping | undefined> {
  if (!matchFields) return mapping;
  const start = (await startsWithMark(db, jobId)) ? byteOrderMark.length : 0;
  const header = await headerFrom(readFileFrom(db, jobId, start), start);
  if (typeof header === 'string') return mapping;
  const columns = readHeader(header.cells, mapping)?.data.map(({ index }) => header.cells[index] ?? '') ?? [];
  const { fields } = await listFields(db, projectId);
  const keys = fields.flatMap(({ field, isCustom }) => (isCustom ? keyOf(field) : []));
  return matchColumns(columns, mapping ?? {}, keys);
}

/** Reads the header of a file. */
export async function openFile(
  db: Database,
  jobId: string,
  mapping: ImportMapping = {},
): Promise<Omit<OpenedFile, 'size'> | string> {
  const start = (await startsWithMark(db, jobId)) ? byteOrderMark.length : 0;
  const header = await headerFrom(readFileFrom(db, jobId, start), start);
  if (typeof header === 'string') return header;
  const known = new Set(header.cells.map(nameOf));
  const unknown = Object.keys(mapping).find((name) => !known.has(name));
  if (unknown !== undefined) return `The file has no column "${cutText(unknown, 50)}" that the mapping names`;
  const columns = readHeader(header.cells, mapping);
  const tooLong = columns?.data.find(({ key }) => key.length > longestKey);
  if (tooLong) return `The column ${tooLong.index + 1} has a name of more than ${longestKey} characters`;
  if (columns !== null) return { columns, firstRow: header.next };
  const names = header.cells.map((cell) => cutText(cell.trim(), 50).replaceAll('\0', '\ufffd'));
  return `The file has no column "email"; its columns are: ${names.slice(0, 20).join(', ')}`;
}

/** The first record that is not blank; what is wrong with it as a sentence for users. Reads no further than the longest header. */
async function headerFrom(pieces: AsyncIterable<Buffer>, start: number): Promise<CsvRecord | string> {
  try {
    for await (const { records } of readCsv(pieces, { offset: start, line: 1 }, longestHeader)) {
      const [header] = records;
      if (header === undefined) continue;
      const { length } = header.cells;
      return length > mostColumns ? `The header has ${length} columns; the most are ${mostColumns}` : header;
    }
    return 'The file has no header row';
  } catch (error) {
    if (!(error instanceof RecordTooLong)) throw error;
    return headerTooLong;
  }
}

/** The rows of a file from a place on, in slices of `size`. The last slice may be empty. */
export async function* readSlices(db: Database, jobId: string, from: CsvPlace, size: number): AsyncGenerator<Slice> {
  let held: CsvRecord[] = [];
  let next = from;
  let unclosedFrom: number | null = null;
  for await (const batch of readCsv(readFileFrom(db, jobId, from.offset), from)) {
    held.push(...batch.records);
    unclosedFrom = batch.unclosedFrom;
    while (held.length > size) {
      const records = held.slice(0, size);
      held = held.slice(size);
      next = records.at(-1)?.next ?? next;
      yield { records, next, unclosedFrom: null };
    }
  }
  yield { records: held, next: held.at(-1)?.next ?? next, unclosedFrom };
}

async function startsWithMark(db: Database, jobId: string): Promise<boolean> {
  for await (const piece of readFileFrom(db, jobId, 0)) return piece.subarray(0, 3).equals(byteOrderMark);
  return false;
}

async function sizeOfUtf8(pieces: AsyncIterable<Buffer>): Promise<number | string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let line = 1;
  try {
    for await (const piece of pieces) {
      decoder.decode(piece, { stream: true });
      size += piece.length;
      // Searching for each line break, or an iterator, takes many times as long where lines are short.
      for (let at = 0; at < piece.length; at++) if (piece[at] === 0x0a) line++;
    }
    decoder.decode();
    return size;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `The file is not UTF-8 text (after line ${line}): save it as "CSV UTF-8"`;
  }
}
