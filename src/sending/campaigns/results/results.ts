import { nameSchemas } from '@fernpost/openapi/names';
import { Instant } from '@fernpost/validation';
import * as v from 'valibot';
import { isoInstant } from '../../../core/database/columns.ts';
import { type Database, type Query, raw, sql } from '../../../core/database/sql.ts';
import { countedSend } from './recipients-queries.ts';

/** What became of a campaign over time, link by link, and beside those before it. */
export const CampaignResults = v.object({
  /** Hours (UTC) in which anything happened, the first one first; a recipient counts once in each column. */
  hours: v.array(
    v.object({
      hour: Instant,
      sent: v.number(),
      delivered: v.number(),
      opened: v.number(),
      clicked: v.number(),
      bounced: v.number(),
    }),
  ),
  /** The most clicked links first; an empty `link` stands for those beyond the first 200. */
  links: v.array(v.object({ link: v.string(), clicks: v.number(), recipients: v.number() })),
  /** The five campaigns of the project that were sent before this one, the latest first; rates are percentages of `sentCount`. */
  earlier: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      sentAt: Instant,
      sentCount: v.number(),
      deliveryRate: v.number(),
      openRate: v.number(),
      clickRate: v.number(),
      bounceRate: v.number(),
      unsubscribeRate: v.number(),
    }),
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
