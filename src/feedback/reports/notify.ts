import { correctedUsage } from '../../billing/daily-queries.ts';
import { Contact } from '../../contacts/entity.ts';
import { isErasedMail } from '../../contacts/erased.ts';
import { recountingEvents } from '../../contacts/events/counting-queries.ts';
import { leftBefore, mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { contactsWritten, writeContacts, writingAs } from '../../contacts/write.ts';
import type { Notification } from '../../domains/providers/mailer.ts';
import { newId } from '../../lib/ids.ts';
import { activeTrace, countEmails, traceEnded, untraced } from '../../lib/telemetry.ts';
import { storableText } from '../../lib/text.ts';
import { countedColumns, countingChange } from '../../mail/ledger/counting.ts';
import { receiptKey } from '../../mail/ledger/queries.ts';
import { isLeftOut, storedReason } from '../../mail/ledger/reasons.ts';
import { MailStatus, statusRank } from '../../mail/status.ts';
import { isoText, removePast } from '../../store/columns.ts';
import { type GroupedCall, groupCalls } from '../../store/postgres/grouped.ts';
import { type NewEvent, recordingEvents } from '../../store/record-events.ts';
import { byIndexes, type Database, type Query, raw, sql } from '../../store/sql.ts';

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

/** The mail that a report is about. */
export interface MailKey {
  emailId: string;
  projectId: string;
}

/** A report of a provider about a mail. */
interface Report {
  /** The provider's channel, as the receipts name it. */
  source: string;
  mail: MailKey;
  notification: Notification;
  /** Whether a mail whose hand-over is not written down yet is changed all the same. */
  late: boolean;
  /** `traceparent` of the request that brought it, where that is traced. */
  trace: string | null;
}

interface GroupedReport extends GroupedCall {
  report: Report;
}

// Providers send one report a request, and for each mail two or three; most are about mails of the same few campaigns, whose counters each
// statement has to lock. Of many requests, it is of the trace of none. One at a time, for whether somebody clicked a link before is read from events.
const applyGroup = groupCalls<GroupedReport, Notified, Database>((db, _kind, calls) => {
  const reports = calls.map(({ report }) => report);
  if (reports.length === 1) return applyReports(db, reports);
  return untraced(() => db.transaction((tx) => applyReports(tx, reports), byIndexes));
}, 1);

/**
 * Applies a report of the provider to the mail it is about (docs/contract/platform.md#9), once per `key`, by one statement with others that arrive at the
 * same time. With `late`, a mail whose hand-over is not written down yet is changed all the same. Resolves after the commit.
 */
export async function applyNotification(
  db: Database,
  source: string,
  mail: Report['mail'],
  notification: Notification,
  late: boolean,
): Promise<Notified> {
  const report = { source, mail, notification, late, trace: activeTrace() };
  const kind = togetherAs(notification);
  const shared = kind === null ? null : await applyGroup(db, kind, { unique: mail.emailId, report });
  if (shared !== null) return shared;
  const [outcome] = await applyReports(db, [report]);
  return outcome ?? 'unknown';
}

/**
 * The name that reports share which one statement may apply, where they are about different mails; null for those that end a
 * subscription, each of which has a statement of its own.
 */
function togetherAs({ effect }: Notification): string | null {
  return flipsContact(effect) ? null : effect.kind;
}

function statusOf(effect: Effect): (typeof moves)[keyof typeof moves] | readonly [null, null] {
  const isTransient = effect.kind === 'bounce' && effect.bounceType !== 'Permanent';
  return effect.kind in moves && !isTransient ? moves[effect.kind as keyof typeof moves] : [null, null];
}

function flipsContact(effect: Effect): boolean {
  const [, status] = statusOf(effect);
  return status === MailStatus.BOUNCED || status === MailStatus.COMPLAINED || effect.kind === 'optOut';
}

/**
 * Applies reports to the mails they are about (docs/contract/platform.md#9), each once per `key`; answers their outcomes, in their order.
 * They have one name by `togetherAs` and are about different mails, or there is one.
 *
 * Receipts, ledger rows, contact, campaign counters and events in one statement: they stand or fall together, and a report that
 * comes twice, even at the same moment, finds its receipt taken and changes nothing. A mail that was given up as FAILED without a
 * message id was never known to be with the provider; a report that proves it was corrects it: SENT at the latest from the
 * report's own time, with its `email.sent`. FAILED with a message id is the provider's own refusal, which only what happened to
 * the recipient can overrule. Times are the earliest reported ones, so that the order in which reports arrive does not matter. Mails,
 * counters, campaigns and links are locked in the order of their keys, so that two such statements never wait for each other.
 */
async function applyReports(db: Database, reports: readonly Report[]): Promise<Notified[]> {
  const [first] = reports;
  if (first === undefined) return [];
  const beganAt = Date.now();
  const { effect } = first.notification;
  const { kind } = effect;
  const isFailure = kind === 'failure';
  const [name, status] = statusOf(effect);
  const [was, becomes] = ['m', 'e'].map((row) => raw(name === null ? 'null::timestamptz' : `${row}.${name}_at`));
  const flips = flipsContact(effect);
  const flip = flipOf(db, first);
  const given = sql`
    reports as materialized (${rowsOf(reports)}),
    known as (
      select r.*, e.id, e.traceparent, ${isErasedMail('e')} as erased, w.key is not null as taken,
        e.sent_at is not null or e.status not in ('PENDING', 'SENDING') or r.late as ripe
      from reports r left join emails e on e.id = r.email_id and e.project_id = r.project_id
        left join webhook_receipts w on w.source = r.source and w.key = r.key),
    mail as (
      select ${counts}, e.reason, k.at as reported_at, ${status}::text as reported_status, k.source, k.key, k.reason as reported_reason,
        k.message_id as reported_message_id, k.sent_event_id, k.event_id, k.said, k.link,
        e.status in ('FAILED', 'CANCELLED') and e.sent_at is null and e.message_id is null and ${kind !== 'optOut'}::boolean as given_up
      from known k join emails e on e.id = k.id where k.ripe and not k.erased and not k.taken
      order by e.id for update of e),
    receipts as (
      insert into webhook_receipts (source, key) select source, key from mail order by source, key on conflict do nothing
      returning source, key),
    moved as (
      update emails e set
        status = case when ${isFailure}::boolean then case when ${rankNow} <= 1 then 'FAILED' else e.status end
          when ${rankReported} > ${rankNow} then m.reported_status when m.given_up then 'SENT' else e.status end,
        sent_at = case when m.given_up then coalesce(e.sent_at, m.reported_at) else e.sent_at end,
        message_id = coalesce(e.message_id, m.reported_message_id),
        ${raw(name === null ? '' : `${name}_at = least(e.${name}_at, m.reported_at),`)}
        opens = e.opens + ${kind === 'open' ? 1 : 0}::int,
        clicks = e.clicks + ${kind === 'click' ? 1 : 0}::int,
        reason = case when m.reported_status = 'BOUNCED' then case when e.bounced_at <= m.reported_at then e.reason else m.reported_reason end
          when ${isFailure}::boolean then case when ${rankNow} <= 1 then m.reported_reason else e.reason end
          when e.status in ('FAILED', 'CANCELLED') and (m.reported_status is not null or m.given_up) then null else e.reason end,
        updated_at = now()
      from mail m join receipts on receipts.source = m.source and receipts.key = m.key where e.id = m.id
      returning ${counts}, e.contact_id, e.subject, e."from", e.from_name, e.message_id, e.template_id, e.campaign_id,
        e.send_seq, e.message_class, e.sent_at, e.opens, e.clicks, e.limited_by, m.reported_at, m.sent_event_id, m.event_id, m.said, m.link,
        m.given_up as corrected, m.given_up and ${raw(isLeftOut('m'))} as was_left_out, ${was} as was, ${becomes} as becomes,
        m.reported_status is not null and ${was} is null as first),
    ${raw(correctedUsage)},
    hours_of_mail as (${countingChange('mail', 'moved')}),
    flipped as materialized (
      select w.id
      from (select * from moved where ${flips}::boolean and (select count(*) from usage_corrected) >= 0) m, ${flip} w
      where w.flipped),
    ${countedForCampaigns(effect, name)},
    retimed as (
      update events v set mail_at = m.becomes from moved m
      where m.becomes < m.was and v.project_id = m.project_id and v.name = ${`email.${kind}`} and v.mail_at = m.was and v.email_id = m.id
      returning v.id, v.project_id, v.name, v.created_at, m.was, m.becomes),
    ${recountingEvents('retimed')}`;
  const result = sql`
    select case
      when o.id is not null then 'done'
      when k.id is null then 'unknown'
      when k.erased then 'forgotten'
      when k.taken or exists (select from mail m where m.id = k.id) then 'duplicate'
      else 'unsettled' end as outcome, k.place, k.traceparent,
        case when o.first then o.source_type end as "firstOf", (select count(*) from flipped) as flips
    from known k left join moved o on o.id = k.id`;
  const rows = await db.rows<AppliedReport>(recordingEvents({ given, events: eventsOf(effect, name), result }));
  for (const { firstOf } of rows) if (firstOf !== null && status !== null) countEmails(status, firstOf);
  const applied = new Map(rows.map((row) => [Number(row.place), row]));
  return reports.map((report, index) => traceReport(report, applied.get(index + 1), beganAt));
}

interface AppliedReport {
  outcome: Notified;
  place: string;
  /** The source of a mail that got its status by this report; null where it had it before. */
  firstOf: string | null;
  /** Of the mail. */
  traceparent: string | null;
}

// A report is of the trace of its mail, whichever request brought it.
function traceReport({ mail, notification, trace }: Report, row: AppliedReport | undefined, beganAt: number): Notified {
  const outcome = row?.outcome ?? 'unknown';
  const facts = { 'fernpost.email.id': mail.emailId, 'fernpost.outcome': outcome };
  const of = { kind: 'consumer', parent: row?.traceparent ?? null, link: trace, facts } as const;
  traceEnded(`report ${notification.effect.kind}`, of, beganAt);
  return outcome;
}

/** SQL of the reports as rows; `place` counts from one. A hand-over comes before its report in the order of IDs. */
function rowsOf(reports: readonly Report[]): Query {
  const notifications = reports.map(({ notification }) => notification);
  return sql`
    select * from unnest(${reports.map(({ mail }) => mail.emailId)}::uuid[], ${reports.map(({ mail }) => mail.projectId)}::uuid[],
      ${reports.map(({ source }) => source)}::text[], ${notifications.map(({ key }) => receiptKey(key))}::text[],
      ${notifications.map(({ messageId }) => messageId)}::text[], ${notifications.map(({ at }) => at)}::timestamptz[],
      ${reports.map(({ late }) => late)}::boolean[], ${reports.map(() => newId())}::uuid[], ${reports.map(() => newId())}::uuid[],
      ${notifications.map(({ effect }) => reasonText(effect))}::jsonb[],
      ${notifications.map((notification) => JSON.stringify(saidBy(notification)))}::jsonb[],
      ${notifications.map(({ effect }) => linkOf(effect))}::text[]
    ) with ordinality as r (email_id, project_id, source, key, message_id, at, late, sent_event_id, event_id, reason, said, link, place)`;
}

/** Ends the subscription of the recipient, where the report ends it, of a mail whose row is no longer kept. */
export async function leaveByReport(
  db: Database,
  { emailId, projectId }: MailKey,
  { effect, recipient }: Notification,
): Promise<void> {
  if (!flipsContact(effect)) return;
  const contact = await db.session().em.findOne(Contact, { projectId, email: recipient }, { fields: ['id'] });
  const reason = reasonOf(effect);
  const left = { subscribed: false, ...(reason !== null && { flipData: { reason } }) };
  if (contact !== null)
    await writeContacts(db, projectId, [{ id: contact.id, ...left }], writingAs(db, 'report', emailId));
}

/** SQL of the end of a subscription, of the contact of the row `m`. Its event's ID is made here, before that of the report's own event, which follows it. */
function flipOf(db: Database, { mail, notification }: Report): Query {
  const leaves = reasonOf(notification.effect);
  return contactsWritten(
    raw('m.project_id'),
    sql`jsonb_build_array(jsonb_build_object('id', m.contact_id, 'subscribed', false, 'flipId', ${newId()}::uuid, 'flipEmailId', m.id)
      || ${JSON.stringify(leaves === null ? {} : { flipData: { reason: leaves } })}::jsonb)`,
    { ...writingAs(db, 'report', mail.emailId), limitedBy: raw('m.limited_by') },
  );
}

/** What a bounce or a failure is stored as, as JSON; null for other reports. */
function reasonText(effect: Effect): string | null {
  const words = effect.kind === 'bounce' || effect.kind === 'failure' ? effect.error : null;
  return words === null ? null : storedReason({ code: 'provider', words });
}

/** The link of a click as it is counted, or null. */
function linkOf(effect: Effect): string | null {
  return effect.kind === 'click' && effect.link.length <= 2000 ? storableText(effect.link) || null : null;
}

// Links that differ for every recipient would be as many as recipients: beyond these a new one is counted under no name.
const mostLinks = 200;

/**
 * Returns the CTEs of the campaigns: their counters, the hours of what the reports are about and of the hand-overs that they prove, and the links
 * of clicks. The counters come first: whoever counts waits for the locks of their rows.
 */
function countedForCampaigns(effect: Effect, name: Moved | null): Query {
  return sql`
    of_campaigns as materialized (
      select m.campaign_id, m.send_seq, sum(m.first::int) as reported, sum(m.corrected::int) as sent, sum(m.was_left_out::int) as skipped,
        sum((m.corrected and not m.was_left_out)::int) as failed,
        sum(case
          when ${effect.kind !== 'optOut' || reasonOf(effect) !== null}::boolean or not exists (select from flipped) then 0
          when exists (${raw(leftBefore('m.contact_id', 'm.campaign_id'))}) then 0
          else 1 end) as unsubscribed
      from moved m where m.campaign_id is not null and (m.corrected or m.first or exists (select from flipped)) group by 1, 2),
    held_campaigns as materialized (
      select c.id from campaigns c where c.id in (select campaign_id from of_campaigns) order by c.id for no key update),
    counted as (
      update campaigns c set
        ${raw(name === null ? '' : `${name}_count = c.${name}_count + o.reported,`)}
        sent_count = c.sent_count + o.sent,
        skipped_count = greatest(0, c.skipped_count - o.skipped),
        failed_count = greatest(0, c.failed_count - o.failed),
        unsubscribed_count = c.unsubscribed_count + o.unsubscribed
      from of_campaigns o join held_campaigns h on h.id = o.campaign_id
      where c.id = o.campaign_id and c.send_seq = o.send_seq
      returning c.id, c.send_seq),
    counted_hours as (
      insert into campaign_hours as h (campaign_id, send_seq, hour, sent, delivered, opened, clicked, bounced)
      select m.campaign_id, m.send_seq, date_bin('1 hour', o.at, timestamptz 'epoch'), sum((o.what = 'sent')::int),
        sum((o.what = 'delivered')::int), sum((o.what = 'opened')::int), sum((o.what = 'clicked')::int), sum((o.what = 'bounced')::int)
      from moved m join counted c on c.id = m.campaign_id and c.send_seq = m.send_seq cross join lateral (
        values ('sent', m.sent_at, m.corrected), (${name}::text, m.becomes, m.first)) o (what, at, happened)
      where o.happened and o.what <> 'complained'
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (campaign_id, send_seq, hour) do update set sent = h.sent + excluded.sent, delivered = h.delivered + excluded.delivered,
        opened = h.opened + excluded.opened, clicked = h.clicked + excluded.clicked, bounced = h.bounced + excluded.bounced),
    clicked_links as materialized (
      select m.campaign_id, m.send_seq, m.link, count(*) as clicks, sum((not exists (
          select from events v where v.contact_id = m.contact_id and v.email_id = m.id and v.name = 'email.click'
            and v.data ->> 'link' = m.link))::int) as recipients
      from moved m join campaigns c on c.id = m.campaign_id and c.send_seq = m.send_seq
      where m.link is not null and (select count(*) from counted) >= 0 group by 1, 2, 3),
    counted_links as (
      insert into campaign_links as l (campaign_id, send_seq, link, clicks, recipients)
      select n.campaign_id, n.send_seq, case when n.known or n.links + n.place <= ${mostLinks} then n.link else '' end, sum(n.clicks), sum(n.recipients)
      from (
        select k.*, w.known, row_number() over (partition by k.campaign_id, k.send_seq, w.known order by k.link) as place,
          (select count(*) from campaign_links o where o.campaign_id = k.campaign_id and o.send_seq = k.send_seq) as links
        from clicked_links k cross join lateral (select exists (
          select from campaign_links o where o.campaign_id = k.campaign_id and o.send_seq = k.send_seq and o.link = k.link) as known) w) n
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (campaign_id, send_seq, link) do update set clicks = l.clicks + excluded.clicks, recipients = l.recipients + excluded.recipients)`;
}

/** The events: hand-overs that the reports prove, and the reports themselves. The flip of a subscription has been recorded with the contact. */
function eventsOf({ kind }: Effect, name: Moved | null): NewEvent[] {
  const ofMail = {
    projectId: raw('m.project_id'),
    contactId: raw('m.contact_id'),
    emailId: raw('m.id'),
    limitedBy: raw('m.limited_by'),
  };
  // Events come last, as everywhere: after the campaign's counters, and after the contact.
  const sent = {
    ...ofMail,
    id: raw('m.sent_event_id'),
    name: 'email.sent',
    mailAt: raw('m.sent_at'),
    from: sql`moved m where m.corrected and (select count(*) from counted) >= 0`,
  };
  const own = {
    ...ofMail,
    id: raw('m.event_id'),
    name: kind === 'failure' ? 'email.failed' : `email.${kind}`,
    data: raw(`${mailPayload('m')} || ${happenedTo(kind, name)} || ${mailTags('m')} || m.said`),
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
      return { link: storableText(effect.link) };
    case 'failure':
      return { error: storableText(effect.error), failedAt: new Date(at).toISOString() };
    case 'bounce':
      return { bounceType: effect.bounceType, ...(effect.bounceType === 'Permanent' ? {} : { transientBounce: true }) };
    default:
      return {};
  }
}

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
