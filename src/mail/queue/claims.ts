import { maySendFrom } from '../../domains/queries.ts';
import { byIndexes, type Database, type Query, raw, sql } from '../../store/sql.ts';
import { longestAskedMs } from '../engine/attempts.ts';
import { bucketCtes, bucketMade, tokensReturned } from '../engine/throttle.ts';
import type { ClaimedMail } from '../ledger/queries.ts';

/** The limits of a claim. */
interface ClaimLimits {
  /** Messages at most. */
  messages: number;
  /** Setting SEND_RATE_PER_PROJECT; 0 is no limit. */
  rate: number;
  /** The provider whose hold stops every claim but the probe's and those of a disabled project, whose mail needs none. */
  provider: string;
  probing?: boolean;
}

// Bytes of one claim, so that a few hundred large messages are not in memory at once: what their texts and files take when
// they are read, for the ledger may store them compressed to a hundredth.
const claimBytes = 16 * 1024 * 1024;

// A mail from the ledger row `e`, its place in the queue `q` and its contact `c`, with the state of the world that rendering and the
// last checks need.
const mailColumns = sql`
  e.id, e.project_id as "projectId", e.contact_id as "contactId", e.to_address as "toAddress", e.to_name as "toName",
  e."from", e.from_name as "fromName", e.reply_to as "replyTo", e.subject, e.body, e.render, e.headers, e.attachments,
  e.source_type as "sourceType", e.message_class as "messageClass", e.template_id as "templateId",
  e.campaign_id as "campaignId", e.tracking, e.traceparent,
  jsonb_build_object('email', c.email, 'subscribed', c.subscribed, 'data', c.data) as contact,
  ${raw(maySendFrom('e.project_id', 'e."from"'))} as "domainVerified", q.attempts, q.age_ms::float8 as "ageMs",
  (1000 * extract(epoch from clock_timestamp()))::float8 as "nowMs", e.workflow_step_execution_id is not null as "isOfStep",
  (e.held_until is not null or q.created_at = e.created_at) as "keepsTime"`;

const projectFacts = sql`jsonb_build_object('name', p.name, 'disabled', p.disabled, 'tracking', p.tracking,
  'language', p.language, 'escapeContactData', p.escape_contact_data, 'holdout', p.holdout,
  'quietHours', p.quiet_hours, 'timeZone', p.time_zone)`;

// An index is not searched by a function that may answer anew for each row: mail that is due later would all be read. A subquery answers once.
const now = raw('(select clock_timestamp())');
const isDue = (projectId: string): Query =>
  sql`project_id = ${projectId}::uuid and claim_id is null and due_at <= ${now}`;

/**
 * Claims mail of a project that is due and not claimed, oldest first, as far as the throttle and a hold of the provider
 * allow. Nothing is waited for: an empty list means that there is nothing to send at this moment (see `nextWork`).
 */
export function claimQueued(
  db: Database,
  projectId: string,
  claimId: string,
  { messages, rate, provider, probing = false }: ClaimLimits,
): Promise<ClaimedMail[]> {
  // One round trip: the hold is respected, tokens are spent on exactly what is taken, and everything that rendering and the
  // last checks need comes along. Rows beyond the claim's bytes are only locked for the moment.
  // The queue is mostly empty when Postgres counts it, so that it expects one row; a join would then be made the slow way
  // round (seconds for a claim). Rows are reached by arrays of their ids instead, which leaves nothing to choose. The ledger and
  // contacts are reached row by row for the same reason: while they are new to the statistics, a join reads all of them for each claim.
  return db.rows(sql`
    with ${bucketCtes(projectId, rate, { when: sql`exists (select from email_queue where ${isDue(projectId)})` })},
    refused as materialized (select disabled from projects where id = ${projectId}::uuid),
    picked as (
      select email_id, due_at, bytes from email_queue
      where ${isDue(projectId)}
        and (${probing}::boolean or (select disabled from refused)
          or not exists (select from provider_holds where provider = ${provider} and held_until is not null))
        and (select disabled or exists (select from bucket) or not exists (select from rate_limit) from refused)
      order by due_at, email_id
      limit (select case when (select disabled from refused) then ${messages}::int
        else least(${messages}::int, coalesce((select floor(available) from bucket), ${messages}::int)) end)
      for update skip locked),
    weighed as (
      select p.email_id, row_number() over inorder as place, sum(greatest(p.bytes,
        coalesce(pg_column_size(e.attachments), 0) + coalesce(pg_column_size(e.body), 0) + coalesce(pg_column_size(e.render), 0)
      )) over inorder as bytes
      from picked p join emails e on e.id = p.email_id
      window inorder as (order by p.due_at, p.email_id rows unbounded preceding)),
    claimed as (
      update email_queue q set claim_id = ${claimId}, claimed_at = clock_timestamp(), lookups = 0
      where q.email_id = any (array(select email_id from weighed where bytes <= ${claimBytes} or place = 1))
      returning q.email_id, q.attempts, q.due_at, q.created_at, 1000 * extract(epoch from clock_timestamp() - q.created_at) as age_ms),
    spent as (
      update send_buckets b set tokens = k.available - (select count(*) from claimed), refilled_at = k.at
      from bucket k where b.id = k.id and exists (select from claimed) and not (select disabled from refused))
    select ${mailColumns}, (select ${projectFacts} from projects p where p.id = ${projectId}::uuid) as project
    from claimed q cross join lateral (select * from emails where id = q.email_id limit 1) e
      cross join lateral (select * from contacts where id = e.contact_id limit 1) c
    order by q.due_at, q.email_id`);
}

