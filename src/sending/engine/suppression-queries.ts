import type { SuppressionMatch } from '../../audience/suppressions/index.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { usageMoved } from '../../platform/billing/index.ts';
import { withoutBytes } from '../ledger/index.ts';

/** A mail that a rule matched at hand-over; texts are null where they are not rendered. */
export interface SuppressedRow {
  id: string;
  suppression: SuppressionMatch;
  subject: string | null;
  body: string | null;
}

/** Ends mail as SUPPRESSED: that of a queue while this claim holds it, or (null) that of a campaign while it waits. */
export async function writeSuppressed(
  db: Database,
  mails: readonly SuppressedRow[],
  claimId: string | null,
): Promise<void> {
  const ids = mails.map(({ id }) => id);
  const held = sql`held as (delete from email_queue where email_id = any(${ids}::uuid[]) and claim_id = ${claimId} returning email_id),`;
  // A suppressed mail gives back its quota under the month's limit.
  await db.count(sql`
    with ${claimId === null ? sql`` : held}
    suppressed as (
      update emails e set status = 'SUPPRESSED', suppression = k.suppression::jsonb, subject = coalesce(k.subject, e.subject),
        body = coalesce(k.body, e.body), render = case when k.subject is null then e.render end,
        attachments = ${raw(withoutBytes('e.attachments'))}, updated_at = now()
      from unnest(${ids}::uuid[], ${mails.map(({ suppression }) => JSON.stringify(suppression))}::text[],
        ${mails.map(({ subject }) => subject)}::text[], ${mails.map(({ body }) => body)}::text[]) as k (id, suppression, subject, body)
      where e.id = k.id and e.status in ('PENDING', 'SENDING') and e.sent_at is null
        and ${claimId === null ? sql`true` : sql`e.id in (select email_id from held)`}
      returning e.project_id, e.source_type, e.message_class, e.created_at),
    ${raw(usageMoved('suppressed', 'false', 'true'))} select count(*) from suppressed`);
}
