import {
  type MatchingRule,
  type SuppressionMatch,
  type SuppressionRuleCache,
  suppressionOf,
} from '../../audience/suppressions/index.ts';
import type { TemplateCache, TemplateRow } from '../../content/templates/index.ts';
import type { Database, WriteOnce } from '../../core/database/sql.ts';
import type { ScopedKey } from '../../core/http/context.ts';
import { splitData } from '../../core/lib/contact-data.ts';
import { domainOf } from '../../core/lib/email-address.ts';
import { AppError, badRequest, invalid, invalidField, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import {
  type BillingSettings,
  type GrantedQuota,
  limitExceeded,
  reserveMail,
  usageGate,
} from '../../platform/billing/index.ts';
import { senderDomainRefused } from '../../platform/domains/index.ts';
import type { ProjectDirectory, ProjectFacts } from '../../platform/projects/index.ts';
import { checkKeySender, reaches, type SendTime, scheduleOf } from '../emails/index.ts';
import { contentBytes } from '../ledger/index.ts';
import { acceptTogether } from './accept-together.ts';
import {
  type AcceptedEmail,
  acceptEmails,
  acceptWithin,
  type SendFacts,
  type SendRecipient,
  scheduledBytes,
  subscribedAddresses,
} from './queries.ts';
import type { SendBody, SentItem } from './schema.ts';

/** What accepting mail needs. */
export interface SendDeps {
  /** For what is only read. */
  db: Database;
  writeOnce: WriteOnce;
  directory: Pick<ProjectDirectory, 'senderDomains'>;
  templates: TemplateCache;
  suppressionRules: SuppressionRuleCache;
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
  now: Date;
  /** Runs in the transaction of the writes, after them. */
  accepted(tx: Database, emails: readonly SentItem[]): Promise<unknown>;
}

/** What mail that does not come by the HTTP API brings beside the fields of its requests. */
export interface OwnContent {
  /** Subject, body and text are no templates. */
  isLiteral: boolean;
  /** Where no template says it. */
  messageClass: SendFacts['messageClass'];
}

const recipientsPerStatement = 1_000;
const megabyte = 1024 * 1024;
// Each recipient has a row of their own with the whole content, so that a request may become a thousand times as large.
const mostStoredBytes = 256 * megabyte;
// Scheduled mail lies in the ledger for weeks.
const mostScheduledBytes = 1024 * megabyte;
const simulators = new Set(['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com']);

/**
 * Accepts mail for each recipient of the request (contract page 1, 2.3): everything is checked before the first write,
 * and when this resolves all messages are queued durably. Answers them in the order of `to`.
 * @throws 422, 404 TEMPLATE_NOT_FOUND, 403 for the sender's domain or one that the key may not use, 402 BILLING_LIMIT_EXCEEDED, 400 for an unsubscribed
 * recipient of marketing mail
 */
export async function acceptSend(
  deps: SendDeps,
  project: ProjectFacts,
  body: SendBody,
  own: OwnContent | null = null,
): Promise<SentItem[]> {
  checkAttachments(deps.limits, body);
  const template = body.template === undefined ? null : await deps.templates.find(project.id, body.template);
  if (body.template !== undefined && template === null) throw notFound('template', body.template);
  const { from, fromName } = senderOf(project, body, template);
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
    schedule: scheduleOf(body, deps.now),
    isLiteral: own?.isLiteral ?? false,
  };
  checkMessageSize(deps.limits.messageBytes, facts);
  const bytes = contentBytes({ ...facts, data: facts.variables }, facts.attachments);
  checkStoredSize(bytes, body);
  checkKeySender(deps.key, domainOf(from));
  const domains = await deps.directory.senderDomains(project.id);
  if (!domains.has(domainOf(from))) throw senderDomainRefused(domainOf(from));
  const rules = await deps.suppressionRules.of(project.id);
  const recipients = recipientsOf(body.to, bytes, rules, deps.key);
  if (facts.messageClass === 'MARKETING' && body.subscribed !== true)
    await refuseUnsubscribed(deps.db, project.id, recipients, body);
  const acceptance = await deps.writeOnce(
    async (db) => {
      const result = await acceptWithinLimit(db, deps.billing, project, recipients, facts);
      if ('overQuota' in result) return result;
      const times = body.scheduledFor || body.hold ? timesOf(facts.schedule) : {};
      const emails = recipients.map((recipient) => ({ ...sentItem(recipient, result.accepted), ...times }));
      await deps.accepted(db, emails);
      return { emails };
    },
    (result) => 'emails' in result,
  );
  // Thrown after the commit, which keeps a counter that has begun.
  if ('overQuota' in acceptance) throw limitExceeded('TRANSACTIONAL', acceptance.overQuota);
  return acceptance.emails;
}

