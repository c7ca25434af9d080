import { upcomingMails } from '../../automations/runs/upcoming.ts';
import { Campaign } from '../../campaigns/entity.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { firstIdAt } from '../../lib/ids.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../lib/time.ts';
import { holdBody, holdFor, type SendingHold } from '../../mail/engine/breaker.ts';
import { mailCounts, notHandedOver } from '../../mail/ledger/mail-count-queries.ts';
import { mailSources } from '../../mail/ledger/queries.ts';
import { Segment } from '../../segments/definition.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import {
  type ActivityItem,
  type ActivityStats,
  positiveInteger,
  type Running,
  type StatsQuery,
  type Upcoming,
  type UpcomingQuery,
} from './schema.ts';
import { totalOf } from './total-queries.ts';
import type { ActivityType } from './types.ts';

const mostRunning = 50;
const startedAt = raw(isoText('started_at'));

/** Returns the unfinished work of a project, the latest first: each kind is read by an index of its unfinished rows alone. */
export function runningNow(db: Database, projectId: string): Promise<Running['data']> {
  return db.rows(sql`
    select type, id, name, progress, is_paused as "isPaused", ${startedAt} as "startedAt" from (
      select 'campaign' as type, c.id::text as id, c.name, c.paused_at is not null as is_paused,
        least(100, 100.0 * (c.sent_count + c.skipped_count + c.failed_count) / nullif(c.total_recipients, 0))::float8
          as progress,
        coalesce(c.sent_at, c.updated_at) as started_at
      from campaigns c where c.project_id = ${projectId} and c.status = 'SENDING'
      union all
      select j.kind, j.id, case when j.kind = 'import' then j.spec ->> 'filename' else j.spec ->> 'operation' end, false,
        j.progress, j.created_at
      from jobs j where j.project_id = ${projectId} and j.finished_at is null
      union all
      select 'migration', m.automation_id::text, a.name, false,
        least(100, 100.0 * (m.finished + m.moved_at_next_step + m.moved_now + m.exited + m.passed_over)
          / nullif(m.expected, 0))::float8,
        m.created_at
      from automation_migrations m join automations a on a.id = m.automation_id
      where m.project_id = ${projectId} and m.state in ('waiting', 'active')) work
    order by started_at desc, id limit ${mostRunning}`);
}

/** Why mail of the project waits for the mail provider; null when none does, or when the provider accepts mail. */
export async function holdOf(db: Database, provider: string, projectId: string): Promise<SendingHold | null> {
  const hold = await holdFor(db, provider);
  if (hold === null) return null;
  const waiting = await db.row<{ waits: boolean }>(sql`
    select exists (select from email_queue where project_id = ${projectId} and due_at <= now())
      or exists (select from campaigns where project_id = ${projectId} and status = 'SENDING' and paused_at is null) as waits`);
  return waiting?.waits ? holdBody(provider, hold) : null;
}

const onlyEvents = new Set<ActivityType>(['event.triggered']);

/**
 * Adds up the activity of a window (docs/contract/platform.md#4-3). Mail is counted by when it was created, and its opens and clicks
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
  const at = since.toISOString();
  // The id of a mail says when it was created.
  const row = await db.row<{ count: number }>(sql`
    select ((select count(*) from events where project_id = ${projectId} and created_at > ${at}::timestamptz)
      + (select count(*) from emails where project_id = ${projectId} and source_type = any(${mailSources}::text[]) and id >= ${firstIdAt(since)}::uuid)
      + (select count(*) from automation_runs where project_id = ${projectId} and started_at > ${at}::timestamptz))::float8 as count`);
  return { count: row?.count ?? 0, minutes };
}

/** Scheduled campaigns and workflow mail of the next days, the earliest first. */
export async function upcoming(db: Database, projectId: string, query: UpcomingQuery, now: Date): Promise<Upcoming> {
  const limit = positiveInteger(query.limit, 50, 100);
  const until = new Date(now.getTime() + positiveInteger(query.daysAhead, 30, 90) * dayMs);
  const [campaigns, mails] = await Promise.all([
    db.em.find(
      Campaign,
      { projectId, status: CampaignStatus.SCHEDULED, scheduledFor: { $lte: until } },
      { orderBy: { scheduledFor: 'asc', id: 'asc' }, limit },
    ),
    upcomingMails(db, projectId, until, limit),
  ]);
  const segmentIds = campaigns.flatMap(({ segmentId }) => segmentId ?? []);
  const segments = await db.em.find(Segment, { projectId, id: { $in: segmentIds } });
  const segmentNames = new Map(segments.map(({ id, name }) => [id, name]));
  const activities = [
    ...campaigns.map(
      ({ id, scheduledFor, name: campaignName, subject, totalRecipients, segmentId, audienceType }): ActivityItem => ({
        id: `campaign_${id}_scheduled`,
        type: 'campaign.scheduled',
        timestamp: scheduledFor?.toISOString() ?? '',
        metadata: {
          ...{ campaignName, subject, totalRecipients, audienceType },
          segmentName: segmentNames.get(segmentId ?? '') ?? null,
        },
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
