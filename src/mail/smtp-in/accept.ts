import { hash } from 'node:crypto';
import { headerPrefix } from '@fernpost/earlier-name';
import * as v from 'valibot';
import { BodyError } from '../../http/bodies/json.ts';
import type { KeyedRequest } from '../../http/idempotency.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import { traced } from '../../lib/telemetry.ts';
import { domainOf, normalizeEmail } from '../../lib/validation/email-address.ts';
import { fieldProblems } from '../../lib/validation/problems.ts';
import type { KeyOwner } from '../../projects/directory.ts';
import { sharedDatabaseNow } from '../../store/changes.ts';
import { passingFailure } from '../../store/postgres/connection.ts';
import { type Database, sql, type WriteOnce } from '../../store/sql.ts';
import { type IncomingMessage, readMessage } from '../smtp/message.ts';
import type { Submission } from '../smtp/server.ts';
import { SmtpReply } from '../smtp/waiting-room.ts';
import { SendBody } from '../transactional/schema.ts';
import { acceptSend, type SendDeps } from '../transactional/service.ts';
import { type Directives, readDirectives } from './sign-in.ts';

const away = () => new SmtpReply(451, '4.3.0', 'Temporarily unavailable, try again later');

/**
 * The replies to failures: codes of the contract (docs/contract/reach.md#4). 4xx lets the client keep the message and try again,
 * so it is for what passes; 5xx for what no repetition changes. Null for a failure that nobody foresaw, which is logged.
 */
export function replyTo(error: unknown): SmtpReply | null {
  if (error instanceof SmtpReply) return error;
  if (passingFailure(error) !== null || error instanceof BodyError) return away();
  if (!(error instanceof AppError)) return null;
  const { status, message, extra } = error;
  const isDirective = extra.errors?.some(({ field }) => /^(scheduledFor|template|tags|data)\b/.test(field)) ?? false;
  if (isDirective) return new SmtpReply(550, '5.5.4', message);
  const isTooBig = extra.errors?.some(({ code, field }) => code === 'too_big' || field === 'attachments') ?? false;
  if (status === 422) return isTooBig ? new SmtpReply(552, '5.3.4', message) : new SmtpReply(550, '5.6.0', message);
  if (status === 403) return new SmtpReply(550, '5.7.1', message);
  if (status === 400) return new SmtpReply(550, '5.7.1', message);
  if (status === 402) return new SmtpReply(452, '4.2.2', message);
  if (status === 404) return new SmtpReply(550, '5.5.4', message);
  if (status === 429) return new SmtpReply(451, '4.7.0', `${message}. ${extra.suggestion ?? ''}`);
  return status >= 500 || status === 409 ? away() : null;
}

/** The reply to what nobody foresaw: the client keeps the message. */
export const unforeseen = away;

/** The emails that were accepted under an idempotency key that still counts; null where it has not been used. */
async function emailsOfKey(db: Database, projectId: string, key: string): Promise<string[] | null> {
  const row = await db.row<{ emailIds: string[] | null }>(sql`
    select email_ids as "emailIds" from idempotency_keys
      where project_id = ${projectId} and key = ${key} and expires_at > now()`);
  return row && (row.emailIds ?? []);
}

/** Keeps which emails were accepted under a key, in the transaction that claimed it. */
function keepEmailsOfKey(tx: Database, projectId: string, key: string, ids: readonly string[]): Promise<number> {
  return tx.count(sql`
    update idempotency_keys set email_ids = ${ids}::uuid[] where project_id = ${projectId} and key = ${key}`);
}

/** Dependencies of accepting a message: those of `acceptSend`, and of what the HTTP API does before it. */
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
 * when they are committed; a repetition within a day gets those of the first time, and nothing is sent again. Begins a trace, as a request does.
 * @throws SmtpReply, AppError
 */
export function acceptMessage(deps: AcceptDeps, sender: Sender, submission: Submission): Promise<string[]> {
  const facts = { 'fernpost.project.id': sender.project.id, 'fernpost.recipients': submission.recipients.length };
  return traced('SMTP message', { kind: 'server', isRoot: true, facts }, () => accept(deps, sender, submission));
}

async function accept(deps: AcceptDeps, { project, scoped }: Sender, submission: Submission): Promise<string[]> {
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
 * The identity of a repetition: the same key, envelope and `Message-ID`, and the same content. Content and not bytes, because a client that
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
