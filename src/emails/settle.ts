import { type Sql, statement } from '../db/sql.ts';
import { newId } from '../lib/ids.ts';
import { isoText, mailPayload, withoutBytes } from './sql.ts';

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
  /** It will never be sent. */
  | { emailId: string; outcome: 'FAILED'; error: string; subject: string | null; body: string | null }
  /** The provider refuses the recipient for an earlier bounce or complaint. */
  | { emailId: string; outcome: 'BOUNCED'; error: string; subject: string | null; body: string | null }
  /** Back to the queue. `attempt`: whether it was handed over and refused. */
  | { emailId: string; outcome: 'RETRY'; delayMs: number; attempt: boolean }
  /** It may have been taken: the claim stays until it is looked up after so long. */
  | { emailId: string; outcome: 'DOUBT'; delayMs: number };

/** How many mails got each final state. */
export interface Settled {
  sent: number;
  failed: number;
}

// Written so that no index serves it: rows are reached by their id, and not by every row of the claim for each verdict.
const mine = "q.claim_id || '' = $1";

// A mail that the provider took is SENT whoever asks and whatever became of the claim; every other outcome counts only
// while the claim still holds the mail. sent_at is the guard: the event and the status are written once.
const settle = statement(
  'email_queue.settle',
  `with verdict as (
     select * from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::float8[], $11::boolean[], $12::uuid[], $13::uuid[])
       as v(id, outcome, message_id, at, subject, body, error, stream, delay_ms, attempt, event_id, flip_id)),
   held as (
     select q.email_id from email_queue q join verdict v on v.id = q.email_id where ${mine}),
   gone as (
     delete from email_queue q using verdict v
     where q.email_id = v.id and (v.outcome = 'SENT' or v.outcome in ('FAILED', 'BOUNCED') and ${mine})),
   back as (
     update email_queue q set claim_id = null, claimed_at = null, lookups = 0,
       attempts = q.attempts + case when v.attempt then 1 else 0 end,
       due_at = clock_timestamp() + v.delay_ms * interval '1 millisecond'
     from verdict v where q.email_id = v.id and v.outcome = 'RETRY' and ${mine}),
   doubted as (
     update email_queue q set lookups = q.lookups + 1, due_at = clock_timestamp() + v.delay_ms * interval '1 millisecond'
     from verdict v where q.email_id = v.id and v.outcome = 'DOUBT' and ${mine}),
   settled as (
     update emails e set
       status = case when e.status in ('PENDING', 'SENDING', 'FAILED') then v.outcome else e.status end,
       message_id = coalesce(v.message_id, e.message_id),
       sent_at = case when v.outcome = 'SENT' then v.at end,
       bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
       subject = coalesce(v.subject, e.subject), body = coalesce(v.body, e.body),
       render = case when v.subject is null then e.render end,
       attachments = ${withoutBytes('e.attachments')},
       error = v.error, provider = $14, stream = coalesce(v.stream, e.stream), updated_at = now()
     from verdict v
     where e.id = v.id and e.sent_at is null and (v.outcome = 'SENT'
       or v.outcome in ('FAILED', 'BOUNCED') and e.status in ('PENDING', 'SENDING') and exists (select from held h where h.email_id = e.id))
     returning e.id, e.project_id, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id,
       e.campaign_id, e.source_type, e.sent_at, e.bounced_at, v.outcome, v.event_id, v.flip_id),
   flipped as (
     update contacts c set subscribed = false, subscription_before = c.subscribed, updated_at = now()
     from (select distinct on (contact_id) contact_id, id, project_id, flip_id from settled where outcome = 'BOUNCED') s
     where c.id = s.contact_id and c.subscribed
     returning s.flip_id, s.project_id, c.id as contact_id, s.id),
   told as (
     insert into events (id, project_id, contact_id, email_id, name, data)
     select event_id, project_id, contact_id, id, 'email.sent',
       ${mailPayload('s')} || jsonb_build_object('sentAt', ${isoText('s.sent_at')})
     from settled s where outcome = 'SENT'
     union all
     select flip_id, project_id, contact_id, id, 'contact.unsubscribed', '{"reason": "bounce"}'::jsonb from flipped
     union all
     select event_id, project_id, contact_id, id, 'email.bounce',
       ${mailPayload('s')} || jsonb_build_object('bounceType', 'Permanent', 'bouncedAt', ${isoText('s.bounced_at')})
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
  const column = <T>(of: (settlement: Settlement) => T) => settlements.map(of);
  const text = (key: 'messageId' | 'at' | 'subject' | 'body' | 'error' | 'stream') =>
    column((settlement) => storable((settlement as Partial<Record<typeof key, string | null>>)[key] ?? null));
  const flips = column((settlement) => (settlement.outcome === 'BOUNCED' ? newId() : null));
  const row = await sql.row<Settled>(settle, [
    claimId,
    column(({ emailId }) => emailId),
    column(({ outcome }) => outcome),
    text('messageId'),
    text('at'),
    text('subject'),
    text('body'),
    text('error'),
    text('stream'),
    column((settlement) => ('delayMs' in settlement ? settlement.delayMs : null)),
    column((settlement) => settlement.outcome === 'RETRY' && settlement.attempt),
    column(() => newId()),
    flips,
    provider,
  ]);
  return row ?? { sent: 0, failed: 0 };
}

// U+0000 is the one character that Postgres cannot store; a filter of a template can make one.
function storable(text: string | null): string | null {
  return text?.includes('\0') ? text.replaceAll('\0', '') : text;
}
