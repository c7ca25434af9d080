import * as v from 'valibot';
import { ChangeAuthor } from '../contacts/history-service.ts';
import { CursorParameter } from '../lib/pages.ts';
import {
  codedAt,
  field,
  GivenUuid,
  Instant,
  Integer,
  limitParameter,
  nameSchemas,
  textField,
} from '../lib/validation/fields.ts';
import { FilterBody } from '../segments/lists/schema.ts';
import { ImportMapping } from './import-mapping.ts';

/** Types of jobs; each has its own paths, and an id of one type is unknown under those of the others. */
export const jobKinds = ['import', 'bulk', 'simulation'] as const;
const listedKinds = ['import', 'bulk'] as const;
/** States of a job; the last two are final. */
export const jobStates = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;

/** The changes that a bulk job can make to contacts. */
export const bulkOperations = ['subscribe', 'unsubscribe', 'delete'] as const;
export type BulkOperation = (typeof bulkOperations)[number];
const bulkJobOperations = [...bulkOperations, 'add-to-segment', 'undo', 'enroll'] as const;
/** The operations of bulk jobs on a selection of contacts. */
export type SelectedOperation = Exclude<(typeof bulkJobOperations)[number], 'undo' | 'enroll'>;

/** IDs of contacts in a request, 1 to `most`. */
export const contactIdsUpTo = (most: number) =>
  v.pipe(
    v.array(GivenUuid, 'must be an array of contact ids'),
    v.minLength(1, 'must have at least one contact id'),
    v.maxLength(most, `must have at most ${most} contact ids`),
  );

