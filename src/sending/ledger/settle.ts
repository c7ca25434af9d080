import { mailPayload } from '../../audience/events/index.ts';
import { isoText } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { usageMoved } from '../../platform/billing/index.ts';
import { type Reason, storedReason } from './reasons.ts';
import { untold, withoutBytes } from './sql.ts';

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
  /** Back to the queue. `attempt`: whether it was handed over and refused. */
  | { emailId: string; outcome: 'RETRY'; delayMs: number; attempt: boolean }
  /** It may have been taken: the claim stays until it is looked up after so long. */
  | { emailId: string; outcome: 'DOUBT'; delayMs: number };

/** How many mails got each final state. */
export interface Settled {
  sent: number;
  failed: number;
}

// A mail that the provider took is SENT whoever asks and whatever became of the claim; every other outcome counts only
// while the claim still holds the mail. sent_at is the guard: the event and the status are written once.
// The queue is reached by arrays of ids, for the reason that `claim.ts` gives. Usage is counted before contacts are locked, as
// a send does it.
const settle = statement(
  'email_queue.settle',
  `with verdict as (
     select * from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::uuid[], $11::uuid[])
       as v(id, outcome, message_id, at, subject, body, reason, stream, event_id, flip_id)),
   held as (
     select email_id from email_queue where email_id = any ($2::uuid[]) and claim_id = $1),
   gone as (
     delete from email_queue where email_id = any ($2::uuid[]) and (claim_id = $1 or email_id = any ($13::uuid[]))),
   back as (
     update email_queue set claim_id = null, claimed_at = null, lookups = 0,
       attempts = attempts + ($16::int[])[array_position($14::uuid[], email_id)],
       due_at = clock_timestamp() + ($15::float8[])[array_position($14::uuid[], email_id)] * interval '1 millisecond'
     where email_id = any ($14::uuid[]) and claim_id = $1),
   doubted as (
     update email_queue set lookups = lookups + 1,
       due_at = clock_timestamp() + ($18::float8[])[array_position($17::uuid[], email_id)] * interval '1 millisecond'
     where email_id = any ($17::uuid[]) and claim_id = $1),
   settled as (
     update emails e set
       status = case when ${untold('e')} then v.outcome else e.status end,
       message_id = coalesce(v.message_id, e.message_id),
       sent_at = case when v.outcome = 'SENT' then v.at end,
       bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
       subject = coalesce(v.subject, e.subject), body = coalesce(v.body, e.body),
       render = case when v.subject is null then e.render end,
       attachments = ${withoutBytes('e.attachments')},
       reason = case when ${untold('e')} then v.reason::jsonb else e.reason end, provider = $12, stream = coalesce(v.stream, e.stream), updated_at = now()
     from verdict v
     where e.id = v.id and e.sent_at is null and (v.outcome = 'SENT'
       or v.outcome in ('FAILED', 'BOUNCED') and e.status in ('PENDING', 'SENDING') and exists (select from held h where h.email_id = e.id))
     returning e.id, e.project_id, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id,
       e.campaign_id, e.source_type, e.message_class, e.created_at, e.sent_at, e.bounced_at, v.outcome, v.event_id, v.flip_id),
   ${usageMoved('settled', `outcome in ('SENT', 'BOUNCED')`, `outcome = 'FAILED'`)},
   flipped as (
     update contacts c set subscribed = false, subscription_before = c.subscribed, updated_at = now()
     from (select distinct on (contact_id) contact_id, id, project_id, flip_id from settled where outcome = 'BOUNCED') s
     where c.id = s.contact_id and c.subscribed and (select count(*) from usage_moved) >= 0
     returning s.flip_id, s.project_id, c.id as contact_id, s.id),
   told as (
     insert into events (id, project_id, contact_id, email_id, name, data, mail_at)
     select event_id, project_id, contact_id, id, 'email.sent',
       ${mailPayload('s')} || jsonb_build_object('sentAt', ${isoText('s.sent_at')}), s.sent_at
     from settled s where outcome = 'SENT'
     union all
     select flip_id, project_id, contact_id, id, 'contact.unsubscribed', '{"reason": "bounce"}'::jsonb, null from flipped
     union all
     select event_id, project_id, contact_id, id, 'email.bounce',
       ${mailPayload('s')} || jsonb_build_object('bounceType', 'Permanent', 'bouncedAt', ${isoText('s.bounced_at')}), s.bounced_at
     from settled s where outcome = 'BOUNCED')
   select (count(*) filter (where outcome = 'SENT'))::int as sent, (count(*) filter (where outcome <> 'SENT'))::int as failed
   from settled`,
);

/**
 * Writes down what became of the mails of one claim, by one statement: the ledger, the queue, the contact that the
 * provider refuses, and the events. Safe to repeat: what is settled stays as it is.
 */
export async function settleQueued(
  sql: Sql,
  claimId: string,
  provider: string,
  settlements: readonly Settlement[],
): Promise<Settled> {
  if (settlements.length === 0) return { sent: 0, failed: 0 };
  const finals: Final[] = [];
  const back: Extract<Settlement, { outcome: 'RETRY' }>[] = [];
  const doubted: Extract<Settlement, { outcome: 'DOUBT' }>[] = [];
  for (const settlement of settlements) {
    if (settlement.outcome === 'RETRY') back.push(settlement);
    else if (settlement.outcome === 'DOUBT') doubted.push(settlement);
    else finals.push(settlement);
  }
  const text = (key: 'messageId' | 'at' | 'subject' | 'body' | 'stream') =>
    finals.map((final) => storable((final as Partial<Record<typeof key, string | null>>)[key] ?? null));
  // Ids are made in order, so that the flip of a subscription stands before the bounce that caused it.
  const flips = finals.map(({ outcome }) => (outcome === 'BOUNCED' ? newId() : null));
  const row = await sql.row<Settled>(settle, [
    claimId,
    finals.map(({ emailId }) => emailId),
    finals.map(({ outcome }) => outcome),
    text('messageId'),
    text('at'),
    text('subject'),
    text('body'),
    finals.map((final) => (final.outcome === 'SENT' ? null : storedReason(final.reason))),
    text('stream'),
    finals.map(() => newId()),
    flips,
    provider,
    finals.filter(({ outcome }) => outcome === 'SENT').map(({ emailId }) => emailId),
    back.map(({ emailId }) => emailId),
    back.map(({ delayMs }) => delayMs),
    back.map(({ attempt }) => (attempt ? 1 : 0)),
    doubted.map(({ emailId }) => emailId),
    doubted.map(({ delayMs }) => delayMs),
  ]);
  return row ?? { sent: 0, failed: 0 };
}

type Final = Exclude<Settlement, { outcome: 'RETRY' | 'DOUBT' }>;

/** A text without U+0000, the one character that Postgres cannot store; a filter of a template can make one. */
export function storable(text: string | null): string | null {
  return text?.includes('\0') ? text.replaceAll('\0', '') : text;
}
