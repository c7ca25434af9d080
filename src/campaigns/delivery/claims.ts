import { maySendFrom } from '../../domains/queries.ts';
import { leastId } from '../../lib/ids.ts';
import type { QuietFacts } from '../../mail/emails/schedule.ts';
import { bucketCtes } from '../../mail/engine/throttle.ts';
import type { Holdout } from '../../projects/schema.ts';
import { byIndexes, type Database, type Query, raw, sql } from '../../store/sql.ts';
import { lockCampaignSend } from '../state.ts';
import { ledgerOf, type SendKey } from './ledger.ts';

/**
 * A claim: a range of contact ids, or the contacts whose quiet hours are over, whose ledger rows one attempt hands over. Its id travels in
 * the metadata of the messages, so that one search at the provider tells what became of all of them.
 */
export interface RangeClaim {
  id: string;
  afterContact: string;
  throughContact: string;
  /** The contacts, where the claim names them; null for a range. */
  contacts: string[] | null;
  /** Rounds that ended with a refusal of the provider. */
  attempts: number;
  /** Milliseconds since the claim was made, by the database's clock. */
  ageMs: number;
  /**
   * Milliseconds since its messages may last have reached the provider, negative while they still may; null when none of them can
   * be there.
   */
  handedMs: number | null;
  /** The content of the claim whose rest it is, where that was put back before the content was revised; else null. */
  formerVersion: number | null;
  /** Whether the claim is of the canary: then only members of that in its range are its own. */
  canary: boolean;
  /** Whether the project may send at all, and from this sender. */
  projectDisabled: boolean;
  domainVerified: boolean;
  /** The control group of the project; null for none. */
  holdout: Holdout | null;
  /** The quiet hours of the project, and the instant of the claim in epoch milliseconds, both by the database. */
  quiet: QuietFacts;
  nowMs: number;
}

/** The ranges that were claimed, or why there are none. */
export interface ClaimAnswer {
  /** Whether the campaign is still SENDING this send. */
  sending: boolean;
  /** Whether it is paused: then nothing is claimed. */
  paused: boolean;
  /** Whether the audience is frozen completely. */
  expanded: boolean;
  /** Whether the provider is held, and somebody waits for that. */
  held: boolean;
  /** Milliseconds until the throttle lets the next range through; 0 when it does. */
  throttleMs: number;
  /** The claims, in the order of contacts; empty where nothing was claimed. */
  claims: RangeClaim[];
}

/** How ranges are claimed. */
export interface RangeLimits extends SendKey {
  /** Recipients of one range at most. */
  size: number;
  /** Setting SEND_RATE_PER_PROJECT; 0 is no limit. */
  rate: number;
  provider: string;
  /** The claim that finds out whether the provider's hold can end. */
  probing: boolean;
  /** Whether the lane works on the send's canary: nothing is claimed where the send has moved on. */
  canary: boolean;
  /** The content of the lane: nothing is claimed once it was revised. */
  version: number;
}

/** The columns of `RecipientFacts` that are the same for a whole send, by expressions of its project and its sender. */
export function sendFacts(project: string, from: string): Query {
  return raw(`(select p.disabled from projects p where p.id = ${project}) as "projectDisabled",
    (select p.holdout from projects p where p.id = ${project}) as holdout,
    (select jsonb_build_object('quietHours', p.quiet_hours, 'timeZone', p.time_zone) from projects p where p.id = ${project}) as quiet,
    (1000 * extract(epoch from clock_timestamp()))::float8 as "nowMs",
    ${maySendFrom(project, from)} as "domainVerified"`);
}

/**
 * Ranges that are claimed together at most. Claims of a process are made one after the other, so that their round trips to
 * Postgres set the pace of a send when each takes one range (measured: nearly all of the time of a fast send).
 */
export const claimsTogether = 4;

