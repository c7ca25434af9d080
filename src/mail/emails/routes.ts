import * as v from 'valibot';
import { ListSuppressed, SuppressedEmail, SuppressedPage } from '../../contacts/suppressions/schema.ts';
import type { App, KeyActor, UserActor } from '../../http/context.ts';
import { type Access, csvReply, inProject, route } from '../../http/route.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import type { Database } from '../../store/sql.ts';
import { composerOf } from '../engine/compose.ts';
import { longestWaitMs } from '../queue/deliver.ts';
import { listClients, SmtpClientBody } from '../smtp-in/clients.ts';
import { getSuppressed, listSuppressed } from '../suppressed/mail.ts';
import { exportEmails } from './export.ts';
import { resendEmail } from './resending.ts';
import { cancelEmail, checkKeyOfMail, rescheduleEmail } from './schedule.ts';
import { EmailRecord, EmailsPage, ExportEmails, GetEmail, ListEmails, MoveEmail, ResendEmail } from './schema.ts';
import { getEmail, listEmails } from './service.ts';

/** Mail that suppression rules have kept from leaving. */
export const suppressedMailRoutes = [
  route.get('/suppressions/emails', {
    ...inProject('emails:read'),
    summary: 'List suppressed mail',
    operationId: 'listSuppressedEmails',
    query: ListSuppressed,
    returns: 'The page of suppressed emails, newest first.',
    reply: SuppressedPage,
    handle: ({ app, db, project, query }) => listSuppressed(db, composerOf(app), project.id, query),
  }),
  route.get('/suppressions/emails/:id', {
    ...inProject('emails:read'),
    summary: 'Get a suppressed mail',
    operationId: 'getSuppressedEmail',
    ids: { id: 'email' },
    returns: 'The suppressed email, with its content as it would have been sent and the rule that stopped it.',
    reply: SuppressedEmail,
    handle: ({ app, db, project, params }) => getSuppressed(db, composerOf(app), project.id, params.id),
  }),
];

const whileItWaits = 'As long as sending has not started; 409 `EMAIL_LEFT` with its `status` after that.';

const resendRoute = <const Who extends Access & ('secret' | 'dashboard')>(prefix: '/v1' | '', access: Who) =>
  route.post(`${prefix}/emails/:id/resend`, {
    scope: 'emails:send',
    access,
    summary: 'Send a failed email again',
    refusals: [409],
    description:
      'The content that was accepted goes out as a new email, which is answered and points to the first with `resendOf`. Consent, suppression rules, the sender and the monthly limit are checked again. 409 `EMAIL_NOT_FAILED` for any other email, `EMAIL_RESENT` for one that was resent before unless the request has an `Idempotency-Key` of its own, `OUTCOME_UNKNOWN` for one that may have arrived unless `evenIfItArrived` is true, `EMAIL_CONTENT_GONE` when its content was emptied after `EMAIL_BODY_RETENTION_DAYS`, or its attachments exceeded the 1 GB that a project keeps of failed mail.',
    tag: 'emails',
    ids: { id: 'email' },
    idempotent: true,
    body: ResendEmail,
    example: { evenIfItArrived: false },
    returns: 'The new email, whose `resendOf` is the ID of the failed one.',
    reply: EmailRecord,
    status: 201,
    async handle({ app, writeOnce, keepAnswer, project, actor, params, body, header }) {
      const { directory, config: billing } = app;
      const key = scopedOf(actor);
      checkUnplanned(key, 1);
      const isKeyed = header('idempotency-key') !== '';
      const deps = { writeOnce, directory, billing, compose: composerOf(app), key, isKeyed, keepAnswer };
      const email = await resendEmail(deps, project, params.id, body.evenIfItArrived);
      app.waker.wake(project.id);
      return email;
    },
  });

