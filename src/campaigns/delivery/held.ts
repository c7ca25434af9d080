import { isoText } from '../../store/columns.ts';
import { byIndexes, type Database, type Query, raw, sql } from '../../store/sql.ts';
import type { SendKey } from './ledger.ts';

/** Held recipients are due at whole multiples of this, in milliseconds, so that those of one moment make a claim worth a call. */
export const slotMs = 10_000;

/** A recipient who is in quiet hours, and the instant at which the message may leave, in epoch milliseconds. */
export interface HeldRecipient {
  contactId: string;
  until: number;
}

/**
 * Takes recipients who are in quiet hours out of the claim that `holder` has: from now on they wait in `campaign_held_contacts`, and whoever
 * claims them once they are due makes a new claim. Safe to repeat; changes nothing where the attempt has lost its claim.
 */
export async function holdRecipients(
  db: Database,
  { campaignId, sendSeq, holder }: SendKey & { holder: string },
  claimId: string,
  held: readonly HeldRecipient[],
): Promise<void> {
  const contacts = held.map(({ contactId }) => contactId);
  const slots = held.map(({ until }) => new Date(Math.floor(until / slotMs) * slotMs).toISOString());
  const statement = sql`
    with claim as materialized (
      select id from campaign_claims where id = ${claimId} and holder = ${holder} and not settled for update),
    given as (
      select * from unnest(${contacts}::uuid[], ${slots}::timestamptz[]) as g (contact_id, due_at)
      where exists (select from claim)),
    held as (
      insert into campaign_held_contacts (campaign_id, send_seq, contact_id, due_at)
      select ${campaignId}::uuid, ${sendSeq}::int, contact_id, due_at from given
      on conflict (campaign_id, send_seq, contact_id) do update set due_at = excluded.due_at),
    released as (
      update campaign_claims k set contacts = array(
        select member from unnest(k.contacts) member where member <> all(${contacts}::uuid[]))
      where k.id = (select id from claim) and k.contacts is not null)
    update emails e set held_until = g.due_at from given g
    where e.campaign_id = ${campaignId}::uuid and e.send_seq = ${sendSeq}::int and e.contact_id = g.contact_id
      and e.sent_at is null and e.message_id is null`;
  await db.transaction((tx) => tx.count(statement), byIndexes);
}

/** The recipients of a send who wait for the end of quiet hours. */
export interface HeldRecipients {
  contacts: number;
  /** When the first of them may be written to: an ISO instant, and milliseconds until then, 0 where it is past. */
  until: string;
  waitMs: number;
}

/** SQL: `HeldRecipients` of a send as JSON, by expressions of its campaign and its number; null where nobody waits. */
export function heldSql(campaign: string, sendSeq: string): Query {
  return raw(`(select jsonb_build_object('contacts', count(*), 'until', ${isoText('min(h.due_at)')},
      'waitMs', greatest(0, ceil(1000 * extract(epoch from min(h.due_at) - clock_timestamp()))))
    from campaign_held_contacts h where h.campaign_id = ${campaign} and h.send_seq = ${sendSeq} having count(*) > 0)`);
}

/** Returns the recipients of campaigns who wait for the end of quiet hours, by campaign. */
export async function heldRecipientsOf(db: Database, ids: readonly string[]): Promise<Map<string, HeldRecipients>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<{ id: string; held: HeldRecipients | null }>(sql`
    select c.id, ${heldSql('c.id', 'c.send_seq')} as held from campaigns c where c.id = any(${ids}::uuid[])`);
  return new Map(rows.flatMap(({ id, held }) => (held === null ? [] : [[id, held]])));
}

/** SQL: whether the ledger row `row` belongs to the claim `claim`, whatever its verdict. Whoever waits belongs to none. */
export function isOfClaim(row: string, claim: string): string {
  return `(case when ${claim}.contacts is not null then ${row}.contact_id = any (${claim}.contacts)
    else ${row}.held_until is null and ${row}.contact_id <= ${claim}.through_contact
      and (${claim}.after_contact is null or ${row}.contact_id > ${claim}.after_contact) end)`;
}

/** Why a send stands still, as a sentence. */
export function quietSentence({ contacts, until }: Pick<HeldRecipients, 'contacts' | 'until'>): string {
  const who = contacts === 1 ? '1 contact' : `${contacts.toLocaleString('en-US')} contacts`;
  return `On hold until ${until} for ${who} (quiet hours)`;
}
