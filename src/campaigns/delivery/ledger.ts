import type { MailStream } from '../../domains/providers/mailer.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { type Reason, storedReason } from '../../mail/ledger/reasons.ts';
import { storable } from '../../mail/ledger/settle.ts';
import { isoInstant } from '../../store/columns.ts';
import { byIndexes, type Database, sql } from '../../store/sql.ts';
import type { RangeClaim } from './claims.ts';
import { ledgerOf } from './slice.ts';

/** One recipient of a claim whose row has no verdict yet, with the contact as it is now. */
export interface ClaimedRecipient {
  emailId: string;
  contactId: string;
  toAddress: string;
  subscribed: boolean;
  email: string;
  data: JsonObjectValue;
  /** Set when a notification of the provider proved that the message was sent before we wrote that down. */
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
  const keyOf = (contactId: string) => sql`(${campaignId}::uuid, ${sendSeq}::int, ${contactId}::uuid)`;
  // The range is one of whole keys of the campaign's index, so that no other can be taken for it: that of contacts would read
  // all the mail they ever got.
  const query = sql`
    select e.id as "emailId", e.contact_id as "contactId", e.to_address as "toAddress", c.subscribed, c.email, c.data,
      e.message_id as "messageId",
      case when e.message_id is not null
        then coalesce(e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.updated_at) end as "provenAt"
    from ${from} join contacts c on c.id = e.contact_id and c.project_id = ${projectId}::uuid
    where ${key}.campaign_id is not null and (${key}.campaign_id, ${key}.send_seq, ${key}.contact_id) > ${keyOf(claim.afterContact)}
      and (${key}.campaign_id, ${key}.send_seq, ${key}.contact_id) <= ${keyOf(claim.throughContact)}
      and e.sent_at is null and (e.status = 'PENDING' or e.message_id is not null)
    order by ${key}.campaign_id, ${key}.send_seq, ${key}.contact_id`;
  return db.transaction((tx) => tx.rows<ClaimedRecipient>(query), byIndexes);
}

/** What became of one recipient's message. Rows without a settlement stay as they are. */
export type RecipientSettlement =
  /** The provider has it; `at` is an ISO instant. */
  | { emailId: string; outcome: 'SENT'; messageId: string; at: string; subject: string | null }
  /** It will never be sent; BOUNCED when the provider refuses the recipient for an earlier bounce or complaint. */
  | { emailId: string; outcome: 'FAILED' | 'BOUNCED'; reason: Reason; subject: string | null };

/** What becomes of a claim: finished, or put back because some of its rows have no verdict yet. */
export type ClaimEnd =
  | { settled: true }
  | {
      settled: false;
      /** Milliseconds until anybody may take it. */
      delayMs: number;
      /** Whether messages without a verdict may be with the provider. */
      unconfirmed: boolean;
      /** Whether this round counts as an attempt that was refused. */
      attempt: boolean;
    };

/** How many rows got a verdict. */
export interface SettledRecipients {
  sent: number;
  /** Left out on purpose. */
  skipped: number;
  failed: number;
}

/** Counts rows that a suppression rule ended, in the transaction that ended them. */
export async function countSuppressed(tx: Database, { campaignId, sendSeq }: SendKey, rows: number): Promise<void> {
  await tx.count(sql`
    update campaigns set skipped_count = skipped_count + ${rows} where id = ${campaignId} and send_seq = ${sendSeq}`);
}

/** Where a settlement happens. */
export interface SettlePlace extends SendKey {
  claim: RangeClaim;
  holder: string;
  provider: string;
  stream: MailStream | null;
}

/**
 * Writes down what became of the recipients of a claim and ends or puts back the claim, by one statement (function
 * `settle_claim`): rows, the contact that the provider refuses, events, counters, and the claim itself. Safe to repeat. A row that
 * the provider took becomes SENT whoever says so; every other verdict counts only for a row that waits. sent_at is the guard:
 * the event is written once, and without data: what it says of its mail is read from the row (see `eventData`), for a copy would
 * cost as much as the row itself. Its id is that of its mail, which costs nothing to make and lets no mail have two. The claim
 * moves only for the attempt that holds it.
 */
export async function settleClaim(
  db: Database,
  { claim, campaignId, sendSeq, projectId, provider, stream, holder }: SettlePlace,
  settlements: readonly RecipientSettlement[],
  end: ClaimEnd,
): Promise<SettledRecipients> {
  const { ids, outcomes, messageIds, instants, subjects, reasons } = verdictArrays(settlements);
  const { delayMs, unconfirmed, attempt } = end.settled ? { delayMs: 0, unconfirmed: false, attempt: false } : end;
  const row = await db.row<SettledRecipients>(sql`
    select sent, skipped, failed from settle_claim(${claim.id}, ${campaignId}, ${sendSeq}, ${projectId}, ${provider}, ${stream},
      ${ids}, ${outcomes}, ${messageIds}, ${instants}, ${subjects}, ${reasons}, ${end.settled}, ${delayMs}, ${unconfirmed},
      ${attempt ? 1 : 0}, ${holder})`);
  return row ?? { sent: 0, skipped: 0, failed: 0 };
}

/** The instant at which a notification proved a message, as ISO text. */
export function provenInstant(recipient: ClaimedRecipient): string | null {
  return recipient.provenAt === null ? null : isoInstant(recipient.provenAt);
}

/**
 * Settlements as the arrays of `settle_claim`. What all of them share is left out, for arrays cost by their elements: no
 * outcomes where all were sent, one instant where it is the same for all.
 */
function verdictArrays(settlements: readonly RecipientSettlement[]) {
  const ids: string[] = [];
  const messageIds: (string | null)[] = [];
  const subjects: (string | null)[] = [];
  const instants = new Set<string>();
  let allSent = true;
  for (const one of settlements) {
    ids.push(one.emailId);
    subjects.push(storable(one.subject));
    if (one.outcome === 'SENT') {
      messageIds.push(one.messageId);
      instants.add(one.at);
    } else {
      messageIds.push(null);
      allSent = false;
    }
  }
  const each = <Value>(value: (one: RecipientSettlement) => Value) => settlements.map(value);
  return {
    ids: plainArray(ids),
    outcomes: allSent ? [] : each(({ outcome }) => outcome),
    messageIds: plainArray(messageIds),
    instants: instants.size <= 1 ? [...instants] : plainArray(each((one) => (one.outcome === 'SENT' ? one.at : null))),
    subjects,
    reasons: allSent ? [] : each((one) => (one.outcome === 'SENT' ? null : storedReason(one.reason))),
  };
}

// Ids and instants need none of the quoting that makes arrays of text slow to write.
function plainArray(values: readonly (string | null)[]): string | readonly (string | null)[] {
  const isPlain = values.every((value) => value === null || (/^[\w:.+-]+$/.test(value) && value !== 'NULL'));
  return isPlain ? `{${values.map((value) => value ?? 'NULL').join(',')}}` : values;
}
