import { type Sql, statement } from '../../core/database/sql.ts';
import type { SqlSpan } from '../../core/lib/span.ts';

/** A sent campaign with its counters. */
export interface CampaignCounts {
  id: string;
  subject: string;
  sentCount: number;
  openedCount: number;
  clickedCount: number;
}

const top = statement(
  'analytics.top_campaigns',
  `select id, subject, sent_count as "sentCount", opened_count as "openedCount", clicked_count as "clickedCount"
   from campaigns
   where project_id = $1 and status = 'SENT' and sent_at >= $2::timestamptz and sent_at < $3::timestamptz
   order by opened_count desc, sent_at desc, id desc limit $4`,
);

/** Campaigns that were sent within a span, those with the most opens first. */
export function mostOpened(sql: Sql, projectId: string, span: SqlSpan, limit: number): Promise<CampaignCounts[]> {
  return sql.rows<CampaignCounts>(top, [projectId, span.from, span.until, limit]);
}

/** How many campaigns there are, and what the sent ones of them add up to. */
export interface CampaignTotals {
  total: number;
  active: number;
  completed: number;
  sent: number;
  opened: number;
  clicked: number;
}

const totals = statement(
  'analytics.campaign_totals',
  `select m.*, s.* from (
     select count(*)::int as total, (count(*) filter (where status in ('DRAFT', 'SCHEDULED')))::int as active
     from campaigns where project_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz) m,
   (select count(*)::int as completed, coalesce(sum(sent_count), 0)::float8 as sent,
      coalesce(sum(opened_count), 0)::float8 as opened, coalesce(sum(clicked_count), 0)::float8 as clicked
    from campaigns
    where project_id = $1 and status = 'SENT' and sent_at >= $2::timestamptz and sent_at < $3::timestamptz) s`,
);

/** Counts campaigns by when they were created, and sent ones by when they were sent. */
export async function campaignTotals(sql: Sql, projectId: string, span: SqlSpan): Promise<CampaignTotals> {
  const none = { total: 0, active: 0, completed: 0, sent: 0, opened: 0, clicked: 0 };
  return (await sql.row<CampaignTotals>(totals, [projectId, span.from, span.until])) ?? none;
}
