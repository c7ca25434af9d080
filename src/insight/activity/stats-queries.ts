import { type Sql, statement } from '../../core/database/sql.ts';
import { firstIdAt } from '../../core/lib/ids.ts';

const recent = statement(
  'activity.recent',
  `select ((select count(*) from events where project_id = $1 and created_at > $2::timestamptz)
     + (select count(*) from emails where project_id = $1 and id >= $3::uuid)
     + (select count(*) from automation_runs where project_id = $1 and started_at > $2::timestamptz))::float8 as count`,
);

/** How many events were recorded, mails created and runs of automations begun since an instant; the id of a mail tells when it was. */
export async function countSince(sql: Sql, projectId: string, since: Date): Promise<number> {
  return (await sql.row<{ count: number }>(recent, [projectId, since.toISOString(), firstIdAt(since)]))?.count ?? 0;
}

/** A campaign that waits for its time. */
export interface ScheduledCampaign {
  id: string;
  at: string;
  campaignName: string;
  subject: string;
  totalRecipients: number;
  segmentName: string | null;
  audienceType: string;
}

const scheduled = statement(
  'activity.scheduled_campaigns',
  `select c.id, c.scheduled_for::text as at, c.name as "campaignName", c.subject, c.total_recipients as "totalRecipients",
     s.name as "segmentName", c.audience_type as "audienceType"
   from campaigns c left join segments s on s.id = c.segment_id
   where c.project_id = $1 and c.status = 'SCHEDULED' and c.scheduled_for <= $2::timestamptz
   order by c.scheduled_for, c.id limit $3`,
);

/** Campaigns that are to be sent up to an instant, the earliest first. */
export function scheduledCampaigns(
  sql: Sql,
  projectId: string,
  until: Date,
  limit: number,
): Promise<ScheduledCampaign[]> {
  return sql.rows<ScheduledCampaign>(scheduled, [projectId, until.toISOString(), limit]);
}
