import * as v from 'valibot';
import { bulkOperations } from './bulk-schema.ts';

/** A job that was put in line. */
export const QueuedJob = v.object({ message: v.string(), jobId: v.string() });
export type QueuedJob = v.InferOutput<typeof QueuedJob>;

const states = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;

/** `GET /contacts/import/{jobId}`; `result` is null until the job is completed. */
export const ImportJobBody = v.object({
  id: v.string(),
  state: v.picklist(states),
  progress: v.number(),
  result: v.nullable(
    v.object({
      totalRows: v.number(),
      successCount: v.number(),
      createdCount: v.number(),
      updatedCount: v.number(),
      unchangedCount: v.number(),
      failureCount: v.number(),
      errors: v.array(v.object({ row: v.number(), email: v.nullable(v.string()), error: v.string() })),
      reasons: v.record(v.string(), v.number()),
    }),
  ),
  data: v.object({ projectId: v.string(), filename: v.string() }),
  failedReason: v.nullable(v.string()),
});
export type ImportJobBody = v.InferOutput<typeof ImportJobBody>;

/** `GET /contacts/bulk/{jobId}`; `result` is null until the job is completed. */
export const BulkJobBody = v.object({
  id: v.string(),
  state: v.picklist(states),
  progress: v.number(),
  result: v.nullable(
    v.object({
      operation: v.picklist(bulkOperations),
      totalRequested: v.number(),
      successCount: v.number(),
      unchangedCount: v.number(),
      failureCount: v.number(),
      errors: v.array(
        v.object({ contactId: v.nullable(v.string()), email: v.nullable(v.string()), error: v.string() }),
      ),
      reasons: v.record(v.string(), v.number()),
    }),
  ),
  data: v.object({
    projectId: v.string(),
    operation: v.picklist(bulkOperations),
    selector: v.record(v.string(), v.unknown()),
  }),
  failedReason: v.nullable(v.string()),
});
export type BulkJobBody = v.InferOutput<typeof BulkJobBody>;