function sentItem({ email_id }: SendRecipient, accepted: ReadonlyMap<string, AcceptedEmail>): SentItem {
  const email = accepted.get(email_id);
  if (!email) throw new Error('A recipient has no message');
  return { contact: { id: email.contactId, email: email.email }, email: email.emailId };
}

function timesOf({ scheduledFor, heldUntil }: SendTime) {
  return { scheduledFor: scheduledFor?.toISOString() ?? null, heldUntil: heldUntil?.toISOString() ?? null };
}

/** What became of a request's mail: accepted, or refused by a monthly limit. */
type Acceptance = { accepted: ReadonlyMap<string, AcceptedEmail> } | { overQuota: GrantedQuota };

// Only mail that is sent counts: what a rule suppresses takes no quota.
async function acceptWithinLimit(
  db: Database,
  billing: BillingSettings,
  project: ProjectFacts,
  recipients: readonly SendRecipient[],
  facts: SendFacts,
): Promise<Acceptance> {
  const [first, ...others] = wavesOfDistinct(recipients);
  if (!first) return { accepted: new Map() };
  const gate = usageGate(project.billing, 'TRANSACTIONAL', billing.freeTier);
  const count = recipients.filter(({ suppression }) => suppression === null).length;
  const { scheduledFor, heldUntil } = facts.schedule;
  const isStored = facts.attachments !== null && (scheduledFor ?? heldUntil) !== null;
  if (others.length === 0 && first.length === 1 && !isStored) {
    if (gate === null || count === 0) {
      const [recipient] = first;
      const email = recipient ? await acceptTogether(db, project.id, recipient, facts) : null;
      return { accepted: email ? new Map([[email.emailId, email]]) : await acceptWave(db, project.id, first, facts) };
    }
    const within = await acceptWithin(db, project.id, first, facts, gate);
    if (within !== null && within.length > 0)
      return { accepted: new Map(within.map((email) => [email.emailId, email])) };
    if (within !== null) return { accepted: await acceptWave(db, project.id, first, facts) };
    // No quota, or nobody has begun to count this month: the way of several recipients finds out.
  }
  return db.transaction(async (tx): Promise<Acceptance> => {
    if (isStored) await checkScheduledBytes(tx, project.id, recipients);
    const request = { projectId: project.id, category: 'TRANSACTIONAL' as const, count, billing: project.billing };
    const quota = await reserveMail(tx, billing, request);
    if (quota.granted < count) return { overQuota: quota };
    const accepted = new Map<string, AcceptedEmail>();
    for (const wave of [first, ...others])
      for (const [id, email] of await acceptWave(tx, project.id, wave, facts)) accepted.set(id, email);
    return { accepted };
  });
}

async function checkScheduledBytes(
  tx: Database,
  projectId: string,
  recipients: readonly SendRecipient[],
): Promise<void> {
  const wanted = recipients.reduce((sum, { bytes, suppression }) => sum + (suppression === null ? bytes : 0), 0);
  const used = await scheduledBytes(tx, projectId);
  if (used + wanted <= mostScheduledBytes) return;
  const message = 'The attachments of scheduled mail would take more than 1 GB in this project';
  throw new AppError(409, 'SCHEDULED_STORAGE_FULL', message, {
    details: { usedBytes: used, requestedBytes: wanted, limitBytes: mostScheduledBytes },
    suggestion: 'Put links in place of attachments, or send the mail when others have been sent.',
  });
}

