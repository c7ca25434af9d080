import { type Database, type Query, sql } from '../../store/sql.ts';
import type { ClaimedMail } from '../ledger/queries.ts';
import { longestAskedMs } from './attempts.ts';

/**
 * The bucket of tokens that a project's mail takes one of each, refilled by the database's clock, as the CTEs `rate_limit` (no
 * row without a limit) and `bucket` (`available` tokens at the instant `at`). For statements that take tokens and do something
 * with them at once; `bucketMade` must have run for the project. `rate` is the setting SEND_RATE_PER_PROJECT, 0 for no limit;
 * a project's own `send_rate` can only be lower. `lock: false` only looks; with `when`, a condition, the bucket is left alone
 * unless it holds.
 */
export function bucketCtes(projectId: string, rate: number, { lock = true, when = sql`true` } = {}): Query {
  return sql`
  rate_limit as (
    select rate, greatest(1, 2 * rate) as burst from (
      select case when ${rate}::float8 > 0 then least(${rate}::float8, send_rate) else send_rate::float8 end as rate
      from projects where id = ${projectId}::uuid) as p
    where rate is not null),
  held as (
    select id, tokens, refilled_at, clock_timestamp() as at from send_buckets
    where id = ${projectId}::uuid and exists (select from rate_limit) and ${when} ${lock ? sql`for update` : sql``}),
  bucket as (
    select h.id, h.at, p.rate, p.burst,
      least(p.burst, h.tokens + p.rate * greatest(0, extract(epoch from h.at - h.refilled_at))) as available
    from held h cross join rate_limit p)`;
}

/** Makes a project's bucket where it has none: full, since a first send does not wait. */
export async function bucketMade(db: Database, projectId: string): Promise<void> {
  await db.count(
    sql`insert into send_buckets (id, tokens) values (${projectId}::uuid, 1e9) on conflict (id) do nothing`,
  );
}

/** What a claim may take. */
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

const projectFacts = sql`jsonb_build_object('name', p.name, 'disabled', p.disabled, 'tracking', p.tracking,
  'language', p.language, 'escapeContactData', p.escape_contact_data)`;

// A mail from the ledger row `e`, with the state of the world that rendering and the last checks need.
const mailColumns = sql`
  e.id, e.project_id as "projectId", e.contact_id as "contactId", e.to_address as "toAddress", e.to_name as "toName",
  e."from", e.from_name as "fromName", e.reply_to as "replyTo", e.subject, e.body, e.render, e.headers, e.attachments,
  e.source_type as "sourceType", e.message_class as "messageClass", e.template_id as "templateId",
  e.campaign_id as "campaignId", e.tracking,
  jsonb_build_object('email', c.email, 'subscribed', c.subscribed, 'data', c.data) as contact,
  exists (select from domains d where d.project_id = e.project_id and d.verified and d.approved
    and d.domain = lower(split_part(e."from", '@', 2))) as "domainVerified"`;

const isDue = (projectId: string): Query =>
  sql`project_id = ${projectId}::uuid and claim_id is null and due_at <= clock_timestamp()`;

/**
 * Takes mail of a project that is due and not claimed, oldest first, as far as the throttle and a hold of the provider
 * allow. Nothing is waited for: an empty answer means that there is nothing to send at this moment (see `nextWork`).
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
      returning q.email_id, q.attempts, q.due_at, 1000 * extract(epoch from clock_timestamp() - q.created_at) as age_ms),
    spent as (
      update send_buckets b set tokens = k.available - (select count(*) from claimed), refilled_at = k.at
      from bucket k where b.id = k.id and exists (select from claimed) and not (select disabled from refused))
    select ${mailColumns}, q.attempts, q.age_ms::float8 as "ageMs",
      (select ${projectFacts} from projects p where p.id = ${projectId}::uuid) as project
    from claimed q cross join lateral (select * from emails where id = q.email_id limit 1) e
      cross join lateral (select * from contacts where id = e.contact_id limit 1) c
    order by q.due_at, q.email_id`);
}

/** Whether a project has mail that is due and not claimed. Much cheaper than a claim that finds nothing. */
export async function anyDue(db: Database, projectId: string): Promise<boolean> {
  return (await db.row(sql`select 1 as due from email_queue where ${isDue(projectId)} limit 1`)) !== null;
}

/** Reads queued mails as a claim would, without claiming them. In no particular order. */
export function readQueued(db: Database, emailIds: readonly string[]): Promise<ClaimedMail[]> {
  return db.rows(sql`
    select ${mailColumns}, q.attempts, (1000 * extract(epoch from clock_timestamp() - q.created_at))::float8 as "ageMs",
      ${projectFacts} as project
    from email_queue q join emails e on e.id = q.email_id join contacts c on c.id = e.contact_id
      join projects p on p.id = e.project_id
    where q.email_id = any (${emailIds}::uuid[])`);
}

/** What a project's queue holds when nothing could be claimed. Times are milliseconds from now, never negative. */
export interface NextWork {
  /** Mail that is not claimed: what is due, and that with what was put off. Neither is counted beyond 100,000, nor is scheduled mail. */
  ready: number;
  waiting: number;
  /** Until the earliest mail is due that is put off or scheduled; null for none. */
  dueMs: number | null;
  /** Until the earliest claim in doubt may be settled; null for none. */
  doubtMs: number | null;
  /** Until the throttle lets mail through; 0 when it does. */
  throttleMs: number;
}

/** Says what a project's queue waits for. `batch` is how many tokens are worth waiting for. */
export async function nextWork(db: Database, projectId: string, rate: number, batch: number): Promise<NextWork> {
  const row = await db.row<NextWork & { bucketMissing: boolean }>(sql`
    with ${bucketCtes(projectId, rate, { lock: false })},
    near as (
      select due_at, created_at from email_queue
      where project_id = ${projectId}::uuid and claim_id is null
        and due_at <= clock_timestamp() + ${longestAskedMs} * interval '1 millisecond'
      order by due_at, email_id limit 100000),
    waiting as (select due_at from near where created_at <= clock_timestamp())
    select
      (select count(*) from waiting where due_at <= clock_timestamp())::int as ready,
      (select count(*) from waiting)::int as waiting,
      (select greatest(0, 1000 * extract(epoch from due_at - clock_timestamp()))::float8 from email_queue
        where project_id = ${projectId}::uuid and claim_id is null and due_at > clock_timestamp()
        order by due_at, email_id limit 1) as "dueMs",
      (select greatest(0, 1000 * extract(epoch from due_at - clock_timestamp()))::float8 from email_queue
        where claim_id is not null and lookups > 0 and project_id = ${projectId}::uuid order by due_at limit 1) as "doubtMs",
      coalesce((select case when available < 1 then ceil(1000 * least(${batch}::int, burst) / rate) else 0 end from bucket), 0)::float8
        as "throttleMs",
      exists (select from rate_limit) and not exists (select from bucket) as "bucketMissing"`);
  if (row?.bucketMissing) await bucketMade(db, projectId);
  return row ?? { ready: 0, waiting: 0, dueMs: null, doubtMs: null, throttleMs: 0 };
}
