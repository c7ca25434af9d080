import { leastId } from '../../lib/ids.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { type RangeClaim, sendFacts } from './claims.ts';

/** An attempt that works on a send: `campaign_claims.holder` of its claims, and the beginning of that of every attempt of its activity. */
export interface ClaimHolder {
  campaignId: string;
  sendSeq: number;
  /** The version of the content that it hands over. */
  version: number;
  holder: string;
  prefix: string;
}

/** A claim that was taken over, and whether its campaign is SENDING: without that, nothing is handed over any more. */
export type RetakenClaim = RangeClaim & { sending: boolean };

/** Claims that another attempt holds are checked again after this, in milliseconds. */
export const othersMs = 5000;
// Nobody works on a claim for as long as this: an activity may run for ten minutes.
const abandonedAfter = raw(`interval '12 minutes'`);

/**
 * Takes over an open claim of a send that is not paused, with `lookUpOnly` one of a paused send whose messages may be with the
 * provider: one that was put back and is due, one of a dead attempt of the
 * same activity (its holder begins with `prefix`), or one that nobody can be working on any more. Null when there is none. Messages
 * of a dead attempt may come to the provider for `inFlightMs` from now on. What is handed over by the new holder is noted here:
 * a claim that was put back without anything at the provider has nothing to look up, and afterwards it may have.
 */
export function retakeClaim(
  db: Database,
  { campaignId, sendSeq, version, prefix, holder }: ClaimHolder,
  inFlightMs: number,
  lookUpOnly = false,
): Promise<RetakenClaim | null> {
  return db.row(sql`
    with due as (
      select k.id, k.holder is null as is_back, k.handed_at from campaign_claims k join campaigns c on c.id = k.campaign_id
      where k.campaign_id = ${campaignId}::uuid and k.send_seq = ${sendSeq}::int and not k.settled and k.version = ${version}::int and (
        k.holder is null and k.due_at <= clock_timestamp()
        or k.holder <> ${holder} and starts_with(k.holder, ${prefix})
        or k.holder is not null and k.taken_at < clock_timestamp() - ${abandonedAfter})
        and (c.paused_at is not null and c.status = 'SENDING') = ${lookUpOnly} and (not ${lookUpOnly} or k.handed_at is not null)
      order by k.id limit 1 for update of k skip locked)
    update campaign_claims k set holder = ${holder}, taken_at = clock_timestamp(),
      handed_at = case when is_back then coalesce(k.handed_at, clock_timestamp()) else clock_timestamp() + ${inFlightMs} * interval '1 millisecond' end
    from due, campaigns c where k.id = due.id and c.id = k.campaign_id
    returning k.id, coalesce(k.after_contact, ${leastId}::uuid) as "afterContact", k.through_contact as "throughContact", k.contacts, k.canary, k.attempts,
      k.former_version as "formerVersion",
      (1000 * extract(epoch from clock_timestamp() - k.claimed_at))::float8 as "ageMs",
      (1000 * extract(epoch from clock_timestamp() - case when is_back then due.handed_at else k.handed_at end))::float8 as "handedMs",
      c.status = 'SENDING' and c.send_seq = k.send_seq as sending, ${sendFacts('c.project_id', 'c."from"')}`);
}

/**
 * Puts back what earlier attempts of an activity hold that ends itself now: nobody else knows that they are dead. Messages
 * of theirs that may be with the provider are looked up there by whoever takes the claims next.
 */
export async function releaseClaims(
  db: Database,
  { campaignId, sendSeq, prefix, holder }: ClaimHolder,
  inFlightMs: number,
): Promise<void> {
  await db.count(sql`
    update campaign_claims set holder = null, due_at = clock_timestamp(), handed_at = clock_timestamp() + ${inFlightMs} * interval '1 millisecond'
    where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int and not settled
      and holder <> ${holder} and starts_with(holder, ${prefix})`);
}

/** Notes that messages of the claim may come to the provider until now. Returns false when another attempt holds the claim. */
export async function renewClaim(db: Database, claimId: string, holder: string): Promise<boolean> {
  const renewed = await db.count(sql`
    update campaign_claims set handed_at = clock_timestamp() where id = ${claimId} and holder = ${holder} and not settled`);
  return renewed > 0;
}

/** What a send waits for. */
interface OpenClaims {
  open: number;
  dueMs: number | null;
  heldMs: number | null;
}

/**
 * Counts the claims without a final outcome that others hold or nobody does, with `unconfirmedOnly` those whose messages may be with the
 * provider, and says when the first that nobody holds is due, in milliseconds from now; null for none. `heldMs` says the same of recipients
 * who wait for the end of quiet hours.
 */
export async function claimsOpen(
  db: Database,
  campaignId: string,
  sendSeq: number,
  holder: string,
  unconfirmedOnly = false,
): Promise<OpenClaims> {
  const row = await db.row<OpenClaims>(sql`
    select count(*)::int as open,
      min(greatest(0, 1000 * extract(epoch from due_at - clock_timestamp()))) filter (where holder is null)::float8 as "dueMs",
      (select greatest(0, 1000 * extract(epoch from due_at - clock_timestamp())) from campaign_held_contacts
        where campaign_id = ${campaignId} and send_seq = ${sendSeq} order by due_at limit 1)::float8 as "heldMs"
    from campaign_claims
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} and not settled and holder is distinct from ${holder}
      and (not ${unconfirmedOnly} or handed_at is not null)`);
  return row ?? { open: 0, dueMs: null, heldMs: null };
}
