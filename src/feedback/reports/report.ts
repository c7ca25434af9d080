import * as v from 'valibot';
import { type BillingSettings, reserveReceivedMail } from '../../billing/service.ts';
import type { ErasedAddresses } from '../../contacts/erased.ts';
import { upsertContactRow, writingAs } from '../../contacts/write.ts';
import type { Notification, ReceivedMail } from '../../domains/providers/mailer.ts';
import { Domain } from '../../domains/queries.ts';
import { instantOf, newId } from '../../lib/ids.ts';
import { measureReport } from '../../lib/telemetry.ts';
import { type Clock, pause } from '../../lib/time.ts';
import { domainOf, normalizeEmail, parseSender } from '../../lib/validation/email-address.ts';
import { field } from '../../lib/validation/fields.ts';
import { acceptingMail } from '../../mail/ledger/accept.ts';
import { isSimulated, receiptKey } from '../../mail/ledger/queries.ts';
import { systemProjectId } from '../../mail/providers/journal.ts';
import { noteReceipt, removedBefore } from '../../store/columns.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, sql } from '../../store/sql.ts';
import { applyNotification, findByMessageId, leaveByReport, type MailKey, type Notified } from './notify.ts';

/** The body of every answer to a webhook, of refusals too. */
export const webhookReplySchema = v.object({
  success: field('Whether the notification was accepted.', v.boolean()),
  message: field(
    'What was done with it, or why it was refused, as a sentence; absent when there is nothing to say.',
    v.optional(v.string()),
  ),
  error: field('Why the notification could not be read; absent otherwise.', v.optional(v.string())),
  duplicate: field(
    '`true` when the same notification was processed before; absent otherwise.',
    v.optional(v.boolean()),
  ),
});

/** The response to a webhook. */
export interface NotificationAnswer {
  status: number;
  body: v.InferOutput<typeof webhookReplySchema>;
}

