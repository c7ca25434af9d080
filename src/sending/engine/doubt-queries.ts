import { type Database, type Query, sql } from '../../core/database/sql.ts';

/**
 * Puts the open claims of a dead attempt in doubt: those of this project whose ids begin with `prefix`. They may be sent
 * again `restMs` from now at the earliest. Answers the claims.
 */
export async function doubtClaimsOf(
  db: Database,
  projectId: string,
  prefix: string,
  restMs: number,
): Promise<string[]> {
  const rows = await db.rows<{ claimId: string }>(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and project_id = ${projectId}::uuid and starts_with(claim_id, ${prefix})
    returning claim_id as "claimId"`);
  return [...new Set(rows.map((row) => row.claimId))];
}

/** Puts every claim in doubt, of any project, that is older than anything alive can be. */
export async function doubtAbandoned(db: Database, olderThanMs: number, restMs: number): Promise<void> {
  await db.count(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and claimed_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`);
}

/** A mail in doubt. */
export interface DoubtfulMail {
  emailId: string;
  projectId: string;
  claimId: string;
  /** Milliseconds until it may be sent again if the provider does not know it; 0 when that time has come. */
  restMs: number;
  /** Milliseconds since it was claimed. */
  claimAgeMs: number;
  /** Set when a notification of the provider proved meanwhile that the mail was sent. */
  messageId: string | null;
  provenAt: string | null;
}

// How long whoever takes doubtful mail has to settle it before another one may.
const leaseMs = 45_000;
const atOnce = 500;

// By arrays of ids, for the reason that `claim.ts` gives.
function lease(db: Database, which: Query): Promise<DoubtfulMail[]> {
  return db.rows(sql`
    with due as (
      select email_id, greatest(0, 1000 * extract(epoch from due_at - clock_timestamp())) as rest_ms from email_queue
      where claim_id is not null and lookups > 0 and ${which}
      order by due_at limit ${atOnce} for update skip locked),
    leased as (
      update email_queue q set lookups = q.lookups + 1, due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      where q.email_id = any (array(select email_id from due))
      returning q.email_id, q.project_id, q.claim_id, q.claimed_at)
    select l.email_id as "emailId", l.project_id as "projectId", l.claim_id as "claimId", d.rest_ms::float8 as "restMs",
      (1000 * extract(epoch from clock_timestamp() - l.claimed_at))::float8 as "claimAgeMs",
      e.message_id as "messageId",
      coalesce(e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.updated_at) as "provenAt"
    from leased l join due d on d.email_id = l.email_id join emails e on e.id = l.email_id`);
}

/** Takes mail in doubt whose time has come, of one project or (null) of any, for a while. */
export function takeDoubtful(db: Database, projectId: string | null): Promise<DoubtfulMail[]> {
  const whose = projectId === null ? sql`true` : sql`project_id = ${projectId}::uuid`;
  return lease(db, sql`due_at <= clock_timestamp() and ${whose}`);
}

/** Takes the mail of one claim in doubt, whether or not its time has come. */
export function takeDoubtfulOf(db: Database, claimId: string): Promise<DoubtfulMail[]> {
  return lease(db, sql`claim_id = ${claimId}`);
}

/** Projects whose mail is overdue by so much: nobody works on them, or not fast enough. */
export async function projectsWaiting(db: Database, overdueMs: number): Promise<string[]> {
  const rows = await db.rows<{ projectId: string }>(sql`
    select distinct project_id as "projectId" from email_queue
    where claim_id is null and due_at < clock_timestamp() - ${overdueMs} * interval '1 millisecond'`);
  return rows.map((row) => row.projectId);
}