async function acceptWave(db: Database, projectId: string, wave: readonly SendRecipient[], facts: SendFacts) {
  const accepted = new Map<string, AcceptedEmail>();
  let missing = wave;
  for (let attempt = 0; attempt < 10 && missing.length > 0; attempt++) {
    for (const email of await acceptEmails(db, projectId, missing, facts)) accepted.set(email.emailId, email);
    missing = missing.filter((recipient) => !accepted.has(recipient.email_id));
  }
  return accepted;
}

// One statement cannot write a contact twice, and a second message to an address must see what the first one wrote.
function wavesOfDistinct(recipients: readonly SendRecipient[]): SendRecipient[][] {
  const waves: SendRecipient[][] = [];
  const waveOf = new Map<string, number>();
  for (const recipient of recipients) {
    let index = (waveOf.get(recipient.email) ?? -1) + 1;
    while ((waves[index]?.length ?? 0) >= recipientsPerStatement) index++;
    waveOf.set(recipient.email, index);
    const wave = waves[index];
    if (wave) wave.push(recipient);
    else waves[index] = [recipient];
  }
  return waves.filter((wave) => wave !== undefined);
}

function recipientsOf(
  to: SendBody['to'],
  bytes: number,
  rules: readonly MatchingRule[],
  key: ScopedKey | null,
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
      simulated: simulators.has(domainOf(email)),
      bytes,
      suppression: suppressionOf(rules, email, now) ?? suppressionOfKey(key, email, now),
    };
  });
}

// Mail of a test key is kept like mail that a rule matches.
function suppressionOfKey(key: ScopedKey | null, recipient: string, at: Date): SuppressionMatch | null {
  if (key === null || reaches(key, recipient)) return null;
  const { id: ruleId, prefix: pattern } = key;
  return { ruleId, name: 'key may not reach it', kind: 'KEY', pattern, recipient, matchedAt: at.toISOString() };
}

function senderOf(
  project: ProjectFacts,
  body: SendBody,
  template: TemplateRow | null,
): { from: string; fromName: string } {
  const own = typeof body.from === 'object' ? body.from : null;
  const from = own?.email ?? (typeof body.from === 'string' ? body.from : template?.from);
  if (from === undefined)
    throw invalidField('from', 'is required: neither the request nor a template names a sender', 'required');
  // The older name fields never override the name of a sender object, not even a missing one.
  const older = own ? null : (body.fromName ?? body.name);
  return { from, fromName: own?.name || older || template?.fromName || project.name };
}

function dataOf(body: SendBody): Pick<SendFacts, 'set' | 'remove' | 'variables'> {
  return splitData((body.data ?? {}) as JsonObjectValue);
}

function checkAttachments(limits: SendDeps['limits'], body: SendBody): void {
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

function checkStoredSize(bytes: number, { to }: SendBody): void {
  const recipients = Array.isArray(to) ? to.length : 1;
  if (bytes * recipients <= mostStoredBytes) return;
  const most = mostStoredBytes / megabyte;
  throw invalidField(
    'to',
    `has ${recipients} recipients of a message of ${bytes} bytes, which is stored for each of them: a request may store at most ${most} MB. Send to ${Math.floor(mostStoredBytes / bytes)} at once, or put links in place of attachments.`,
    'too_big',
  );
}

async function refuseUnsubscribed(
  db: Database,
  projectId: string,
  recipients: readonly SendRecipient[],
  body: SendBody,
): Promise<void> {
  const addresses = [...new Set(recipients.map((recipient) => recipient.email))];
  const subscribed = body.subscribed === false ? new Set() : await subscribedAddresses(db, projectId, addresses);
  const refused = addresses.find((address) => !subscribed.has(address));
  if (refused !== undefined)
    throw badRequest(
      `${refused} is not subscribed, and the template is of type MARKETING: nothing was sent. Pass "subscribed": true if the recipient agreed.`,
      { email: refused },
    );
}

/** The extension of a file's name, lower case and without its dot; empty where there is none. */
function extensionOf(filename: string): string {
  return /\.([^.\s]+)\s*$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}
