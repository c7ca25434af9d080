import { hash } from 'node:crypto';
import { headerPrefix } from '@fernpost/earlier-name';
import { type IncomingMessage, readMessage, SmtpReply, type Submission } from '@fernpost/smtp-submission';
import { domainOf, fieldProblems, normalizeEmail } from '@fernpost/validation';
import * as v from 'valibot';
import { sharedDatabaseNow } from '../../core/database/clock.ts';
import type { Database, WriteOnce } from '../../core/database/sql.ts';
import type { KeyedRequest } from '../../core/http/idempotency.ts';
import type { RateLimiter } from '../../core/http/rate-limit.ts';
import { AppError, invalid } from '../../core/lib/errors.ts';
import type { KeyOwner } from '../../platform/projects/index.ts';
import { acceptSend, SendBody, type SendDeps } from '../transactional/index.ts';
import { type Directives, readDirectives } from './directives.ts';
import { emailsOfKey, keepEmailsOfKey } from './queries.ts';

/** What accepting a message needs: what `acceptSend` needs, and what the HTTP API does before it. */
export interface AcceptDeps extends Omit<SendDeps, 'writeOnce' | 'accepted' | 'db' | 'key' | 'now'> {
  db: Database;
  /** `writeOnceWith` of the HTTP kit. */
  writeOnceWith: (db: Database, request: KeyedRequest) => WriteOnce;
  limiter: Pick<RateLimiter, 'take'>;
  /** Says that the project has mail, after the commit. */
  wake: (projectId: string) => void;
}

type Sender = Pick<KeyOwner, 'project' | 'scoped'>;

// Headers of a message that are for the service.
const prefixes = ['x-fernpost-', headerPrefix];
// How long a repetition is known (docs/contract/reach.md#4-exactly-once).
const ttlHours = 24;

/**
 * Accepts a message: one email for each recipient of the envelope, by the rules of `POST /v1/send`. Resolves to the ids of the emails
 * when they are committed; a repetition within a day gets those of the first time, and nothing is sent again.
 * @throws SmtpReply, AppError
 */
export async function acceptMessage(
  deps: AcceptDeps,
  { project, scoped }: Sender,
  submission: Submission,
): Promise<string[]> {
  const read = await readMessage(submission.raw, prefixes);
  const message = { ...read, replyTo: normalizeEmail(read.replyTo ?? '') };
  const directives = readDirectives(message);
  const key = keyOf(scoped?.id ?? 'secret', submission, message, directives);
  const earlier = await emailsOfKey(deps.db, project.id, key);
  if (earlier !== null) return earlier;
  if (project.disabled) throw new SmtpReply(550, '5.7.1', 'This project is disabled');
  if (project.resetting)
    throw new SmtpReply(451, '4.3.2', 'This project is being reset: try again when that has finished');
  const body = requestOf(submission, message, directives);
  const domains = await deps.directory.senderDomains(project.id);
  const sender = typeof body.from === 'object' ? body.from.email : body.from;
  if (sender !== undefined && !domains.has(domainOf(sender)))
    throw new SmtpReply(550, '5.7.1', `Sender domain is not verified: ${domainOf(sender)}`);
  await deps.limiter.take(project.id, submission.recipients.length);
  const request = {
    projectId: project.id,
    key,
    isApart: false,
    method: 'SMTP',
    path: 'DATA',
    successStatus: 250,
    ttlHours,
    requestHash: null,
  };
  try {
    const emails = await acceptSend(
      {
        ...deps,
        key: scoped,
        now: sharedDatabaseNow(deps.db),
        writeOnce: deps.writeOnceWith(deps.db, request),
        accepted: (tx, emails) =>
          keepEmailsOfKey(
            tx,
            project.id,
            key,
            emails.map(({ email }) => email),
          ),
      },
      project,
      body,
      { isLiteral: directives.template === undefined, messageClass: directives.messageClass },
    );
    deps.wake(project.id);
    return emails.map(({ email }) => email);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error;
    return (await emailsOfKey(deps.db, project.id, key)) ?? [];
  }
}

function requestOf({ mailFrom, recipients }: Submission, message: IncomingMessage, directives: Directives): SendBody {
  const { template, tracking, data, tags, scheduledFor } = directives;
  const { subject, html, attachments, headers, replyTo } = message;
  const from = message.from?.address ? message.from : { address: mailFrom, name: '' };
  const parsed = v.safeParse(SendBody, {
    to: recipients.map((email) => ({ email, name: message.names.get(email) ?? null })),
    from: { email: from.address, name: from.name.trim() || null },
    // A message may have no subject and no HTML, which a request to the HTTP API must have.
    ...(template === undefined ? { subject: subject || '-', body: html || '-' } : { template }),
    ...(replyTo === null ? {} : { reply: replyTo }),
    ...(tracking === undefined ? {} : { tracking }),
    ...(scheduledFor === undefined ? {} : { scheduledFor }),
    data,
    tags,
    headers,
    attachments,
  });
  if (!parsed.success) throw invalid(fieldProblems(parsed.issues));
  return template === undefined ? { ...parsed.output, subject, body: html, text: message.text } : parsed.output;
}

/**
 * What makes a repetition: the same key, envelope and `Message-ID`, and the same content. Content and not bytes, because a client that
 * builds a message again makes other boundaries and dates. Without a `Message-ID` the date counts too. A key that the client names
 * stands in the place of both, for this envelope: clients split messages with many recipients.
 */
function keyOf(
  keyId: string,
  { mailFrom, recipients }: Submission,
  message: IncomingMessage,
  { idempotencyKey }: Directives,
): string {
  const { from, replyTo, subject, html, text, attachments, messageId, date, directives } = message;
  const content = { from, replyTo, subject, html, text, attachments, directives: [...directives] };
  const identity =
    idempotencyKey === null
      ? { messageId: messageId ?? `at ${date}`, content: hash('sha256', JSON.stringify(content)) }
      : { idempotencyKey };
  const facts = { keyId, mailFrom, recipients: recipients.toSorted(), ...identity };
  return `smtp:${hash('sha256', JSON.stringify(facts))}`;
}
