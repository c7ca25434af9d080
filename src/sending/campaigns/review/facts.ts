import { hash } from 'node:crypto';
import { storedDefinition } from '../../../audience/segments/index.ts';
import { type Database, sql } from '../../../core/database/sql.ts';
import { audienceMark } from '../audience/audience.ts';
import { lockCampaign } from '../state.ts';

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
  return row && hashed(row);
}

/**
 * Everything that the send of a campaign stands for: content, sender and settings, the definitions that choose its audience, and who is
 * in it by now. What can change it is locked until the transaction ends.
 * @throws 404; 400 for a stored condition that can no longer be read
 */
export async function launchFacts(
  tx: Database,
  projectId: string,
  campaignId: string,
  now: Date,
): Promise<ReviewFacts> {
  const campaign = await lockCampaign(tx, projectId, campaignId);
  const { audienceCondition, segmentId } = campaign;
  const held = (ids: readonly string[]) =>
    tx.rows<{ id: string; type: string; condition: unknown }>(sql`
      select id, type, condition from segments where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for share`);
  const own = segmentId ? await held([segmentId]) : [];
  const trees = [audienceCondition, ...own.map(({ condition }) => condition)].filter((tree) => tree != null);
  const named: string[] = [];
  for (const tree of trees) named.push(...(await storedDefinition(tx, projectId, tree)).segments.keys());
  const segments = [...own, ...(await held([...new Set(named)].filter((id) => id !== segmentId)))];
  const row = await tx.row<Record<string, unknown>>(sql`
    select name, document, status, revision, content_version as version, scheduled_for::text as "scheduledFor", resend_of as "resendOf",
      send_seq as "sendSeq", total_recipients - sent_count - skipped_count - failed_count as left
    from campaigns where id = ${campaignId}`);
  const facts = { ...row, segments, correction: campaign.correction, audience: await audienceMark(tx, campaign, now) };
  return { ...(await factsOf(tx, projectId, campaignId)), ...hashed(facts) };
}

/** A value for each fact, by which two of them are told apart. */
export function hashed(facts: Readonly<Record<string, unknown>>): ReviewFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([field, value]) => [field, hash('sha256', JSON.stringify(value ?? null), 'base64url')]),
  );
}

/** The fields that differ between a review and now, in the order of the campaign's fields. */
export function changedFields(reviewed: ReviewFacts, now: ReviewFacts): string[] {
  return Object.keys({ ...now, ...reviewed }).filter((field) => reviewed[field] !== now[field]);
}
