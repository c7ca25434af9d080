import * as v from 'valibot';
import { finishedStatuses } from '../../lib/enums.ts';
import { field, Instant, Integer, nameSchemas } from '../../lib/validation/fields.ts';
import { isoInstant } from '../../store/columns.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import type { SendKey } from '../delivery/ledger.ts';
import { type Campaign, CampaignVersion } from '../entity.ts';
import { countedSend, ledgerFormat, ledgerHash } from './recipients-queries.ts';
import type { CampaignAudit, SentVersion } from './schema.ts';
import { type LedgerVerdict, reasonSql, verdictSql } from './verdicts.ts';

const mostReasons = 10;

/**
 * The ledger of a campaign's current send, added up. While it is under way the counters may trail the rows; once every row
 * has its verdict they must agree, except for rows that went with contacts who were deleted later.
 * @throws 404 CAMPAIGN_NOT_FOUND
 */
export async function auditCampaign(db: Database, projectId: string, id: string): Promise<CampaignAudit> {
  const send = await countedSend(db, projectId, id);
  // Counted from the rows, not from counters: this is what the counters are held against. A provider names the recipient in
  // many of its refusals; without the address those of one kind are counted together.
  // Rows that retention has removed are added up by the statement that removes them.
  const rows = await db.rows<{ verdict: LedgerVerdict; reason: string | null; count: number; gone: number }>(sql`
    select verdict, reason, sum(kept + gone)::int as count, sum(gone)::int as gone
    from (
      select ${raw(verdictSql('e'))} as verdict, replace(${raw(reasonSql('e'))}, e.to_address, '…') as reason, count(*) as kept, 0 as gone
      from emails e where e.campaign_id = ${id}::uuid and e.send_seq = ${send.sendSeq}::int group by 1, 2
      union all
      select verdict, nullif(reason, ''), 0, recipients from campaign_ledger_sums
      where campaign_id = ${id}::uuid and send_seq = ${send.sendSeq}::int) every
    group by 1, 2 order by count desc, reason`);
  const of = (verdict: LedgerVerdict) => rows.reduce((sum, row) => sum + (row.verdict === verdict ? row.count : 0), 0);
  const counts = {
    recipients: rows.reduce((sum, { count }) => sum + count, 0),
    handedOver: of('handed_over'),
    skipped: of('skipped'),
    failed: of('failed'),
    unknown: of('unknown'),
    pending: of('pending'),
  };
  const notKept = rows.reduce((sum, { gone }) => sum + gone, 0);
  // Before that rows may still be added, or go: a cancelled campaign is cleaned up first.
  const isOver = send.closed && finishedStatuses.has(send.status);
  const isFinal = isOver && counts.unknown === 0 && counts.pending === 0;
  const counted = send.sent + send.skipped + send.failed;
  // A report can prove later that a message which was given up did leave; then the row says so, and the counters as well.
  const agrees =
    counts.handedOver <= send.sent &&
    counts.skipped <= send.skipped &&
    counts.failed <= send.failed &&
    counted === send.total;
  return {
    ...counts,
    removed: isOver ? Math.max(0, send.total - counts.recipients) : 0,
    addsUp: isFinal && agrees,
    ...(notKept > 0 && { notKept }),
    hash: isFinal && notKept === 0 ? await ledgerHash(db, send) : null,
    hashFormat: ledgerFormat,
    reasons: rows.flatMap(({ reason, count }) => (reason === null ? [] : [{ reason, count }])).slice(0, mostReasons),
  };
}

/** The results of a campaign by hour and by link, beside the campaigns before it. */
export const CampaignResults = v.object({
  hours: field(
    'Hours in which anything happened, in UTC, oldest first; up to 336. A recipient counts once in each column.',
    v.array(
      v.object({
        hour: field('When the hour begins.', Instant),
        sent: field('Number of emails sent in this hour.', Integer),
        delivered: field('Number of emails delivered in this hour.', Integer),
        opened: field('Number of recipients who first opened the email in this hour.', Integer),
        clicked: field('Number of recipients who first clicked a link in this hour.', Integer),
        bounced: field('Number of emails that bounced in this hour.', Integer),
      }),
    ),
  ),
  links: field(
    'Clicked links, most clicked first; up to 200. An entry with an empty `link` adds up all others.',
    v.array(
      v.object({
        link: field('URL of the link; empty for all links beyond the first 200.', v.string()),
        clicks: field('Number of clicks, including repeated ones.', Integer),
        recipients: field('Number of recipients who clicked the link.', Integer),
      }),
    ),
  ),
  earlier: field(
    'The five campaigns sent before this one, newest first, for comparison.',
    v.array(
      v.object({
        id: field('ID of the earlier campaign.', v.string()),
        name: field('Name of the earlier campaign.', v.string()),
        sentAt: field('When its sending began.', Instant),
        sentCount: field('Number of its emails that the mail provider accepted.', Integer),
        deliveryRate: field('Delivered emails as a percentage of `sentCount`.', v.number()),
        openRate: field('Opened emails as a percentage of `sentCount`.', v.number()),
        clickRate: field('Emails with a click as a percentage of `sentCount`.', v.number()),
        bounceRate: field('Permanently bounced emails as a percentage of `sentCount`.', v.number()),
        unsubscribeRate: field('Unsubscribed recipients as a percentage of `sentCount`.', v.number()),
      }),
    ),
  ),
});
export type CampaignResults = v.InferOutput<typeof CampaignResults>;

