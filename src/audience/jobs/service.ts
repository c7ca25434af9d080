import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import type { Database, Sql } from '../../core/database/sql.ts';
import { bareNotFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { enqueue, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import type { BulkBody, BulkOperation, BulkSelector } from './bulk-schema.ts';
import { errorsOf, findJob, insertJob, type JobKind, type JobRow } from './queries.ts';
import type { BulkJobBody, ImportJobBody, QueuedJob } from './schema.ts';

/** A job that was put in line, and the ticket that starts it after the commit. */
export interface NewJob {
  queued: QueuedJob;
  ticket: OutboxTicket;
}

/** The id of an import that is about to be uploaded. */
export function newImportId(): string {
  return `import-${newId()}`;
}

/** Puts the import of an uploaded file in line (contract page 1, 3.6). */
export async function queueImport(
  db: Database,
  projectId: string,
  file: { jobId: string; filename: string },
): Promise<NewJob> {
  const spec = { projectId, filename: file.filename };
  const ticket = await queue(db, { id: file.jobId, projectId, kind: 'import', spec }, 'Import of contacts');
  return { queued: { message: 'Import queued', jobId: file.jobId }, ticket };
}

/** Puts a change of many contacts in line (contract page 1, 3.8). Ids that are sent twice count once. */
export async function queueBulk(
  db: Database,
  projectId: string,
  operation: BulkOperation,
  body: BulkBody,
): Promise<NewJob> {
  const selector: BulkSelector =
    body.mode === 'ids'
      ? { mode: 'ids', contactIds: [...new Set(body.contactIds)] }
      : { mode: 'query', filter: { ...body.filter }, excludeIds: [...new Set(body.excludeIds)] };
  const id = `bulk-${operation}-${newId()}`;
  const spec = { projectId, operation, selector };
  const ticket = await queue(db, { id, projectId, kind: 'bulk', spec }, `Bulk ${operation}`);
  return { queued: { message: `Bulk ${operation} queued`, jobId: id }, ticket };
}

function queue(db: Database, job: Parameters<typeof insertJob>[1], summary: string): Promise<OutboxTicket> {
  return db.transaction(async (sql) => {
    await insertJob(sql, job);
    return enqueue(sql, { ...startOf(job), staticSummary: summary });
  });
}

/** The command that starts the execution of a job. */
export function startOf(job: { id: string; projectId: string; kind: JobKind }): StartCommand {
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
export async function getImportJob(sql: Sql, projectId: string, id: string): Promise<ImportJobBody> {
  const job = await ownJob(sql, projectId, 'import', id);
  const errors = job.state === 'completed' ? await errorsOf(sql, id) : [];
  return {
    ...commonBody(job),
    result:
      job.state === 'completed'
        ? {
            totalRows: job.total,
            successCount: job.total - job.failed,
            createdCount: job.created,
            updatedCount: job.updated,
            unchangedCount: job.unchanged,
            failureCount: job.failed,
            errors: errors.map(({ row, email, error }) => ({ row, email, error })),
            reasons: job.reasons,
          }
        : null,
    data: job.spec as ImportJobBody['data'],
  };
}

/** A change of many contacts as the API shows it. @throws bare 404 */
export async function getBulkJob(sql: Sql, projectId: string, id: string): Promise<BulkJobBody> {
  const job = await ownJob(sql, projectId, 'bulk', id);
  const errors = job.state === 'completed' ? await errorsOf(sql, id) : [];
  const data = job.spec as BulkJobBody['data'];
  return {
    ...commonBody(job),
    result:
      job.state === 'completed'
        ? {
            operation: data.operation,
            totalRequested: job.total,
            successCount: job.updated,
            unchangedCount: job.unchanged,
            failureCount: job.failed,
            errors: errors.map(({ subject, email, error }) => ({ contactId: subject, email, error })),
            reasons: job.reasons,
          }
        : null,
    data,
  };
}

async function ownJob(sql: Sql, projectId: string, kind: JobKind, id: string): Promise<JobRow> {
  const job = /^[a-z]+(-[a-z]+)?-[0-9a-f-]{36}$/.test(id) ? await findJob(sql, id) : null;
  if (job === null || job.projectId !== projectId || job.kind !== kind)
    throw bareNotFound('No such job exists in this project');
  return job;
}

function commonBody({ id, state, progress, failedReason }: JobRow) {
  return { id, state, progress, failedReason };
}
