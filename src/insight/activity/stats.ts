import { upcomingMails } from '../../automations/index.ts';
import { isoInstant } from '../../core/database/columns.ts';
import type { Sql } from '../../core/database/sql.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../core/lib/span.ts';
import { mailCounts } from '../../sending/ledger/index.ts';
import { type ActivityItem, type ActivityStats, positiveInteger, type StatsQuery } from './schema.ts';
import { countSince, scheduledCampaigns } from './stats-queries.ts';
import { totalOf } from './total-queries.ts';
import { sources } from './types.ts';

const onlyEvents = sources.map(({ type }) => type === 'event.triggered');

/**
 * What happened within a window (contract page 3, 4.3). Mail is counted by when it was created, and its opens and clicks
 * with it; mail that a suppression rule caught is in no statistics.
 * @throws 400 for what is no date, and for an end before the beginning
 */
export async function activityStats(sql: Sql, projectId: string, query: StatsQuery, now: Date): Promise<ActivityStats> {
  const span = sqlSpan(spanParameters(query, now, 30), hourMs);
  const [totalEvents, mail] = await Promise.all([
    totalOf(sql, projectId, span, onlyEvents),
    mailCounts(sql, projectId, span),
  ]);
  const totalEmailsSent = mail.outgoing + mail.incoming;
  return {
    totalEvents,
    totalEmailsSent,
    totalEmailsOpened: mail.opened,
    totalEmailsClicked: mail.clicked,
    totalWorkflowsStarted: mail.runsStarted,
    openRate: percent(mail.opened, totalEmailsSent),
    clickRate: percent(mail.clicked, totalEmailsSent),
  };
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (part / whole) * 100;
}

/** How much happened in the last minutes: events, mail that was created, and runs of automations. */
export async function recentCount(sql: Sql, projectId: string, given: string | undefined, now: Date) {
  const minutes = positiveInteger(given, 5, 60);
  return { count: await countSince(sql, projectId, new Date(now.getTime() - minutes * 60_000)), minutes };
}

/** What is going to happen within some days, the earliest first. */
export async function upcoming(
  sql: Sql,
  projectId: string,
  query: { limit?: string | undefined; daysAhead?: string | undefined },
  now: Date,
): Promise<{ activities: ActivityItem[] }> {
  const limit = positiveInteger(query.limit, 50, 100);
  const until = new Date(now.getTime() + positiveInteger(query.daysAhead, 30, 90) * dayMs);
  const [campaigns, mails] = await Promise.all([
    scheduledCampaigns(sql, projectId, until, limit),
    upcomingMails(sql, projectId, until, limit),
  ]);
  const activities = [
    ...campaigns.map(
      ({ id, at, ...metadata }): ActivityItem => ({
        id: `campaign_${id}_scheduled`,
        type: 'campaign.scheduled',
        timestamp: isoInstant(at),
        metadata,
      }),
    ),
    ...mails.map(
      ({ stepRunId, at, contactEmail, contactId, workflowName, stepName, subject }): ActivityItem => ({
        id: `workflow_step_${stepRunId}_scheduled`,
        type: 'workflow.email.scheduled',
        timestamp: at,
        contactEmail,
        contactId,
        metadata: { workflowName, stepName, subject },
      }),
    ),
  ];
  // Both lists are in order, and the sort is stable.
  activities.sort((one, other) => (one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0));
  return { activities: activities.slice(0, limit) };
}
