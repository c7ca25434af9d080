import type { SuppressionMatch } from '../../audience/suppressions/index.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { usageMoved } from '../../platform/billing/index.ts';
import { withoutBytes } from '../ledger/index.ts';

/** A mail that a rule matched at hand-over; texts are null where they are not rendered. */
export interface SuppressedRow {
  id: string;
  suppression: SuppressionMatch;
  subject: string | null;
  body: string | null;
}

const caught = (guard: string) => `
  update emails e set status = 'SUPPRESSED', suppression = k.suppression::jsonb, subject = coalesce(k.subject, e.subject),
    body = coalesce(k.body, e.body), render = case when k.subject is null then e.render end,
    attachments = ${withoutBytes('e.attachments')}, updated_at = now()
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as k (id, suppression, subject, body)
  where e.id = k.id and e.status in ('PENDING', 'SENDING') and e.sent_at is null and ${guard}
  returning e.project_id, e.source_type, e.message_class, e.created_at`;
// A suppressed mail gives back its room under the month's limit.
const counted = `${usageMoved('caught', 'false', 'true')} select count(*) from caught`;

const suppressInQueue = statement(
  'suppressions.suppress_queued',
  `with held as (delete from email_queue where email_id = any($1::uuid[]) and claim_id = $5 returning email_id),
   caught as (${caught('e.id in (select email_id from held)')}),
   ${counted}`,
);
const suppressInLedger = statement(
  'suppressions.suppress_pending',
  `with caught as (${caught('$5::text is null')}), ${counted}`,
);

/** Ends mail as SUPPRESSED: that of a queue while this claim holds it, or (null) that of a campaign while it waits. */
export async function writeSuppressed(
  sql: Sql,
  mails: readonly SuppressedRow[],
  claimId: string | null,
): Promise<void> {
  await sql.count(claimId === null ? suppressInLedger : suppressInQueue, [
    mails.map(({ id }) => id),
    mails.map(({ suppression }) => JSON.stringify(suppression)),
    mails.map(({ subject }) => subject),
    mails.map(({ body }) => body),
    claimId,
  ]);
}
