import type { BillingSettings } from '../../billing/service.ts';
import { type ErasedAddresses, refuseErased } from '../../contacts/erased.ts';
import { suppressionOf, suppressionOfHoldout, suppressionOfKey } from '../../contacts/suppressions/matching.ts';
import type { SuppressionRuleCache } from '../../contacts/suppressions/rules.ts';
import type { MatchingRule } from '../../contacts/suppressions/schema.ts';
import { checkKeySender, checkSenderDomain } from '../../domains/service.ts';
import type { ScopedKey } from '../../http/context.ts';
import { type JsonObjectValue, splitData } from '../../lib/contact-data.ts';
import { AppError, invalid, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { domainOf, parseSender } from '../../lib/validation/email-address.ts';
import type { ProjectDirectory, ProjectFacts } from '../../projects/directory.ts';
import type { Database } from '../../store/sql.ts';
import type { TemplateCache, TemplateRow } from '../../templates/queries.ts';
import { scheduleOf } from '../emails/schedule.ts';
import { contentBytes, isSimulated } from '../ledger/queries.ts';
import { contactsOfAddresses, type SendFacts, type SendRecipient } from './queries.ts';
import type { SendBody } from './schema.ts';

/** Dependencies of checking mail. */
export interface MailCheckDeps {
  /** For what is only read. */
  db: Database;
  directory: Pick<ProjectDirectory, 'senderDomains'>;
  templates: TemplateCache;
  suppressionRules: SuppressionRuleCache;
  erasedAddresses: Pick<ErasedAddresses, 'suppressed'>;
  /** Limits of the deployment. */
  limits: {
    attachments: number;
    attachmentBytes: number;
    messageBytes: number;
    /** Extensions of files that the provider never carries. */
    refusedExtensions: ReadonlySet<string>;
  };
  billing: BillingSettings;
  /** The key of the request, where it has scopes and limits. */
  key: ScopedKey | null;
  /** The time by the clock of Postgres. */
  now(): Promise<Date>;
}

/** Properties of mail that does not come by the HTTP API, beside the fields of a request. */
export interface OwnContent {
  /** Subject, body and text are no templates. */
  isLiteral: boolean;
  /** Where no template says it. */
  messageClass: SendFacts['messageClass'];
}

/** Mail that may be accepted: nothing but the limits of the project can refuse it. */
export interface CheckedMail {
  facts: SendFacts;
  /** In the order of `to`. */
  recipients: SendRecipient[];
  /** Bytes that it takes in the ledger, for all recipients. */
  storedBytes: number;
  /** The request says when it is sent, and so does the answer. */
  isTimed: boolean;
}

const megabyte = 1024 * 1024;
/** Most bytes that one request may store: each recipient has a row with the whole content, so that it may become a thousand times as large. */
export const mostStoredBytes = 256 * megabyte;

/**
 * Checks a request to send without writing anything.
 * @throws 422, also CONTACT_ERASED, 404 TEMPLATE_NOT_FOUND, 403 for the sender's domain or one that the key may not use, 400 for an unsubscribed recipient of
 * marketing mail
 */
export async function checkMail(
  deps: MailCheckDeps,
  project: ProjectFacts,
  body: SendBody,
  own: OwnContent | null = null,
): Promise<CheckedMail> {
  checkAttachments(deps.limits, body);
  const template = body.template === undefined ? null : await deps.templates.find(project.id, body.template);
  if (body.template !== undefined && template === null) throw notFound('template', body.template);
  const { from, fromName } = senderOf(project, body, template);
  const isTimed = Boolean(body.scheduledFor ?? body.hold);
  const facts: SendFacts = {
    subscribed: body.subscribed ?? null,
    ...dataOf(body),
    subject: body.subject ?? template?.subject ?? '',
    body: body.body ?? template?.body ?? '',
    text: body.text ?? null,
    from,
    fromName,
    replyTo: body.reply ?? body.replyTo ?? template?.replyTo ?? null,
    headers: body.headers ?? null,
    attachments: body.attachments && body.attachments.length > 0 ? body.attachments : null,
    messageClass: template?.type ?? own?.messageClass ?? 'TRANSACTIONAL',
    templateId: template?.id ?? null,
    tracking: body.tracking ?? null,
    tags: body.tags && Object.keys(body.tags).length > 0 ? body.tags : null,
    schedule: isTimed ? scheduleOf(body, await deps.now()) : { scheduledFor: null, heldUntil: null },
    isLiteral: own?.isLiteral ?? false,
  };
  checkMessageSize(deps.limits.messageBytes, facts);
  const bytes = contentBytes({ ...facts, data: facts.variables }, facts.attachments);
  const count = Array.isArray(body.to) ? body.to.length : 1;
  checkStoredSize(bytes, count);
  checkKeySender(deps.key, domainOf(from));
  const domains = await deps.directory.senderDomains(project.id);
  checkSenderDomain(domains, domainOf(from));
  const rules = await deps.suppressionRules.of(project.id);
  await refuseErased(deps.erasedAddresses, project.id, addressFields(body.to));
  const recipients = recipientsOf(body.to, bytes, rules, { key: deps.key, from });
  if (facts.messageClass === 'MARKETING') await checkMarketing(deps.db, project, recipients, body);
  return { facts, recipients, storedBytes: bytes * count, isTimed };
}

function recipientsOf(
  to: SendBody['to'],
  bytes: number,
  rules: readonly MatchingRule[],
  { key, from }: { key: ScopedKey | null; from: string },
): SendRecipient[] {
  const now = new Date();
  const list = Array.isArray(to) ? to : [to];
  return list.map((recipient) => {
    const { email, name } = typeof recipient === 'string' ? { email: recipient, name: null } : recipient;
    return {
      email,
      contact_id: newId(),
      email_id: newId(),
      flip_id: newId(),
      to_name: name ? name : null,
      simulated: isSimulated(email),
      bytes,
      suppression: suppressionOf(rules, email, now) ?? suppressionOfKey(key, { to: email, from }, now),
      held_out: null,
    };
  });
}

function addressFields(to: SendBody['to']): { field: string; email: string }[] {
  const emailOf = (recipient: string | { email: string }) =>
    typeof recipient === 'string' ? recipient : recipient.email;
  return Array.isArray(to)
    ? to.map((recipient, place) => ({ field: `to.${place}`, email: emailOf(recipient) }))
    : [{ field: 'to', email: emailOf(to) }];
}

function senderOf(
  project: ProjectFacts,
  body: SendBody,
  template: TemplateRow | null,
): { from: string; fromName: string } {
  const written = typeof body.from === 'string' ? parseSender(body.from) : null;
  const own = typeof body.from === 'object' ? body.from : written?.name ? written : null;
  const from = own?.email ?? written?.email ?? template?.from;
  if (from === undefined)
    throw invalidField('from', 'is required: neither the request nor a template names a sender', 'required');
  // The older name fields never override the name of a sender object, not even a missing one.
  const older = own ? null : (body.fromName ?? body.name);
  return { from, fromName: own?.name || older || template?.fromName || project.name };
}

function dataOf(body: SendBody): Pick<SendFacts, 'set' | 'remove' | 'variables'> {
  return splitData((body.data ?? {}) as JsonObjectValue);
}

function checkAttachments(limits: MailCheckDeps['limits'], body: SendBody): void {
  const attachments = body.attachments ?? [];
  if (attachments.length > limits.attachments)
    throw invalidField('attachments', `must have at most ${limits.attachments} items`, 'too_big');
  const refused = attachments.flatMap(({ filename }, place) => {
    const extension = extensionOf(filename);
    if (!limits.refusedExtensions.has(extension)) return [];
    const message = `is a file of a type that the mail provider never carries (.${extension}): put it into an archive, or send a link`;
    return [{ field: `attachments.${place}.filename`, code: 'custom', message }];
  });
  if (refused.length > 0) throw invalid(refused);
  const encoded = attachments.reduce((sum, attachment) => sum + attachment.content.length, 0);
  const most = Math.floor((limits.attachmentBytes * 4) / 3);
  if (encoded > most)
    throw invalidField(
      'attachments',
      `are ${encoded} characters of base64 together; at most ${most} are allowed`,
      'custom',
    );
}

function checkMessageSize(limit: number, facts: SendFacts): void {
  const { subject, body, text } = facts;
  if (contentBytes({ subject, body, text }, facts.attachments) <= limit) return;
  const most = `${Math.floor(limit / megabyte)} MB`;
  throw invalidField(
    facts.attachments === null ? 'body' : 'attachments',
    `make the message larger than the ${most} that the mail provider takes`,
    'too_big',
  );
}

function checkStoredSize(bytes: number, recipients: number): void {
  if (bytes * recipients <= mostStoredBytes) return;
  const most = mostStoredBytes / megabyte;
  throw invalidField(
    'to',
    `has ${recipients} recipients of a message of ${bytes} bytes, which is stored for each of them: a request may store at most ${most} MB. Send to ${Math.floor(mostStoredBytes / bytes)} at once, or put links in place of attachments.`,
    'too_big',
  );
}

/** Refuses marketing mail to contacts that are not subscribed, and suppresses that to the control group. */
async function checkMarketing(
  db: Database,
  { id: projectId, holdout }: ProjectFacts,
  recipients: SendRecipient[],
  { subscribed }: SendBody,
): Promise<void> {
  if (subscribed === true && holdout === null) return;
  const addresses = [...new Set(recipients.map((recipient) => recipient.email))];
  const contacts = subscribed === false ? new Map() : await contactsOfAddresses(db, projectId, addresses);
  const refused = subscribed !== true && addresses.find((address) => contacts.get(address)?.subscribed !== true);
  if (typeof refused === 'string')
    throw new AppError(
      400,
      'BAD_REQUEST',
      `${refused} is not subscribed, and this is marketing mail: nothing was sent`,
      {
        details: { email: refused },
        suggestion: 'Pass "subscribed": true if the recipient agreed.',
      },
    );
  const now = new Date();
  // The first mail to an address makes its contact.
  const ids = new Map<string, string>();
  for (const recipient of recipients) {
    const { email: to, contact_id, suppression } = recipient;
    const contactId = contacts.get(to)?.id ?? ids.get(to) ?? contact_id;
    ids.set(to, contactId);
    if (suppression !== null) continue;
    recipient.suppression = suppressionOfHoldout(holdout, { projectId, contactId, to }, now);
    if (recipient.suppression !== null) recipient.held_out = contactId;
  }
}

/** The extension of a file's name, lower case and without its dot; empty where there is none. */
function extensionOf(filename: string): string {
  return /\.([^.\s]+)\s*$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}