// Callers with a key use /v1, the dashboard the same paths without it (docs/contract/reach.md#1).
const routesBelow = <const Who extends Access & ('secret' | 'dashboard')>(prefix: '/v1' | '', access: Who) => [
  route.get(`${prefix}/emails`, {
    scope: 'emails:read',
    access,
    summary: 'List emails',
    description:
      'Everything sent or to be sent, in any way, newest first. Name `contactId`, `to` or `tag`, or a span of at most 31 days with `from`.',
    tag: 'emails',
    query: ListEmails,
    queryExample: { to: 'ada@example.com' },
    returns: 'The page of emails, newest first; with `scheduled`, soonest first.',
    reply: EmailsPage,
    handle: ({ app, db, project, query }) => listEmails(db, composerOf(app), project.id, query, app.clock()),
  }),
  route.get(`${prefix}/emails/:id`, {
    scope: 'emails:read',
    access,
    summary: 'Get an email with what happened to it',
    tag: 'emails',
    ids: { id: 'email' },
    query: GetEmail,
    returns: 'The email with its `timeline`; with `include=body`, its content too.',
    reply: EmailRecord,
    handle: ({ app, db, project, params, query }) =>
      getEmail(db, composerOf(app), project.id, params.id, query.include === 'body'),
  }),
  route.patch(`${prefix}/emails/:id`, {
    scope: 'emails:send',
    access,
    summary: 'Reschedule an email',
    refusals: [409],
    description: whileItWaits,
    tag: 'emails',
    ids: { id: 'email' },
    body: MoveEmail,
    example: { scheduledFor: '2026-12-24T18:00:00+01:00' },
    returns: 'The email with its new `scheduledFor`.',
    reply: EmailRecord,
    handle: (call) => changed(call, () => sendAt(call, call.body.scheduledFor)),
  }),
  route.post(`${prefix}/emails/:id/cancel`, {
    scope: 'emails:send',
    access,
    summary: 'Cancel an email',
    refusals: [409],
    description: whileItWaits,
    tag: 'emails',
    ids: { id: 'email' },
    returns: 'The email, whose `status` is now `CANCELLED`.',
    reply: EmailRecord,
    handle: (call) => changed(call, () => cancelEmail(call.db, call.project.id, call.params.id)),
  }),
  route.post(`${prefix}/emails/:id/release`, {
    scope: 'emails:send',
    access,
    summary: 'Send a held or scheduled email now',
    refusals: [409],
    description: whileItWaits,
    tag: 'emails',
    ids: { id: 'email' },
    returns: 'The email, which is sent now; get it again to see its `status`.',
    reply: EmailRecord,
    handle: (call) => changed(call, () => sendAt(call, null)),
  }),
  resendRoute(prefix, access),
];

interface MailCall {
  app: App;
  db: Database;
  project: { id: string };
  actor: KeyActor | UserActor;
  params: { id: string };
}

/** Does something to a mail that its caller's key could have sent, and answers the mail. */
async function changed({ app, db, project, actor, params }: MailCall, change: () => Promise<void>) {
  await checkKeyOfMail(db, scopedOf(actor), project.id, params.id);
  await change();
  return getEmail(db, composerOf(app), project.id, params.id, false);
}

async function sendAt({ app, db, project, actor, params }: MailCall, scheduledFor: string | null): Promise<void> {
  checkUnplanned(scopedOf(actor), 1);
  const at = await rescheduleEmail(db, project.id, params.id, scheduledFor);
  if (at === null || at.getTime() - app.clock().getTime() <= longestWaitMs) app.waker.wake(project.id, at !== null);
}

function scopedOf(actor: KeyActor | UserActor) {
  return actor.kind === 'key' ? actor.scoped : null;
}

const exportRoute = route.post('/emails/export', {
  heavy: true,
  ...inProject('emails:read'),
  summary: 'Export emails as CSV',
  operationId: 'exportEmails',
  description:
    'A file of the emails that match these filters, newest first. Name `contactId`, `to` or `tag`, or a span of at most 31 days with `from`. The audit log notes it.',
  tag: 'emails',
  body: ExportEmails,
  example: { from: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', status: 'BOUNCED' },
  returns: 'The CSV file, with one row for each email that matches, newest first.',
  textReply: 'text/csv',
  handle: async ({ app, db, project, body }) =>
    csvReply(await exportEmails(db, composerOf(app), project.id, body, app.clock()), 'emails.csv'),
});

/** Emails as a resource: what became of each, by the id that `POST /v1/send` answered. */
export const emailRoutes = [...routesBelow('/v1', 'secret'), ...routesBelow('', 'dashboard'), exportRoute];

/** Routes for the last activity of programs that send by SMTP. */
export const smtpRoutes = [
  route.get('/projects/:id/smtp-clients', {
    access: 'project',
    tag: 'emails',
    summary: 'List programs that send by SMTP',
    operationId: 'listSmtpClients',
    description: 'The last 50 of 30 days, by key and address: when each was last seen, and why it was last refused.',
    returns: 'The programs, most recently seen first; up to 50.',
    reply: v.array(SmtpClientBody),
    handle: ({ db, project }) => listClients(db, project.id),
  }),
];
