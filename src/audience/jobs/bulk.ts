import type { Database } from '../../core/database/sql.ts';
import { type ContactFilter, countContacts, foldContactChanges } from '../contacts/index.ts';
import { deleteSome, matchingContacts, subscribeSome } from './bulk-queries.ts';
import { advanceJob, findJob, finishJob, type JobRow, lockJobAt, markActive } from './queries.ts';
import type { BulkOperation, BulkSelector, UndoSelector } from './schema.ts';
import { goneReport, progressOf, type Share, type ShareReport, shareReportOf, superseded } from './share.ts';
import { undoSome } from './undo-queries.ts';

const contactsPerStep = 1_000;
// A contact is deleted with its events and mail, which may be many.
const deletionsPerStep = 200;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** The contacts of the next step, and the position of the job after it. */
interface Portion {
  ids: string[];
  position: number;
  place: { after?: string; expected?: number };
  progress: number;
  isLast: boolean;
}

/**
 * Works on a bulk job from its position on: each step changes some contacts and records, in the same transaction, its
 * counts, its errors and where the next step begins.
 */
export async function changeContacts(db: Database, jobId: string, share: Share): Promise<ShareReport> {
  const deadline = Date.now() + share.longestMs;
  const job = await findJob(db, jobId);
  if (job === null) return goneReport;
  if (!(await markActive(db, jobId))) return shareReportOf(job, 'finished');
  // What is undone is read from the history.
  if (job.spec.operation === 'undo') await foldContactChanges(db, job.projectId);
  for (let { position } = job; ; ) {
    const step = await db.transaction((tx) => takeStep(tx, jobId, position));
    const { report } = step;
    share.onStep(report);
    if (report.state !== 'unfinished') return report;
    if (step.isLast) {
      await finishJob(db, jobId, null);
      return { ...report, state: 'finished' };
    }
    if (share.stop.aborted || Date.now() > deadline) return report;
    position = step.position;
  }
}

interface Step {
  report: ShareReport;
  position: string;
  isLast: boolean;
}

async function takeStep(tx: Database, jobId: string, from: string): Promise<Step> {
  const job = await lockJobAt(tx, jobId, from);
  if (job === null) return { report: await superseded(tx, jobId), position: from, isLast: false };
  const { operation, selector } = job.spec as unknown as
    | { operation: BulkOperation; selector: BulkSelector }
    | { operation: 'undo'; selector: UndoSelector };
  if (operation === 'undo') return takeBack(tx, job, selector);
  const size = operation === 'delete' ? deletionsPerStep : contactsPerStep;
  const { ids, place, progress, isLast, ...portion } =
    selector.mode === 'ids' ? listed(job, selector.contactIds, size) : await matched(tx, job, selector, size);
  const position = String(portion.position);
  const { changed, existing } =
    operation === 'delete'
      ? await deleteSome(tx, job.projectId, ids)
      : await subscribeSome(tx, job.projectId, ids, operation === 'subscribe');
  const known = new Set(existing);
  // Contacts that a filter found and that are gone by now were not asked for by id.
  const missing = selector.mode === 'ids' ? ids.filter((id) => !known.has(id)) : [];
  const report = await advanceJob(tx, job, {
    position,
    place,
    progress,
    created: 0,
    updated: changed,
    unchanged: existing.length - changed,
    errors: missing.map((id) => ({
      row: Number(from) + ids.indexOf(id),
      subject: id,
      email: null,
      error: 'No contact of this project has this id',
    })),
  });
  return { report, position, isLast };
}

async function takeBack(tx: Database, job: JobRow, { jobId, conflicts }: UndoSelector): Promise<Step> {
  const undone = { projectId: job.projectId, jobId, restoresConflicts: conflicts === 'restore' };
  const { after, expected = (await findJob(tx, jobId))?.total ?? 0 } = job.place as Portion['place'];
  const { last, contacts, changed } = await undoSome(tx, undone, job.id, after ?? null, contactsPerStep);
  const position = Number(job.position) + contacts;
  const report = await advanceJob(tx, job, {
    // The last step moves the job as well.
    position: String(last === null ? position + 1 : position),
    place: last === null ? job.place : { after: last, expected },
    progress: progressOf(position, expected),
    created: 0,
    updated: changed,
    unchanged: contacts - changed,
    errors: [],
  });
  return { report, position: String(position), isLast: last === null };
}

function listed(job: JobRow, contactIds: readonly string[], size: number): Portion {
  const from = Number(job.position);
  const ids = contactIds.slice(from, from + size);
  const position = from + ids.length;
  const progress = progressOf(position, contactIds.length);
  return { ids, position, place: {}, progress, isLast: position >= contactIds.length };
}

async function matched(
  tx: Database,
  job: JobRow,
  { filter, excludeIds }: BulkSelector & { mode: 'query' },
  size: number,
): Promise<Portion> {
  const which: ContactFilter = { search: filter.search || null, subscribed: filter.subscribed ?? null };
  const { after = beforeAll, expected = await countContacts(tx, job.projectId, which) } = job.place as Portion['place'];
  const ids = await matchingContacts(tx, job, which, excludeIds, after, size);
  const position = Number(job.position) + ids.length;
  const place = { after: ids.at(-1) ?? after, expected };
  return { ids, position, place, progress: progressOf(position, expected), isLast: ids.length < size };
}