const selection = {
  mode: field(
    'How contacts are selected. `ids`: by `contactIds`. `query`: by `filter`, without `excludeIds`.',
    v.optional(v.picklist(['ids', 'query'], 'must be "ids" or "query"'), 'ids'),
  ),
  contactIds: field('1 to 1,000 contact IDs; required in mode `ids`.', v.optional(contactIdsUpTo(1_000))),
  filter: field('Contacts to select in mode `query`; all when absent.', v.optional(FilterBody)),
  excludeIds: field(
    'Up to 10,000 IDs of contacts to leave out in mode `query`.',
    v.optional(
      v.pipe(
        v.array(GivenUuid, 'must be an array of contact ids'),
        v.maxLength(10_000, 'must have at most 10000 contact ids'),
      ),
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
export const BulkSegmentBody = v.pipe(
  v.object({ ...selection, segmentId: field('ID of the segment to add the contacts to.', GivenUuid) }),
  namesContacts(),
);
export type BulkSegmentBody = v.InferOutput<typeof BulkSegmentBody>;

/** Which contacts a bulk job is for, as its row keeps it. */
export type BulkSelector =
  | { mode: 'ids'; contactIds: string[] }
  | { mode: 'query'; filter: FilterBody; excludeIds: string[] };

/** `POST /contacts/import/{jobId}/undo` and `/contacts/bulk/{jobId}/undo`. */
export const UndoBody = v.object({
  dryRun: field('Only reports what would be done.', v.optional(v.boolean('must be true or false'), false)),
  conflicts: field(
    'What happens to fields that have changed since: kept, or restored as well.',
    v.optional(v.picklist(['keep', 'restore'], 'must be "keep" or "restore"'), 'keep'),
  ),
});
export type UndoBody = v.InferOutput<typeof UndoBody>;

/** The effect of an undo; `jobId` is null for a dry run. */
export const UndoReply = v.object({
  jobId: field('ID of the job that performs the undo; null for a dry run.', v.nullable(v.string())),
  deletes: field('Contacts that the job created and that have not changed since.', Integer),
  restores: field('Contacts whose fields or subscription go back, or that come back.', Integer),
  conflicts: field(
    'Fields that were changed since, with the number of contacts.',
    v.array(
      v.object({
        key: field('Name of the field.', v.string()),
        count: field('Number of contacts whose field changed since.', Integer),
      }),
    ),
  ),
  keeps: field(
    'Contacts or subscriptions that stay as they are, by reason.',
    v.array(
      v.object({
        reason: field('Why they stay as they are.', v.string()),
        count: field('Number of contacts or subscriptions.', Integer),
      }),
    ),
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

/** The effect that an import would have. */
export const ImportPreview = v.object({
  totalRows: field('Number of rows in the file.', Integer),
  createdCount: field('Rows that would create a contact.', Integer),
  updatedCount: field('Rows that would update a contact.', Integer),
  unchangedCount: field('Rows that would change nothing.', Integer),
  failureCount: field('Rows that would be refused.', Integer),
  repeatedCount: field(
    'Rows that repeat an address of the file; they are counted as updated or unchanged as well.',
    Integer,
  ),
  repeatedUpdatedCount: field('Rows of `updatedCount` that repeat an address of the file.', Integer),
  newSubscribedCount: field('New contacts who would be subscribed.', Integer),
  resubscribedCount: field('Existing contacts who are not subscribed and would be.', Integer),
  unsubscribedCount: field('Contacts who are subscribed and would no longer be.', Integer),
  updates: field(
    'The first contacts that change, with the fields that differ.',
    v.array(
      v.object({
        row: field('Line of the row in the file.', Integer),
        email: field('Email address of the contact.', v.string()),
        subscribed: field('What the subscription changes to; null when it stays.', v.nullable(v.boolean())),
        before: field('Fields that would change, with their current values.', v.record(v.string(), v.unknown())),
        after: field('Fields that would change, with their new values.', v.record(v.string(), v.unknown())),
      }),
    ),
  ),
  errors: field(
    'The first rows that would be refused.',
    v.array(
      v.object({
        row: field('Line of the row in the file.', Integer),
        email: field('Email address in the row; null when there is none.', v.nullable(v.string())),
        error: field('Why the row would be refused.', v.string()),
      }),
    ),
  ),
  reasons: field('Number of refused rows, by reason.', v.record(v.string(), Integer)),
});
export type ImportPreview = v.InferOutput<typeof ImportPreview>;

/** A job that was queued. */
export const QueuedJob = v.object({
  message: field('What happens next, for people.', v.string()),
  jobId: field('ID of the job; use it to read its progress.', v.string()),
});
export type QueuedJob = v.InferOutput<typeof QueuedJob>;

const head = {
  id: field('ID of the job.', v.string()),
  state: field('State of the job; `completed` and `failed` are final.', v.picklist(jobStates)),
  progress: field('Progress in percent, from 0 to 100.', Integer),
};

/** `GET /contacts/import/{jobId}`; `result` is null until the job is completed. */
export const ImportJobBody = v.object({
  ...head,
  result: field(
    'Result of the import; null until it is completed.',
    v.nullable(
      v.object({
        totalRows: field('Number of rows in the file.', Integer),
        successCount: field('Rows that were imported, including those that changed nothing.', Integer),
        createdCount: field('Rows that created a contact.', Integer),
        updatedCount: field('Rows that updated a contact.', Integer),
        unchangedCount: field('Rows that changed nothing.', Integer),
        failureCount: field('Rows that were refused.', Integer),
        errors: field(
          'The first rows that were refused.',
          v.array(
            v.object({
              row: field('Line of the row in the file.', Integer),
              email: field('Email address in the row; null when there is none.', v.nullable(v.string())),
              error: field('Why the row was refused.', v.string()),
            }),
          ),
        ),
        reasons: field('Number of refused rows, by reason.', v.record(v.string(), Integer)),
      }),
    ),
  ),
  data: field(
    'The request that the job was created for.',
    v.object({
      projectId: field('ID of the project.', v.string()),
      filename: field('Name of the uploaded file.', v.string()),
      segmentId: field('ID of the segment that the contacts are added to; absent without one.', v.optional(v.string())),
      subscribeNew: field(
        'False when new contacts were not subscribed unless the file said so; absent otherwise.',
        v.optional(v.boolean()),
      ),
      consentSource: field(
        'Where the consent of the contacts that the import subscribed comes from.',
        v.optional(v.string()),
      ),
    }),
  ),
  failedReason: field('Why the job failed as a whole; null unless its state is `failed`.', v.nullable(v.string())),
});
export type ImportJobBody = v.InferOutput<typeof ImportJobBody>;

/** `GET /contacts/bulk/{jobId}`; `result` is null until the job is completed. */
export const BulkJobBody = v.object({
  ...head,
  result: field(
    'Result of the job; null until it is completed.',
    v.nullable(
      v.object({
        operation: field('What the job does to contacts.', v.picklist(bulkJobOperations)),
        totalRequested: field('Number of contacts that the request selected.', Integer),
        successCount: field(
          'Number of contacts for which the operation succeeded, including those it did not change.',
          Integer,
        ),
        unchangedCount: field('Number of contacts that were already in the requested state.', Integer),
        failureCount: field('Number of contacts for which the operation failed.', Integer),
        errors: field(
          'The first contacts for which the operation failed.',
          v.array(
            v.object({
              contactId: field('ID of the contact; null when it is unknown.', v.nullable(v.string())),
              email: field('Email address of the contact; null when it is unknown.', v.nullable(v.string())),
              error: field('Why the operation failed for the contact.', v.string()),
            }),
          ),
        ),
        reasons: field('Number of failed contacts, by reason.', v.record(v.string(), Integer)),
      }),
    ),
  ),
  data: field(
    'The request that the job was created for.',
    v.object({
      projectId: field('ID of the project.', v.string()),
      operation: field('What the job does to contacts.', v.picklist(bulkJobOperations)),
      selector: field(
        'How the contacts were selected: by IDs, by a filter, by an event, or by the job that is undone.',
        v.record(v.string(), v.unknown()),
      ),
      segmentId: field(
        'ID of the segment that the contacts are added to; absent for other operations.',
        v.optional(v.string()),
      ),
      workflowId: field(
        'ID of the workflow that the contacts enter; absent for other operations.',
        v.optional(v.string()),
      ),
      mostPerMinute: field(
        'Most contacts that enter the workflow within a minute; null for no limit, absent for other operations.',
        v.optional(v.nullable(Integer)),
      ),
    }),
  ),
  failedReason: field('Why the job failed as a whole; null unless its state is `failed`.', v.nullable(v.string())),
});
export type BulkJobBody = v.InferOutput<typeof BulkJobBody>;

/** `GET /contacts/jobs`. */
export const ListJobs = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListJobs = v.InferOutput<typeof ListJobs>;

/** A job of a list. */
const ListedJobBody = v.object({
  id: field('ID of the job.', v.string()),
  kind: field('`import`, or `bulk` for every other change of many contacts.', v.picklist(listedKinds)),
  operation: field('What it does to contacts.', v.picklist(['import', ...bulkJobOperations])),
  state: field('State of the job; `completed` and `failed` are final.', v.picklist(jobStates)),
  progress: field('Progress in percent, from 0 to 100.', Integer),
  filename: field('Of an import.', v.nullable(v.string())),
  counts: field(
    'Rows or contacts so far, by what became of them.',
    v.object({
      total: field('Number of rows or contacts of the job.', Integer),
      created: field('Rows that created a contact.', Integer),
      updated: field('Rows or contacts that were changed.', Integer),
      unchanged: field('Contacts that already were.', Integer),
      failed: field('Rows or contacts that failed.', Integer),
    }),
  ),
  failedReason: field('Why the job failed as a whole; null unless its state is `failed`.', v.nullable(v.string())),
  by: ChangeAuthor,
  createdAt: field('Time at which the job was created.', Instant),
  finishedAt: field('When it ended.', v.nullable(Instant)),
  undoes: field('The job that this one undoes.', v.nullable(v.string())),
  undoneBy: field('The latest job that undoes this one.', v.nullable(v.string())),
  undoUntil: field(
    'Until when it can be undone; null while it runs, when it was undone, and after that time.',
    v.nullable(Instant),
  ),
});
export type ListedJobBody = v.InferOutput<typeof ListedJobBody>;

/** A page of imports and bulk jobs, the latest first. */
export const JobPage = v.object({
  data: field('Jobs of this page, newest first.', v.array(ListedJobBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});
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
