import type { App, KeyActor } from '../../http/context.ts';
import { route } from '../../http/route.ts';
import { invalid } from '../../lib/errors.ts';
import { sharedDatabaseNow } from '../../store/changes.ts';
import type { Database } from '../../store/sql.ts';
import { longestWaitMs } from '../queue/deliver.ts';
import { acceptBatch, recipientsOf, sendProblems } from './batch.ts';
import type { MailCheckDeps } from './checks.ts';
import { BatchBody, BatchReply, mostInBatch, mostRecipients, SendBody, SendReply, type SentItem } from './schema.ts';
import { acceptSend } from './service.ts';

const megabyte = 1024 * 1024;

/** Mail that a caller sends to named recipients. */
export const transactionalRoutes = [
  route.post('/v1/send', {
    refusals: [402, 404],
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
    bodyError: (problems, _, suggestion) => invalid(sendProblems(problems), suggestion),
    returns: 'The accepted emails, one for each recipient; `GET /v1/emails/{id}` shows what happens to each.',
    reply: SendReply,
    async handle({ app, db, writeOnce, keepAnswer, project, actor, body }) {
      const answerOf = answered(app);
      const emails = await acceptSend(
        {
          ...checkDeps(app, db, actor),
          writeOnce,
          accepted: (tx, items) => keepAnswer(tx, answerOf({ emails: items })),
        },
        project,
        body,
      );
      wakeFor(app, project.id, emails);
      return answerOf({ emails });
    },
  }),
  route.post('/v1/emails/batch', {
    refusals: [402, 404],
    scope: 'emails:send',
    access: 'secret',
    summary: 'Send up to 100 emails in one request',
    operationId: 'sendEmailBatch',
    description:
      'Each item is a body of `POST /v1/send`; together they have at most 1,000 recipients, each of which counts against the rate limit. With the mode `all` nothing is sent unless everything can be, and fields are named like `emails.3.to`. With `each` the answer is 200 and says of each item whether it was accepted. One `Idempotency-Key` stands for the whole batch.',
    tag: 'emails',
    idempotent: true,
    bodyLimit: 'message',
    rateCost: (body) => recipientsTogether((body as { emails?: unknown }).emails),
    body: BatchBody,
    example: {
      emails: [
        { to: 'ada@example.com', subject: 'Your receipt', body: '<p>Thank you.</p>', from: 'hello@acme.com' },
        { to: 'grace@example.com', subject: 'Your receipt', body: '<p>Thank you.</p>', from: 'hello@acme.com' },
      ],
    },
    returns:
      'One result for each item, in the order of the request: its emails or, in the mode `each`, why it was refused.',
    reply: BatchReply,
    async handle({ app, db, writeOnce, keepAnswer, project, actor, body }) {
      const answerOf = answered(app);
      const results = await acceptBatch(
        {
          ...checkDeps(app, db, actor),
          writeOnce,
          accepted: (tx, items) => keepAnswer(tx, answerOf({ results: items })),
        },
        project,
        body,
      );
      wakeFor(
        app,
        project.id,
        results.flatMap((result) => (result.ok ? result.emails : [])),
      );
      return answerOf({ results });
    },
  }),
];

function answered(app: App) {
  const timestamp = app.clock().toISOString();
  return <Data extends object>(data: Data) => ({ success: true, data: { ...data, timestamp } });
}

function checkDeps(
  { config, directory, templates, suppressionRules, erasedAddresses, mailer }: App,
  db: Database,
  actor: KeyActor,
): MailCheckDeps {
  const limits = {
    attachments: config.MAX_ATTACHMENTS_COUNT,
    attachmentBytes: config.MAX_ATTACHMENT_SIZE_MB * megabyte,
    messageBytes: mailer.maxMessageBytes,
    refusedExtensions: mailer.refusedExtensions ?? new Set<string>(),
  };
  return {
    db,
    directory,
    templates,
    suppressionRules,
    erasedAddresses,
    limits,
    billing: config,
    key: actor.scoped,
    now: sharedDatabaseNow(db),
  };
}

// Mail of later is woken by the workers' sweep when it is due.
function wakeFor({ clock, waker }: App, projectId: string, emails: readonly SentItem[]): void {
  const instants = emails.map(({ scheduledFor, heldUntil }) => scheduledFor ?? heldUntil ?? null);
  const soon = instants.filter((at) => at === null || Date.parse(at) - clock().getTime() <= longestWaitMs);
  if (soon.length > 0)
    waker.wake(
      projectId,
      soon.some((at) => at !== null),
    );
}

// What is over a maximum is refused by the schema, and is one request.
function recipientsIn(body: unknown): number {
  const count = recipientsOf(body);
  return count <= mostRecipients ? count : 1;
}

function recipientsTogether(emails: unknown): number {
  if (!Array.isArray(emails) || emails.length > mostInBatch) return 1;
  const count = emails.reduce<number>((sum, email) => sum + recipientsOf(email), 0);
  return count <= mostRecipients ? Math.max(1, count) : 1;
}