/** Mail of a step that waits for the end of quiet hours; `was` is when it was due until now, null where a claim has it. */
export interface QuietMail {
  emailId: string;
  until: number;
  was: number | null;
}

/**
 * Holds mail until the end of quiet hours: of a claim, which loses it and gets its tokens back, or (null) what nobody has claimed and is due as it was. Times
 * are epoch milliseconds. What it waits makes it no older, since nobody has refused it meanwhile. Safe to repeat.
 */
export async function holdQueued(
  db: Database,
  projectId: string,
  mails: readonly QuietMail[],
  claim: { id: string; rate: number } | null,
): Promise<void> {
  const ids = mails.map(({ emailId }) => emailId);
  const instants = (times: (number | null)[]) =>
    times.map((time) => (time === null ? null : new Date(time).toISOString()));
  const statement = sql`
    with ${bucketCtes(projectId, claim?.rate ?? 0, { when: raw(String(claim !== null)) })},
    moved as (
      update email_queue q set due_at = g.until, claim_id = null, claimed_at = null, lookups = 0,
        created_at = q.created_at + (g.until - greatest(q.due_at, clock_timestamp()))
      from unnest(${ids}::uuid[], ${instants(mails.map(({ until }) => until))}::timestamptz[],
        ${instants(mails.map(({ was }) => was))}::timestamptz[]) as g (id, until, was)
      where q.email_id = g.id and q.claim_id is not distinct from ${claim?.id ?? null}::text
        and (g.was is null or q.due_at = g.was)
      returning q.email_id, g.until),
    ${tokensReturned('(select count(*) from moved)')}
    update emails e set held_until = m.until from moved m where e.id = m.email_id`;
  await db.transaction((tx) => tx.count(statement), byIndexes);
}

/** Returns whether a project has mail that is due and not claimed. Much cheaper than a claim that finds nothing. */
export async function anyDue(db: Database, projectId: string): Promise<boolean> {
  return (await db.row(sql`select 1 as due from email_queue where ${isDue(projectId)} limit 1`)) !== null;
}

/** Returns whether a mail is still claimed by this attempt, so that it may be handed over. */
export async function isClaimed(db: Database, emailId: string | null, claimId: string): Promise<boolean> {
  const claimed = sql`select from email_queue where email_id = ${emailId} and claim_id = ${claimId} and lookups = 0`;
  return (await db.row(claimed)) !== null;
}

/** Claims of one project that earlier attempts of an activity made: their ids begin with `prefix`, and not with `own`. */
export interface EarlierAttempts {
  projectId: string;
  prefix: string;
  own: string;
}

/** A mail of a claim that was taken over. */
export interface UnconfirmedMail extends ClaimedMail {
  claimId: string;
  /** Milliseconds since it was claimed. */
  sinceMs: number;
  /** Milliseconds until the provider would know it, had it been handed over. */
  lagMs: number;
  /** Set when a report of the provider proved meanwhile that the mail was sent. */
  messageId: string | null;
  provenAt: string | null;
}

// The time that whoever takes a claim over has to settle it before another may.
const takenOverMs = 45_000;

/**
 * Takes over a claim whose mail is unconfirmed and due, of one project or (null) of any, and with `earlier` one of an earlier attempt. Mail
 * of the latter may reach the provider for `restMs` from now, its indexing lag included. Returns its mail; none when there is no such claim.
 */
