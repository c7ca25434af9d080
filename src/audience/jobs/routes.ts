import type { IncomingMessage } from 'node:http';
import { reply, route } from '../../core/http/route.ts';
import { bareInvalid } from '../../core/lib/errors.ts';
import { BulkBody, BulkJobBody, bulkOperations, ImportJobBody, QueuedJob } from './schema.ts';
import { getBulkJob, getImportJob, queueBulk, queueImport } from './service.ts';

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
