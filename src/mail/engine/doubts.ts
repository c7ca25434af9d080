import { isoInstantOrNull } from '../../store/columns.ts';
import { type Database, type Query, sql } from '../../store/sql.ts';
import type { ClaimedMail } from '../ledger/queries.ts';
import { type Settlement, settleMail } from '../ledger/settle.ts';
import { abandonedAfterMs, inFlightMs, retryDelay } from './attempts.ts';
import { holdFor } from './breaker.ts';
import { readQueued } from './claim.ts';
import type { DeliveryDeps, Tally } from './deps.ts';
import { type Judgement, judgeUnconfirmed, lookUpClaim } from './hand-over.ts';
import { textsOf } from './queue-ledger.ts';

/**
 * Puts the open claims of a dead attempt in doubt: those of this project whose ids begin with `prefix`. They may be sent
 * again `restMs` from now at the earliest. Answers the claims.
 */
async function doubtClaimsOf(db: Database, projectId: string, prefix: string, restMs: number): Promise<string[]> {
  const rows = await db.rows<{ claimId: string }>(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and project_id = ${projectId}::uuid and starts_with(claim_id, ${prefix})
    returning claim_id as "claimId"`);
  return [...new Set(rows.map((row) => row.claimId))];
}

/** Puts every claim in doubt, of any project, that is older than anything alive can be. */
async function doubtAbandoned(db: Database, olderThanMs: number, restMs: number): Promise<void> {
  await db.count(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and claimed_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`);
}

/** A mail in doubt. */
interface DoubtfulMail {
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
function takeDoubtful(db: Database, projectId: string | null): Promise<DoubtfulMail[]> {
  const whose = projectId === null ? sql`true` : sql`project_id = ${projectId}::uuid`;
  return lease(db, sql`due_at <= clock_timestamp() and ${whose}`);
}

/** Takes the mail of one claim in doubt, whether or not its time has come. */
function takeDoubtfulOf(db: Database, claimId: string): Promise<DoubtfulMail[]> {
  return lease(db, sql`claim_id = ${claimId}`);
}

/** Projects whose mail is overdue by so much: nobody works on them, or not fast enough. */
async function projectsWaiting(db: Database, overdueMs: number): Promise<string[]> {
  const rows = await db.rows<{ projectId: string }>(sql`
    select distinct project_id as "projectId" from email_queue
    where claim_id is null and due_at < clock_timestamp() - ${overdueMs} * interval '1 millisecond'`);
  return rows.map((row) => row.projectId);
}

/**
 * Settles what a dead attempt of the same activity held: its claims are looked up at the provider at once; what is not
 * found there stays in doubt while a call may be under way, and for the provider's indexing lag.
 */
export async function settleDeadAttempt(deps: DeliveryDeps, projectId: string, prefix: string): Promise<Tally> {
  const claims = await doubtClaimsOf(deps.db, projectId, prefix, restMs(deps));
  const tally: Tally = { delivered: 0, failed: 0 };
  for (const claimId of claims) add(tally, await settleDoubtful(deps, await takeDoubtfulOf(deps.db, claimId)));
  return tally;
}

// The provider's lag counts from the last moment at which a message may have come there.
function restMs({ mailer, lagMs }: DeliveryDeps): number {
  return inFlightMs(mailer) + lagMs;
}

/** Settles the claims in doubt whose time has come, of one project or (null) of any. */
export async function settleDueDoubts(deps: DeliveryDeps, projectId: string | null): Promise<Tally> {
  const tally: Tally = { delivered: 0, failed: 0 };
  for (;;) {
    const mails = await takeDoubtful(deps.db, projectId);
    if (mails.length === 0) return tally;
    add(tally, await settleDoubtful(deps, mails));
  }
}

/**
 * Puts right what crashes and lost wakes left, of any project: dead claims are settled, and `wake` is called for each
 * project with mail that nobody fetches. Answers how many mails and projects that were.
 */
export async function reconcileClaims(deps: DeliveryDeps, wake: (projectId: string) => void): Promise<number> {
  await doubtAbandoned(deps.db, abandonedAfterMs, restMs(deps));
  const { delivered, failed } = await settleDueDoubts(deps, null);
  const projects = await projectsWaiting(deps.db, overdueMs);
  for (const projectId of projects) wake(projectId);
  return delivered + failed + projects.length;
}

// Mail waits longer than this only where no delivery is awake, or where it is throttled or held and a wake is harmless.
const overdueMs = 5000;

async function settleDoubtful(deps: DeliveryDeps, mails: readonly DoubtfulMail[]): Promise<Tally> {
  const tally: Tally = { delivered: 0, failed: 0 };
  const byClaim = Map.groupBy(mails, ({ claimId }) => claimId);
  for (const [claimId, claimed] of byClaim) {
    const settlements = await settlementsOf(deps, claimId, claimed);
    const { sent, failed } = await settleMail(deps.db, { id: claimId, provider: deps.mailer.name }, settlements);
    add(tally, { delivered: sent, failed });
    deps.log.info(
      { claimId, mails: claimed.length, found: sent },
      'an interrupted claim was looked up at the provider',
    );
  }
  return tally;
}

async function settlementsOf(deps: DeliveryDeps, claimId: string, claimed: DoubtfulMail[]): Promise<Settlement[]> {
  const found = await lookUpClaim(deps, claimId);
  const held = (await holdFor(deps.db, deps.mailer.name)) !== null;
  const ids = claimed.map(({ emailId }) => emailId);
  const queued = new Map((await readQueued(deps.db, ids)).map((mail) => [mail.id, mail]));
  return claimed.flatMap((doubtful) => {
    const mail = queued.get(doubtful.emailId);
    if (mail === undefined) return [];
    const { attempts, ageMs } = mail;
    const { emailId, claimAgeMs: sinceMs, restMs: lagMs } = doubtful;
    const proof = proofOf(doubtful);
    if (proof !== undefined) return [settlementOf(deps, mail, { kind: 'sent', ...proof })];
    const judgement = judgeUnconfirmed({ emailId, attempts, ageMs, sinceMs, lagMs }, found, held);
    return [settlementOf(deps, mail, judgement)];
  });
}

function settlementOf(deps: DeliveryDeps, mail: ClaimedMail, judgement: Judgement): Settlement {
  const { id: emailId, attempts } = mail;
  switch (judgement.kind) {
    case 'sent': {
      // What was sent is kept as text. It is made from the same snapshot, so it reads as it was sent.
      const texts = textsOf(deps, mail) ?? { subject: null, body: null, stream: null };
      return { emailId, outcome: 'SENT', messageId: judgement.messageId, at: judgement.at, ...texts };
    }
    case 'wait':
      return { emailId, outcome: 'DOUBT', delayMs: judgement.delayMs };
    case 'failed':
      return { emailId, outcome: 'FAILED', reason: judgement.reason, subject: null, body: null };
    case 'again':
      return {
        emailId,
        outcome: 'RETRY',
        delayMs: attempts === 0 ? 0 : retryDelay(attempts, null),
        attempt: true,
        words: null,
      };
  }
}

// A delivery or bounce that was reported meanwhile proves the hand-over as well as the provider's search does.
function proofOf({ messageId, provenAt }: DoubtfulMail): { messageId: string; at: string } | undefined {
  const at = isoInstantOrNull(provenAt);
  return messageId === null || at === null ? undefined : { messageId, at };
}

function add(tally: Tally, more: Tally): void {
  tally.delivered += more.delivered;
  tally.failed += more.failed;
}