export function takeOverQueued(
  db: Database,
  projectId: string | null,
  earlier: EarlierAttempts | null,
  restMs: number,
): Promise<UnconfirmedMail[]> {
  const [prefix, own] = [earlier?.prefix ?? null, earlier?.own ?? null];
  // By arrays of ids, for the reason above. `lookups` is 1 where this is the first look-up after a death.
  return db.rows(sql`
    with one as materialized (
      select claim_id from email_queue
      where claim_id is not null and (${projectId}::uuid is null or project_id = ${projectId}::uuid)
        and (lookups > 0 and due_at <= clock_timestamp()
          or lookups = 0 and starts_with(claim_id, ${prefix}) and not starts_with(claim_id, ${own}))
      order by due_at limit 1 for update skip locked),
    due as (
      select email_id from email_queue
      where claim_id = (select claim_id from one) and (lookups > 0 and due_at <= clock_timestamp()
        or lookups = 0 and starts_with(claim_id, ${prefix}) and not starts_with(claim_id, ${own}))
      for update skip locked),
    taken as (
      update email_queue q set lookups = q.lookups + 1,
        due_at = clock_timestamp() + greatest(${takenOverMs}, case when q.lookups = 0 then ${restMs}::float8 else 0 end) * interval '1 millisecond'
      where q.email_id = any (array(select email_id from due))
      returning q.email_id, q.project_id, q.claim_id, q.claimed_at, q.created_at, q.attempts, q.lookups,
        1000 * extract(epoch from clock_timestamp() - q.created_at) as age_ms)
    select ${mailColumns}, (select ${projectFacts} from projects p where p.id = q.project_id) as project, q.claim_id as "claimId", (1000 * extract(epoch from clock_timestamp() - q.claimed_at))::float8 as "sinceMs",
      case when q.lookups = 1 then ${restMs}::float8 else 0 end as "lagMs", e.message_id as "messageId",
      coalesce(e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.updated_at) as "provenAt"
    from taken q cross join lateral (select * from emails where id = q.email_id limit 1) e
      cross join lateral (select * from contacts where id = e.contact_id limit 1) c`);
}

/** Notes that the claims of earlier attempts are unconfirmed: they may be sent again `restMs` from now at the earliest. */
export async function releaseEarlier(
  db: Database,
  { projectId, prefix, own }: EarlierAttempts,
  restMs: number,
): Promise<void> {
  await db.count(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and project_id = ${projectId}::uuid and starts_with(claim_id, ${prefix})
      and not starts_with(claim_id, ${own})`);
}

/** The mail of a project's queue when nothing could be claimed. Times are milliseconds from now, never negative. */
export interface NextWork {
  /** Mail that is not claimed: what is due, and that with what was put off. Neither is counted beyond 100,000, nor is scheduled mail. */
  ready: number;
  waiting: number;
  /** Until the earliest mail is due that is put off or scheduled; null for none. */
  dueMs: number | null;
  /** Until the earliest unconfirmed claim may be taken over; null for none. */
  takeOverMs: number | null;
  /** Until the throttle lets mail through; 0 when it does. */
  throttleMs: number;
}

/** Returns what a project's queue waits for. `batch` is the number of tokens that is worth waiting for. */
export async function nextWork(db: Database, projectId: string, rate: number, batch: number): Promise<NextWork> {
  const row = await db.row<NextWork & { bucketMissing: boolean }>(sql`
    with ${bucketCtes(projectId, rate, { lock: false })},
    near as (
      select due_at, created_at from email_queue
      where project_id = ${projectId}::uuid and claim_id is null
        and due_at <= ${now} + ${longestAskedMs} * interval '1 millisecond'
      order by due_at, email_id limit 100000),
    waiting as (select due_at from near where created_at <= clock_timestamp())
    select
      (select count(*) from waiting where due_at <= clock_timestamp())::int as ready,
      (select count(*) from waiting)::int as waiting,
      (select greatest(0, 1000 * extract(epoch from due_at - clock_timestamp()))::float8 from email_queue
        where project_id = ${projectId}::uuid and claim_id is null and due_at > ${now}
        order by due_at, email_id limit 1) as "dueMs",
      (select greatest(0, 1000 * extract(epoch from due_at - clock_timestamp()))::float8 from email_queue
        where claim_id is not null and lookups > 0 and project_id = ${projectId}::uuid order by due_at limit 1) as "takeOverMs",
      coalesce((select case when available < 1 then ceil(1000 * least(${batch}::int, burst) / rate) else 0 end from bucket), 0)::float8
        as "throttleMs",
      exists (select from rate_limit) and not exists (select from bucket) as "bucketMissing"`);
  if (row?.bucketMissing) await bucketMade(db, projectId);
  return row ?? { ready: 0, waiting: 0, dueMs: null, takeOverMs: null, throttleMs: 0 };
}
