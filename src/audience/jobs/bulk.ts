import type { Database, Sql } from '../../core/database/sql.ts';
import { type ContactFilter, countContacts } from '../contacts/index.ts';
import { deleteSome, matchingContacts, subscribeSome } from './bulk-queries.ts';
import type { BulkOperation, BulkSelector } from './bulk-schema.ts';
import { advanceJob, findJob, finishJob, type JobErrorRow, type JobRow, lockJobAt, markActive } from './queries.ts';
import { goneReport, type Share, type ShareReport, shareReportOf, superseded } from './share.ts';

const contactsPerStep = 1_000;
// A contact goes with its events and mail, which may be many.
const deletionsPerStep = 200;
const beforeAll = '00000000-0000-0000-0000-000000000000';

interface BulkSpec {
  operation: BulkOperation;
  selector: BulkSelector;
}

/** Which contacts the next step is for; `first` is the number of the first of them within the job. */
interface Portion {
  ids: string[];
  position: number;
  place: { after?: string; expected?: number };
  progress: number;
  isLast: boolean;
}

/**
 * Works on a bulk job from where it stands: each step changes some contacts and records, in the same transaction, its
 * counts, its errors and where the next step begins.
 */
export async function changeContacts(db: Database, jobId: string, share: Share): Promise<ShareReport> {
  const deadline = Date.now() + share.longestMs;
  let job = await findJob(db, jobId);
  if (job === null) return goneReport;
  if (!(await markActive(db, jobId))) return shareReportOf(job, 'finished');
  for (;;) {
    const { position } = job;
    const { done, report }: Step = await db.transaction((sql) => takeStep(sql, jobId, position));
    share.onStep(report);
    if (report.state !== 'unfinished') return report;
    if (done) {
      await finishJob(db, jobId, null);
      return { ...report, state: 'finished' };
    }
    if (share.stop.aborted || Date.now() > deadline) return report;
    job = await findJob(db, jobId);
    if (job === null) return goneReport;
  }
}

interface Step {
  done: boolean;
  report: ShareReport;
}

async function takeStep(sql: Sql, jobId: string, position: string): Promise<Step> {
  const job = await lockJobAt(sql, jobId, position);
  if (job === null) return { done: false, report: await superseded(sql, jobId) };
  const { operation, selector } = job.spec as unknown as BulkSpec;
  const size = operation === 'delete' ? deletionsPerStep : contactsPerStep;
  const portion =
    selector.mode === 'ids' ? listed(job, selector.contactIds, size) : await matching(sql, job, selector, size);
  const { ids } = portion;
  const { changed, existing } =
    operation === 'delete'
      ? await deleteSome(sql, job.projectId, ids)
      : await subscribeSome(sql, job.projectId, ids, operation === 'subscribe');
  const known = new Set(existing);
  // Of contacts that a filter found, those that are gone by now were not asked for by name.
  const missing = selector.mode === 'ids' ? ids.filter((id) => !known.has(id)) : [];
  const rows = existing.length + missing.length;
  await advanceJob(sql, job, {
    position: String(portion.position),
    place: portion.place,
    progress: portion.progress,
    rows,
    created: 0,
    updated: changed,
    unchanged: existing.length - changed,
    errors: missing.map(
      (id): JobErrorRow => ({
        row: Number(position) + ids.indexOf(id),
        subject: id,
        email: null,
        error: 'No contact of this project has this id',
      }),
    ),
  });
  return {
    done: portion.isLast,
    report: {
      state: 'unfinished',
      rows: job.total + rows,
      failed: job.failed + missing.length,
      progress: Math.max(job.progress, portion.progress),
    },
  };
}

function listed(job: JobRow, contactIds: readonly string[], size: number): Portion {
  const from = Number(job.position);
  const ids = contactIds.slice(from, from + size);
  const position = from + ids.length;
  return {
    ids,
    position,
    place: {},
    progress: percent(position, contactIds.length),
    isLast: position >= contactIds.length,
  };
}

async function matching(
  sql: Sql,
  job: JobRow,
  { filter, excludeIds }: BulkSelector & { mode: 'query' },
  size: number,
): Promise<Portion> {
  const which: ContactFilter = { search: filter.search || null, subscribed: filter.subscribed ?? null };
  const { after = beforeAll, expected = await countContacts(sql, job.projectId, which) } =
    job.place as Portion['place'];
  const ids = await matchingContacts(sql, job, which, excludeIds, after, size);
  const position = Number(job.position) + ids.length;
  return {
    ids,
    position,
    place: { after: ids.at(-1) ?? after, expected },
    progress: percent(position, expected),
    isLast: ids.length < size,
  };
}

// The last percent is the end of the job itself.
function percent(done: number, all: number): number {
  return all === 0 ? 0 : Math.min(99, Math.floor((100 * done) / all));
}
