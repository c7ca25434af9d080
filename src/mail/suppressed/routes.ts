import { ListSuppressed, SuppressedEmail, SuppressedPage } from '../../contacts/suppressions/schema.ts';
import { inProject, route } from '../../http/route.ts';
import { composerOf } from '../engine/compose.ts';
import { getSuppressed, listSuppressed } from './mail.ts';

/** Mail that suppression rules have kept from leaving. */
export const suppressedMailRoutes = [
  route.get('/suppressions/emails', {
    ...inProject('emails:read'),
    summary: 'List suppressed mail',
    operationId: 'listSuppressedEmails',
    query: ListSuppressed,
    reply: SuppressedPage,
    handle: ({ app, db, project, query }) => listSuppressed(db, composerOf(app), project.id, query),
  }),
  route.get('/suppressions/emails/:id', {
    ...inProject('emails:read'),
    summary: 'Get a suppressed mail',
    operationId: 'getSuppressedEmail',
    ids: { id: 'email' },
    reply: SuppressedEmail,
    handle: ({ app, db, project, params }) => getSuppressed(db, composerOf(app), project.id, params.id),
  }),
];
