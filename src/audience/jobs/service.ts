import type { IncomingMessage } from 'node:http';
import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import type { Database } from '../../core/database/sql.ts';
import { AppError, bareNotFound, conflict, invalidField } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { dayMs } from '../../core/lib/span.ts';
import { enqueue, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import type { RecoverableKind } from '../../core/outbox/recovery.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { foldContactChanges } from '../contacts/index.ts';
import { errorsOf, findJob, insertJob, type JobRow, type NewJob, stalledJobs } from './queries.ts';
import type {
  BulkBody,
  BulkJobBody,
  BulkOperation,
  BulkSelector,
  ImportJobBody,
  QueuedJob,
  UndoBody,
  UndoReply,
  UndoSelector,
} from './schema.ts';
import { previewUndo } from './undo-queries.ts';
import { receiveCsv } from './upload.ts';

/** The answer for a queued job, and the ticket that starts it after the commit. */
interface Queued {
  queued: QueuedJob;
  ticket: OutboxTicket;
}

/** Stores the file of a multipart request and queues its import (contract page 1, 3.6). @throws as `receiveCsv` */
export async function queueImport(db: Database, projectId: string, request: IncomingMessage): Promise<Queued> {
  const id = `import-${newId()}`;
  const { filename } = await receiveCsv(db, request, id);
  const ticket = await queue(
    db,
    { id, projectId, kind: 'import', spec: { projectId, filename } },
    'Import of contacts',
    { filename },
  );
  return { queued: { message: 'Import queued', jobId: id }, ticket };
}

/** Queues a change of many contacts (contract page 1, 3.8). Ids that are sent twice count once. */
export async function queueBulk(
  db: Database,
  projectId: string,
  operation: BulkOperation,
  body: BulkBody,
): Promise<Queued> {
  const selector: BulkSelector =
    body.mode === 'ids'
      ? { mode: 'ids', contactIds: [...new Set(body.contactIds)] }
      : { mode: 'query', filter: { ...body.filter }, excludeIds: [...new Set(body.excludeIds)] };
  const id = `bulk-${operation}-${newId()}`;
  const spec = { projectId, operation, selector };
  // Whom the change names is in its job.
  const chosen = selector.mode === 'ids' ? { contacts: selector.contactIds.length } : { filter: selector.filter };
  const ticket = await queue(db, { id, projectId, kind: 'bulk', spec }, `Bulk ${operation}`, { operation, ...chosen });
  return { queued: { message: `Bulk ${operation} queued`, jobId: id }, ticket };
}

function queue(db: Database, job: NewJob, summary: string, after: Record<string, unknown>): Promise<OutboxTicket> {
  return db.transaction(async (tx) => {
    await insertJob(tx, job);
    const ticket = await enqueue(tx, { ...startOf(job), staticSummary: summary });
    await recordChange(tx, job.projectId, { action: `${job.kind}.started`, target: job.id, after });
    return ticket;
  });
}

/**
 * Takes an import or a bulk change back, as a bulk job that can be undone itself (contract page 5); a dry run only tells what that would do.
 * @throws bare 404, 409 while the job runs, 410 TOO_LATE when its changes are no longer kept, 422 for a deletion
 */
export async function queueUndo(
  db: Database,
  projectId: string,
  { kind, jobId }: { kind: JobRow['kind']; jobId: string },
  { dryRun, conflicts }: UndoBody,
  keptDays: number,
): Promise<{ reply: UndoReply; ticket: OutboxTicket | null }> {
  const { job } = await ownJob(db, projectId, kind, jobId);
  if (job.state !== 'completed' && job.state !== 'failed')
    throw conflict('The job is not over yet: undo it when it is');
  if (job.spec.operation === 'delete')
    throw invalidField('jobId', 'deleted its contacts for good: there is nothing to undo', 'not_undoable');
  if (Date.parse(job.createdAt) < Date.now() - keptDays * dayMs)
    throw new AppError(
      410,
      'TOO_LATE',
      `Changes of contacts are kept for ${keptDays} days: those of this job are gone`,
    );
  await foldContactChanges(db, projectId);
  const preview = await previewUndo(db, { projectId, jobId, restoresConflicts: conflicts === 'restore' });
  if (dryRun) return { reply: { jobId: null, ...preview }, ticket: null };
  const id = `bulk-undo-${newId()}`;
  const selector: UndoSelector = { mode: 'undo', jobId, conflicts };
  const spec = { projectId, operation: 'undo', selector: { ...selector } };
  const ticket = await queue(db, { id, projectId, kind: 'bulk', spec }, 'Undo', {
    operation: 'undo',
    jobId,
    conflicts,
  });
  return { reply: { jobId: id, ...preview }, ticket };
}

/** Imports and bulk changes whose execution may be lost; a new one continues from where the rows stand. */
export const recoverableJobs: RecoverableKind = {
  name: 'jobs',
  afterMs: 5 * 60_000,
  async stalled(db, query) {
    const jobs = await stalledJobs(db, query);
    return jobs.map((job) => ({ at: job.at, id: job.id, start: startOf(job), wake: null, isOlder: false }));
  },
};

function startOf(job: Omit<NewJob, 'spec'>): StartCommand {
  return {
    type: 'start',
    ...(job.kind === 'import'
      ? { workflow: 'importContacts', id: workflowId.import(job.id) }
      : { workflow: 'bulkContacts', id: workflowId.bulk(job.id) }),
    input: { jobId: job.id },
    searchAttributes: { ProjectId: job.projectId, Kind: job.kind },
  };
}

/** An import as the API shows it. @throws bare 404 */
export async function getImportJob(db: Database, projectId: string, id: string): Promise<ImportJobBody> {
  const { job, errors, ...body } = await ownJob(db, projectId, 'import', id);
  const result = errors && {
    totalRows: job.total,
    successCount: job.total - job.failed,
    createdCount: job.created,
    updatedCount: job.updated,
    unchangedCount: job.unchanged,
    failureCount: job.failed,
    errors: errors.map(({ row, email, error }) => ({ row, email, error })),
    reasons: job.reasons,
  };
  return { ...body, result, data: job.spec as ImportJobBody['data'] };
}

/** A change of many contacts as the API shows it. @throws bare 404 */
export async function getBulkJob(db: Database, projectId: string, id: string): Promise<BulkJobBody> {
  const { job, errors, ...body } = await ownJob(db, projectId, 'bulk', id);
  const data = job.spec as BulkJobBody['data'];
  const result = errors && {
    operation: data.operation,
    totalRequested: job.total,
    successCount: job.updated,
    unchangedCount: job.unchanged,
    failureCount: job.failed,
    errors: errors.map(({ subject, email, error }) => ({ contactId: subject, email, error })),
    reasons: job.reasons,
  };
  return { ...body, result, data };
}

// The errors are null until the job is completed.
async function ownJob(db: Database, projectId: string, kind: JobRow['kind'], id: string) {
  const job = /^[a-z]+(-[a-z]+)?-[0-9a-f-]{36}$/.test(id) ? await findJob(db, id) : null;
  if (job === null || job.projectId !== projectId || job.kind !== kind)
    throw bareNotFound('No such job exists in this project');
  const { state, progress, failedReason } = job;
  return { job, errors: state === 'completed' ? await errorsOf(db, id) : null, id, state, progress, failedReason };
}
