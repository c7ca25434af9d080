import { mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { isoText } from '../../store/columns.ts';
import type { NewEvent } from '../../store/record-events.ts';
import { type Query, raw, sql } from '../../store/sql.ts';
import type { UnsentStatus } from '../status.ts';

/** The counts of mail, columns of `mail_counts`. */
export const mailCountColumns = [
  'outgoing',
  'incoming',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'rated',
  'rated_bounced',
  'rated_complained',
] as const;

const instants = ['delivered_at', 'opened_at', 'clicked_at', 'bounced_at', 'complained_at'];

/** SQL of a table of one row, for `lateral`: whether the mail `row`, which has `countedColumns`, is in each of the counts (1 or 0). */
export function countsOf(row: string): Query {
  return raw(
    `mail_counts_of(${['source_type', 'status', 'simulated', ...instants].map((name) => `${row}.${name}`).join(', ')})`,
  );
}

const hourOf = (at: string) => raw(`date_bin('1 hour', ${at}, timestamptz 'epoch')`);

/** The statement that counts new mail of a project: `rows` names the CTE of its rows in the ledger. */
export function countingMail(projectId: string, rows: string): Query {
  return sql`
    insert into mail_count_changes (project_id, hour, outgoing, incoming, rated)
    select ${projectId}::uuid, ${hourOf('min(m.created_at)')}, sum(c.outgoing), sum(c.incoming), sum(c.rated)
    from ${raw(rows)} m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated) c having count(*) > 0`;
}

/**
 * The statement that counts mail which waited (PENDING or SENDING, so nothing had happened to it) and is not sent after all. `rows` names a CTE
 * with `endedColumns`.
 */
export function countingUnsent(rows: string, status: UnsentStatus): Query {
  return sql`
    insert into mail_count_changes (project_id, hour, outgoing, rated)
    select m.project_id, ${hourOf('m.created_at')}, sum(now.outgoing - was.outgoing), sum(now.rated - was.rated)
    from ${raw(rows)} m cross join lateral mail_counts_of(m.source_type, 'PENDING', m.simulated) was
      cross join lateral mail_counts_of(m.source_type, ${raw(`'${status}'`)}, m.simulated) now
    group by 1, 2`;
}

/**
 * The statement that counts mail of campaigns as skipped, once `usageMoved` has moved its quota. `rows` names a CTE with `endedColumns` and
 * `send_seq`.
 */
export function countingSkipped(rows: string): Query {
  return raw(`
    update campaigns c set skipped_count = c.skipped_count + n.mails
    from (select campaign_id, send_seq, count(*)::int as mails from ${rows} where campaign_id is not null group by 1, 2) n
    where c.id = n.campaign_id and c.send_seq = n.send_seq and (select count(*) from usage_moved) >= 0`);
}

/** The columns of the row `e` of a mail that ends, for usage, counts and the event `email.failed`. */
export const endedColumns = `e.id, e.project_id, e.contact_id, e.subject, e.render ->> 'subject' as source_subject, e."from",
        e.from_name, e.message_id, e.template_id, e.campaign_id, e.source_type, e.message_class, e.reason, e.simulated, e.created_at,
        e.limited_by`;

/** The columns of a mail that say what it counts as. */
export const countedColumns = ['id', 'project_id', 'created_at', 'source_type', 'status', 'simulated', ...instants];

/** The statement that moves mail between the counts: CTEs of rows by `countedColumns`, as they were (locked) and as they are. */
export function countingChange(before: string, after: string): Query {
  const difference = (count: string) => `now.${count} - was.${count}`;
  return sql`
    insert into mail_count_changes (project_id, hour, ${raw(mailCountColumns.join(', '))})
    select after.project_id, ${hourOf('after.created_at')}, ${raw(mailCountColumns.map((count) => `sum(${difference(count)})`).join(', '))}
    from ${raw(after)} after join ${raw(before)} before using (id)
      cross join lateral ${countsOf('before')} was cross join lateral ${countsOf('after')} now
    where ${raw(mailCountColumns.map((count) => `${difference(count)} <> 0`).join(' or '))}
    group by 1, 2`;
}

/** The event `email.failed` of a mail that will not be sent, from its row, which has `endedColumns`. */
export function failedEvent(row: string, sourceSubject = `${row}.source_subject`): NewEvent {
  return {
    projectId: raw(`${row}.project_id`),
    contactId: raw(`${row}.contact_id`),
    emailId: raw(`${row}.id`),
    name: 'email.failed',
    data: raw(`${mailPayload(row, `coalesce(${row}.subject, ${sourceSubject})`)} || jsonb_build_object('error', mail_reason_text(${row}.reason),
      'failedAt', ${isoText('now()')}) || ${mailTags(row)}`),
    mailAt: raw('now()'),
    limitedBy: raw(`${row}.limited_by`),
  };
}

/**
 * The events of mail that waited and is FAILED now: `rows` names a CTE with `endedColumns`. A mail that the provider has taken by then is
 * reported by its webhook. `after` names a CTE that changes what has to be locked before.
 */
export function failedEvents(rows: string, after: string): NewEvent {
  const from = sql`${raw(rows)} f where f.message_id is null and (select count(*) from ${raw(after)}) >= 0`;
  return { ...failedEvent('f'), from };
}
