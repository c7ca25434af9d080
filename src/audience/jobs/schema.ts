import { nameSchemas } from '@fernpost/openapi/names';
import { codedAt, GivenUuid, Instant, limitParameter, textField } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import { ChangeAuthor } from '../contacts/index.ts';
import { FilterBody } from '../lists/index.ts';
import { ImportMapping } from './import-mapping.ts';

/** Types of jobs; each has its own paths, and an id of one type is unknown under those of the other. */
export const jobKinds = ['import', 'bulk'] as const;
/** States of a job; the last two are final. */
export const jobStates = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;

/** What a bulk job does to contacts. */
export const bulkOperations = ['subscribe', 'unsubscribe', 'delete'] as const;
export type BulkOperation = (typeof bulkOperations)[number];
const bulkJobOperations = [...bulkOperations, 'add-to-segment', 'undo'] as const;
/** What a bulk job with a selection of contacts does. */
export type SelectedOperation = Exclude<(typeof bulkJobOperations)[number], 'undo'>;

const selection = {
  mode: v.optional(v.picklist(['ids', 'query'], 'must be "ids" or "query"'), 'ids'),
  contactIds: v.optional(
    v.pipe(
      v.array(GivenUuid, 'must be an array of contact ids'),
      v.minLength(1, 'must have at least one contact id'),
      v.maxLength(1_000, 'must have at most 1000 contact ids'),
    ),
  ),
  filter: v.optional(FilterBody),
  excludeIds: v.optional(
    v.pipe(
      v.array(GivenUuid, 'must be an array of contact ids'),
      v.maxLength(10_000, 'must have at most 10000 contact ids'),
    ),
  ),
};
const namesContacts = <Body extends { mode: 'ids' | 'query'; contactIds?: string[] | undefined }>() =>
  codedAt<Body>(
    'invalid_type',
    'contactIds',
    ({ mode, contactIds }) => mode === 'query' || contactIds !== undefined,
    'is required: an array of 1 to 1000 contact ids',
  );

/** `POST /contacts/bulk-*`: the contacts with these ids, or all that a filter leaves. */
export const BulkBody = v.pipe(v.object(selection), namesContacts());
export type BulkBody = v.InferOutput<typeof BulkBody>;

/** `POST /contacts/bulk-add-to-segment`. */
export const BulkSegmentBody = v.pipe(v.object({ ...selection, segmentId: GivenUuid }), namesContacts());
export type BulkSegmentBody = v.InferOutput<typeof BulkSegmentBody>;

/** Which contacts a bulk job is for, as its row keeps it. */
export type BulkSelector =
  | { mode: 'ids'; contactIds: string[] }
  | { mode: 'query'; filter: FilterBody; excludeIds: string[] };

/** `POST /contacts/import/{jobId}/undo` and `/contacts/bulk/{jobId}/undo`. */
export const UndoBody = v.object({
  dryRun: v.pipe(
    v.optional(v.boolean('must be true or false'), false),
    v.description('Only reports what would be done.'),
  ),
  conflicts: v.pipe(
    v.optional(v.picklist(['keep', 'restore'], 'must be "keep" or "restore"'), 'keep'),
    v.description('What happens to fields that have changed since: kept, or restored as well.'),
  ),
});
export type UndoBody = v.InferOutput<typeof UndoBody>;

