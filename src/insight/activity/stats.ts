import { upcomingMails } from '../../automations/index.ts';
import { isoInstant } from '../../core/database/columns.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { firstIdAt } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../core/lib/span.ts';
import { mailCounts, mailSources, notHandedOver } from '../../sending/ledger/index.ts';
import {
  type ActivityItem,
  type ActivityStats,
  positiveInteger,
  type StatsQuery,
  type Upcoming,
  type UpcomingQuery,
} from './schema.ts';
import { totalOf } from './total-queries.ts';
import { sources } from './types.ts';

const onlyEvents = sources.map(({ type }) => type === 'event.triggered');

/**
 * What happened within a window (docs/contract/platform.md#4-3). Mail is counted by when it was created, and its opens and clicks
 * with it; suppressed mail is not counted.
 * @throws 400 for what is no date, and for an end before the beginning
 */
export async function activityStats(
  db: Database,
  projectId: string,
  query: StatsQuery,
  now: Date,
): Promise<ActivityStats> {
  const span = sqlSpan(spanParameters(query, now, 30), hourMs);
  const [totalEvents, mail, unsent] = await Promise.all([
    totalOf(db, projectId, span, onlyEvents),
    mailCounts(db, projectId, span),
    notHandedOver(db, projectId, span),
  ]);
  const totalEmailsSent = mail.outgoing + mail.incoming;
  return {
    totalEvents,
    totalEmailsSent,
    totalEmailsHandedOver: Math.max(0, totalEmailsSent - unsent),
    totalEmailsDelivered: mail.delivered,
    totalEmailsOpened: mail.opened,
    totalEmailsClicked: mail.clicked,
    totalEmailsBounced: mail.bounced,
    totalWorkflowsStarted: mail.runsStarted,
    openRate: percent(mail.opened, totalEmailsSent),
    clickRate: percent(mail.clicked, totalEmailsSent),
  };
}

/** A part as a percentage of a whole; 0 of nothing. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (part / whole) * 100;
}

/** How many events were recorded, mails created and automation runs begun in the last minutes. */
export async function recentCount(db: Database, projectId: string, given: string | undefined, now: Date) {
  const minutes = positiveInteger(given, 5, 60);
  const since = new Date(now.getTime() - minutes * 60_000);
  const at = sql`${since.toISOString()}::timestamptz`;
  // The id of a mail says when it was created.
  const row = await db.row<{ count: number }>(sql`
    select ((select count(*) from events where project_id = ${projectId} and created_at > ${at})
      + (select count(*) from emails where project_id = ${projectId} and source_type = any(${mailSources}::text[]) and id >= ${firstIdAt(since)}::uuid)
      + (select count(*) from automation_runs where project_id = ${projectId} and started_at > ${at}))::float8 as count`);
  return { count: row?.count ?? 0, minutes };
}

/** Scheduled campaigns and workflow mail of the next days, the earliest first. */
export async function upcoming(db: Database, projectId: string, query: UpcomingQuery, now: Date): Promise<Upcoming> {
  const limit = positiveInteger(query.limit, 50, 100);
  const until = new Date(now.getTime() + positiveInteger(query.daysAhead, 30, 90) * dayMs);
  const [campaigns, mails] = await Promise.all([
    db.rows<{ id: string; at: string } & JsonObjectValue>(sql`
      select c.id, c.scheduled_for::text as at, c.name as "campaignName", c.subject,
        c.total_recipients as "totalRecipients", s.name as "segmentName", c.audience_type as "audienceType"
      from campaigns c left join segments s on s.id = c.segment_id
      where c.project_id = ${projectId} and c.status = 'SCHEDULED'
        and c.scheduled_for <= ${until.toISOString()}::timestamptz
      order by c.scheduled_for, c.id limit ${limit}`),
    upcomingMails(db, projectId, until, limit),
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
