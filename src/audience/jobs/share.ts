import type { Database } from '../../core/database/sql.ts';
import { findJob, type JobRow } from './queries.ts';

/** How one share of the work ended. */
export interface ShareReport {
  /** `superseded`: another worker has moved this job. `busy`: nothing was done beside another job of the project. */
  state: 'finished' | 'unfinished' | 'superseded' | 'gone' | 'busy';
  /** Rows of the job that are done, in this share and before it. */
  rows: number;
  failed: number;
  progress: number;
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
