import type { ReceivedMail } from '@fernpost/mail-providers';
import { domainOf, normalizeEmail, parseSender } from '@fernpost/validation';
import { upsertContactRow, writingAs } from '../../audience/contacts/index.ts';
import type { ErasedAddresses } from '../../audience/erased/index.ts';
import { newEvent, recordingEvents } from '../../core/database/record-events.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { type BillingSettings, reserveReceivedMail } from '../../platform/billing/index.ts';
import { acceptingMail, isSimulated, receiptKey } from '../ledger/index.ts';

/** What became of a received mail: `ignored` when it is for nobody here, or from nobody that can be a contact. */
export type Received = 'done' | 'duplicate' | 'ignored';

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
    const receivers = await tx.rows<{ projectId: string; domain: string }>(sql`
      select project_id as "projectId", domain from domains where domain = any (${addresses.map(domainOf)}::text[]) and verified`);
    if (receivers.length === 0) return 'ignored';
    const isNew = await tx.count(sql`
      insert into webhook_receipts (source, key) values (${mail.provider}, ${receiptKey(mail.key)}) on conflict do nothing`);
    if (isNew === 0) return 'duplicate';
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
  const event = newEvent({
    projectId,
    contactId: contact.id,
    emailId,
    name: 'email.received',
    data: JSON.stringify(data),
    mailAt: timestamp,
  });
  await tx.count(recordingEvents({ given, events: sql`select ${event} from accepted` }));
}
