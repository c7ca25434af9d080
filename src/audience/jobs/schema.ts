import * as v from 'valibot';
import { nameSchemas } from '../../core/lib/named-schemas.ts';
import { codedAt } from '../../core/lib/validation.ts';

/** Types of jobs; each has its own paths, and an id of one type is unknown under those of the other. */
export const jobKinds = ['import', 'bulk'] as const;
/** States of a job; the last two are final. */
export const jobStates = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;

/** What a bulk job does to contacts. */
export const bulkOperations = ['subscribe', 'unsubscribe', 'delete'] as const;
export type BulkOperation = (typeof bulkOperations)[number];
const bulkJobOperations = [...bulkOperations, 'undo'] as const;

const Id = v.pipe(v.string('must be a UUID'), v.uuid('must be a UUID'), v.toLowerCase());

/** `POST /contacts/bulk-*`: the contacts with these ids, or all that a filter leaves. */
export const BulkBody = v.pipe(
  v.object({
    mode: v.optional(v.picklist(['ids', 'query'], 'must be "ids" or "query"'), 'ids'),
    contactIds: v.optional(
      v.pipe(
        v.array(Id, 'must be an array of contact ids'),
        v.minLength(1, 'must have at least one contact id'),
        v.maxLength(1_000, 'must have at most 1000 contact ids'),
      ),
    ),
    filter: v.optional(
      v.object(
        {
          search: v.optional(
            v.pipe(v.string('must be a string'), v.maxLength(255, 'must have at most 255 characters')),
          ),
          subscribed: v.optional(v.boolean('must be true or false')),
        },
        'must be an object',
      ),
    ),
    excludeIds: v.optional(
      v.pipe(
        v.array(Id, 'must be an array of contact ids'),
        v.maxLength(10_000, 'must have at most 10000 contact ids'),
      ),
    ),
  }),
  codedAt(
    'invalid_type',
    'contactIds',
    ({ mode, contactIds }) => mode === 'query' || contactIds !== undefined,
    'is required: an array of 1 to 1000 contact ids',
  ),
);
export type BulkBody = v.InferOutput<typeof BulkBody>;

/** Which contacts a bulk job is for, as its row keeps it. */
export type BulkSelector =
  | { mode: 'ids'; contactIds: string[] }
  | { mode: 'query'; filter: { search?: string; subscribed?: boolean }; excludeIds: string[] };

/** `POST /contacts/import/{jobId}/undo` and `/contacts/bulk/{jobId}/undo`. */
export const UndoBody = v.object({
  dryRun: v.pipe(
    v.optional(v.boolean('must be true or false'), false),
    v.description('Only tells what would be done.'),
  ),
  conflicts: v.pipe(
    v.optional(v.picklist(['keep', 'restore'], 'must be "keep" or "restore"'), 'keep'),
    v.description('What becomes of fields that were changed since: kept, or restored as well.'),
  ),
});
export type UndoBody = v.InferOutput<typeof UndoBody>;

/** What an undo does; `jobId` is null for a dry run. */
export const UndoReply = v.object({
  jobId: v.nullable(v.string()),
  deletes: v.pipe(v.number(), v.description('Contacts that the job created and that nothing has happened to since.')),
  restores: v.pipe(v.number(), v.description('Contacts whose fields or subscription go back, or that come back.')),
  conflicts: v.pipe(
    v.array(v.object({ key: v.string(), count: v.number() })),
    v.description('Fields that were changed since, with the number of contacts.'),
  ),
  keeps: v.pipe(
    v.array(v.object({ reason: v.string(), count: v.number() })),
    v.description('Contacts or subscriptions that stay as they are, by reason.'),
  ),
});
export type UndoReply = v.InferOutput<typeof UndoReply>;

/** The job that an undo takes back, as the row of the undo keeps it. */
export interface UndoSelector {
  mode: 'undo';
  jobId: string;
  conflicts: UndoBody['conflicts'];
}

/** A job that was queued. */
export const QueuedJob = v.object({ message: v.string(), jobId: v.string() });
export type QueuedJob = v.InferOutput<typeof QueuedJob>;

const head = { id: v.string(), state: v.picklist(jobStates), progress: v.number() };

/** `GET /contacts/import/{jobId}`; `result` is null until the job is completed. */
export const ImportJobBody = v.object({
  ...head,
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
  ...head,
  result: v.nullable(
    v.object({
      operation: v.picklist(bulkJobOperations),
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
    operation: v.picklist(bulkJobOperations),
    selector: v.record(v.string(), v.unknown()),
  }),
  failedReason: v.nullable(v.string()),
});
export type BulkJobBody = v.InferOutput<typeof BulkJobBody>;

nameSchemas({
  QueuedJob,
  ImportJob: ImportJobBody,
  BulkJob: BulkJobBody,
  BulkSelection: BulkBody,
  UndoPreview: UndoReply,
});
