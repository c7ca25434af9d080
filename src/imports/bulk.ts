import { foldContactChanges } from '../contacts/catalogue-queries.ts';
import { countContacts } from '../contacts/list-queries.ts';
import { lockSegment } from '../segments/definition.ts';
import { storedFilter } from '../segments/lists/views.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import { type BulkStep, deleteSome, enterSome, matchingContacts, subscribeSome } from './bulk-queries.ts';
import { advanceJob, findJob, finishJob, type JobRow, lockJobAt, markActive } from './queries.ts';
import type { BulkSelector, SelectedOperation, UndoSelector } from './schema.ts';
import { type UndoPlace, undoSome } from './undo-queries.ts';

/** How one share of the work ended. */
export interface ShareReport {
  /** `superseded`: another worker has moved this job. `busy`: nothing was done beside another job of the project. */
  state: 'finished' | 'unfinished' | 'superseded' | 'gone' | 'busy';
  /** Rows of the job that are done, in this share and before it. */
  rows: number;
  failed: number;
  progress: number;
  /** Milliseconds until more may be done, of a `busy` job that keeps a pace. */
  waitMs?: number;
}

/** When a share of the work must end, and what hears how far it is. */
export interface Share {
  stop: AbortSignal;
  /** Milliseconds after which the share ends even though rows are left. */
  longestMs: number;
  onStep(report: ShareReport): void;
}

/** The report on a job whose row is gone, as it is when its project was deleted. */
export const goneReport: ShareReport = { state: 'gone', rows: 0, failed: 0, progress: 0 };

/** The report on a job by its row. */
export function shareReportOf(job: JobRow, state: ShareReport['state']): ShareReport {
  return { state, rows: job.total, failed: job.failed, progress: job.progress };
}

/** The report on a job that was found to have moved on. */
export async function superseded(db: Database, jobId: string): Promise<ShareReport> {
  const job = await findJob(db, jobId);
  return job === null ? goneReport : shareReportOf(job, 'superseded');
}

/** How much of a job is done. The last percent is the end of the job itself. */
export function progressOf(done: number, all: number): number {
  return all === 0 ? 0 : Math.min(99, Math.floor((100 * done) / all));
}

const contactsPerStep = 1_000;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** How jobs enroll contacts in workflows. */
export interface Enrolling {
  /** How many more contacts may enter now. */
  remaining(): Promise<number>;
  /** Enrolls the next contacts of a job that the transaction has locked, at most so many. */
  enrollSome(tx: Database, job: JobRow, most: number): Promise<Step>;
  /** Makes the calls behind the tickets soon, which begin these runs. */
  begin(tickets: readonly OutboxTicket[], runs: readonly string[]): void;
}

/** Simulates the next contacts of a job that is at a position. */
export type Simulating = (db: Database, jobId: string, position: string) => Promise<Step>;

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
export async function changeContacts(
  db: Database,
  jobId: string,
  share: Share,
  enrolling: Enrolling | null = null,
  simulating: Simulating | null = null,
): Promise<ShareReport> {
  const deadline = Date.now() + share.longestMs;
  const job = await findJob(db, jobId);
  if (job === null) return goneReport;
  if (!(await markActive(db, jobId))) return shareReportOf(job, 'finished');
  // An undo reads the history, which the fold writes.
  if (job.spec.operation === 'undo') await foldContactChanges(db, job.projectId);
  for (let { position } = job; ; ) {
    const most = job.spec.operation === 'enroll' ? ((await enrolling?.remaining()) ?? 0) : 0;
    const step =
      job.kind === 'simulation' && simulating
        ? await simulating(db, jobId, position)
        : await db.transaction((tx) => takeStep(tx, jobId, position, enrolling, most));
    const { report } = step;
    if (step.runs) enrolling?.begin(step.tickets ?? [], step.runs);
    share.onStep(report);
    if (report.state !== 'unfinished') return report;
    if (step.isLast) {
      await finishJob(db, jobId, step.failure ?? null);
      return { ...report, state: 'finished' };
    }
    if (share.stop.aborted || Date.now() > deadline) return report;
    position = step.position;
  }
}

