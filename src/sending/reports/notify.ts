import type { Notification } from '@posthorn/mail-providers';
import { leftBefore } from '../../audience/contacts/index.ts';
import { mailPayload } from '../../audience/events/index.ts';
import { isoText } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { correctedUsage } from '../../platform/billing/index.ts';
import { isLeftOut, receiptKey, statusRank } from '../ledger/index.ts';

/** What became of a notification: `unsettled` means that our own record of the hand-over is still on its way. */
export type Notified = 'done' | 'duplicate' | 'unsettled' | 'unknown';

// The instant of a mail that a report of its kind tells.
const instantOf = (row: string) => `case $5 when 'delivery' then ${row}.delivered_at when 'open' then ${row}.opened_at
  when 'click' then ${row}.clicked_at when 'bounce' then case when $6 = 'BOUNCED' then ${row}.bounced_at end
  when 'complaint' then ${row}.complained_at end`;

const reported = `case when $9::text is not null then jsonb_build_object('code', 'provider', 'words', $9::text) end`;

// A mail that was given up as FAILED without a message id was never known to be with the provider; a report that proves it
// was corrects it: SENT at the latest from the report's own time, with its `email.sent`. FAILED with a message id is the
// provider's own refusal, which only what happened to the recipient can overrule. Times are the earliest reported ones, so
// that the order in which reports arrive does not matter.
// Receipt, ledger row, contact, campaign counters and events in one statement: they stand or fall together, and a
// report that comes twice, even at the same moment, finds its receipt taken and changes nothing.
const notify = statement(
  'emails.notify',
  `with known as (
     select e.id, e.status, e.sent_at is not null or e.status not in ('PENDING', 'SENDING') or $12::boolean as ripe
     from emails e where e.id = $1::uuid and e.project_id = $2::uuid),
   mail as (
     select e.*, e.status = 'FAILED' and e.sent_at is null and e.message_id is null and $5 <> 'optOut' as given_up
     from emails e join known k on k.id = e.id and k.ripe for update of e),
   receipt as (
     insert into webhook_receipts (source, key) select $3, $4 from mail on conflict do nothing returning 1),
   moved as (
     update emails e set
       status = case
         when $5 = 'failure' then case when ${statusRank('e.status')} <= 1 then 'FAILED' else e.status end
         when ${statusRank('$6::text')} > ${statusRank('e.status')} then $6::text
         when m.given_up then 'SENT' else e.status end,
       sent_at = case when m.given_up then coalesce(e.sent_at, $8::timestamptz) else e.sent_at end,
       message_id = coalesce(e.message_id, $7::text),
       delivered_at = case when $5 = 'delivery' then least(e.delivered_at, $8::timestamptz) else e.delivered_at end,
       opened_at = case when $5 = 'open' then least(e.opened_at, $8::timestamptz) else e.opened_at end,
       clicked_at = case when $5 = 'click' then least(e.clicked_at, $8::timestamptz) else e.clicked_at end,
       bounced_at = case when $6 = 'BOUNCED' then least(e.bounced_at, $8::timestamptz) else e.bounced_at end,
       complained_at = case when $5 = 'complaint' then least(e.complained_at, $8::timestamptz) else e.complained_at end,
       opens = e.opens + case when $5 = 'open' then 1 else 0 end,
       clicks = e.clicks + case when $5 = 'click' then 1 else 0 end,
       reason = case
         when $6 = 'BOUNCED' then case when e.bounced_at <= $8::timestamptz then e.reason else ${reported} end
         when $5 = 'failure' then case when ${statusRank('e.status')} <= 1 then ${reported} else e.reason end
         when e.status = 'FAILED' and ($6::text is not null or m.given_up) then null else e.reason end,
       updated_at = now()
     from mail m where e.id = m.id and exists (select from receipt)
     returning e.id, e.project_id, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id, e.campaign_id,
       e.send_seq, e.source_type, e.message_class, e.created_at, e.sent_at, e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.opens, e.clicks,
       m.given_up as corrected, m.given_up and ${isLeftOut('m')} as was_left_out, $5 = 'delivery' and m.delivered_at is null as first_delivery, $5 = 'open' and m.opened_at is null as first_open,
       $5 = 'click' and m.clicked_at is null as first_click, $6 = 'BOUNCED' and m.bounced_at is null as first_bounce,
       $5 = 'complaint' and m.complained_at is null as first_complaint,
       ${instantOf('m')} as was, ${instantOf('e')} as becomes),
   ${correctedUsage},
   flipped as (
     update contacts c set subscribed = false, subscription_before = c.subscribed, updated_at = now()
     from moved m where c.id = m.contact_id and c.subscribed and ($6 in ('BOUNCED', 'COMPLAINED') or $5 = 'optOut')
     returning c.id),
   counted as (
     update campaigns c set
       sent_count = c.sent_count + m.corrected::int,
       skipped_count = greatest(0, c.skipped_count - m.was_left_out::int),
       failed_count = greatest(0, c.failed_count - (m.corrected and not m.was_left_out)::int),
       delivered_count = c.delivered_count + m.first_delivery::int,
       opened_count = c.opened_count + m.first_open::int,
       clicked_count = c.clicked_count + m.first_click::int,
       bounced_count = c.bounced_count + coalesce(m.first_bounce, false)::int,
       complained_count = c.complained_count + m.first_complaint::int,
       unsubscribed_count = c.unsubscribed_count + case
         when $5 <> 'optOut' or $10::text is not null or not exists (select from flipped) then 0
         when exists (${leftBefore('m.contact_id', 'm.campaign_id')}) then 0
         else 1 end
     from moved m
     where c.id = m.campaign_id and c.send_seq = m.send_seq
       and (m.corrected or m.first_delivery or m.first_open or m.first_click or m.first_bounce or m.first_complaint or exists (select from flipped))),
   retimed as (
     update events v set mail_at = m.becomes from moved m
     where m.becomes < m.was and v.project_id = m.project_id and v.name = 'email.' || $5 and v.name <> 'email.sent'
       and v.mail_at = m.was and v.email_id = m.id),
   told as (
     insert into events (id, project_id, contact_id, email_id, name, data, mail_at)
     select $15::uuid, m.project_id, m.contact_id, m.id, 'email.sent', ${mailPayload('m', `'sentAt', ${isoText('m.sent_at')}`)}, m.sent_at
     from moved m where m.corrected
     union all
     select $13::uuid, m.project_id, m.contact_id, m.id, 'contact.unsubscribed',
       case when $10::text is not null then jsonb_build_object('reason', $10::text) end, null
     from moved m where exists (select from flipped)
     union all
     select $14::uuid, m.project_id, m.contact_id, m.id, case $5 when 'failure' then 'email.failed' else 'email.' || $5 end, ${mailPayload('m')} || case $5
       when 'delivery' then jsonb_build_object('deliveredAt', ${isoText('m.delivered_at')})
       when 'open' then jsonb_build_object('openedAt', ${isoText('m.opened_at')}, 'opens', m.opens, 'isFirstOpen', m.first_open)
       when 'click' then jsonb_build_object('link', $9::text, 'clickedAt', ${isoText('m.clicked_at')}, 'clicks', m.clicks,
         'isFirstClick', m.first_click)
       when 'failure' then jsonb_build_object('error', $9::text, 'failedAt', ${isoText('$8::timestamptz')})
       when 'bounce' then jsonb_build_object('bounceType', $11::text) || case when $6 = 'BOUNCED'
         then jsonb_build_object('bouncedAt', ${isoText('m.bounced_at')}) else '{"transientBounce": true}' end
       else jsonb_build_object('complainedAt', ${isoText('m.complained_at')}) end,
       case when $5 = 'failure' then $8::timestamptz when m.was is null then m.becomes end
     from moved m where $5 not in ('optOut', 'sent'))
   select case
     when exists (select from moved) then 'done'
     when exists (select from mail) then 'duplicate'
     when exists (select from known) then 'unsettled'
     else 'unknown' end as outcome`,
);

