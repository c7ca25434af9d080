import { byIndexes, type Database, type Sql, statement } from '../../core/database/sql.ts';
import { bucketCtes } from '../engine/index.ts';
import { lockCampaignSend } from './state.ts';

/**
 * A claim: a range of contact ids whose ledger rows one attempt hands over. Its id travels in the metadata of the messages,
 * so that one search at the provider tells what became of all of them.
 */
export interface Claim {
  id: string;
  afterContact: string;
  throughContact: string;
  /** Rounds that ended with a refusal of the provider. */
  attempts: number;
  /** Milliseconds since the claim was made, by the database's clock. */
  ageMs: number;
  /** Milliseconds since its messages may last have reached the provider; null when none of them can be there. */
  handedMs: number | null;
  /** Whether the project may send at all, and from this sender. */
  projectDisabled: boolean;
  domainVerified: boolean;
}

/** What `claimRanges` answers. */
export interface ClaimAnswer {
  /** Whether the campaign is still SENDING this send. */
  sending: boolean;
  /** Whether it is paused: then nothing is claimed. */
  paused: boolean;
  /** Whether the audience is frozen completely. */
  expanded: boolean;
  /** Whether the provider is held. */
  held: boolean;
  /** Milliseconds until the throttle lets the next range through; 0 when it does. */
  throttleMs: number;
  /** What was claimed, in the order of contacts; empty when nothing was. */
  claims: Claim[];
}

/** How ranges are claimed. */
export interface ClaimLimits {
  projectId: string;
  campaignId: string;
  sendSeq: number;
  /** Recipients of one range at most. */
  size: number;
  /** Setting SEND_RATE_PER_PROJECT; 0 is no limit. */
  rate: number;
  provider: string;
  /** The claim that finds out whether the provider's hold can end. */
  probing: boolean;
}

const lowest = `'00000000-0000-0000-0000-000000000000'::uuid`;

const facts = (project: string, from: string) => `
  (select p.disabled from projects p where p.id = ${project}) as "projectDisabled",
  exists (select from domains d where d.project_id = ${project} and d.verified
    and d.domain = lower(split_part(${from}, '@', 2))) as "domainVerified"`;

/**
 * Ranges that are claimed together at most. Claims of a process are made one after the other, so that their round trips to
 * Postgres set the pace of a send when each takes one range (measured: nearly all of the time of a fast send).
 */
export const claimsTogether = 4;

