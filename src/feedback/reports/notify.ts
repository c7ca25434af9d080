import { correctedUsage } from '../../billing/daily-queries.ts';
import { isErasedMail } from '../../contacts/erased.ts';
import { recountingEvents } from '../../contacts/events/counting-queries.ts';
import { leftBefore, mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { contactsWritten, writingAs } from '../../contacts/write.ts';
import type { Notification } from '../../domains/providers/mailer.ts';
import { newId } from '../../lib/ids.ts';
import { countedColumns, countingChange } from '../../mail/ledger/counting.ts';
import { receiptKey } from '../../mail/ledger/queries.ts';
import { isLeftOut, storedReason } from '../../mail/ledger/reasons.ts';
import { MailStatus, statusRank } from '../../mail/status.ts';
import { isoText } from '../../store/columns.ts';
import { newEvent, recordingEvents } from '../../store/record-events.ts';
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
  const { key, messageId, at: reportedAt, effect } = notification;
  const { kind } = effect;
  const isTransient = kind === 'bounce' && effect.bounceType !== 'Permanent';
  const [name, status] = kind in moves && !isTransient ? moves[kind as keyof typeof moves] : [null, null];
  const at = sql`${reportedAt}::timestamptz`;
  const instant = (row: string) => (name === null ? sql`null::timestamptz` : raw(`${row}.${name}_at`));
  const flips = status === MailStatus.BOUNCED || status === MailStatus.COMPLAINED || kind === 'optOut';
  const leaves = reasonOf(effect);
  // Made before the ID of the report's own event, which follows the flip.
  const flipId = newId();
  const flip = contactsWritten(
    raw('m.project_id'),
    sql`jsonb_build_array(jsonb_build_object('id', m.contact_id, 'subscribed', false, 'flipId', ${flipId}::uuid, 'flipEmailId', m.id)
      || ${JSON.stringify(leaves === null ? {} : { flipData: { reason: leaves } })}::jsonb)`,
    writingAs(db, 'report', mail.emailId),
  );
  const given = sql`
    known as (
      select e.id, e.status, ${isErasedMail('e')} as erased,
        e.sent_at is not null or e.status not in ('PENDING', 'SENDING') or ${late}::boolean as ripe
      from emails e where e.id = ${mail.emailId}::uuid and e.project_id = ${mail.projectId}::uuid),
    mail as (
      select e.*, e.status in ('FAILED', 'CANCELLED') and e.sent_at is null and e.message_id is null and ${kind !== 'optOut'}::boolean as given_up
      from emails e join known k on k.id = e.id and k.ripe and not k.erased for update of e),
    receipt as (
      insert into webhook_receipts (source, key) select ${source}, ${receiptKey(key)} from mail on conflict do nothing returning 1),
    moved as (
      update emails e set
        status = ${statusAfter(kind, status)},
        sent_at = case when m.given_up then coalesce(e.sent_at, ${at}) else e.sent_at end,
        message_id = coalesce(e.message_id, ${messageId}::text),
        ${name === null ? sql`` : sql`${raw(`${name}_at`)} = least(${instant('e')}, ${at}),`}
        opens = e.opens + ${kind === 'open' ? 1 : 0}::int,
        clicks = e.clicks + ${kind === 'click' ? 1 : 0}::int,
        reason = ${reasonAfter(effect, status, at)},
        updated_at = now()
      from mail m where e.id = m.id and exists (select from receipt)
      returning ${counts}, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id, e.campaign_id,
        e.send_seq, e.message_class, e.sent_at, e.opens, e.clicks, m.given_up as corrected,
        m.given_up and ${raw(isLeftOut('m'))} as was_left_out, ${instant('m')} as was, ${instant('e')} as becomes,
        ${name === null ? sql`false` : sql`${instant('m')} is null`} as first),
    ${raw(correctedUsage)},
    hours_of_mail as (${countingChange('mail', 'moved')}),
    flipped as materialized (
      select w.id
      from (select * from moved where ${flips}::boolean and (select count(*) from usage_corrected) >= 0) m, ${flip} w
      where w.flipped),
    ${counted(effect, name)}
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
      else 'unknown' end as outcome, (select count(*) from flipped) as flips`;
  const events = eventsOf(notification, name, at);
  const row = await db.row<{ outcome: Notified }>(recordingEvents({ given, events, result }));
  return row?.outcome ?? 'unknown';
}

/** The CTE of the campaign's counters. */
function counted(effect: Effect, name: Moved | null): Query {
  return sql`
    counted as (
      update campaigns c set
        ${name === null ? sql`` : sql`${raw(`${name}_count`)} = ${raw(`c.${name}_count`)} + m.first::int,`}
        sent_count = c.sent_count + m.corrected::int,
        skipped_count = greatest(0, c.skipped_count - m.was_left_out::int),
        failed_count = greatest(0, c.failed_count - (m.corrected and not m.was_left_out)::int),
        unsubscribed_count = c.unsubscribed_count + case
          when ${effect.kind !== 'optOut' || reasonOf(effect) !== null}::boolean or not exists (select from flipped) then 0
          when exists (${raw(leftBefore('m.contact_id', 'm.campaign_id'))}) then 0
          else 1 end
      from moved m
      where c.id = m.campaign_id and c.send_seq = m.send_seq and (m.corrected or ${name === null ? sql`false` : sql`m.first`} or exists (select from flipped))
      returning c.id),
    ${countedHours(name === 'complained' ? null : name)}
    ${effect.kind === 'click' ? countedLink(effect.link) : sql``}`;
}