/** A step of a job: what it did, and where the next one begins. */
export interface Step {
  report: ShareReport;
  position: string;
  isLast: boolean;
  /** Why the job ends here. */
  failure?: string;
  tickets?: readonly OutboxTicket[];
  /** Runs of workflows that it has made. */
  runs?: readonly string[];
}

async function takeStep(
  tx: Database,
  jobId: string,
  from: string,
  enrolling: Enrolling | null,
  most: number,
): Promise<Step> {
  const job = await lockJobAt(tx, jobId, from);
  if (job === null) return { report: await superseded(tx, jobId), position: from, isLast: false };
  if (job.spec.operation === 'enroll') {
    if (enrolling === null) throw new Error('This worker enrolls nobody');
    return enrolling.enrollSome(tx, job, most);
  }
  const spec = job.spec as unknown as Selected | { operation: 'undo'; selector: UndoSelector };
  if (spec.operation === 'undo') return takeBack(tx, job, spec.selector);
  const { selector } = spec;
  const { ids, place, progress, isLast, ...portion } =
    selector.mode === 'ids' ? listed(job, selector.contactIds) : await matched(tx, job, selector);
  const position = String(portion.position);
  const done = await changeSome(tx, job, spec, ids);
  if (typeof done === 'string')
    return { report: shareReportOf(job, 'unfinished'), position: from, isLast: true, failure: done };
  const { changed, existing } = done;
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

interface Selected {
  operation: SelectedOperation;
  selector: BulkSelector;
  /** Of the operation `add-to-segment`. */
  segmentId?: string;
}

async function changeSome(
  tx: Database,
  job: JobRow,
  { operation, segmentId = '' }: Selected,
  ids: readonly string[],
): Promise<BulkStep | string> {
  if (operation === 'delete') return deleteSome(tx, job, ids);
  if (operation !== 'add-to-segment') return subscribeSome(tx, job, ids, operation === 'subscribe');
  const segment = await lockSegment(tx, job.projectId, segmentId);
  return segment === null ? 'The segment was deleted while contacts were added' : enterSome(tx, segment, job, ids);
}

async function takeBack(tx: Database, job: JobRow, { jobId, conflicts }: UndoSelector): Promise<Step> {
  const undone = { projectId: job.projectId, jobId, restoresConflicts: conflicts === 'restore' };
  const { expected = (await findJob(tx, jobId))?.total ?? 0, ...place } = job.place as UndoPlace &
    Pick<Portion['place'], 'expected'>;
  const { next, contacts, changed } = await undoSome(tx, undone, job, place, contactsPerStep);
  const position = Number(job.position) + contacts;
  const report = await advanceJob(tx, job, {
    // The last step moves the job as well.
    position: String(next === null ? position + 1 : position),
    place: next === null ? job.place : { ...next, expected },
    progress: progressOf(position, expected),
    created: 0,
    updated: changed,
    unchanged: contacts - changed,
    errors: [],
  });
  return { report, position: String(position), isLast: next === null };
}

function listed(job: JobRow, contactIds: readonly string[]): Portion {
  const from = Number(job.position);
  const ids = contactIds.slice(from, from + contactsPerStep);
  const position = from + ids.length;
  const progress = progressOf(position, contactIds.length);
  return { ids, position, place: {}, progress, isLast: position >= contactIds.length };
}

async function matched(
  tx: Database,
  job: JobRow,
  { filter, excludeIds }: BulkSelector & { mode: 'query' },
): Promise<Portion> {
  // Windows of time count back from one instant, however long the job takes.
  const which = await storedFilter(tx, job.projectId, filter, new Date(job.createdAt));
  const { after = beforeAll, expected = await countContacts(tx, job.projectId, which) } = job.place as Portion['place'];
  const ids = await matchingContacts(tx, job, which, excludeIds, after, contactsPerStep);
  const position = Number(job.position) + ids.length;
  const place = { after: ids.at(-1) ?? after, expected };
  return { ids, position, place, progress: progressOf(position, expected), isLast: ids.length < contactsPerStep };
}
