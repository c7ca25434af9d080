import { countByName } from '../../audience/events/index.ts';
import type { Sql } from '../../core/database/sql.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../core/lib/span.ts';
import { mailByDay } from '../../sending/ledger/index.ts';
import { positiveInteger } from '../activity/index.ts';
import { campaignTotals, mostOpened } from './campaign-queries.ts';
import type { TimeSeries, TopCampaigns, TopEvents, TopQuery, WindowCampaignStats, WindowQuery } from './schema.ts';

const longestSeriesDays = 90;

/**
 * Mail by the day (UTC) on which it was created, zeros included (contract page 3, 4.4). Days are whole: those that the two
 * dates lie on are counted from midnight to midnight. A beginning more than 90 days ago is moved to there, and an end in
 * the future to now.
 * @throws 400 for what is no date, and for an end before the beginning
 */
export async function timeSeries(sql: Sql, projectId: string, query: WindowQuery, now: Date): Promise<TimeSeries> {
  const span = spanParameters(query, now, 30);
  const earliest = now.getTime() - longestSeriesDays * dayMs;
  const first = dayOf(Math.max(span.from.getTime(), earliest));
  const last = dayOf(Math.min(span.until === null ? now.getTime() : span.until.getTime() - 1, now.getTime()));
  const until = new Date(last.getTime() + dayMs);
  const days = new Map((await mailByDay(sql, projectId, first, until)).map((row) => [row.day, row]));
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
export async function topCampaigns(sql: Sql, projectId: string, query: TopQuery, now: Date): Promise<TopCampaigns> {
  const span = sqlSpan(spanParameters(query, now, 30), hourMs);
  const campaigns = await mostOpened(sql, projectId, span, positiveInteger(query.limit, 10, 50));
  return campaigns.map((campaign) => ({
    ...campaign,
    openRate: percent(campaign.openedCount, campaign.sentCount),
    clickRate: percent(campaign.clickedCount, campaign.sentCount),
  }));
}

/** How many campaigns a window has and how they did. @throws 400 as `timeSeries` does */
export async function windowCampaignStats(
  sql: Sql,
  projectId: string,
  query: WindowQuery,
  now: Date,
): Promise<WindowCampaignStats> {
  const { total, active, completed, sent, opened, clicked } = await campaignTotals(
    sql,
    projectId,
    sqlSpan(spanParameters(query, now, 30), hourMs),
  );
  const rounded = (part: number) => Math.round(percent(part, sent) * 10) / 10;
  return { total, active, completed, averageOpenRate: rounded(opened), averageClickRate: rounded(clicked) };
}

/** The most frequent events of a window, those of the service included. @throws 400 as `timeSeries` does */
export async function topEvents(sql: Sql, projectId: string, query: TopQuery, now: Date): Promise<TopEvents> {
  const { from, until } = spanParameters(query, now, 30);
  const length = (until ?? now).getTime() - from.getTime();
  const countsOf = async (span: { from: Date; until: Date | null }) => {
    const { first, last, ...ends } = sqlSpan(span, dayMs);
    return countByName(sql, projectId, { ...ends, firstDay: first, lastDay: last });
  };
  const [counts, before] = await Promise.all([
    countsOf({ from, until }),
    countsOf({ from: new Date(from.getTime() - length), until: from }),
  ]);
  const earlier = new Map(before.map(({ name, count }) => [name, count]));
  return counts.slice(0, positiveInteger(query.limit, 5, 20)).map(({ name, count }) => {
    const had = earlier.get(name) ?? 0;
    return { name, count, trend: had === 0 ? 100 : Math.round(((count - had) / had) * 100) };
  });
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (part / whole) * 100;
}
