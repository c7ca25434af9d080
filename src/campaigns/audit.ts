import { type Sql, statement } from '../db/sql.ts';
import { notFound } from '../lib/errors.ts';
import { skipReasons } from './reasons.ts';
import type { CampaignAudit } from './schema.ts';

interface AuditRow extends Omit<CampaignAudit, 'addsUp'> {
  agrees: boolean;
}

// Counted from the rows, not from counters: this is what the counters are held against.
const audit = statement(
  'campaigns.audit',
  `with campaign as (
     select id, send_seq, total_recipients, sent_count, failed_count from campaigns where project_id = $1 and id = $2),
   grouped as (
     select sent_at is not null as sent, sent_at is null and status = 'PENDING' as waits,
       case when sent_at is null then error end as error, count(*)::int as count
     from emails where campaign_id = $2::uuid and send_seq = (select send_seq from campaign)
     group by 1, 2, 3),
   totals as (
     select coalesce(sum(count), 0)::int as recipients, coalesce(sum(count) filter (where sent), 0)::int as handed_over,
       coalesce(sum(count) filter (where not sent and not waits and error = any ($3::text[])), 0)::int as skipped,
       coalesce(sum(count) filter (where not sent and not waits and not coalesce(error = any ($3::text[]), false)), 0)::int as failed,
       coalesce(sum(count) filter (where waits), 0)::int as pending
     from grouped)
   select t.recipients, t.handed_over as "handedOver", t.skipped, t.failed, t.pending,
     t.recipients = c.total_recipients and t.handed_over = c.sent_count and t.skipped + t.failed = c.failed_count as agrees,
     coalesce((select jsonb_agg(jsonb_build_object('reason', coalesce(r.error, 'unknown'), 'count', r.count) order by r.count desc, r.error)
       from (select error, count from grouped where not sent and not waits order by count desc, error limit 10) as r), '[]') as reasons
   from campaign c, totals t`,
);

/** The ledger of a campaign's current send, added up. @throws 404 CAMPAIGN_NOT_FOUND */
export async function auditCampaign(sql: Sql, projectId: string, id: string): Promise<CampaignAudit> {
  const row = await sql.row<AuditRow>(audit, [projectId, id, Object.values(skipReasons)]);
  if (row === null) throw notFound('campaign', id);
  const { agrees, ...counts } = row;
  const { recipients, handedOver, skipped, failed, pending } = counts;
  return { ...counts, addsUp: agrees && pending === 0 && recipients === handedOver + skipped + failed };
}
