import * as v from 'valibot';
import { Campaign } from '../../campaigns/entity.ts';
import { countByName } from '../../contacts/events/counting-queries.ts';
import { CampaignStatus, editableStatuses } from '../../lib/enums.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../lib/time.ts';
import { dayParameter, field, Instant, Integer, parameter } from '../../lib/validation/fields.ts';
import { mailByDay } from '../../mail/ledger/mail-count-queries.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { positiveInteger } from '../activity/schema.ts';
import { percent } from '../activity/stats.ts';

const window = {
  startDate: dayParameter('First day of the window, in UTC; 30 days ago when absent.'),
  endDate: dayParameter('Last day of the window, in UTC; it is included. Today when absent.'),
};

/** A window; both dates belong to it. */
export const WindowQuery = v.object(window);
export type WindowQuery = v.InferOutput<typeof WindowQuery>;

/** A window and how many rows of a list are wanted. */
export const TopQuery = v.object({
  limit: parameter('Number of items to return, 1 to 50; 10 when absent.', { type: 'integer', minimum: 1 }),
  ...window,
});
export type TopQuery = v.InferOutput<typeof TopQuery>;

/** Mail by the day (UTC) it was created on, one element for each day. */
export const TimeSeries = v.array(
  v.object({
    date: field('Midnight (UTC) at which the day begins.', Instant),
    emails: field('Number of emails created on this day.', Integer),
    opens: field('Number of these that were opened at least once.', Integer),
    clicks: field('Number of these in which at least one link was clicked.', Integer),
    bounces: field('Number of these that bounced permanently.', Integer),
    delivered: field('Number of these that were reported as delivered.', Integer),
  }),
);
export type TimeSeries = v.InferOutput<typeof TimeSeries>;

/** Campaigns by how many recipients opened them; rates are percentages of `sentCount`. */
export const TopCampaigns = v.array(
  v.object({
    id: field('ID of the campaign.', v.string()),
    subject: field('Subject line of the campaign, with Liquid variables.', v.string()),
    sentCount: field('Number of emails that the mail provider accepted.', Integer),
    openedCount: field('Number of emails that were opened at least once.', Integer),
    clickedCount: field('Number of emails in which at least one link was clicked.', Integer),
    openRate: field('`openedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
    clickRate: field('`clickedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  }),
);
export type TopCampaigns = v.InferOutput<typeof TopCampaigns>;

/** Campaigns of a window; averages are percentages of all mail that they sent. */
export const WindowCampaignStats = v.object({
  total: field('Number of campaigns created in the window.', Integer),
  active: field('Number of these that are drafts or scheduled.', Integer),
  completed: field('Number of campaigns sent in the window.', Integer),
  averageOpenRate: field(
    'Opened emails of the sent campaigns, as a percentage of all their emails; one decimal.',
    v.number(),
  ),
  averageClickRate: field(
    'Clicked emails of the sent campaigns, as a percentage of all their emails; one decimal.',
    v.number(),
  ),
});
export type WindowCampaignStats = v.InferOutput<typeof WindowCampaignStats>;

/** Events by how often they happened; `trend` is the change in percent against the equally long time before. */
export const TopEvents = v.array(
  v.object({
    name: field('Name of the event.', v.string()),
    count: field('Number of times it happened in the window.', Integer),
    trend: field(
      'Change from the preceding window of the same length, in percent; 100 if the event did not happen then.',
      v.number(),
    ),
  }),
);
export type TopEvents = v.InferOutput<typeof TopEvents>;

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
  const { from, until } = spanParameters(query, now, 30);
  const campaigns = await db.em.find(
    Campaign,
    { projectId, status: CampaignStatus.SENT, sentAt: { $gte: from, ...(until && { $lt: until }) } },
    {
      fields: ['subject', 'sentCount', 'openedCount', 'clickedCount'],
      orderBy: { openedCount: 'desc', sentAt: 'desc', id: 'desc' },
      limit: positiveInteger(query.limit, 10, 50),
    },
  );
  return campaigns.map(({ id, subject, sentCount, openedCount, clickedCount }) => ({
    ...{ id, subject, sentCount, openedCount, clickedCount },
    openRate: percent(openedCount, sentCount),
    clickRate: percent(clickedCount, sentCount),
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
      select count(*)::int as total, (count(*) filter (where status in ${raw(editableStatuses.sql)}))::int as active
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