/** Returns the CTE of the campaign's hours: of what the report is about, and of the hand-over that it proves. After the campaign, whose lock comes first. */
function countedHours(name: 'delivered' | 'opened' | 'clicked' | 'bounced' | null): Query {
  const hour = (at: string) => `date_bin('1 hour', ${at}, timestamptz 'epoch')`;
  const columns = name === null ? ['sent'] : ['sent', name];
  const rows = columns.map((column) => {
    const counted = columns.map((one) => Number(one === column)).join(', ');
    return column === 'sent'
      ? `select m.campaign_id, m.send_seq, ${hour('m.sent_at')}, ${counted} from moved m where m.corrected`
      : `select m.campaign_id, m.send_seq, ${hour('m.becomes')}, ${counted} from moved m where m.first`;
  });
  return raw(`
    counted_hours as (
      insert into campaign_hours as h (campaign_id, send_seq, hour, ${columns.join(', ')})
      select campaign_id, send_seq, hour, ${columns.map((column) => `sum(${column})`).join(', ')}
      from (${rows.join(' union all ')}) each (campaign_id, send_seq, hour, ${columns.join(', ')})
      where exists (select from counted)
      group by 1, 2, 3 order by 3
      on conflict (campaign_id, send_seq, hour) do update set ${columns.map((one) => `${one} = h.${one} + excluded.${one}`).join(', ')}),`);
}

// Links that differ for every recipient would be as many as recipients: beyond these a new one is counted under no name.
const mostLinks = 200;

/** The CTE of the campaign's links: a click, and whether it is the first one of this recipient there. */
function countedLink(link: string | null): Query {
  if (link === null || link === '' || link.length > 2000) return sql``;
  return sql`
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
      where (select count(*) from counted) >= 0
      on conflict (campaign_id, send_seq, link) do update set clicks = l.clicks + 1, recipients = l.recipients + excluded.recipients),`;
}

/** The events: a hand-over that the report proves, and the report itself. The flip of a subscription has been recorded with the contact. */
function eventsOf(notification: Notification, name: string | null, at: Query): Query {
  const { kind } = notification.effect;
  const ofMail = { projectId: sql`m.project_id`, contactId: sql`m.contact_id`, emailId: sql`m.id` };
  const sent = newEvent({
    ...ofMail,
    id: sql`m.id`,
    name: 'email.sent',
    mailAt: sql`m.sent_at`,
  });
  const own = newEvent({
    ...ofMail,
    id: newId(),
    name: kind === 'failure' ? 'email.failed' : `email.${kind}`,
    data: sql`${raw(`${mailPayload('m')} || ${happenedTo(kind, name)} || ${mailTags('m')}`)} || ${JSON.stringify(saidBy(notification))}::jsonb`,
    mailAt: kind === 'failure' ? at : sql`case when m.was is null then m.becomes end`,
  });
  // Events come last, as everywhere: after the campaign's counters, and after the contact.
  return sql`
    select ${sent} from moved m where m.corrected and (select count(*) from counted) >= 0
    union all select ${own} from moved m
      where ${kind !== 'optOut' && kind !== 'sent'}::boolean and (select count(*) from flipped) >= 0`;
}

function statusAfter(kind: Effect['kind'], status: MailStatus | null): Query {
  if (kind === 'failure') return sql`case when ${rankNow} <= 1 then 'FAILED' else e.status end`;
  if (status === null) return sql`case when m.given_up then 'SENT' else e.status end`;
  return sql`case when ${raw(statusRank(`'${status}'`))} > ${rankNow} then ${status}::text when m.given_up then 'SENT' else e.status end`;
}

function reasonAfter(effect: Effect, status: string | null, at: Query): Query {
  const words = effect.kind === 'bounce' || effect.kind === 'failure' ? effect.error : null;
  const reported = sql`${words === null ? null : storedReason({ code: 'provider', words })}::jsonb`;
  if (status === MailStatus.BOUNCED) return sql`case when e.bounced_at <= ${at} then e.reason else ${reported} end`;
  if (effect.kind === 'failure') return sql`case when ${rankNow} <= 1 then ${reported} else e.reason end`;
  return sql`case when e.status in ('FAILED', 'CANCELLED') and (${status !== null}::boolean or m.given_up) then null else e.reason end`;
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
  return db.count(sql`
    delete from webhook_receipts where ctid in (
      select ctid from webhook_receipts where created_at < now() - interval '7 days' limit ${limit})`);
}
