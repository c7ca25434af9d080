import type { Database } from '../../core/database/sql.ts';
import { longestKey } from '../../core/lib/contact-data.ts';
import { cutText } from '../../core/lib/text.ts';
import { type CsvPlace, type CsvRecord, readCsv } from './csv.ts';
import { readFileFrom } from './files-queries.ts';
import { type ImportMapping, nameOf } from './import-mapping.ts';
import { type ImportColumns, readHeader } from './import-rows.ts';

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

const biteBytes = 4_096;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Checks a whole file before its first row is written. Returns what is wrong with it as a sentence for users. */
export async function checkFile(db: Database, jobId: string, mapping?: ImportMapping): Promise<OpenedFile | string> {
  const size = await sizeOfUtf8(readFileFrom(db, jobId, 0));
  if (typeof size === 'string') return size;
  if (size === 0) return 'The file is empty';
  const opened = await openFile(db, jobId, mapping);
  if (typeof opened === 'string') return opened;
  const rest = inBites(readFileFrom(db, jobId, opened.firstRow.offset));
  for await (const { records, unclosedFrom } of readCsv(rest, opened.firstRow))
    if (records.length > 0 || unclosedFrom !== null) return { ...opened, size };
  return 'The file has a header but no data row';
}

/** Reads the header of a file. */
export async function openFile(
  db: Database,
  jobId: string,
  mapping: ImportMapping = {},
): Promise<Omit<OpenedFile, 'size'> | string> {
  const start = (await startsWithMark(db, jobId)) ? byteOrderMark.length : 0;
  const pieces = inBites(readFileFrom(db, jobId, start));
  for await (const { records } of readCsv(pieces, { offset: start, line: 1 })) {
    const [header] = records;
    if (!header) continue;
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
  return 'The file has no header row';
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

// Where only the first record is wanted, the thousands behind it need not be parsed.
async function* inBites(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; at += biteBytes) yield piece.subarray(at, at + biteBytes);
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
      for (let at = piece.indexOf('\n'); at !== -1; at = piece.indexOf('\n', at + 1)) line++;
    }
    decoder.decode();
    return size;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `The file is not UTF-8 text (after line ${line}): save it as "CSV UTF-8"`;
  }
}
