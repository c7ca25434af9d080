import type { Database, Sql } from '../../core/database/sql.ts';
import { ContactDataError } from '../contacts/index.ts';
import type { CsvPlace } from './csv.ts';
import { checkFile, openFile, readSlices, type Slice } from './import-file.ts';
import { excessiveRows, upsertContacts } from './import-queries.ts';
import { type ImportColumns, isRefused, type PlacedRow, type RefusedRow, readRow } from './import-rows.ts';
import { advanceJob, findJob, finishJob, type JobErrorRow, type JobRow, lockJobAt, markActive } from './queries.ts';
import { goneReport, type Share, type ShareReport, shareReportOf, superseded } from './share.ts';

const rowsPerSlice = 1_000;

/**
 * Imports rows of a job's file from where the job stands: slices of 1,000, each written with its counts, its errors and
 * the place of the next one in a single transaction, so that no row is ever counted twice. While Postgres writes one
 * slice, the next one is read.
 */
export async function importRows(db: Database, jobId: string, share: Share): Promise<ShareReport> {
  const deadline = Date.now() + share.longestMs;
  const job = await findJob(db, jobId);
  if (job === null) return goneReport;
  if (!(await markActive(db, jobId))) return shareReportOf(job, 'finished');
  const opened = await open(db, job);
  if (typeof opened === 'string') {
    await finishJob(db, jobId, opened);
    return shareReportOf(job, 'finished');
  }
  const { columns, from, size } = opened;
  let position = job.position;
  let report = shareReportOf(job, 'unfinished');
  let writing: Promise<ShareReport> | null = null;
  try {
    for await (const slice of readSlices(db, jobId, from, rowsPerSlice)) {
      const prepared = prepare(columns, slice);
      if (writing !== null) {
        report = await writing;
        writing = null;
        share.onStep(report);
        if (report.state !== 'unfinished' || share.stop.aborted || Date.now() > deadline) return report;
      }
      // A record that is never closed reaches to the end of the file.
      const next = slice.unclosedFrom === null ? slice.next : { ...slice.next, offset: size };
      writing = writeSlice(db, job, position, next, prepared, size);
      position = String(next.offset);
    }
    if (writing !== null) report = await writing;
    writing = null;
  } finally {
    // Whatever ended the reading, a transaction that is under way is not left behind.
    await writing?.catch(() => undefined);
  }
  if (report.state !== 'unfinished') return report;
  await finishJob(db, jobId, null);
  return { ...report, state: 'finished' };
}

interface Opened {
  columns: ImportColumns;
  from: CsvPlace;
  size: number;
}

async function open(db: Database, job: JobRow): Promise<Opened | string> {
  if (job.position !== '0') {
    const opened = await openFile(db, job.id);
    if (typeof opened === 'string') return opened;
    const { line, size } = job.place as { line: number; size: number };
    return { columns: opened.columns, from: { offset: Number(job.position), line }, size };
  }
  const checked = await checkFile(db, job.id);
  return typeof checked === 'string'
    ? checked
    : { columns: checked.columns, from: checked.firstRow, size: checked.size };
}

interface Prepared {
  /** Rows in waves: an address that is repeated stands in a later wave, because it must find what it wrote before. */
  waves: PlacedRow[][];
  refused: RefusedRow[];
}

function prepare(columns: ImportColumns, slice: Slice): Prepared {
  const waves: PlacedRow[][] = [];
  const refused: RefusedRow[] = [];
  const seen = new Map<string, number>();
  for (const record of slice.records) {
    const read = readRow(columns, record);
    if (isRefused(read)) {
      refused.push(read);
      continue;
    }
    const row = { ...read, row: record.line };
    const wave = seen.get(row.email) ?? 0;
    seen.set(row.email, wave + 1);
    const rows = waves[wave];
    if (rows) rows.push(row);
    else waves[wave] = [row];
  }
  if (slice.unclosedFrom !== null)
    refused.push({ row: slice.unclosedFrom, email: null, error: 'A cell in quotes is never closed' });
  return { waves, refused };
}

function writeSlice(
  db: Database,
  { id, projectId }: JobRow,
  position: string,
  next: CsvPlace,
  { waves, refused }: Prepared,
  size: number,
): Promise<ShareReport> {
  return db.transaction(async (sql) => {
    const job = await lockJobAt(sql, id, position);
    if (job === null) return superseded(sql, id);
    let [created, updated, written] = [0, 0, 0];
    const failed = [...refused];
    for (const wave of waves) {
      const counts = await writeWave(sql, projectId, wave);
      created += counts.created;
      updated += counts.updated;
      written += wave.length - counts.refused.length;
      failed.push(...counts.refused);
    }
    const rows = written + failed.length;
    const progress = Math.min(99, Math.floor((100 * next.offset) / size));
    await advanceJob(sql, job, {
      position: String(next.offset),
      place: { line: next.line, size },
      progress,
      rows,
      created,
      updated,
      unchanged: written - created - updated,
      errors: failed.map((row): JobErrorRow => ({ ...row, subject: null })),
    });
    return {
      state: 'unfinished',
      rows: job.total + rows,
      failed: job.failed + failed.length,
      progress: Math.max(job.progress, progress),
    };
  });
}

interface WrittenWave {
  created: number;
  updated: number;
  refused: RefusedRow[];
}

// Contacts over a limit are rare, so that they are looked for only when the statement was refused because of one.
async function writeWave(sql: Sql, projectId: string, wave: readonly PlacedRow[]): Promise<WrittenWave> {
  const refused: RefusedRow[] = [];
  let rows = wave;
  for (let attempt = 1; ; attempt++) {
    await sql.count('savepoint wave');
    try {
      return { ...(await upsertContacts(sql, projectId, rows)), refused };
    } catch (error) {
      if (!(error instanceof ContactDataError) || attempt === 5) throw error;
      await sql.count('rollback to savepoint wave');
      const found = await excessiveRows(sql, projectId, rows);
      // Where none is found, another transaction changed what a contact had a moment ago.
      const left = new Set(found.map(({ row }) => row));
      rows = rows.filter(({ row }) => !left.has(row));
      refused.push(...found);
    }
  }
}