const statuses = { delivery: 'DELIVERED', open: 'OPENED', click: 'CLICKED', complaint: 'COMPLAINED' } as const;

/**
 * Applies a report of the provider to the mail it is about (contract page 3, 9.2 to 9.4), once per `key`. With `late`,
 * a mail whose hand-over is not written down yet is changed all the same.
 */
export async function applyNotification(
  sql: Sql,
  source: string,
  mail: { emailId: string; projectId: string },
  { key, messageId, at, effect }: Notification,
  late: boolean,
): Promise<Notified> {
  // Made first: the event of a hand-over stands before what followed it.
  const sentEvent = newId();
  const row = await sql.row<{ outcome: Notified }>(notify, [
    mail.emailId,
    mail.projectId,
    source,
    receiptKey(key),
    effect.kind,
    statusOf(effect),
    messageId,
    at,
    textOf(effect),
    reasonOf(effect),
    effect.kind === 'bounce' ? effect.bounceType : null,
    late,
    newId(),
    newId(),
    sentEvent,
  ]);
  return row?.outcome ?? 'unknown';
}

function statusOf(effect: Notification['effect']): string | null {
  if (effect.kind === 'bounce') return effect.bounceType === 'Permanent' ? 'BOUNCED' : null;
  return effect.kind in statuses ? statuses[effect.kind as keyof typeof statuses] : null;
}

function textOf(effect: Notification['effect']): string | null {
  if (effect.kind === 'click') return effect.link;
  return effect.kind === 'bounce' || effect.kind === 'failure' ? effect.error : null;
}

function reasonOf(effect: Notification['effect']): string | null {
  if (effect.kind === 'bounce') return 'bounce';
  if (effect.kind === 'complaint') return 'complaint';
  return effect.kind === 'optOut' && !effect.own ? effect.reason : null;
}

const find = statement(
  'emails.by_message',
  `select e.id as "emailId", e.project_id as "projectId" from contacts c join emails e on e.contact_id = c.id
   where c.email = $1 and e.message_id = $2 limit 1`,
);

/** The mail with this id at the provider, found by way of its recipient, since no index holds the provider's ids. */
export function findByMessageId(
  sql: Sql,
  recipient: string,
  messageId: string,
): Promise<{ emailId: string; projectId: string } | null> {
  return sql.row(find, [recipient, messageId]);
}

const expire = statement(
  'webhook_receipts.expire',
  `delete from webhook_receipts where ctid in (
     select ctid from webhook_receipts where created_at < now() - interval '7 days' limit $1)`,
);

/** Removes up to `limit` receipts that no provider would repeat any more; answers how many. */
export function removeOldReceipts(sql: Sql, limit: number): Promise<number> {
  return sql.count(expire, [limit]);
}
