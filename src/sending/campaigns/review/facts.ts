import { hash } from 'node:crypto';
import { type Database, sql } from '../../../core/database/sql.ts';

/** Everything but the contacts themselves that decides what a send hands over, each by a hash. */
export type ReviewFacts = Readonly<Record<string, string>>;

/** Content, audience rule and settings of a campaign as they are now; null when it is gone. */
export async function factsOf(db: Database, projectId: string, campaignId: string): Promise<ReviewFacts | null> {
  const row = await db.row<Record<string, unknown>>(sql`
    select c.subject, c.body, c."from", c.from_name as "fromName", c.reply_to as "replyTo", c.type,
      c.audience_type as "audienceType", c.audience_condition as "audienceCondition", c.segment_id as "segmentId",
      case when c.audience_type = 'SEGMENT' then (select jsonb_build_object('type', s.type, 'condition', s.condition)
        from segments s where s.project_id = c.project_id and s.id = c.segment_id) end as segment,
      p.name as "project.name", p.tracking as "project.tracking", p.language as "project.language",
      p.escape_contact_data as "project.escapeContactData"
    from campaigns c join projects p on p.id = c.project_id
    where c.project_id = ${projectId} and c.id = ${campaignId}`);
  if (row === null) return null;
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [field, hash('sha256', JSON.stringify(value ?? null), 'base64url')]),
  );
}

/** The fields that differ between a review and now, in the order of the campaign's fields. */
export function changedFields(reviewed: ReviewFacts, now: ReviewFacts): string[] {
  return Object.keys({ ...now, ...reviewed }).filter((field) => reviewed[field] !== now[field]);
}
