import type { IncomingMessage } from 'node:http';
import { type StartCommand, workflowId } from '../../temporal/commands.ts';
import { trashDays } from '../contacts/trash-queries.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { AppError, bareNotFound, conflict, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { dayMs } from '../lib/time.ts';
import { recordChange } from '../projects/audit/record.ts';
import { checkedFilter } from '../segments/lists/views.ts';
import { checkStatic, createSegment } from '../segments/service.ts';
import { enqueue, type OutboxTicket } from '../store/outbox/queries.ts';
import { restartable } from '../store/outbox/recovery.ts';
import type { Database } from '../store/sql.ts';
import { removeFile } from './csv.ts';
import { mappingFor } from './import-file.ts';
import {
  errorsOf,
  findJob,
  insertJob,
  isJobId,
  type JobRow,
  latestUndos,
  type NewJob,
  stalledJobs,
} from './queries.ts';
import type {
  BulkBody,
  BulkJobBody,
  BulkSegmentBody,
  BulkSelector,
  ImportJobBody,
  QueuedJob,
  SelectedOperation,
  UndoBody,
  UndoReply,
  UndoSelector,
} from './schema.ts';
import { forgetPreview, previewUndo } from './undo-preview.ts';
import { receiveCsv } from './upload.ts';

/** The answer for a queued job, and the ticket that starts it after the commit. */
export interface Queued {
  queued: QueuedJob;
  ticket: OutboxTicket;
}

/**
 * Stores the file of a multipart request and queues its import (docs/contract/core.md#3-6), with the segment that its contacts
 * are put into, which is made where it is named. @throws as `receiveCsv`, 404 for the segment and 400 for a DYNAMIC one
 */
export async function queueImport(
  db: Database,
  projectId: string,
  request: IncomingMessage,
  now: Date,
): Promise<Queued> {
  const id = `import-${newId()}`;
  const { filename, segmentId, segmentName, subscribeNew, consentSource, ...columns } = await receiveCsv(
    db,
    projectId,
    request,
    id,
  );
  try {
    const mapping = await mappingFor(db, projectId, id, columns);
    return await db.transaction(async (tx) => {
      if (segmentId !== undefined) await checkStatic(tx, projectId, segmentId);
      const made =
        segmentId === undefined && segmentName !== undefined
          ? await createSegment(tx, projectId, { name: segmentName, type: 'STATIC', trackMembership: false }, now)
          : null;
      const into = segmentId ?? made?.id;
      const options = {
        ...(into ? { segmentId: into } : {}),
        ...(subscribeNew ? {} : { subscribeNew }),
        ...(consentSource ? { consentSource } : {}),
      };
      const spec = { projectId, filename, ...options, ...(mapping ? { mapping } : {}) } as unknown as JsonObjectValue;
      const ticket = await queueJob(tx, { id, projectId, kind: 'import', spec }, 'Import of contacts', {
        filename,
        ...options,
      });
      return { queued: { message: 'Import queued', jobId: id }, ticket };
    });
  } catch (error) {
    await removeFile(db, id).catch(() => undefined);
    throw error;
  }
}

/**
 * Queues a change of many contacts (docs/contract/core.md#3-8). Ids that are sent twice count once. @throws 400 for a condition
 */
export async function queueBulk(
  db: Database,
  projectId: string,
  operation: SelectedOperation,
  body: BulkBody,
  segmentId?: string,
): Promise<Queued> {
  if (body.mode === 'query') await checkedFilter(db, projectId, body.filter, new Date());
  const selector: BulkSelector =
    body.mode === 'ids'
      ? { mode: 'ids', contactIds: [...new Set(body.contactIds)] }
      : { mode: 'query', filter: { ...body.filter }, excludeIds: [...new Set(body.excludeIds)] };
  const id = `bulk-${operation}-${newId()}`;
  const into = segmentId === undefined ? {} : { segmentId };
  const spec = { projectId, operation, ...into, selector } as unknown as JsonObjectValue;
  // Whom the change names is in its job.
  const chosen = selector.mode === 'ids' ? { contacts: selector.contactIds.length } : { filter: selector.filter };
  const ticket = await queueJob(db, { id, projectId, kind: 'bulk', spec }, `Bulk ${operation}`, {
    operation,
    ...into,
    ...chosen,
  });
  return { queued: { message: `Bulk ${operation} queued`, jobId: id }, ticket };
}

