import { CsvError, parse } from 'csv-parse';
import { type Database, sql } from '../store/sql.ts';

/** Bytes of one stored part of a file. */
export const partBytes = 256 * 1024;

/** Stores one part of a job's file. All parts but the last have `partBytes` bytes. */
export async function storePart(db: Database, jobId: string, part: number, bytes: Buffer): Promise<void> {
  await db.count(sql`insert into import_files (job_id, part, bytes) values (${jobId}, ${part}, ${bytes})`);
}

/** Removes the file of a job that was not created. */
export async function removeFile(db: Database, jobId: string): Promise<void> {
  await db.count(sql`delete from import_files where job_id = ${jobId}`);
}

/** The file of a job from a byte on, a part at a time. */
export async function* readFileFrom(db: Database, jobId: string, offset: number): AsyncGenerator<Buffer> {
  let skip = offset % partBytes;
  for (let part = Math.floor(offset / partBytes); ; part++) {
    const row = await db.row<{ bytes: Buffer }>(
      sql`select bytes from import_files where job_id = ${jobId} and part = ${part}`,
    );
    if (row === null) return;
    if (row.bytes.length > skip) yield row.bytes.subarray(skip);
    skip = 0;
  }
}

/** Removes up to `limit` parts of files whose upload was cut off more than an hour ago. */
export function removeLostParts(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from import_files where (job_id, part) in (
      select f.job_id, f.part from import_files f
      where f.created_at < now() - interval '1 hour'
        and not exists (select from jobs j where j.id = f.job_id and j.finished_at is null) limit ${limit})`);
}

/** A place in a file: the byte at which a record begins, and its line (the first line is 1). */
export interface CsvPlace {
  offset: number;
  line: number;
}

/** One record: its cells as they stand in the file, the line on which it begins, and where the next one does. */
export interface CsvRecord {
  cells: string[];
  line: number;
  next: CsvPlace;
}

/** Records that were complete after a piece of the file. */
interface CsvBatch {
  records: CsvRecord[];
  /** Set on the last batch when the file ends inside quotes: the line of the record that was never closed. */
  unclosedFrom: number | null;
}

const firstBiteBytes = 4 * 1024;
const largestBiteBytes = 32 * 1024;

/** The first record is longer than a caller wants to read. */
export class RecordTooLong extends Error {}

/**
 * Reads comma-separated records (RFC 4180) from pieces of a UTF-8 file, from a place where a record begins. CRLF, LF and
 * CR end a record, line breaks inside quotes belong to it; a quote inside a cell that did not begin with one is text.
 * Lines without any character are left out. Holds one piece and one record at a time, however large the file is.
 * @throws RecordTooLong once the first record is known to have more than `longestFirst` bytes
 */
export async function* readCsv(
  pieces: AsyncIterable<Buffer>,
  from: CsvPlace,
  longestFirst = Number.POSITIVE_INFINITY,
): AsyncGenerator<CsvBatch> {
  const parser = parse({
    info: true,
    bom: false,
    delimiter: ',',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    ltrim: true,
    skip_empty_lines: false,
  });
  let failure: Error | null = null;
  parser.on('error', (error) => {
    failure = error;
  });
  const lines = lineCounter(from);
  let end = from.offset;
  let isFirst = true;
  for await (const piece of inBites(pieces)) {
    lines.add(piece);
    end += piece.length;
    const written = new Promise<void>((resolve) => parser.write(piece, () => resolve()));
    // The parser takes nothing more until its records are read.
    const records = drain();
    await written;
    isFirst &&= records.length === 0;
    if (isFirst && end - lines.place().offset > longestFirst) throw new RecordTooLong();
    yield { records, unclosedFrom: null };
  }
  const finished = new Promise<void>((resolve) => parser.end(() => resolve()).once('error', () => resolve()));
  const records = drain();
  await finished;
  records.push(...drain());
  if (failure !== null && !isUnclosedQuote(failure)) throw failure;
  yield { records, unclosedFrom: failure === null ? null : lines.place().line };

  function drain(): CsvRecord[] {
    const records: CsvRecord[] = [];
    for (;;) {
      const read = parser.read() as { info: { bytes: number }; record: string[] } | null;
      if (read === null) return records;
      const { line } = lines.place();
      lines.advance(from.offset + read.info.bytes);
      const { record: cells } = read;
      if (cells.length > 1 || cells[0]?.trim() !== '')
        records.push({ cells: cells.map(withoutStrayQuotes), line, next: lines.place() });
    }
  }
}

// Parsing keeps the event loop from everybody else, so it is done in bites. The first are small: where only the first record is wanted,
// what is behind it need not be parsed.
async function* inBites(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = firstBiteBytes;
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      yield piece.subarray(at, at + size);
      at += size;
      size = Math.min(2 * size, largestBiteBytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
}

function isUnclosedQuote(error: Error): boolean {
  return error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED';
}

// Blanks behind a closing quote are no part of the cell, but csv-parse takes such quotes for text.
function withoutStrayQuotes(cell: string): string {
  return cell.charCodeAt(0) === 0x22 ? (/^"([^"]*)"[ \t]+$/.exec(cell)?.[1] ?? cell) : cell;
}

// csv-parse counts a CRLF inside quotes as two lines, so its own count cannot be shown to users.
function lineCounter(from: CsvPlace) {
  const place = { ...from };
  let held: Buffer = Buffer.alloc(0);
  let heldFrom = from.offset;
  return {
    place: (): CsvPlace => ({ ...place }),
    add(piece: Buffer) {
      held = Buffer.concat([held.subarray(place.offset - heldFrom), piece]);
      heldFrom = place.offset;
    },
    advance(offset: number) {
      const end = offset - heldFrom;
      for (let at = place.offset - heldFrom; at < end; at++) {
        const byte = held[at];
        if (byte === 0x0a || (byte === 0x0d && held[at + 1] !== 0x0a)) place.line++;
      }
      place.offset = offset;
    },
  };
}
