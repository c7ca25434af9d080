import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { isoInstant } from '../../store/columns.ts';
import { byIndexes, type Database, raw, sql } from '../../store/sql.ts';
import type { RangeClaim } from './claims.ts';

/**
 * Members `m` of canaries, each with its row `e` of the ledger. The limit keeps the planner from joining the tables in another way: to
 * its statistics a campaign that has just been written down is one row, and comparing each of its rows with each member takes
 * minutes (measured: 100,000 recipients with a canary of 5,000).
 */
export const canaryLedger = raw(`
  campaign_canary_contacts m cross join lateral (
    select * from emails
    where campaign_id = m.campaign_id and send_seq = m.send_seq and contact_id = m.contact_id limit 1) e`);

/** The ledger of a send, or of its canary alone, as `e`; `key` is the table whose key ranges of contacts are of. */
export function ledgerOf(canary: boolean) {
  return canary ? { from: canaryLedger, key: raw('m') } : { from: raw('emails e'), key: raw('e') };
}

/** One recipient of a claim whose row has no verdict yet, with the contact as it is now. */
export interface ClaimedRecipient {
  emailId: string;
  contactId: string;
  toAddress: string;
  subscribed: boolean;
  email: string;
  data: JsonObjectValue;
  /** Set when a report of the provider proved that the message was sent before we wrote that down. */
  messageId: string | null;
  provenAt: string | null;
}

/** A send, by the ids that its rows share. */
export interface SendKey {
  projectId: string;
  campaignId: string;
  sendSeq: number;
}

/** The recipients of a claim that have no verdict yet. */
export function readRecipients(db: Database, send: SendKey, claim: RangeClaim): Promise<ClaimedRecipient[]> {
  const { campaignId, sendSeq, projectId } = send;
  const { from, key } = ledgerOf(claim.canary);
  const members =
    claim.contacts === null
      ? sql`(${key}.campaign_id, ${key}.send_seq, ${key}.contact_id)
        > (${campaignId}::uuid, ${sendSeq}::int, ${claim.afterContact}::uuid)
      and (${key}.campaign_id, ${key}.send_seq, ${key}.contact_id)
        <= (${campaignId}::uuid, ${sendSeq}::int, ${claim.throughContact}::uuid) and e.held_until is null`
      : sql`e.campaign_id = ${campaignId}::uuid and e.send_seq = ${sendSeq}::int and e.contact_id = any(${claim.contacts}::uuid[])`;
  // The range is one of whole keys of the campaign's index, so that no other can be taken for it: that of contacts would read
  // all the mail they ever got.
  const query = sql`
    select e.id as "emailId", e.contact_id as "contactId", e.to_address as "toAddress", c.subscribed, c.email, c.data,
      e.message_id as "messageId",
      case when e.message_id is not null
        then coalesce(e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.updated_at) end as "provenAt"
    from ${from} join contacts c on c.id = e.contact_id and c.project_id = ${projectId}::uuid
    where ${key}.campaign_id is not null and ${members}
      and e.sent_at is null and (e.status = 'PENDING' or e.message_id is not null)
    order by ${key}.campaign_id, ${key}.send_seq, ${key}.contact_id`;
  return db.transaction((tx) => tx.rows<ClaimedRecipient>(query), byIndexes);
}

/** The instant at which a notification proved a message, as ISO text. */
export function provenInstant(recipient: ClaimedRecipient): string | null {
  return recipient.provenAt === null ? null : isoInstant(recipient.provenAt);
}