// Runs with the send locked, so that its snapshot sees every claim before it. A claim takes tokens for exactly what it takes,
// leaves half of the bucket to mail that must not wait for a campaign, and waits until a worthwhile batch may go. What will be
// refused as a whole needs no provider: it waits neither for a hold nor for tokens.
// The limit stands in the text: with a parameter there Postgres would plan the statement anew each time.
const claimStatement = (size: number) =>
  statement(
    `campaigns.claim_${size}`,
    `with ${bucketCtes()},
   send as materialized (
     select coalesce(s.claimed_through, ${lowest}) as claimed_through, s.expanded, c.project_id, c."from", c.paused_at is not null as paused
     from campaign_sends s join campaigns c on c.id = s.campaign_id
     where s.campaign_id = $4::uuid and s.send_seq = $5::int and c.send_seq = s.send_seq and c.status = 'SENDING'),
   refused as materialized (
     select "projectDisabled" or not "domainVerified" as whole from (select ${facts('$1::uuid', '(select "from" from send)')}) f),
   gate as materialized (
     select
       not $7::boolean and not (select whole from refused)
         and exists (select from provider_holds where provider = $6 and held_until is not null) as held,
       (select available - least(rate, burst / 2) from bucket where not (select whole from refused)) as spare,
       (select least(${size}, greatest(1, burst / 4)) from bucket) as worthwhile),
   wanted as (select ${size} * cardinality($8::text[]) as most),
   quota as materialized (
     select case when held or coalesce((select paused from send), false) then 0 when spare is null then w.most when spare < worthwhile then 0
       else least(w.most, floor(spare))::int end as most from gate, wanted w),
   frozen as materialized (
     select array(
       select e.contact_id from emails e
       where e.campaign_id = $4::uuid and e.send_seq = $5::int and e.contact_id > (select claimed_through from send) and e.status = 'PENDING'
       order by e.campaign_id, e.send_seq, e.contact_id limit ${size * claimsTogether}) as contacts),
   reach as (select contacts, least(cardinality(contacts), most) as last from frozen, quota),
   taken as materialized (
     select contacts[least(n * ${size}, last)] as through, contacts[(n - 1) * ${size}] as after,
       least(${size}, last - (n - 1) * ${size}) as size, ($8::text[])[n] as id
     from reach, generate_series(1, (last + ${size - 1}) / ${size}) n),
   moved as (
     update campaign_sends s set claimed_through = t.through, updated_at = now()
     from (select through from taken order by through desc limit 1) t
     where s.campaign_id = $4::uuid and s.send_seq = $5::int),
   made as (
     insert into campaign_claims (id, campaign_id, send_seq, after_contact, through_contact, size, holder, handed_at)
     select t.id, $4, $5, coalesce(t.after, send.claimed_through), t.through, t.size, $9, clock_timestamp()
     from send, taken t
     returning id, after_contact, through_contact),
   spent as (
     update send_buckets b set tokens = k.available - t.size, refilled_at = k.at
     from bucket k, (select sum(size) as size from taken) t
     where b.id = k.id and t.size > 0 and not (select whole from refused))
   select exists (select from send) as sending, coalesce((select paused from send), false) as paused,
     coalesce((select expanded from send), false) as expanded, g.held,
     case when g.spare < g.worthwhile then ceil(1000 * (g.worthwhile - g.spare) / (select rate from pace))::float8 else 0 end as "throttleMs",
     m.id, m.after_contact as "afterContact", m.through_contact as "throughContact", ${facts('$1::uuid', '(select "from" from send)')}
   from gate g left join made m on true order by m.through_contact`,
  );
const claimStatements = new Map<number, ReturnType<typeof claimStatement>>();

function claimOf(size: number) {
  const known = claimStatements.get(size) ?? claimStatement(size);
  claimStatements.set(size, known);
  return known;
}

interface ClaimRow extends Omit<ClaimAnswer, 'claims'> {
  id: string | null;
  afterContact: string;
  throughContact: string;
  projectDisabled: boolean;
  domainVerified: boolean;
}

/**
 * Claims the next recipients of a send, in one short transaction: as many ranges as `claimIds` has ids, `claimsTogether` at
 * most, one after the other. Nothing is waited for: without a claim, the answer says why. The project's bucket must exist
 * (`bucketMade`).
 */
export async function claimRanges(
  db: Database,
  limits: ClaimLimits,
  claimIds: readonly string[],
  holder: string,
): Promise<ClaimAnswer> {
  const { projectId, campaignId, sendSeq, size, rate, provider, probing } = limits;
  const rows = await db.transaction(async (sql) => {
    if (!(await lockCampaignSend(sql, campaignId, sendSeq))) return [];
    const values = [projectId, rate, null, campaignId, sendSeq, provider, probing, claimIds, holder];
    return sql.rows<ClaimRow>(claimOf(size), values);
  }, byIndexes);
  const [first] = rows;
  if (first === undefined)
    return { sending: false, paused: false, expanded: false, held: false, throttleMs: 0, claims: [] };
  const { sending, paused, expanded, held, throttleMs } = first;
  const claims = rows.flatMap(({ id, afterContact, throughContact, projectDisabled, domainVerified }) =>
    id === null
      ? []
      : [{ id, afterContact, throughContact, projectDisabled, domainVerified, attempts: 0, ageMs: 0, handedMs: null }],
  );
  return { sending, paused, expanded, held, throttleMs, claims };
}

