import { mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { isoText } from '../../store/columns.ts';
import { newEvent } from '../../store/record-events.ts';
import { type Query, raw, sql } from '../../store/sql.ts';

const out = `m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED')`;
const rated = `${out} and m.status <> 'FAILED' and not m.simulated`;

/**
 * What each count of mail is of, as conditions on a row `m` of the ledger. Deleted mail is taken off by the trigger
 * `uncount_deleted_mail`, and `settle_mail` counts what it settles; both follow the same conditions.
 */
export const countConditions = {
  outgoing: out,
  incoming: `m.source_type = 'INBOUND'`,
  delivered: `${out} and m.delivered_at is not null`,
  opened: `${out} and m.opened_at is not null`,
  clicked: `${out} and m.clicked_at is not null`,
  bounced: `${out} and m.bounced_at is not null`,
  rated,
  rated_bounced: `${rated} and m.bounced_at is not null`,
  rated_complained: `${rated} and m.complained_at is not null`,
} as const;

type Count = keyof typeof countConditions;
const counts = Object.keys(countConditions) as Count[];
const hourOf = (at: string) => raw(`date_bin('1 hour', ${at}, timestamptz 'epoch')`);

/** The statement that counts new mail of a project: `rows` names the CTE of its rows in the ledger. */
export function countingMail(projectId: string, rows: string): Query {
  const number = (count: Count) => raw(`count(*) filter (where ${countConditions[count]})`);
  return sql`
    insert into mail_count_changes (project_id, hour, outgoing, incoming, rated)
    select ${projectId}::uuid, ${hourOf('min(m.created_at)')}, ${number('outgoing')}, ${number('incoming')}, ${number('rated')}
    from ${raw(rows)} m having count(*) > 0`;
}

/**
 * The statement that counts mail which waited (PENDING or SENDING, so nothing had happened to it) and is not sent after all. FAILED counts as
 * outgoing still; SUPPRESSED and CANCELLED are in no statistics. `rows` names a CTE with `endedColumns`.
 */
export function countingUnsent(rows: string, status: 'FAILED' | 'SUPPRESSED' | 'CANCELLED'): Query {
  return sql`
    insert into mail_count_changes (project_id, hour, outgoing, rated)
    select m.project_id, ${hourOf('m.created_at')}, ${raw(status === 'FAILED' ? '0' : '-count(*)')}, -count(*) filter (where not m.simulated)
    from ${raw(rows)} m group by 1, 2`;
}

/** What the consequences of a mail that ends read of its row `e`: usage, counts and the event `email.failed`. */
export const endedColumns = `e.id, e.project_id, e.contact_id, e.subject, e.render ->> 'subject' as source_subject, e."from",
        e.from_name, e.message_id, e.template_id, e.campaign_id, e.source_type, e.message_class, e.reason, e.simulated, e.created_at`;

/** The columns of a mail that say what it counts as. */
export const countedColumns =
  'id project_id source_type status simulated created_at delivered_at opened_at clicked_at bounced_at complained_at'.split(
    ' ',
  );

/** The statement that moves mail between the counts: CTEs of rows by `countedColumns`, as they were (locked) and as they are. */
export function countingChange(before: string, after: string): Query {
  const of = (row: string, count: Count) => `(${countConditions[count].replaceAll('m.', `${row}.`)})::int`;
  const differences = counts.map((count) => `${of('after', count)} - ${of('before', count)} as ${count}`);
  return raw(`
    insert into mail_count_changes (project_id, hour, ${counts.join(', ')})
    select after.project_id, date_bin('1 hour', after.created_at, timestamptz 'epoch'), d.*
    from ${after} after join ${before} before using (id) cross join lateral (select ${differences.join(', ')}) d
    where ${counts.map((count) => `d.${count} <> 0`).join(' or ')}`);
}

/** The event `email.failed` of a mail that will not be sent, from its row, which has `endedColumns`. */
export function failedEvent(row: string, sourceSubject = `${row}.source_subject`): Query {
  return newEvent({
    projectId: raw(`${row}.project_id`),
    contactId: raw(`${row}.contact_id`),
    emailId: raw(`${row}.id`),
    name: sql`'email.failed'`,
    data: raw(`${mailPayload(row)} || jsonb_build_object('subject', coalesce(${row}.subject, ${sourceSubject}), 'error', mail_reason_text(${row}.reason),
      'failedAt', ${isoText('now()')}) || ${mailTags(row)}`),
    mailAt: sql`now()`,
  });
}

/**
 * The events of mail that waited and is FAILED now: `rows` names a CTE with `endedColumns`. A mail that the provider has taken by then is
 * reported by its webhook. `after` is what they come after, a condition.
 */
export function failedEvents(rows: string, after: Query): Query {
  return sql`select ${failedEvent('f')} from ${raw(rows)} f where f.message_id is null and ${after}`;
}
