import type { IncomingMessage } from 'node:http';
import type { App } from '../http/context.ts';
import { inProject, reply, route } from '../http/route.ts';
import { bareInvalid } from '../lib/errors.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { previewImport } from './import-preview.ts';
import { listJobs } from './list.ts';
import {
  BulkBody,
  BulkJobBody,
  BulkSegmentBody,
  bulkOperations,
  ImportJobBody,
  ImportPreview,
  JobPage,
  ListJobs,
  QueuedJob,
  UndoBody,
  UndoReply,
} from './schema.ts';
import {
  getBulkJob,
  getImportJob,
  type Queued,
  queueBulk,
  queueImport,
  queueSegmentEntries,
  queueUndo,
} from './service.ts';

const verbs = { subscribe: 'Subscribe', unsubscribe: 'Unsubscribe', delete: 'Delete' } as const;

const fileRules =
  'Multipart, part `file`, UTF-8, at most 5 MB, with a header row and a column `email`. The part `mapping` is JSON that says what each column is for: `{"Full name": "data.name", "Score": {"field": "data.score", "type": "number"}, "Notes": null}`. With the part `matchFields=true`, a column that is not named there and differs from an existing field in case, spaces and underscores only becomes that field, and a new one keeps its case; without it, names are lower-cased. With `subscribeNew=false`, new contacts are subscribed only if their row says so. The text `consentSource`, of at most 200 characters, becomes the contact field of that name of the contacts that the import subscribes, new or not.';

const csvFile = {
  type: 'multipart/form-data',
  fields: { file: { type: 'string', format: 'binary', description: 'The CSV file, up to 5 MB.' } },
};

const bulkRules = 'Takes 1 to 1,000 IDs, or a filter. Returns at once; get the job to see its progress.';
const pollJob = 'poll `GET /contacts/bulk/{jobId}` until its `state` is `completed` or `failed`.';
const queueing = {
  ...inProject('contacts:write'),
  status: 202,
  bodyLimit: 'data',
  bodyError: bareInvalid,
  reply: QueuedJob,
} as const;

function dispatched({ outbox }: App, { queued, ticket }: Queued): QueuedJob {
  outbox.dispatchSoon(ticket);
  return queued;
}

/** Work on many contacts at once: imports of CSV files and bulk changes, each a durable job. */
export const jobRoutes = [
  route.get('/contacts/jobs', {
    ...inProject('contacts:read'),
    summary: 'List imports and bulk jobs',
    operationId: 'listContactJobs',
    description: 'Newest first, each with what it did and until when it can be undone.',
    query: ListJobs,
    returns: 'The page of imports and bulk jobs, newest first.',
    reply: JobPage,
    handle: ({ app, db, project, query }) => listJobs(db, project.id, query, app.config.CONTACT_HISTORY_DAYS),
  }),
  route.post('/contacts/import', {
    bareRefusals: [400],
    ...inProject('contacts:write'),
    summary: 'Import contacts from a CSV file',
    operationId: 'importContacts',
    bodyForm: csvFile,
    description: `${fileRules} The contacts join the STATIC segment \`segmentId\`, or a new one \`segmentName\`. Returns at once; get the job to see its progress.`,
    bodyKind: 'stream',
    status: 202,
    returns: 'The import is queued; poll `GET /contacts/import/{jobId}` until its `state` is `completed` or `failed`.',
    reply: QueuedJob,
    handle: async ({ app, db, project, body }) =>
      dispatched(app, await queueImport(db, project.id, body as unknown as IncomingMessage, app.clock())),
  }),
  route.post('/contacts/import/preview', {
    bareRefusals: [400],
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Preview an import of contacts',
    operationId: 'previewImport',
    bodyForm: csvFile,
    description: `What an import of the file would create, update and refuse now. Nothing is written. ${fileRules}`,
    bodyKind: 'stream',
    returns: 'What the import would create, update and refuse. Nothing is written.',
    reply: ImportPreview,
    handle: ({ db, project, body }) => previewImport(db, project.id, body as unknown as IncomingMessage),
  }),
  route.get('/contacts/import/:jobId', {
    bareRefusals: [404],
    ...inProject('contacts:read'),
    summary: 'Get an import',
    returns: 'The import with its `state` and `progress`; `result` is null until it is completed.',
    reply: ImportJobBody,
    handle: ({ db, project, params }) => getImportJob(db, project.id, params.jobId),
  }),
  ...(['import', 'bulk'] as const).map((kind) =>
    route.post(`/contacts/${kind}/:jobId/undo`, {
      bareRefusals: [404],
      heavy: true,
      ...inProject('contacts:write'),
      summary: kind === 'import' ? 'Undo an import' : 'Undo a bulk change',
      operationId: kind === 'import' ? 'undoImport' : 'undoBulkJob',
      description:
        'Restores fields that still have the value of the job, deletes contacts it created and that nothing happened to, takes subscriptions back, and brings back contacts that it deleted. 200 for a dry run; otherwise 202 with a bulk job, which can be undone itself. 409 `PREVIEW_UNFINISHED` when counting what it would do takes longer than 10 seconds: send the same request again, which goes on from there. 410 `TOO_LATE` after CONTACT_HISTORY_DAYS, of a bulk delete after 7 days.',
      status: 202,
      body: UndoBody,
      example: { dryRun: true },
      returns: {
        200: 'What the undo would do; nothing is changed, and `jobId` is null.',
        202: `The undo is queued as a job; ${pollJob}`,
      },
      reply: UndoReply,
      async handle({ app, db, project, actor, params, body }) {
        if (!body.dryRun) checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
        const days = app.config.CONTACT_HISTORY_DAYS;
        const undo = await queueUndo(db, project.id, { kind, jobId: params.jobId }, body, days);
        if (undo.ticket !== null) app.outbox.dispatchSoon(undo.ticket);
        return reply(undo.ticket === null ? 200 : 202, undo.reply);
      },
    }),
  ),
  ...bulkOperations.map((operation) =>
    route.post(`/contacts/bulk-${operation}`, {
      ...queueing,
      summary: `${verbs[operation]} many contacts`,
      operationId: `${operation}Contacts`,
      description: `${bulkRules}${operation === 'delete' ? ' Can be undone for 7 days; then the contacts are deleted permanently, with their events and emails.' : ''}`,
      body: BulkBody,
      example: { mode: 'query', filter: { search: '@example.com' } },
      returns: `The job that ${operation}s the contacts is queued; ${pollJob}`,
      handle: async ({ app, db, project, body }) => dispatched(app, await queueBulk(db, project.id, operation, body)),
    }),
  ),
  route.post('/contacts/bulk-add-to-segment', {
    ...queueing,
    summary: 'Add many contacts to a STATIC segment',
    operationId: 'addContactsToSegment',
    description: bulkRules,
    body: BulkSegmentBody,
    example: {
      segmentId: '0197c2f0-0000-7000-8000-000000000000',
      mode: 'query',
      filter: { search: '@example.com' },
    },
    returns: `The job that adds the contacts is queued; ${pollJob}`,
    handle: async ({ app, db, project, body }) => dispatched(app, await queueSegmentEntries(db, project.id, body)),
  }),
  route.get('/contacts/bulk/:jobId', {
    bareRefusals: [404],
    ...inProject('contacts:read'),
    summary: 'Get a bulk job',
    operationId: 'getBulkJob',
    returns: 'The job with its `state` and `progress`; `result` is null until it is completed.',
    reply: BulkJobBody,
    handle: ({ db, project, params }) => getBulkJob(db, project.id, params.jobId),
  }),
];
