import { usageMoved } from '../../billing/daily-queries.ts';
import { mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { contactsWritten } from '../../contacts/write.ts';
import { newId } from '../../lib/ids.ts';
import { isoText } from '../../store/columns.ts';
import { newEvent, recordingEvents } from '../../store/record-events.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { endedColumns, failedEvents } from './counting.ts';
import { withoutBytes } from './queries.ts';
import { type Reason, storedReason } from './reasons.ts';

/** What became of one claimed mail. */
export type Settlement =
  /** The provider has it; `at` is an ISO instant. Texts are null where the rendered ones are not at hand. */
  | {
      emailId: string;
      outcome: 'SENT';
      messageId: string;
      at: string;
      subject: string | null;
      body: string | null;
      stream: string | null;
    }
  | {
      emailId: string;
      /** It will never be sent; BOUNCED when the provider refuses the recipient for an earlier bounce or complaint. */
      outcome: 'FAILED' | 'BOUNCED';
      reason: Reason;
      subject: string | null;
      body: string | null;
    }
  /** Back to the queue. `attempt`: whether it was handed over and refused, with these words of the provider where it gave some. */
  | { emailId: string; outcome: 'RETRY'; delayMs: number; attempt: boolean; words: string | null }
  /** It may have been taken: the claim stays until it is looked up after so long. */
  | { emailId: string; outcome: 'DOUBT'; delayMs: number };

/** How many mails got each final state. */
export interface Settled {
  sent: number;
  failed: number;
}

/** Longest refusal that is kept while a mail waits, in characters. */
const longestRefusal = 500;

/** Bytes of failed mail with attachments that a project may keep. */
const mostKeptBytes = 1024 * 1024 * 1024;

type Final = Exclude<Settlement, { outcome: 'RETRY' | 'DOUBT' }>;

/**
 * Writes down what became of the mails of one claim, by one statement, and another for what was given up too early: the ledger, the queue, the contact that the
 * provider refuses, and the events. Safe to repeat: what is settled stays as it is. A mail that the provider took is SENT whoever
 * asks and whatever became of the claim; every other outcome counts only while the claim still holds the mail. sent_at is the
 * guard: the event and the status are written once.
 */
export async function settleQueued(
  db: Database,
  claimId: string,
  provider: string,
  settlements: readonly Settlement[],
): Promise<Settled> {
  if (settlements.length === 0) return { sent: 0, failed: 0 };
  const first = await settleOnce(db, claimId, provider, settlements);
  const sent = settlements.filter(({ outcome }) => outcome === 'SENT');
  if (first.sent === sent.length) return first;
  const ids = sent.map(({ emailId }) => emailId);
  return await db.transaction(async (tx) => {
    if (!(await reopenGivenUp(tx, ids))) return first;
    const later = await settleOnce(tx, claimId, provider, sent);
    return { sent: first.sent + later.sent, failed: first.failed };
  });
}

async function settleOnce(
  db: Database,
  claimId: string,
  provider: string,
  settlements: readonly Settlement[],
): Promise<Settled> {
  const finals = settlements.filter((one): one is Final => one.outcome !== 'RETRY' && one.outcome !== 'DOUBT');
  const back = settlements.filter((one) => one.outcome === 'RETRY');
  const refusals = back.map(({ words }) => storable(words?.slice(0, longestRefusal) ?? null));
  const doubted = settlements.filter((one) => one.outcome === 'DOUBT');
  const ids = (some: readonly Settlement[]) => some.map(({ emailId }) => emailId);
  const text = (key: 'messageId' | 'at' | 'subject' | 'body' | 'stream') =>
    finals.map((final) => storable((final as Partial<Record<typeof key, string | null>>)[key] ?? null));
  const keepsFiles = finals.some(({ outcome }) => outcome === 'FAILED');
  const reasons = finals.map((final) => (final.outcome === 'SENT' ? null : storedReason(final.reason)));
  // Ids are made in order, so that the flip of a subscription stands before the bounce that caused it.
  const flips = finals.map(({ outcome }) => (outcome === 'BOUNCED' ? newId() : null));
  // The queue is reached by arrays of ids, for the reason that `claim.ts` gives. Usage is counted before contacts are locked, as
  // a send does it.
  const given = sql`
    verdict as (
      select * from unnest(${ids(finals)}::uuid[], ${finals.map(({ outcome }) => outcome)}::text[], ${text('messageId')}::text[],
        ${text('at')}::timestamptz[], ${text('subject')}::text[], ${text('body')}::text[], ${reasons}::text[],
        ${text('stream')}::text[], ${finals.map(() => newId())}::uuid[], ${flips}::uuid[])
        as v(id, outcome, message_id, at, subject, body, reason, stream, event_id, flip_id)),
    held as (
      select email_id, project_id, bytes from email_queue where email_id = any (${ids(finals)}::uuid[]) and claim_id = ${claimId}),
    gone as (
      delete from email_queue where email_id = any (${ids(finals)}::uuid[])
        and (claim_id = ${claimId} or email_id = any (${ids(finals.filter(({ outcome }) => outcome === 'SENT'))}::uuid[]))),
    ${keepsFiles ? keptFiles : sql``}
    back as (
      update email_queue set claim_id = null, claimed_at = null, lookups = 0,
        attempts = attempts + (${back.map(({ attempt }) => (attempt ? 1 : 0))}::int[])[array_position(${ids(back)}::uuid[], email_id)],
        last_refusal = coalesce((${refusals}::text[])[array_position(${ids(back)}::uuid[], email_id)], last_refusal),
        due_at = ${dueAfter(back)}
      where email_id = any (${ids(back)}::uuid[]) and claim_id = ${claimId}),
    doubted as (
      update email_queue set lookups = lookups + 1, due_at = ${dueAfter(doubted)}
      where email_id = any (${ids(doubted)}::uuid[]) and claim_id = ${claimId}),
    settled as (
      update emails e set
        status = case when ${waits} then v.outcome else e.status end,
        message_id = coalesce(v.message_id, e.message_id),
        sent_at = case when v.outcome = 'SENT' then v.at end,
        bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
        subject = coalesce(v.subject, e.subject),
        body = case when ${isResendable} then e.body else coalesce(v.body, e.body) end,
        render = case when v.subject is null or ${isResendable} then e.render end,
        attachments = case when ${keepsFiles ? sql`e.id in (select email_id from kept)` : sql`false`} then e.attachments
          else ${raw(withoutBytes('e.attachments'))} end,
        reason = case when ${waits} then v.reason::jsonb else e.reason end, provider = ${provider},
        stream = coalesce(v.stream, e.stream), updated_at = now()
      from verdict v
      where e.id = v.id and e.sent_at is null and (v.outcome = 'SENT' and not ${givenUp}
        or v.outcome in ('FAILED', 'BOUNCED') and e.status in ('PENDING', 'SENDING') and exists (select from held h where h.email_id = e.id))
      returning ${raw(endedColumns)}, e.sent_at, e.bounced_at, v.outcome, v.event_id, v.flip_id),
    counted as (
      insert into mail_count_changes (project_id, hour, bounced, rated, rated_bounced)
      select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*) filter (where outcome = 'BOUNCED'),
        -count(*) filter (where outcome = 'FAILED' and not simulated), count(*) filter (where outcome = 'BOUNCED' and not simulated)
      from settled where outcome <> 'SENT' group by 1, 2),
    ${keepsFiles ? notedFiles : sql``}
    failures as (select * from settled where outcome = 'FAILED'),
    ${raw(usageMoved('settled', `outcome in ('SENT', 'BOUNCED')`, `outcome = 'FAILED'`))},
    ${flipped}`;
  const result = sql`
    select (count(*) filter (where outcome = 'SENT'))::int as sent, (count(*) filter (where outcome <> 'SENT'))::int as failed
    from settled`;
  const row = await db.row<Settled>(recordingEvents({ given, events, result }));
  return row ?? { sent: 0, failed: 0 };
}

/** Lets mail that was given up and is known to be sent wait again, so that it can be settled. Answers whether there was any. */
async function reopenGivenUp(db: Database, ids: readonly string[]): Promise<boolean> {
  const reopened = await db.count(sql`
    with reopened as (
      update emails e set status = 'PENDING', reason = null
      where e.id = any (${ids}::uuid[]) and e.sent_at is null and ${givenUp} returning e.id, e.project_id, e.created_at, e.simulated),
    counted as (
      insert into mail_count_changes (project_id, hour, rated)
      select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*) from reopened where not simulated group by 1, 2)
    select id from reopened`);
  return reopened > 0;
}

// While the provider has reported nothing of a mail, our own verdict decides its status. FAILED with a message id is the
// provider's word: it took the mail and then refused to send it. FAILED without one is our own, given up too early.
const waits = sql`e.status in ('PENDING', 'SENDING')`;
const givenUp = sql`(e.status = 'FAILED' and e.message_id is null)`;

// What failed keeps what it is made of, so that it can be sent again, until its body is emptied by age.
const isResendable = sql`(v.outcome = 'FAILED' and e.render is not null)`;

// Nor do its attachments go, as long as the project has room for them. Only settlements with a failure ask for it.
const keptFiles = sql`
    failed as materialized (
      select h.email_id, h.project_id, h.bytes, sum(h.bytes) over (partition by h.project_id order by h.email_id) as through
      from held h join verdict v on v.id = h.email_id join emails e on e.id = h.email_id
      where v.outcome = 'FAILED' and e.render is not null and jsonb_typeof(e.attachments) = 'array'),
    kept as materialized (
      select f.email_id, f.project_id, f.bytes from failed f
      where f.through + coalesce((select sum(k.bytes) from failed_attachments k where k.project_id = f.project_id), 0) <= ${mostKeptBytes}),`;
const notedFiles = sql`
    noted as (
      insert into failed_attachments (email_id, project_id, bytes)
      select k.email_id, k.project_id, k.bytes from kept k join settled s on s.id = k.email_id
      on conflict (email_id) do nothing),`;

// What follows from the verdicts of the CTE `settled`: the contact that the provider refuses, and the events.
const flipped = sql`
    flipped as materialized (
      select w.id
      from (
        select project_id, jsonb_agg(jsonb_build_object('id', contact_id, 'subscribed', false,
          'flipId', flip_id, 'flipEmailId', id, 'flipData', jsonb_build_object('reason', 'bounce'))) as rows
        from (select distinct on (contact_id) contact_id, id, project_id, flip_id from settled where outcome = 'BOUNCED') s
        where (select count(*) from usage_moved) >= 0 group by project_id) b,
      ${contactsWritten(raw('b.project_id'), raw('b.rows'), { cause: '{"type": "report"}' })} w)`;
const ofMail = { projectId: sql`s.project_id`, contactId: sql`s.contact_id`, emailId: sql`s.id` };
const sent = newEvent({
  ...ofMail,
  id: sql`s.event_id`,
  name: sql`'email.sent'`,
  data: sql`${raw(mailPayload('s'))} || jsonb_build_object('sentAt', ${raw(isoText('s.sent_at'))}) || ${raw(mailTags('s'))}`,
  mailAt: sql`s.sent_at`,
});
const bounced = newEvent({
  ...ofMail,
  id: sql`s.event_id`,
  name: sql`'email.bounce'`,
  data: sql`${raw(mailPayload('s'))} || jsonb_build_object('bounceType', 'Permanent', 'bouncedAt', ${raw(isoText('s.bounced_at'))})
    || ${raw(mailTags('s'))}`,
  mailAt: sql`s.bounced_at`,
});
const events = sql`
  select ${sent} from settled s where outcome = 'SENT'
  union all ${failedEvents('failures', sql`true`)}
  union all select ${bounced} from settled s where outcome = 'BOUNCED' and (select count(*) from flipped) >= 0`;

/** When the row of the queue is due again. */
function dueAfter(settlements: readonly { emailId: string; delayMs: number }[]): Query {
  const [ids, delays] = [settlements.map(({ emailId }) => emailId), settlements.map(({ delayMs }) => delayMs)];
  return sql`clock_timestamp() + (${delays}::float8[])[array_position(${ids}::uuid[], email_id)] * interval '1 millisecond'`;
}

/** A text without U+0000, the one character that Postgres cannot store; a filter of a template can make one. */
export function storable(text: string | null): string | null {
  return text?.includes('\0') ? text.replaceAll('\0', '') : text;
}
