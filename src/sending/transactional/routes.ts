import { route } from '../../core/http/route.ts';
import { invalid } from '../../core/lib/errors.ts';
import { longestWaitMs } from '../engine/index.ts';
import { mostRecipients, SendBody, SendReply, type SentItem } from './schema.ts';
import { acceptSend } from './service.ts';

const megabyte = 1024 * 1024;

/** Mail that a caller sends to named recipients. */
export const transactionalRoutes = [
  route({
    method: 'POST',
    path: '/v1/send',
    scope: 'emails:send',
    access: 'secret',
    summary: 'Send an email',
    operationId: 'sendEmail',
    description:
      'Returns when the messages are durably queued; delivery follows. Each recipient becomes a contact and counts as a request against the rate limit; a request has at most 1,000.',
    tag: 'emails',
    idempotent: true,
    bodyLimit: 'message',
    rateCost: recipientsIn,
    body: SendBody,
    example: {
      to: 'ada@example.com',
      subject: 'Your receipt',
      body: '<p>Thank you, {{ firstName }}.</p>',
      from: { name: 'Acme', email: 'hello@acme.com' },
      data: { firstName: 'Ada' },
    },
    // Nothing at all fits none of the forms of "to" either (contract page 1, 1.3).
    bodyError: (problems, _, suggestion) =>
      invalid(
        problems.map((problem) =>
          problem.field === 'to' && problem.received === 'undefined'
            ? { field: 'to', code: 'invalid_union', message: problem.message }
            : problem,
        ),
        suggestion,
      ),
    reply: SendReply,
    async handle({ app, db, writeOnce, keepAnswer, project, actor, body }) {
      const timestamp = app.clock().toISOString();
      const answerOf = (emails: readonly SentItem[]) => ({ success: true, data: { emails, timestamp } });
      const { config, directory, templates, suppressionRules, mailer } = app;
      const limits = {
        attachments: config.MAX_ATTACHMENTS_COUNT,
        attachmentBytes: config.MAX_ATTACHMENT_SIZE_MB * megabyte,
        messageBytes: mailer.maxMessageBytes,
        refusedExtensions: mailer.refusedExtensions ?? new Set<string>(),
      };
      const emails = await acceptSend(
        {
          db,
          writeOnce,
          directory,
          templates,
          suppressionRules,
          limits,
          billing: config,
          key: actor.scoped,
          now: app.clock(),
          accepted: (tx, emails) => keepAnswer(tx, answerOf(emails)),
        },
        project,
        body,
      );
      if (emails.some((email) => isSoon(email, app.clock()))) app.waker.wake(project.id);
      return answerOf(emails);
    },
  }),
];

// Mail of later is woken by the workers' sweep when it is due.
function isSoon({ scheduledFor, heldUntil }: SentItem, now: Date): boolean {
  const at = scheduledFor ?? heldUntil;
  return at == null || Date.parse(at) - now.getTime() <= longestWaitMs;
}

// What is over the maximum is refused by the schema, and is one request.
function recipientsIn(body: unknown): number {
  const { to } = body as { to?: unknown };
  return Array.isArray(to) && to.length <= mostRecipients ? Math.max(1, to.length) : 1;
}
