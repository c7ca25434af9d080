import { correctedUsage } from '../../billing/daily-queries.ts';
import { isErasedMail } from '../../contacts/erased.ts';
import { recountingEvents } from '../../contacts/events/counting-queries.ts';
import { leftBefore, mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { contactsWritten, writingAs } from '../../contacts/write.ts';
import type { Notification } from '../../domains/providers/mailer.ts';
import { newId } from '../../lib/ids.ts';
import { countEmails } from '../../lib/telemetry.ts';
import { countedColumns, countingChange } from '../../mail/ledger/counting.ts';
import { receiptKey } from '../../mail/ledger/queries.ts';
import { isLeftOut, storedReason } from '../../mail/ledger/reasons.ts';
import { MailStatus, statusRank } from '../../mail/status.ts';
import { isoText, removePast } from '../../store/columns.ts';
import { type NewEvent, recordingEvents } from '../../store/record-events.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';

/**
 * The outcome of a notification. `unsettled`: our own record of the hand-over is still on its way. `forgotten`: the recipient was
 * erased, and a report would leave a new trace of them (the provider's words, a link, a time), so that nothing is written.
 */
export type Notified = 'done' | 'duplicate' | 'forgotten' | 'unsettled' | 'unknown';

type Effect = Notification['effect'];

// Each kind of report moves an instant of the mail (`delivered_at`), a counter of its campaign (`delivered_count`), and a status.
const moves = {
  delivery: ['delivered', MailStatus.DELIVERED],
  open: ['opened', MailStatus.OPENED],
  click: ['clicked', MailStatus.CLICKED],
  bounce: ['bounced', MailStatus.BOUNCED],
  complaint: ['complained', MailStatus.COMPLAINED],
} as const;
type Moved = (typeof moves)[keyof typeof moves][0];
const counts = raw(countedColumns.map((column) => `e.${column}`).join(', '));
const rankNow = raw(statusRank('e.status'));
const rankReported = raw(statusRank('m.reported_status'));

/**
 * Applies a report of the provider to the mail it is about (docs/contract/platform.md#9), once per `key`. With `late`,
 * a mail whose hand-over is not written down yet is changed all the same.
 *
 * Receipt, ledger row, contact, campaign counters and events in one statement: they stand or fall together, and a report that
 * comes twice, even at the same moment, finds its receipt taken and changes nothing. A mail that was given up as FAILED without a
 * message id was never known to be with the provider; a report that proves it was corrects it: SENT at the latest from the
 * report's own time, with its `email.sent`. FAILED with a message id is the provider's own refusal, which only what happened to
 * the recipient can overrule. Times are the earliest reported ones, so that the order in which reports arrive does not matter.
 */
export async function applyNotification(
  db: Database,
  source: string,
  mail: { emailId: string; projectId: string },
  notification: Notification,
  late: boolean,
): Promise<Notified> {
  const { key, messageId, at, effect } = notification;
  const { kind } = effect;
  const isFailure = kind === 'failure';
  const isTransient = kind === 'bounce' && effect.bounceType !== 'Permanent';
  const [name, status] = kind in moves && !isTransient ? moves[kind as keyof typeof moves] : [null, null];
  const [was, becomes] = ['m', 'e'].map((row) => raw(name === null ? 'null::timestamptz' : `${row}.${name}_at`));
  const words = kind === 'bounce' || isFailure ? effect.error : null;
  const reason = words === null ? null : storedReason({ code: 'provider', words });
  const flips = status === MailStatus.BOUNCED || status === MailStatus.COMPLAINED || kind === 'optOut';
  const leaves = reasonOf(effect);
  // Made before the ID of the report's own event, which follows the flip.
  const flipId = newId();
  const flip = contactsWritten(
    raw('m.project_id'),
    sql`jsonb_build_array(jsonb_build_object('id', m.contact_id, 'subscribed', false, 'flipId', ${flipId}::uuid, 'flipEmailId', m.id)
      || ${JSON.stringify(leaves === null ? {} : { flipData: { reason: leaves } })}::jsonb)`,
    { ...writingAs(db, 'report', mail.emailId), limitedBy: raw('m.limited_by') },
  );
  const given = sql`
    known as (
      select e.id, e.status, ${isErasedMail('e')} as erased,
        e.sent_at is not null or e.status not in ('PENDING', 'SENDING') or ${late}::boolean as ripe
      from emails e where e.id = ${mail.emailId}::uuid and e.project_id = ${mail.projectId}::uuid),
    mail as (
      select e.*, ${at}::timestamptz as reported_at, ${status}::text as reported_status,
        e.status in ('FAILED', 'CANCELLED') and e.sent_at is null and e.message_id is null and ${kind !== 'optOut'}::boolean as given_up
      from emails e join known k on k.id = e.id and k.ripe and not k.erased for update of e),
    receipt as (
      insert into webhook_receipts (source, key) select ${source}, ${receiptKey(key)} from mail on conflict do nothing returning 1),
    moved as (
      update emails e set
        status = case when ${isFailure}::boolean then case when ${rankNow} <= 1 then 'FAILED' else e.status end
          when ${rankReported} > ${rankNow} then m.reported_status when m.given_up then 'SENT' else e.status end,
        sent_at = case when m.given_up then coalesce(e.sent_at, m.reported_at) else e.sent_at end,
        message_id = coalesce(e.message_id, ${messageId}::text),
        ${raw(name === null ? '' : `${name}_at = least(e.${name}_at, m.reported_at),`)}
        opens = e.opens + ${kind === 'open' ? 1 : 0}::int,
        clicks = e.clicks + ${kind === 'click' ? 1 : 0}::int,
        reason = case when m.reported_status = 'BOUNCED' then case when e.bounced_at <= m.reported_at then e.reason else ${reason}::jsonb end
          when ${isFailure}::boolean then case when ${rankNow} <= 1 then ${reason}::jsonb else e.reason end
          when e.status in ('FAILED', 'CANCELLED') and (m.reported_status is not null or m.given_up) then null else e.reason end,
        updated_at = now()
      from mail m where e.id = m.id and exists (select from receipt)
      returning ${counts}, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id, e.campaign_id,
        e.send_seq, e.message_class, e.sent_at, e.opens, e.clicks, e.limited_by, m.reported_at, m.given_up as corrected,
        m.given_up and ${raw(isLeftOut('m'))} as was_left_out, ${was} as was, ${becomes} as becomes,
        m.reported_status is not null and ${was} is null as first),
    ${raw(correctedUsage)},
    hours_of_mail as (${countingChange('mail', 'moved')}),
    flipped as materialized (
      select w.id
      from (select * from moved where ${flips}::boolean and (select count(*) from usage_corrected) >= 0) m, ${flip} w
      where w.flipped),
    ${countedForCampaign(effect, name)},
    retimed as (
      update events v set mail_at = m.becomes from moved m
      where m.becomes < m.was and v.project_id = m.project_id and v.name = ${`email.${kind}`} and v.mail_at = m.was and v.email_id = m.id
      returning v.project_id, v.name, v.created_at, m.was, m.becomes),
    ${recountingEvents('retimed')}`;
  const result = sql`
    select case
      when exists (select from moved) then 'done'
      when exists (select from mail) then 'duplicate'
      when exists (select from known where erased) then 'forgotten'
      when exists (select from known) then 'unsettled'
      else 'unknown' end as outcome, (select source_type from mail where exists (select from moved where first)) as "firstOf",
      (select count(*) from flipped) as flips`;
  const events = eventsOf(notification, name);
  const row = await db.row<{ outcome: Notified; firstOf: string | null }>(recordingEvents({ given, events, result }));
  if (row?.firstOf != null && status !== null) countEmails(status, row.firstOf);
  return row?.outcome ?? 'unknown';
}

// Links that differ for every recipient would be as many as recipients: beyond these a new one is counted under no name.
const mostLinks = 200;

/**
 * Returns the CTEs of the campaign: its counters, the hours of what the report is about and of the hand-over that it proves, and the link of a
 * click. The counters come first: whoever counts waits for the lock of their row.
 */
function countedForCampaign(effect: Effect, name: Moved | null): Query {
  const link = effect.kind === 'click' && effect.link.length <= 2000 ? effect.link || null : null;
  return sql`
    counted as (
      update campaigns c set
        ${raw(name === null ? '' : `${name}_count = c.${name}_count + m.first::int,`)}
        sent_count = c.sent_count + m.corrected::int,
        skipped_count = greatest(0, c.skipped_count - m.was_left_out::int),
        failed_count = greatest(0, c.failed_count - (m.corrected and not m.was_left_out)::int),
        unsubscribed_count = c.unsubscribed_count + case
          when ${effect.kind !== 'optOut' || reasonOf(effect) !== null}::boolean or not exists (select from flipped) then 0
          when exists (${raw(leftBefore('m.contact_id', 'm.campaign_id'))}) then 0
          else 1 end
      from moved m
      where c.id = m.campaign_id and c.send_seq = m.send_seq and (m.corrected or m.first or exists (select from flipped))
      returning c.id),
    counted_hours as (
      insert into campaign_hours as h (campaign_id, send_seq, hour, sent, delivered, opened, clicked, bounced)
      select m.campaign_id, m.send_seq, date_bin('1 hour', o.at, timestamptz 'epoch'), sum((o.what = 'sent')::int),
        sum((o.what = 'delivered')::int), sum((o.what = 'opened')::int), sum((o.what = 'clicked')::int), sum((o.what = 'bounced')::int)
      from moved m cross join lateral (
        values ('sent', m.sent_at, m.corrected), (${name}::text, m.becomes, m.first)) o (what, at, happened)
      where o.happened and o.what <> 'complained' and exists (select from counted)
      group by 1, 2, 3 order by 3
      on conflict (campaign_id, send_seq, hour) do update set sent = h.sent + excluded.sent, delivered = h.delivered + excluded.delivered,
        opened = h.opened + excluded.opened, clicked = h.clicked + excluded.clicked, bounced = h.bounced + excluded.bounced),
    counted_link as (
      insert into campaign_links as l (campaign_id, send_seq, link, clicks, recipients)
      select m.campaign_id, m.send_seq, place.link, 1, (not exists (
          select from events v where v.contact_id = m.contact_id and v.email_id = m.id and v.name = 'email.click'
            and v.data ->> 'link' = ${link}::text))::int
      from moved m join campaigns c on c.id = m.campaign_id and c.send_seq = m.send_seq
      cross join lateral (select case
        when exists (select from campaign_links k where k.campaign_id = m.campaign_id and k.send_seq = m.send_seq and k.link = ${link}::text)
          or (select count(*) from campaign_links k where k.campaign_id = m.campaign_id and k.send_seq = m.send_seq) < ${mostLinks}
        then ${link}::text else '' end as link) place
      where ${link}::text is not null and (select count(*) from counted) >= 0
      on conflict (campaign_id, send_seq, link) do update set clicks = l.clicks + 1, recipients = l.recipients + excluded.recipients)`;
}

/** The events: a hand-over that the report proves, and the report itself. The flip of a subscription has been recorded with the contact. */
function eventsOf(notification: Notification, name: Moved | null): NewEvent[] {
  const { kind } = notification.effect;
  const ofMail = {
    projectId: raw('m.project_id'),
    contactId: raw('m.contact_id'),
    emailId: raw('m.id'),
    limitedBy: raw('m.limited_by'),
  };
  // Events come last, as everywhere: after the campaign's counters, and after the contact.
  const sent = {
    ...ofMail,
    id: raw('m.id'),
    name: 'email.sent',
    mailAt: raw('m.sent_at'),
    from: sql`moved m where m.corrected and (select count(*) from counted) >= 0`,
  };
  const own = {
    ...ofMail,
    id: newId(),
    name: kind === 'failure' ? 'email.failed' : `email.${kind}`,
    data: sql`${raw(`${mailPayload('m')} || ${happenedTo(kind, name)} || ${mailTags('m')}`)} || ${JSON.stringify(saidBy(notification))}::jsonb`,
    mailAt: raw(kind === 'failure' ? 'm.reported_at' : 'case when m.was is null then m.becomes end'),
    from: sql`moved m where ${kind !== 'optOut' && kind !== 'sent'}::boolean and (select count(*) from flipped) >= 0`,
  };
  return [sent, own];
}

/** Returns the SQL of what the event of a report says of its mail, as jsonb. */
function happenedTo(kind: Effect['kind'], name: string | null): string {
  const instant = name === null ? `'{}'::jsonb` : `jsonb_build_object('${name}At', ${isoText('m.becomes')})`;
  if (kind === 'open') return `${instant} || jsonb_build_object('opens', m.opens, 'isFirstOpen', m.first)`;
  if (kind === 'click') return `${instant} || jsonb_build_object('clicks', m.clicks, 'isFirstClick', m.first)`;
  return instant;
}

/** Returns what the event of a report says in the provider's words. */
function saidBy({ effect, at }: Notification): object {
  switch (effect.kind) {
    case 'click':
      return { link: storable(effect.link) };
    case 'failure':
      return { error: storable(effect.error), failedAt: new Date(at).toISOString() };
    case 'bounce':
      return { bounceType: effect.bounceType, ...(effect.bounceType === 'Permanent' ? {} : { transientBounce: true }) };
    default:
      return {};
  }
}

// Postgres stores neither U+0000 nor half a character.
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed();

function reasonOf(effect: Effect): string | null {
  if (effect.kind === 'bounce') return 'bounce';
  if (effect.kind === 'complaint') return 'complaint';
  return effect.kind === 'optOut' && !effect.own ? effect.reason : null;
}

/** The mail with this id at the provider, found by way of its recipient, since no index holds the provider's ids. */
export function findByMessageId(
  db: Database,
  recipient: string,
  messageId: string,
): Promise<{ emailId: string; projectId: string } | null> {
  return db.row(sql`
    select e.id as "emailId", e.project_id as "projectId" from ${contactsAndTrash} c join emails e on e.contact_id = c.id
    where c.email = ${recipient} and e.message_id = ${messageId} limit 1`);
}

/** Removes up to `limit` receipts that no provider would repeat any more; answers how many. */
export function removeOldReceipts(db: Database, limit: number): Promise<number> {
  return removePast(db, 'webhook_receipts', 'created_at', limit, '7 days');
}
