import type { IncomingMessage } from 'node:http';
import { reply, route } from '../../core/http/route.ts';
import { bareInvalid } from '../../core/lib/errors.ts';
import { BulkBody, BulkJobBody, bulkOperations, ImportJobBody, QueuedJob, UndoBody, UndoReply } from './schema.ts';
import { getBulkJob, getImportJob, queueBulk, queueImport, queueUndo } from './service.ts';

const verbs = { subscribe: 'Subscribe', unsubscribe: 'Unsubscribe', delete: 'Delete' } as const;

/** Work on many contacts at once: imports of CSV files and bulk changes, each a durable job. */
export const jobRoutes = [
  route({
    method: 'POST',
    path: '/contacts/import',
    scope: 'contacts:write',
    access: 'dashboard',
    summary: 'Import contacts from a CSV file',
    operationId: 'importContacts',
    bodyForm: { type: 'multipart/form-data', fields: { file: { type: 'string', format: 'binary' } } },
    description:
      'Multipart, part `file`, UTF-8, at most 5 MB, with a header row and a column `email`. Returns at once; get the job to see its progress.',
    bodyKind: 'stream',
    status: 202,
    reply: QueuedJob,
    async handle({ app, db, project, body }) {
      const { queued, ticket } = await queueImport(db, project.id, body as unknown as IncomingMessage);
      app.outbox.dispatchSoon(ticket);
      return reply(202, queued);
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/import/:jobId',
    scope: 'contacts:read',
    access: 'dashboard',
    summary: 'Get an import',
    reply: ImportJobBody,
    handle: ({ db, project, params }) => getImportJob(db, project.id, params.jobId),
  }),
  ...(['import', 'bulk'] as const).map((kind) =>
    route({
      method: 'POST',
      path: `/contacts/${kind}/:jobId/undo`,
      scope: 'contacts:write',
      access: 'dashboard',
      summary: kind === 'import' ? 'Undo an import' : 'Undo a bulk change',
      operationId: kind === 'import' ? 'undoImport' : 'undoBulkJob',
      description:
        'Restores fields that still have the value of the job, deletes contacts it created and that nothing happened to, and takes subscriptions back. 200 for a dry run; otherwise 202 with a bulk job, which can be undone itself.',
      status: 202,
      alsoStatus: 200,
      body: UndoBody,
      example: { dryRun: true },
      reply: UndoReply,
      async handle({ app, db, project, params, body }) {
        const days = app.config.CONTACT_HISTORY_DAYS;
        const undo = await queueUndo(db, project.id, { kind, jobId: params.jobId }, body, days);
        if (undo.ticket !== null) app.outbox.dispatchSoon(undo.ticket);
        return reply(undo.ticket === null ? 200 : 202, undo.reply);
      },
    }),
  ),
  ...bulkOperations.map((operation) =>
    route({
      method: 'POST',
      path: `/contacts/bulk-${operation}`,
      scope: 'contacts:write',
      access: 'dashboard',
      summary: `${verbs[operation]} many contacts`,
      operationId: `${operation}Contacts`,
      description: 'Takes 1 to 1,000 IDs, or a filter. Returns at once; get the job to see its progress.',
      status: 202,
      body: BulkBody,
      example: { mode: 'query', filter: { search: '@example.com' } },
      bodyLimit: 'data',
      bodyError: bareInvalid,
      reply: QueuedJob,
      async handle({ app, db, project, body }) {
        const { queued, ticket } = await queueBulk(db, project.id, operation, body);
        app.outbox.dispatchSoon(ticket);
        return reply(202, queued);
      },
    }),
  ),
  route({
    method: 'GET',
    path: '/contacts/bulk/:jobId',
    scope: 'contacts:read',
    access: 'dashboard',
    summary: 'Get a bulk job',
    operationId: 'getBulkJob',
    reply: BulkJobBody,
    handle: ({ db, project, params }) => getBulkJob(db, project.id, params.jobId),
  }),
];
