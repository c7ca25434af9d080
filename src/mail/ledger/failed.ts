import { mailPayload, mailTags } from '../../contacts/events/queries.ts';
import { isoText } from '../../store/columns.ts';
import { newEvent } from '../../store/record-events.ts';
import { type Query, raw, sql } from '../../store/sql.ts';

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
