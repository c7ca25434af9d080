import { hourMs, type SqlSpan } from '../../lib/time.ts';
import { countedSpan } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { firstMailSince, recordedSince } from './feed-queries.ts';
import { type ActivityType, sources } from './types.ts';

// As `activity_counts` calls them; all other events are counted together, under no name.
const countedKinds = (types: ReadonlySet<ActivityType>) =>
  sources.flatMap(({ type, rows, event }) =>
    types.has(type) && (rows === 'events' || rows === 'mail') ? [event ?? ''] : [],
  );

/**
 * Counts the items of these types that the feed has within a span, by hours. Whole hours come from the counts that workers keep; the parts
 * of hours at the ends are counted by an index, and so is what happened after the counts were last brought up to date.
 */
export async function totalOf(
  db: Database,
  projectId: string,
  span: SqlSpan,
  types: ReadonlySet<ActivityType>,
): Promise<number> {
  const { from, first, last, until } = await countedSpan(db, projectId, ['events', 'runs'], span, hourMs);
  const has = (type: ActivityType) => types.has(type);
  const kinds = countedKinds(types);
  // Events that are not counted yet are the end of one index. The upper bound tells the planner that it is little; otherwise it would combine
  // indexes of the whole table.
  const row = await db.row<{ total: number }>(sql`
    select sum(items)::float8 as total from (
      select sum(items) from activity_counts
      where project_id = ${projectId} and hour >= ${first}::timestamptz and hour < ${last}::timestamptz and kind = any (${kinds}::text[])
      union all
      select sum(case when ${has('workflow.started')}::boolean then runs_started else 0 end
        + case when ${has('workflow.completed')}::boolean then runs_completed else 0 end)
      from (
        select runs_started, runs_completed from mail_counts
        where project_id = ${projectId} and hour >= ${first}::timestamptz and hour < ${last}::timestamptz
        union all
        select runs_started, runs_completed from mail_count_changes
        where project_id = ${projectId} and hour >= ${first}::timestamptz and hour < ${last}::timestamptz) runs
      union all
      select count(*) filter (where ${has('event.triggered')}::boolean
          and created_at >= ${first}::timestamptz and created_at < ${last}::timestamptz)
        + count(*) filter (where name = any (${kinds}::text[]) and mail_at >= ${first}::timestamptz and mail_at < ${last}::timestamptz)
      from events
      where project_id = ${projectId} and created_at >= (select counted_through from event_counts_state) and created_at < timestamptz 'infinity'
      union all
      select (select count(*) from events where ${has('event.triggered')}::boolean
          and project_id = ${projectId} and created_at >= part.begins and created_at < part.ends)
        + (select count(*) from events where ${has('email.sent')}::boolean
          and project_id = ${projectId} and name = 'email.sent' and mail_at >= part.begins and mail_at < part.ends)
        + (select count(*) from events
          where project_id = ${projectId} and name <> 'email.sent' and name = any (${kinds}::text[])
            and mail_at >= part.begins and mail_at < part.ends)
        + (select count(*) from automation_runs where ${has('workflow.started')}::boolean
          and project_id = ${projectId} and started_at >= part.begins and started_at < part.ends)
        + (select count(*) from automation_runs where ${has('workflow.completed')}::boolean
          and project_id = ${projectId} and completed_at >= part.begins and completed_at < part.ends)
      from (values (${from}::timestamptz, least(${first}::timestamptz, ${until}::timestamptz)),
        (greatest(${first}::timestamptz, ${last}::timestamptz), ${until}::timestamptz)) part (begins, ends)
      union all
      select count(*) from campaigns where ${has('campaign.sent')}::boolean
        and project_id = ${projectId} and sent_at >= ${from}::timestamptz and sent_at < ${until}::timestamptz
      union all
      select count(*) from emails where ${has('email.suppressed')}::boolean
        and project_id = ${projectId} and suppression is not null and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz
    ) counted (items)`);
  return row?.total ?? 0;
}

/** Counts the items of these types that the feed has of one contact within a span, each part by the index that the feed pages through. */
export async function totalOfContact(
  db: Database,
  projectId: string,
  contactId: string,
  { from, until }: SqlSpan,
  types: ReadonlySet<ActivityType>,
): Promise<number> {
  const has = (type: ActivityType) => types.has(type);
  const since = recordedSince(from);
  const [sent, sentAt] =
    since === null ? ['emails', 'sent_at'] : ['events', `case when name = 'email.sent' then mail_at end`];
  const row = await db.row<{ total: number }>(sql`
    select ((select count(*) from events where ${has('event.triggered')}::boolean
        and contact_id = c.id and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz)
      + (select count(*) from events where contact_id = c.id and name <> 'email.sent' and name = any (${countedKinds(types)}::text[])
        and mail_at >= ${from}::timestamptz and mail_at < ${until}::timestamptz)
      + (select count(*) from ${raw(sent)} where ${has('email.sent')}::boolean and contact_id = c.id and created_at >= ${since ?? '-infinity'}::timestamptz and created_at < timestamptz 'infinity'
        and ${raw(sentAt)} >= ${from}::timestamptz and ${raw(sentAt)} < ${until}::timestamptz)
      + (select count(*) from emails where ${has('email.suppressed')}::boolean
        and contact_id = c.id and id >= ${firstMailSince(from)}::uuid and suppression is not null
        and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz)
      + (select count(*) from automation_runs where ${has('workflow.started')}::boolean
        and contact_id = c.id and started_at >= ${from}::timestamptz and started_at < ${until}::timestamptz)
      + (select count(*) from automation_runs where ${has('workflow.completed')}::boolean
        and contact_id = c.id and completed_at >= ${from}::timestamptz and completed_at < ${until}::timestamptz))::float8 as total
    from contacts c where c.id = ${contactId}::uuid and c.project_id = ${projectId}`);
  return row?.total ?? 0;
}
