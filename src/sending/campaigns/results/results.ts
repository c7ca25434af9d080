import { field, nameSchemas } from '@fernpost/openapi/names';
import { Instant } from '@fernpost/validation';
import * as v from 'valibot';
import { isoInstant } from '../../../core/database/columns.ts';
import { type Database, type Query, raw, sql } from '../../../core/database/sql.ts';
import { countedSend } from './recipients-queries.ts';

/** What became of a campaign over time, link by link, and beside those before it. */
export const CampaignResults = v.object({
  hours: field(
    'Hours in which anything happened, in UTC, oldest first; up to 336. A recipient counts once in each column.',
    v.array(
      v.object({
        hour: field('When the hour begins.', Instant),
        sent: field('Number of emails sent in this hour.', v.number()),
        delivered: field('Number of emails delivered in this hour.', v.number()),
        opened: field('Number of recipients who first opened the email in this hour.', v.number()),
        clicked: field('Number of recipients who first clicked a link in this hour.', v.number()),
        bounced: field('Number of emails that bounced in this hour.', v.number()),
      }),
    ),
  ),
  links: field(
    'Clicked links, most clicked first; up to 200. An entry with an empty `link` adds up all others.',
    v.array(
      v.object({
        link: field('URL of the link; empty for all links beyond the first 200.', v.string()),
        clicks: field('Number of clicks, including repeated ones.', v.number()),
        recipients: field('Number of recipients who clicked the link.', v.number()),
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
        sentCount: field('Number of its emails that the mail provider accepted.', v.number()),
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
