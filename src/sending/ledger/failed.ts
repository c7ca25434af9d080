import { mailPayload, mailTags } from '../../audience/events/index.ts';
import { isoText } from '../../core/database/columns.ts';
import { newEvent } from '../../core/database/record-events.ts';
import { type Query, raw, sql } from '../../core/database/sql.ts';

/**
 * The event `email.failed` of a mail that will not be sent, made from its row in the ledger. Whoever writes FAILED without the
 * provider's word records it, but for what a campaign skips on purpose; what the provider refuses after it took the mail is its report.
 */
export function failedEvent(row: string): Query {
  return newEvent({
    projectId: raw(`${row}.project_id`),
    contactId: raw(`${row}.contact_id`),
    emailId: raw(`${row}.id`),
    name: sql`'email.failed'`,
    data: raw(`${mailPayload(row)} || jsonb_build_object('subject', coalesce(${row}.subject, ${row}.render ->> 'subject'),
      'error', mail_reason_text(${row}.reason), 'failedAt', ${isoText('now()')}) || ${mailTags(row)}`),
    mailAt: sql`now()`,
  });
}
