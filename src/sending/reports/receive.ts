import type { ReceivedMail } from '@posthorn/mail-providers';
import { upsertContactRow } from '../../audience/contacts/index.ts';
import { type Database, type Sql, statement } from '../../core/database/sql.ts';
import { domainOf, normaliseEmail } from '../../core/lib/email-address.ts';
import { newId } from '../../core/lib/ids.ts';
import { type BillingSettings, reserveReceivedMail } from '../../platform/billing/index.ts';
import { isSimulated, receiptKey } from '../ledger/index.ts';

/** What became of a received mail: `ignored` when it is for nobody here, or from nobody that can be a contact. */
export type Received = 'done' | 'duplicate' | 'ignored';

const projects = statement(
  'emails.receivers',
  'select project_id as "projectId", domain from domains where domain = any ($1::text[]) and verified',
);

const receipt = statement(
  'webhook_receipts.claim',
  'insert into webhook_receipts (source, key) values ($1, $2) on conflict do nothing',
);

const store = statement(
  'emails.receive',
  `with mail as (
     insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status,
       message_id, provider, simulated, delivered_at)
     values ($1, $2, $3, $4, $4, $5, $6, 'INBOUND', 'TRANSACTIONAL', 'RECEIVED', $7, $8, $9, $10::timestamptz))
   insert into events (id, project_id, contact_id, email_id, name, data, mail_at)
   values ($11, $2, $3, $1, 'email.received', $12::jsonb, $10::timestamptz)`,
);

/**
 * Takes in a mail that was sent to domains of ours (contract page 3, 8.4): for each project that it reaches the sender
 * becomes a contact, and the mail a RECEIVED row and one `email.received` event, all in one transaction with the receipt.
 * Projects over their cap for received mail are passed over. Rejects when Postgres does; nothing is written then.
 */
export async function recordReceivedMail(
  db: Database,
  billing: BillingSettings,
  mail: ReceivedMail,
): Promise<Received> {
  const sender = normaliseEmail(mail.from);
  const addresses = [...new Set(mail.received.flatMap((address) => normaliseEmail(address) ?? []))];
  if (sender === null || addresses.length === 0) return 'ignored';
  return db.transaction(async (sql) => {
    const domains = [...new Set(addresses.map(domainOf))];
    const receivers = await sql.rows<{ projectId: string; domain: string }>(projects, [domains]);
    if (receivers.length === 0) return 'ignored';
    if ((await sql.count(receipt, [mail.provider, receiptKey(mail.key)])) === 0) return 'duplicate';
    const told = new Set<string>();
    for (const address of addresses) {
      const receiver = receivers.find(({ domain }) => domain === domainOf(address));
      if (receiver === undefined || told.has(receiver.projectId)) continue;
      // A mail to two addresses of one project is still one mail: all of them stand in `recipients`.
      told.add(receiver.projectId);
      if (await reserveReceivedMail(sql, billing, receiver.projectId))
        await storeFor(sql, receiver.projectId, sender, address, mail);
    }
    return 'done';
  });
}

async function storeFor(
  sql: Sql,
  projectId: string,
  sender: string,
  address: string,
  mail: ReceivedMail,
): Promise<void> {
  const contact = await upsertContactRow(sql, projectId, { email: sender, subscribed: null, set: {}, remove: [] });
  const { messageId, provider, timestamp, body, verdicts, processingTimeMillis } = mail;
  const subject = mail.subject ?? '(No subject)';
  const data = {
    messageId,
    from: mail.from,
    fromHeader: mail.fromHeader ?? mail.from,
    to: address,
    subject,
    timestamp,
    recipients: mail.recipients,
    hasContent: mail.hasContent,
    ...(body === null ? {} : { body }),
    ...verdicts,
    ...(processingTimeMillis === null ? {} : { processingTimeMillis }),
  };
  await sql.count(store, [
    newId(),
    projectId,
    contact.id,
    address,
    subject,
    body ?? '',
    messageId,
    provider,
    isSimulated(sender),
    timestamp,
    newId(),
    JSON.stringify(data),
  ]);
}
