import { countByName } from '../../audience/events/index.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../core/lib/span.ts';
import { mailByDay } from '../../sending/ledger/index.ts';
import { percent, positiveInteger } from '../activity/index.ts';
import type { TimeSeries, TopCampaigns, TopEvents, TopQuery, WindowCampaignStats, WindowQuery } from './schema.ts';

const longestSeriesDays = 90;

/**
 * Mail by the day (UTC) on which it was created, zeros included (docs/contract/platform.md#4-4). Days are counted from
 * midnight to midnight, those of the two dates included. A beginning more than 90 days ago is moved to there, and an end in
 * the future to now.
 * @throws 400 for what is no date, and for an end before the beginning
 */
export async function timeSeries(db: Database, projectId: string, query: WindowQuery, now: Date): Promise<TimeSeries> {
  const span = spanParameters(query, now, 30);
  const earliest = now.getTime() - longestSeriesDays * dayMs;
  const first = dayOf(Math.max(span.from.getTime(), earliest));
  const last = dayOf(Math.min(span.until === null ? now.getTime() : span.until.getTime() - 1, now.getTime()));
  const until = new Date(last.getTime() + dayMs);
  const days = new Map((await mailByDay(db, projectId, first, until)).map((row) => [row.day, row]));
  const series: TimeSeries = [];
  for (let at = first.getTime(); at < until.getTime(); at += dayMs) {
    const date = new Date(at).toISOString();
    const mail = days.get(date.slice(0, 10));
    series.push({
      date,
      emails: mail?.outgoing ?? 0,
      opens: mail?.opened ?? 0,
      clicks: mail?.clicked ?? 0,
      bounces: mail?.bounced ?? 0,
      delivered: mail?.delivered ?? 0,
    });
  }
  return series;
}

function dayOf(at: number): Date {
  return new Date(Math.floor(at / dayMs) * dayMs);
}

/** The sent campaigns of a window with the most opens. @throws 400 as `timeSeries` does */
export async function topCampaigns(db: Database, projectId: string, query: TopQuery, now: Date): Promise<TopCampaigns> {
  const { from, until } = sqlSpan(spanParameters(query, now, 30), hourMs);
  const campaigns = await db.rows<Omit<TopCampaigns[number], 'openRate' | 'clickRate'>>(sql`
    select id, subject, sent_count as "sentCount", opened_count as "openedCount", clicked_count as "clickedCount"
    from campaigns
    where project_id = ${projectId} and status = 'SENT'
      and sent_at >= ${from}::timestamptz and sent_at < ${until}::timestamptz
    order by opened_count desc, sent_at desc, id desc limit ${positiveInteger(query.limit, 10, 50)}`);
  return campaigns.map((campaign) => ({
    ...campaign,
    openRate: percent(campaign.openedCount, campaign.sentCount),
    clickRate: percent(campaign.clickedCount, campaign.sentCount),
  }));
}

/** Counts campaigns by when they were created, and sent ones by when they were sent. @throws 400 as `timeSeries` does */
export async function windowCampaignStats(
  db: Database,
  projectId: string,
  query: WindowQuery,
  now: Date,
): Promise<WindowCampaignStats> {
  const { from, until } = sqlSpan(spanParameters(query, now, 30), hourMs);
  const [row] = await db.rows<Record<'total' | 'active' | 'completed' | 'sent' | 'opened' | 'clicked', number>>(sql`
    select m.*, s.* from (
      select count(*)::int as total, (count(*) filter (where status in ('DRAFT', 'SCHEDULED')))::int as active
      from campaigns
      where project_id = ${projectId} and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz) m,
    (select count(*)::int as completed, coalesce(sum(sent_count), 0)::float8 as sent,
       coalesce(sum(opened_count), 0)::float8 as opened, coalesce(sum(clicked_count), 0)::float8 as clicked
     from campaigns
     where project_id = ${projectId} and status = 'SENT'
       and sent_at >= ${from}::timestamptz and sent_at < ${until}::timestamptz) s`);
  const { total = 0, active = 0, completed = 0, sent = 0, opened = 0, clicked = 0 } = row ?? {};
  const rounded = (part: number) => Math.round(percent(part, sent) * 10) / 10;
  return { total, active, completed, averageOpenRate: rounded(opened), averageClickRate: rounded(clicked) };
}

/** The most frequent events of a window, including those of the service. @throws 400 as `timeSeries` does */
export async function topEvents(db: Database, projectId: string, query: TopQuery, now: Date): Promise<TopEvents> {
  const { from, until } = spanParameters(query, now, 30);
  const length = (until ?? now).getTime() - from.getTime();
  const [counts, before] = await Promise.all([
    countByName(db, projectId, sqlSpan({ from, until }, dayMs)),
    countByName(db, projectId, sqlSpan({ from: new Date(from.getTime() - length), until: from }, dayMs)),
  ]);
  const earlier = new Map(before.map(({ name, count }) => [name, count]));
  return counts.slice(0, positiveInteger(query.limit, 5, 20)).map(({ name, count }) => {
    const had = earlier.get(name) ?? 0;
    return { name, count, trend: had === 0 ? 100 : Math.round(((count - had) / had) * 100) };
  });
}