nameSchemas({ CampaignResults });

// Two weeks of hours, after which next to nothing is opened or clicked any more.
const mostHours = 336;
const comparedWith = 5;

/**
 * The results of a campaign's current send. Reads counts that are kept while reports come in, so its time does not depend on
 * how many recipients there are.
 * @throws 404 CAMPAIGN_NOT_FOUND
 */
export async function campaignResults(db: Database, projectId: string, id: string): Promise<CampaignResults> {
  const { sendSeq } = await countedSend(db, projectId, id);
  const [hours, links, earlier] = await Promise.all([
    db.rows<CampaignResults['hours'][number]>(sql`
      select hour::text, sent, delivered, opened, clicked, bounced from campaign_hours
      where campaign_id = ${id} and send_seq = ${sendSeq} order by hour limit ${mostHours}`),
    db.rows<CampaignResults['links'][number]>(sql`
      select link, clicks, recipients from campaign_links
      where campaign_id = ${id} and send_seq = ${sendSeq} order by clicks desc, link`),
    db.rows<CampaignResults['earlier'][number]>(sql`
      select c.id, c.name, c.sent_at::text as "sentAt", c.sent_count as "sentCount", ${rate('delivered')} as "deliveryRate",
        ${rate('opened')} as "openRate", ${rate('clicked')} as "clickRate", ${rate('bounced')} as "bounceRate",
        ${rate('unsubscribed')} as "unsubscribeRate"
      from campaigns c, campaigns this
      where this.project_id = ${projectId} and this.id = ${id}
        and c.project_id = ${projectId} and c.sent_at is not null and c.status = 'SENT' and c.sent_count > 0
        and (c.sent_at, c.id) < (this.sent_at, this.id)
      order by c.sent_at desc, c.id desc limit ${comparedWith}`),
  ]);
  return {
    hours: hours.map((row) => ({ ...row, hour: isoInstant(row.hour) })),
    links,
    earlier: earlier.map((row) => ({ ...row, sentAt: isoInstant(row.sentAt) })),
  };
}

function rate(count: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'unsubscribed'): Query {
  return raw(`(100.0 * c.${count}_count / c.sent_count)::float8`);
}

/** A campaign whose current send may have been revised. */
export type RevisedSend = Pick<Campaign, 'id' | 'sendSeq' | 'contentVersion' | 'subject' | 'body' | 'sentCount'>;

/**
 * The versions of the content of a campaign's current send, the first one first. How many got a version is noted when it is replaced,
 * so that this takes no longer for a larger campaign; the current version has all others.
 */
export async function sentVersions(db: Database, campaign: RevisedSend): Promise<SentVersion[]> {
  const { id, sendSeq, contentVersion, subject, sentCount } = campaign;
  const former =
    contentVersion === 1
      ? []
      : await db.em.find(
          CampaignVersion,
          { campaignId: id, sendSeq },
          {
            fields: ['version', 'subject', 'sent', 'replacedAt'],
            orderBy: { version: 'asc' },
            disableIdentityMap: true,
          },
        );
  const before = former.reduce((sum, { sent }) => sum + sent, 0);
  return [
    ...former.map(({ version, subject, sent, replacedAt }) => ({
      version,
      subject,
      sentCount: sent,
      replacedAt: replacedAt.toISOString(),
    })),
    { version: contentVersion, subject, sentCount: Math.max(0, sentCount - before), replacedAt: null },
  ];
}

/** Notes that mail without a note has a version that was replaced, and counts it there. */
export async function noteVersion(
  db: Database,
  { campaignId, sendSeq }: SendKey,
  version: number,
  emailIds: readonly string[],
): Promise<void> {
  await db.count(sql`
    with noted as (
      update emails set content_version = ${version}::int
      where id = any(${emailIds}::uuid[]) and campaign_id = ${campaignId}::uuid and content_version is null and sent_at is null
      returning 1)
    update campaign_versions set sent = sent + (select count(*) from noted)
    where campaign_id = ${campaignId} and send_seq = ${sendSeq} and version = ${version} and exists (select from noted)`);
}