// Nobody works on a claim for as long as this: an activity may run for ten minutes.
const abandonedAfter = `interval '12 minutes'`;

const retake = statement(
  'campaigns.retake',
  `with due as (
     select k.id from campaign_claims k join campaigns c on c.id = k.campaign_id
     where k.campaign_id = $1::uuid and k.send_seq = $2::int and not k.settled and (
       k.holder is null and k.due_at <= clock_timestamp()
       or k.holder <> $4 and starts_with(k.holder, $3)
       or k.taken_at < clock_timestamp() - ${abandonedAfter})
       and (c.paused_at is null or c.status <> 'SENDING')
     order by k.id limit 1 for update of k skip locked)
   update campaign_claims k set holder = $4, taken_at = clock_timestamp()
   from due, campaigns c where k.id = due.id and c.id = k.campaign_id
   returning k.id, coalesce(k.after_contact, ${lowest}) as "afterContact", k.through_contact as "throughContact", k.attempts,
     (1000 * extract(epoch from clock_timestamp() - k.claimed_at))::float8 as "ageMs",
     (1000 * extract(epoch from clock_timestamp() - k.handed_at))::float8 as "handedMs",
     c.status = 'SENDING' and c.send_seq = k.send_seq as sending, ${facts('c.project_id', 'c."from"')}`,
);

/**
 * Takes over an open claim of a send that is not paused: one that was put back and is due, one of a dead attempt of the
 * same activity (its holder begins with `prefix`), or one that nobody can be working on any more. Null when there is none.
 */
export function retakeClaim(
  sql: Sql,
  campaignId: string,
  sendSeq: number,
  prefix: string,
  holder: string,
): Promise<(Claim & { sending: boolean }) | null> {
  return sql.row(retake, [campaignId, sendSeq, prefix, holder]);
}

const release = statement(
  'campaigns.release',
  `update campaign_claims set holder = null, due_at = clock_timestamp()
   where campaign_id = $1::uuid and send_seq = $2::int and not settled and holder <> $4 and starts_with(holder, $3)`,
);

/**
 * Puts back what earlier attempts of an activity hold that ends itself now: nobody else knows that they are dead. Messages
 * of theirs that may be with the provider are looked up there by whoever takes the claims next.
 */
export async function releaseClaims(
  sql: Sql,
  campaignId: string,
  sendSeq: number,
  prefix: string,
  holder: string,
): Promise<void> {
  await sql.count(release, [campaignId, sendSeq, prefix, holder]);
}

const renew = statement(
  'campaigns.renew',
  `update campaign_claims set handed_at = clock_timestamp() where id = $1 and holder = $2 and not settled`,
);

/** Says that messages of the claim are about to be handed over again. Answers false when another one holds the claim. */
export async function renewClaim(sql: Sql, claimId: string, holder: string): Promise<boolean> {
  return (await sql.count(renew, [claimId, holder])) > 0;
}

const openClaims = statement(
  'campaigns.open_claims',
  // greatest() passes over null, which must stay null here: nothing is due.
  `select open, case when due is not null then greatest(0, 1000 * extract(epoch from due - clock_timestamp())) end::float8 as "dueMs"
   from (
     select count(*)::int as open, min(due_at) filter (where holder is null) as due
     from campaign_claims where campaign_id = $1 and send_seq = $2 and not settled and holder is distinct from $3) as claims`,
);

/** Claims without a verdict that others hold or nobody does, and when the first of the latter is due; null for none. */
export async function claimsOpen(
  sql: Sql,
  campaignId: string,
  sendSeq: number,
  holder: string,
): Promise<{ open: number; dueMs: number | null }> {
  const row = await sql.row<{ open: number; dueMs: number | null }>(openClaims, [campaignId, sendSeq, holder]);
  return row ?? { open: 0, dueMs: null };
}