/** Queues that many contacts become members of a segment. @throws 404 for the segment, 400 for a DYNAMIC one and for a condition */
export async function queueSegmentEntries(
  db: Database,
  projectId: string,
  { segmentId, ...body }: BulkSegmentBody,
): Promise<Queued> {
  await checkStatic(db, projectId, segmentId);
  return queueBulk(db, projectId, 'add-to-segment', body, segmentId);
}

/** Inserts a job, which is a change that the audit log notes; the ticket starts it after the commit. */
export function queueJob(
  db: Database,
  job: NewJob,
  summary: string,
  after: Record<string, unknown>,
): Promise<OutboxTicket> {
  return db.transaction(async (tx) => {
    await insertJob(tx, job);
    const ticket = await enqueue(tx, { ...startOf(job), staticSummary: summary });
    await recordChange(tx, job.projectId, { action: `${job.kind}.started`, target: job.id, after });
    return ticket;
  });
}

/**
 * Takes an import or a bulk change back, as a bulk job that can be undone itself (docs/contract/certainty.md#1-undo); a dry run
 * only tells what that would do.
 * @throws bare 404, 409 while the job or an undo of it runs and where it has been undone, 409 PREVIEW_UNFINISHED, 410 TOO_LATE when its changes, or the contacts it deleted, are no longer kept
 */
export async function queueUndo(
  db: Database,
  projectId: string,
  { kind, jobId }: { kind: JobRow['kind']; jobId: string },
  { dryRun, conflicts }: UndoBody,
  keptDays: number,
): Promise<{ reply: UndoReply; ticket: OutboxTicket | null }> {
  const { job } = await ownJob(db, projectId, kind, jobId);
  if (!isOver(job)) throw conflict('The job has not finished: undo it once it has');
  if (job.spec.operation === 'add-to-segment')
    throw invalidField('jobId', 'added contacts to a segment: remove them from the segment instead', 'not_undoable');
  if (job.spec.operation === 'enroll')
    throw invalidField('jobId', 'enrolled contacts in a workflow: cancel their executions instead', 'not_undoable');
  const [kept, days] =
    job.spec.operation === 'delete' ? ['Deleted contacts', trashDays] : ['Changes of contacts', keptDays];
  if (Date.parse(job.createdAt) < Date.now() - days * dayMs)
    throw new AppError(410, 'TOO_LATE', `${kept} are kept for ${days} days: those of this job are gone`);
  const earlier = (await latestUndos(db, projectId, [jobId], job.createdAt)).get(jobId) ?? null;
  if (earlier !== null && !isOver(earlier))
    throw conflict(`The job is being undone by ${earlier.id}: wait until that has finished`, { undoneBy: earlier.id });
  const preview = await previewUndo(db, { projectId, jobId, restoresConflicts: conflicts === 'restore' });
  if (earlier !== null && !dryRun && preview.deletes + preview.restores === 0)
    throw conflict(`The job has been undone by ${earlier.id}, and nothing is left to undo`, {
      undoneBy: earlier.id,
    });
  if (dryRun) return { reply: { jobId: null, ...preview }, ticket: null };
  const id = `bulk-undo-${newId()}`;
  const selector: UndoSelector = { mode: 'undo', jobId, conflicts };
  const spec = { projectId, operation: 'undo', selector: { ...selector } };
  const ticket = await queueJob(db, { id, projectId, kind: 'bulk', spec }, 'Undo', {
    operation: 'undo',
    jobId,
    conflicts,
  });
  forgetPreview(jobId);
  return { reply: { jobId: id, ...preview }, ticket };
}

function isOver({ state }: Pick<JobRow, 'state'>): boolean {
  return state === 'completed' || state === 'failed';
}

/** Imports and bulk changes whose execution may be lost; a new one continues from where the rows stand. */
export const recoverableJobs = restartable('jobs', stalledJobs, startOf);

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
  return { ...body, result, data: importData(job.spec as ImportJobBody['data']) };
}

// All of the spec but the mapping.
function importData({ mapping: _, ...data }: ImportJobBody['data'] & { mapping?: unknown }): ImportJobBody['data'] {
  return data;
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
/** A job of a project and a kind, with its errors once it is completed. @throws bare 404 */
export async function ownJob(db: Database, projectId: string, kind: JobRow['kind'], id: string) {
  const job = isJobId(id) ? await findJob(db, id) : null;
  if (job === null || job.projectId !== projectId || job.kind !== kind)
    throw bareNotFound('No such job exists in this project');
  const { state, progress, failedReason } = job;
  return { job, errors: state === 'completed' ? await errorsOf(db, id) : null, id, state, progress, failedReason };
}