// Runs with the send locked, so that its snapshot sees every claim before it. A claim takes tokens for exactly what it takes,
// leaves half of the bucket to mail that must not wait for a campaign, and waits until a worthwhile batch may go. What will be
// refused as a whole needs no provider: it waits neither for a hold nor for tokens. Recipients whose quiet hours are over come before
// the next range, and leave `campaign_held_contacts` for a claim that names them: its range is empty. (A subquery asks for the time once, so
// that an index is searched by it.)
function claimStatement(limits: RangeLimits, claimIds: readonly string[], holder: string): Query {
  const { projectId, campaignId, sendSeq, rate, provider, probing, canary, version } = limits;
  // Stands in the text: with a parameter there Postgres would plan the statement anew each time.
  const size = raw(limits.size);
  const { from, key } = ledgerOf(canary);
  const factsOfSend = sendFacts('(select project_id from send)', '(select "from" from send)');
  return sql`with ${bucketCtes(projectId, rate)},
   send as materialized (
     select coalesce(s.claimed_through, ${leastId}::uuid) as claimed_through, s.expanded, c.project_id, c."from",
       c.paused_at is not null as paused
     from campaign_sends s join campaigns c on c.id = s.campaign_id
     where s.campaign_id = ${campaignId}::uuid and s.send_seq = ${sendSeq}::int and c.send_seq = s.send_seq and c.status = 'SENDING' and s.canary = ${raw(String(canary))}
       and c.content_version = ${raw(version)}),
   refused as materialized (
     select "projectDisabled" or not "domainVerified" as whole from (select ${factsOfSend}) f),
   allowed as materialized (
     select
       not ${probing}::boolean and not (select whole from refused)
         and exists (select from provider_holds where provider = ${provider} and held_until is not null) as held,
       (select available - least(rate, burst / 2) from bucket where not (select whole from refused)) as spare,
       (select least(${size}, greatest(1, burst / 4)) from bucket) as worthwhile),
   wanted as (select ${size} * cardinality(${claimIds}::text[]) as most),
   quota as materialized (
     select case when held or coalesce((select paused from send), false) then 0 when spare is null then w.most when spare < worthwhile then 0
       else least(w.most, floor(spare))::int end as most from allowed, wanted w),
   due as materialized (
     select array(
       select contact_id from (
         select h.contact_id from campaign_held_contacts h
         where h.campaign_id = ${campaignId}::uuid and h.send_seq = ${sendSeq}::int and h.due_at <= (select clock_timestamp()) and exists (select from send)
         order by h.due_at, h.contact_id limit ${raw(limits.size * claimsTogether)}) d order by contact_id) as contacts),
   frozen as materialized (
     select cardinality(due.contacts) > 0 as is_due, case when cardinality(due.contacts) > 0 then due.contacts else array(
       select ${key}.contact_id from ${from}
       where ${key}.campaign_id = ${campaignId}::uuid and ${key}.send_seq = ${sendSeq}::int
         and ${key}.contact_id > (select claimed_through from send) and e.status = 'PENDING' and e.held_until is null
       order by ${key}.campaign_id, ${key}.send_seq, ${key}.contact_id limit ${raw(limits.size * claimsTogether)}) end as contacts
     from due),
   reach as (select contacts, is_due, least(cardinality(contacts), most) as last from frozen, quota),
   taken as materialized (
     select contacts[least(n * ${size}, last)] as through, contacts[(n - 1) * ${size}] as after,
       case when is_due then contacts[(n - 1) * ${size} + 1:least(n * ${size}, last)] end as contacts,
       least(${size}, last - (n - 1) * ${size}) as size, (${claimIds}::text[])[n] as id
     from reach, generate_series(1, (last + ${raw(limits.size - 1)}) / ${size}) n),
   moved as (
     update campaign_sends s set claimed_through = t.through, updated_at = now()
     from (select through from taken where contacts is null order by through desc limit 1) t
     where s.campaign_id = ${campaignId}::uuid and s.send_seq = ${sendSeq}::int),
   made as (
     insert into campaign_claims (id, campaign_id, send_seq, after_contact, through_contact, contacts, size, holder, canary, version, handed_at)
     select t.id, ${campaignId}::uuid, ${sendSeq}::int,
       case when t.contacts is null then coalesce(t.after, send.claimed_through) else ${leastId}::uuid end,
       case when t.contacts is null then t.through else ${leastId}::uuid end, t.contacts, t.size, ${holder},
       ${raw(String(canary))} and t.contacts is null, ${raw(version)}, clock_timestamp()
     from send, taken t
     returning id, after_contact, through_contact, contacts, canary),
   released as (
     delete from campaign_held_contacts h
     where h.campaign_id = ${campaignId}::uuid and h.send_seq = ${sendSeq}::int
       and h.contact_id = any (array(select unnest(contacts) from taken))),
   spent as (
     update send_buckets b set tokens = k.available - t.size, refilled_at = k.at
     from bucket k, (select sum(size) as size from taken) t
     where b.id = k.id and t.size > 0 and not (select whole from refused))
   select exists (select from send) as sending, coalesce((select paused from send), false) as paused,
     coalesce((select expanded from send), false) as expanded,
     a.held and (select cardinality(contacts) > 0 from frozen) as held,
     case when a.spare < a.worthwhile then ceil(1000 * (a.worthwhile - a.spare) / (select rate from rate_limit))::float8 else 0 end as "throttleMs",
     m.id, m.after_contact as "afterContact", m.through_contact as "throughContact", m.contacts, m.canary, ${factsOfSend}
   from allowed a left join made m on true order by m.through_contact`;
}

interface ClaimRow extends Omit<ClaimAnswer, 'claims'> {
  id: string | null;
  afterContact: string;
  throughContact: string;
  contacts: string[] | null;
  canary: boolean;
  projectDisabled: boolean;
  domainVerified: boolean;
  holdout: Holdout | null;
  quiet: QuietFacts;
  nowMs: number;
}

/**
 * Claims the next recipients of a send, in one short transaction: as many ranges as `claimIds` has ids, `claimsTogether` at
 * most, one after the other. Nothing is waited for: without a claim, the result says why. The project's bucket must exist
 * (`bucketMade`).
 */
export async function claimRanges(
  db: Database,
  limits: RangeLimits,
  claimIds: readonly string[],
  holder: string,
): Promise<ClaimAnswer> {
  const rows = await db.transaction(async (tx) => {
    if (!(await lockCampaignSend(tx, limits.campaignId, limits.sendSeq))) return [];
    return tx.rows<ClaimRow>(claimStatement(limits, claimIds, holder));
  }, byIndexes);
  const [first] = rows;
  if (first === undefined)
    return { sending: false, paused: false, expanded: false, held: false, throttleMs: 0, claims: [] };
  const { sending, paused, expanded, held, throttleMs } = first;
  const claims = rows.flatMap(({ id, ...row }) => {
    if (id === null) return [];
    const { afterContact, throughContact, contacts, canary, projectDisabled, domainVerified, holdout, quiet, nowMs } =
      row;
    const facts = { projectDisabled, domainVerified, holdout, quiet, nowMs };
    const range = { afterContact, throughContact, contacts, canary };
    return [{ id, ...range, ...facts, formerVersion: null, attempts: 0, ageMs: 0, handedMs: null }];
  });
  return { sending, paused, expanded, held, throttleMs, claims };
}
