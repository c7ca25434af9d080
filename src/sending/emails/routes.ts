import { type Access, route } from '../../core/http/route.ts';
import { composerOf, longestWaitMs } from '../engine/index.ts';
import { cancelEmail, rescheduleEmail } from './queued.ts';
import { EmailRecord, EmailsPage, GetEmail, ListEmails, MoveEmail } from './schema.ts';
import { getEmail, listEmails } from './service.ts';

// Callers with a key use /v1, the dashboard the same paths without it (contract page 4).
const routesBelow = <const Who extends Access & ('secret' | 'dashboard')>(prefix: '/v1' | '', access: Who) => [
  route({
    method: 'GET',
    path: `${prefix}/emails`,
    scope: 'emails:read',
    access,
    summary: 'List emails',
    description:
      'Everything that was sent or is to be sent, by whatever way, the latest first. Name `contactId`, `to` or `tag`, or a span of at most 31 days with `from`.',
    tag: 'emails',
    query: ListEmails,
    reply: EmailsPage,
    handle: ({ app, db, project, query }) => listEmails(db, composerOf(app), project.id, query, app.clock()),
  }),
  route({
    method: 'GET',
    path: `${prefix}/emails/:id`,
    scope: 'emails:read',
    access,
    summary: 'Get an email with what happened to it',
    tag: 'emails',
    ids: { id: 'email' },
    query: GetEmail,
    reply: EmailRecord,
    handle: ({ app, db, project, params, query }) =>
      getEmail(db, composerOf(app), project.id, params.id, query.include === 'body'),
  }),
  route({
    method: 'PATCH',
    path: `${prefix}/emails/:id`,
    access,
    summary: 'Send an email at another time',
    description: 'While nobody has begun to send it; 409 `EMAIL_LEFT` with its `status` after that.',
    tag: 'emails',
    ids: { id: 'email' },
    body: MoveEmail,
    reply: EmailRecord,
    async handle({ app, db, project, params, body }) {
      const at = await rescheduleEmail(db, project.id, params.id, body.scheduledFor, app.clock());
      if (at === null || at.getTime() - app.clock().getTime() <= longestWaitMs) app.waker.wake(project.id);
      return getEmail(db, composerOf(app), project.id, params.id, false);
    },
  }),
  route({
    method: 'POST',
    path: `${prefix}/emails/:id/cancel`,
    access,
    summary: 'Cancel an email',
    description: 'While nobody has begun to send it; 409 `EMAIL_LEFT` with its `status` after that.',
    tag: 'emails',
    ids: { id: 'email' },
    reply: EmailRecord,
    async handle({ app, db, project, params }) {
      await cancelEmail(db, project.id, params.id);
      return getEmail(db, composerOf(app), project.id, params.id, false);
    },
  }),
  route({
    method: 'POST',
    path: `${prefix}/emails/:id/release`,
    access,
    summary: 'Send a held or scheduled email now',
    description: 'While nobody has begun to send it; 409 `EMAIL_LEFT` with its `status` after that.',
    tag: 'emails',
    ids: { id: 'email' },
    reply: EmailRecord,
    async handle({ app, db, project, params }) {
      await rescheduleEmail(db, project.id, params.id, null, app.clock());
      app.waker.wake(project.id);
      return getEmail(db, composerOf(app), project.id, params.id, false);
    },
  }),
];

/** Emails as a resource: what became of each, by the id that `POST /v1/send` answered. */
export const emailRoutes = [...routesBelow('/v1', 'secret'), ...routesBelow('', 'dashboard')];
