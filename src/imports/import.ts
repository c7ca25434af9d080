import { erasedAmong, findErasureKey } from '../contacts/erased.ts';
import { ContactDataError } from '../contacts/limits.ts';
import { lockSegment } from '../segments/definition.ts';
import { enterMembers } from '../segments/members.ts';
import type { LockedSegment } from '../segments/queries.ts';
import { type Database, withSavepoint } from '../store/sql.ts';
import { goneReport, progressOf, type Share, type ShareReport, shareReportOf, superseded } from './bulk.ts';
import type { CsvPlace } from './csv.ts';
import { checkFile, openFile, readSlices, type Slice } from './import-file.ts';
import type { ImportMapping } from './import-mapping.ts';
import {
  excessiveRows,
  type ImportColumns,
  isRefused,
  type PlacedRow,
  type RefusedRow,
  readRow,
  type Subscribing,
  subscribingOf,
  upsertContacts,
} from './import-rows.ts';
import { advanceJob, findJob, finishJob, type JobRow, lockJobAt, markActive } from './queries.ts';
import type { ImportOptions } from './schema.ts';

const rowsPerSlice = 1_000;

/**
 * Imports rows of a job's file from the position of the job on: slices of 1,000, each written with its counts, its errors and
 * the place of the next one in a single transaction, so that no row is ever counted twice. While Postgres writes one
 * slice, the next one is read. Addresses that were erased are refused; `encryptionKeys` find them.
 */
export async function importRows(
  db: Database,
  jobId: string,
  share: Share,
  encryptionKeys: readonly string[],
): Promise<ShareReport> {
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
  const subscribing = subscribingOf(job.spec as Partial<ImportOptions>, columns);
  let position = job.position;
  let report = shareReportOf(job, 'unfinished');
  let writing: Promise<ShareReport> | null = null;
  try {
    for await (const slice of readSlices(db, jobId, from, rowsPerSlice)) {
      const prepared = wavesOf(columns, slice);
      if (writing !== null) {
        report = await writing;
        writing = null;
        share.onStep(report);
        if (report.state !== 'unfinished' || share.stop.aborted || Date.now() > deadline) return report;
      }
      // A record that is never closed reaches to the end of the file.
      const next = slice.unclosedFrom === null ? slice.next : { ...slice.next, offset: size };
      writing = writeSlice(db, encryptionKeys, job, position, next, prepared, size, subscribing);
      position = String(next.offset);
    }
    if (writing !== null) report = await writing;
    writing = null;
  } catch (error) {
    if (!(error instanceof SegmentGone)) throw error;
    await finishJob(db, jobId, 'The segment of the import was deleted while it ran');
    return { ...report, state: 'finished' };
  } finally {
    // However the reading ended, an open transaction is waited for.
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
  const { mapping } = job.spec as { mapping?: ImportMapping };
  if (job.position === '0') {
    const checked = await checkFile(db, job.id, mapping);
    return typeof checked === 'string' ? checked : { ...checked, from: checked.firstRow };
  }
  const opened = await openFile(db, job.id, mapping);
  const { line, size } = job.place as { line: number; size: number };
  if (typeof opened === 'string') return opened;
  return { columns: opened.columns, from: { offset: Number(job.position), line }, size };
}

/** Rows of a file as they are written. */
export interface Prepared {
  /** Rows in waves: a repeated address is in a later wave, because it must find what the earlier one wrote. */
  waves: PlacedRow[][];
  refused: RefusedRow[];
}

/** Reads the rows of a slice. */
export function wavesOf(columns: ImportColumns, slice: Slice): Prepared {
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
  encryptionKeys: readonly string[],
  { id, projectId }: JobRow,
  position: string,
  next: CsvPlace,
  { waves, refused }: Prepared,
  size: number,
  subscribing: Subscribing,
): Promise<ShareReport> {
  return db.transaction(async (tx) => {
    const job = await lockJobAt(tx, id, position);
    if (job === null) return superseded(tx, id);
    const segment = await segmentOf(tx, job);
    let [created, updated, unchanged] = [0, 0, 0];
    const erased = await erasedRows(tx, projectId, encryptionKeys, waves);
    const failed = [...refused, ...erased.refused];
    for (const wave of erased.waves) {
      const written = await writeWave(tx, job, wave, subscribing);
      created += written.created;
      updated += written.updated;
      unchanged += wave.length - written.refused.length - written.created - written.updated;
      failed.push(...written.refused);
    }
    if (segment !== null) {
      const left = new Set(failed.map(({ row }) => row));
      const written = waves.flat().filter(({ row }) => !left.has(row));
      await enterMembers(tx, segment, [...new Set(written.map(({ email }) => email))], job.limitedBy);
    }
    return advanceJob(tx, job, {
      position: String(next.offset),
      place: { line: next.line, size },
      progress: progressOf(next.offset, size),
      created,
      updated,
      unchanged,
      errors: failed.map((row) => ({ ...row, subject: null })),
    });
  });
}

// The segment is locked before contacts are, as whoever adds members to it does.
async function segmentOf(tx: Database, { projectId, spec }: JobRow): Promise<LockedSegment | null> {
  const { segmentId } = spec as { segmentId?: string };
  if (segmentId === undefined) return null;
  const segment = await lockSegment(tx, projectId, segmentId);
  if (segment === null) throw new SegmentGone();
  return segment;
}

class SegmentGone extends Error {}

// Of a row with an erased address only the line number is kept.
async function erasedRows(
  tx: Database,
  projectId: string,
  encryptionKeys: readonly string[],
  waves: readonly PlacedRow[][],
): Promise<Prepared> {
  const key = await findErasureKey(tx, projectId, encryptionKeys);
  const emails = waves.flatMap((wave) => wave.map(({ email }) => email));
  const erased = key === null ? new Map() : await erasedAmong(tx, projectId, key, emails);
  if (erased.size === 0) return { waves: [...waves], refused: [] };
  return {
    waves: waves.map((wave) => wave.filter(({ email }) => !erased.has(email))),
    refused: waves
      .flat()
      .filter(({ email }) => erased.has(email))
      .map(({ row }) => ({ row, email: null, error: 'erased: the address was erased at the request of its owner' })),
  };
}

interface WrittenWave {
  created: number;
  updated: number;
  refused: RefusedRow[];
}

// Contacts over a limit are rare, so they are searched for only after the statement was refused because of one.
async function writeWave(
  tx: Database,
  job: JobRow,
  wave: readonly PlacedRow[],
  subscribing: Subscribing,
): Promise<WrittenWave> {
  const refused: RefusedRow[] = [];
  let rows = wave;
  for (let attempt = 1; ; attempt++) {
    const wanted = rows;
    try {
      return { ...(await withSavepoint(tx, () => upsertContacts(tx, job, wanted, subscribing))), refused };
    } catch (error) {
      if (!(error instanceof ContactDataError) || attempt === 5) throw error;
      const found = await excessiveRows(tx, job.projectId, rows, subscribing);
      // Where none is found, another transaction changed what a contact had a moment ago.
      const left = new Set(found.map(({ row }) => row));
      rows = rows.filter(({ row }) => !left.has(row));
      refused.push(...found);
    }
  }
}