/** What an undo does; `jobId` is null for a dry run. */
export const UndoReply = v.object({
  jobId: v.nullable(v.string()),
  deletes: v.pipe(v.number(), v.description('Contacts that the job created and that have not changed since.')),
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

const BooleanPart = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);

/** The parts of an import's request beside the file. */
export const ImportOptions = v.object({
  mapping: v.optional(ImportMapping),
  /** Columns that the mapping does not name become the fields that they match; see `matchColumns`. */
  matchFields: v.optional(BooleanPart, 'false'),
  /** Whether new contacts are subscribed where the file does not say. */
  subscribeNew: v.optional(BooleanPart, 'true'),
  /** Where the consent of the contacts that the import subscribes comes from. */
  consentSource: v.optional(v.pipe(textField('consentSource', 1, 200), v.trim(), v.nonEmpty('must not be empty'))),
  segmentId: v.optional(GivenUuid),
  segmentName: v.optional(v.pipe(textField('segmentName', 1, 100), v.trim(), v.nonEmpty('must not be empty'))),
});
export type ImportOptions = v.InferOutput<typeof ImportOptions>;

/** What an import would do. */
export const ImportPreview = v.object({
  totalRows: v.number(),
  createdCount: v.number(),
  updatedCount: v.number(),
  unchangedCount: v.number(),
  failureCount: v.number(),
  repeatedCount: v.pipe(
    v.number(),
    v.description('Rows that repeat an address of the file; they are counted as updated or unchanged as well.'),
  ),
  repeatedUpdatedCount: v.pipe(v.number(), v.description('Rows of `updatedCount` that repeat an address of the file.')),
  newSubscribedCount: v.pipe(v.number(), v.description('New contacts who would be subscribed.')),
  resubscribedCount: v.pipe(v.number(), v.description('Existing contacts who are not subscribed and would be.')),
  unsubscribedCount: v.pipe(v.number(), v.description('Contacts who are subscribed and would no longer be.')),
  updates: v.pipe(
    v.array(
      v.object({
        row: v.number(),
        email: v.string(),
        subscribed: v.pipe(
          v.nullable(v.boolean()),
          v.description('What the subscription changes to; null when it stays.'),
        ),
        before: v.record(v.string(), v.unknown()),
        after: v.record(v.string(), v.unknown()),
      }),
    ),
    v.description('The first contacts that change, with the fields that differ.'),
  ),
  errors: v.array(v.object({ row: v.number(), email: v.nullable(v.string()), error: v.string() })),
  reasons: v.record(v.string(), v.number()),
});
export type ImportPreview = v.InferOutput<typeof ImportPreview>;

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
  data: v.object({
    projectId: v.string(),
    filename: v.string(),
    segmentId: v.optional(v.string()),
    subscribeNew: v.pipe(
      v.optional(v.boolean()),
      v.description('False when new contacts were not subscribed unless the file said so; absent otherwise.'),
    ),
    consentSource: v.pipe(
      v.optional(v.string()),
      v.description('Where the consent of the contacts that the import subscribed comes from.'),
    ),
  }),
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
    segmentId: v.optional(v.string()),
  }),
  failedReason: v.nullable(v.string()),
});
export type BulkJobBody = v.InferOutput<typeof BulkJobBody>;

/** `GET /contacts/jobs`. */
export const ListJobs = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListJobs = v.InferOutput<typeof ListJobs>;

/** A job of a list. */
const ListedJobBody = v.object({
  id: v.string(),
  kind: v.pipe(v.picklist(jobKinds), v.description('`import`, or `bulk` for every other change of many contacts.')),
  operation: v.pipe(v.picklist(['import', ...bulkJobOperations]), v.description('What it does to contacts.')),
  state: v.picklist(jobStates),
  progress: v.number(),
  filename: v.pipe(v.nullable(v.string()), v.description('Of an import.')),
  counts: v.pipe(
    v.object({
      total: v.number(),
      created: v.number(),
      updated: v.number(),
      unchanged: v.pipe(v.number(), v.description('Contacts that already were.')),
      failed: v.number(),
    }),
    v.description('Rows or contacts so far, by what became of them.'),
  ),
  failedReason: v.nullable(v.string()),
  by: ChangeAuthor,
  createdAt: Instant,
  finishedAt: v.pipe(v.nullable(Instant), v.description('When it ended.')),
  undoes: v.pipe(v.nullable(v.string()), v.description('The job that this one undoes.')),
  undoneBy: v.pipe(v.nullable(v.string()), v.description('The latest job that undoes this one.')),
  undoUntil: v.pipe(
    v.nullable(Instant),
    v.description('Until when it can be undone; null while it runs, when it was undone, and after that time.'),
  ),
});
export type ListedJobBody = v.InferOutput<typeof ListedJobBody>;

/** A page of imports and bulk jobs, the latest first. */
export const JobPage = v.object({ data: v.array(ListedJobBody), cursor: v.nullable(v.string()) });
export type JobPage = v.InferOutput<typeof JobPage>;

nameSchemas({
  ContactJob: ListedJobBody,
  ContactJobPage: JobPage,
  QueuedJob,
  ImportJob: ImportJobBody,
  BulkJob: BulkJobBody,
  BulkSelection: BulkBody,
  BulkSegmentSelection: BulkSegmentBody,
  UndoPreview: UndoReply,
  ImportPreview,
});