/** The dependencies of handling webhooks of providers. */
export interface NotificationDeps {
  db: Database;
  clock: Clock;
  /** Decides how much mail a project may receive. */
  billing: BillingSettings;
  /** Senders whose mail is not taken in. */
  erasedAddresses: Pick<ErasedAddresses, 'suppressed'>;
  log: { warn(facts: object, text: string): void };
  /** How long our own record of a hand-over is waited for, in milliseconds; 1,500 when absent. */
  patienceMs?: number;
  /** Called with the project whose mail bounced permanently or was reported as spam, once that is stored. Never rejects. */
  harmed?: (projectId: string) => Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Takes one report about a mail (docs/contract/platform.md#8-1): applied once. What is about a mail that is not known yet is
 * answered 503, so that the provider repeats it, for a day. `source` names the provider's channel in the receipts. Rejects when
 * Postgres does.
 */
export async function takeReport(
  deps: NotificationDeps,
  source: string,
  notification: Notification,
): Promise<NotificationAnswer> {
  // Mail of the service itself has no ledger row that a report could change.
  if (notification.projectId === systemProjectId) return { status: 200, body: { success: true, message: 'Ignored' } };
  const began = performance.now();
  const { outcome, projectId } = await apply(deps, source, notification);
  const { kind } = notification.effect;
  measureReport({ channel: source, kind, outcome }, (performance.now() - began) / 1000);
  if (outcome === 'done' && projectId !== null && doesHarm(notification)) await deps.harmed?.(projectId);
  if (outcome === 'done') return { status: 200, body: { success: true } };
  if (outcome === 'duplicate') return { status: 200, body: { success: true, duplicate: true } };
  if (outcome === 'forgotten')
    return { status: 200, body: { success: true, message: 'Ignored: the recipient was erased' } };
  if (outcome === 'removed') return { status: 200, body: { success: true, message: 'The mail is no longer kept' } };
  const { messageId, at } = notification;
  if (deps.clock().getTime() - Date.parse(at) <= dayMs)
    return { status: 503, body: { success: false, message: 'The mail is not known yet' } };
  deps.log.warn({ messageId, kind }, 'a report about an unknown mail was dropped after a day');
  return { status: 200, body: { success: true, message: 'Dropped: no such mail' } };
}

function doesHarm({ effect }: Notification): boolean {
  return effect.kind === 'complaint' || (effect.kind === 'bounce' && effect.bounceType === 'Permanent');
}

/** The outcome of a report, and the project whose mail it was about. */
interface Applied {
  outcome: Notified | 'removed';
  projectId: string | null;
}

const unknown: Applied = { outcome: 'unknown', projectId: null };

async function isRemoved(db: Database, { emailId, projectId }: MailKey): Promise<boolean> {
  const before = await removedBefore(db, projectId, 'mail');
  return before !== null && instantOf(emailId) < before;
}

// Who complains about mail that is no longer kept gets no more either.
async function ofRemoved(db: Database, mail: MailKey, notification: Notification): Promise<Applied> {
  await leaveByReport(db, mail, notification);
  return { outcome: 'removed', projectId: mail.projectId };
}

// A report can overtake the record of its own hand-over by some milliseconds. Waiting keeps `email.sent` first and lets the
// event carry the rendered subject; a mail whose hand-over is unconfirmed is changed all the same, for the report proves it.
async function apply(deps: NotificationDeps, source: string, notification: Notification): Promise<Applied> {
  const { recipient, messageId } = notification;
  const mail = await mailOf(deps, notification);
  if (mail === null) return unknown;
  const deadline = performance.now() + (deps.patienceMs ?? 1500);
  let outcome = await applyNotification(deps.db, source, mail, notification, false);
  for (let wait = 20; outcome === 'unsettled'; wait = Math.min(wait * 2, 250)) {
    const late = performance.now() + wait > deadline;
    if (!late) await pause(wait);
    outcome = await applyNotification(deps.db, source, mail, notification, late);
  }
  if (outcome !== 'unknown' || messageId === null) return { outcome, projectId: mail.projectId };
  // Ids that name no mail of ours may have been set by another system on the same account.
  const other = await findByMessageId(deps.db, recipient, messageId);
  if (other === null) return (await isRemoved(deps.db, mail)) ? ofRemoved(deps.db, mail, notification) : unknown;
  outcome = await applyNotification(deps.db, source, other, notification, true);
  return { outcome, projectId: other.projectId };
}

async function mailOf({ db }: NotificationDeps, { emailId, projectId, recipient, messageId }: Notification) {
  if (emailId !== null && projectId !== null) return { emailId, projectId };
  return messageId === null ? null : findByMessageId(db, recipient, messageId);
}

/** The outcome of a received mail: `ignored` when it is for nobody here, or from nobody that can be a contact. */
type Received = 'done' | 'duplicate' | 'ignored';

/**
 * Takes in a mail that was sent to domains of ours (docs/contract/platform.md#8-4): for each project that it reaches the sender
 * becomes a contact, and the mail a RECEIVED row and one `email.received` event, all in one transaction with the receipt.
 * Projects over their cap for received mail are passed over, and those in which the sender's address was erased and stays suppressed. Rejects when Postgres does; nothing is written then.
 */
export async function recordReceivedMail(
  db: Database,
  billing: BillingSettings,
  erasedAddresses: Pick<ErasedAddresses, 'suppressed'>,
  mail: ReceivedMail,
): Promise<Received> {
  const sender = normalizeEmail(mail.from);
  const addresses = [...new Set(mail.received.flatMap((address) => normalizeEmail(address) ?? []))];
  if (sender === null || addresses.length === 0) return 'ignored';
  return db.transaction(async (tx) => {
    const receiving = { domain: addresses.map(domainOf), verified: true };
    const receivers = await tx.em.find(Domain, receiving, { fields: ['projectId', 'domain'] });
    if (receivers.length === 0) return 'ignored';
    if (!(await noteReceipt(tx, mail.provider, receiptKey(mail.key)))) return 'duplicate';
    const reached = new Set<string>();
    for (const address of addresses) {
      const receiver = receivers.find(({ domain }) => domain === domainOf(address));
      if (receiver === undefined || reached.has(receiver.projectId)) continue;
      // A mail to two addresses of one project is still one mail: all of them stand in `recipients`.
      reached.add(receiver.projectId);
      if ((await erasedAddresses.suppressed(receiver.projectId, [sender])).has(sender)) continue;
      if (await reserveReceivedMail(tx, billing, receiver.projectId))
        await storeFor(tx, receiver.projectId, sender, address, mail);
    }
    return 'done';
  });
}

async function storeFor(
  tx: Database,
  projectId: string,
  sender: string,
  address: string,
  mail: ReceivedMail,
): Promise<void> {
  const write = { email: sender, subscribed: null, set: {}, remove: [] };
  const contact = await upsertContactRow(tx, projectId, write, writingAs(tx, 'inbound'));
  const { messageId, provider, timestamp, body, verdicts, processingTimeMillis } = mail;
  const subject = mail.subject ?? '(No subject)';
  const data = {
    messageId,
    from: mail.from,
    fromHeader: mail.fromHeader ?? mail.from,
    // Whom the mail shows as its sender; `from` is the envelope's, which lists and bounces rewrite.
    sender: parseSender(mail.fromHeader ?? mail.from) ?? { email: sender, name: null },
    to: address,
    subject,
    timestamp,
    recipients: mail.recipients,
    hasContent: mail.hasContent,
    ...(body === null ? {} : { body }),
    ...verdicts,
    ...(processingTimeMillis === null ? {} : { processingTimeMillis }),
  };
  const emailId = newId();
  const given = acceptingMail({
    projectId,
    columns: `id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status, message_id, provider,
      simulated, delivered_at`,
    rows: sql`
      select ${emailId}, ${projectId}, id, ${address}, ${address}, ${subject}, ${body ?? ''}, 'INBOUND', 'TRANSACTIONAL', 'RECEIVED',
        ${messageId}, ${provider}, ${isSimulated(sender)}, ${timestamp}::timestamptz
      from contacts where id = ${contact.id} for key share`,
  });
  const event = {
    projectId,
    contactId: contact.id,
    emailId,
    name: 'email.received',
    data: JSON.stringify(data),
    mailAt: timestamp,
    // What answers mail of a test key starts what that key may start.
    limitedBy: sql`(
      select limited_by from emails where contact_id = ${contact.id} and sent_at is not null order by id desc limit 1)`,
    from: sql`accepted`,
  };
  await tx.count(recordingEvents({ given, events: [event] }));
}
