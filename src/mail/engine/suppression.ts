import { usageMoved } from '../../billing/daily-queries.ts';
import {
  type KeyLimits,
  suppressionOf,
  suppressionOfHoldout,
  suppressionOfKey,
} from '../../contacts/suppressions/matching.ts';
import { enabledRules } from '../../contacts/suppressions/rules.ts';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import type { Holdout } from '../../projects/schema.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { countingSkipped, countingUnsent, endedColumns } from '../ledger/counting.ts';
import { withoutBytes } from '../ledger/queries.ts';

/** Who gets a mail. */
export interface MailRecipient {
  address: string;
  /** The contact that it is marketing to; null for other mail. */
  marketingTo: string | null;
}

/** Finds out what keeps mail back from its recipient; null where nothing does. */
export type Suppressing = (recipient: MailRecipient) => SuppressionMatch | null;

/** What keeps mail of a project back beside its rules. */
interface SuppressedBeside {
  /** The control group; null for none. */
  holdout: Holdout | null;
  /** The limits of the key that began the send. */
  limits?: { key: KeyLimits; from: string } | undefined;
}

/** Reads the rules of a project as they are now; null where nothing can keep mail back. */
export async function suppressing(
  db: Database,
  projectId: string,
  { holdout, limits }: SuppressedBeside,
): Promise<Suppressing | null> {
  const rules = await enabledRules(db, projectId);
  if (rules.length === 0 && limits === undefined && holdout === null) return null;
  const now = new Date();
  return ({ address: to, marketingTo: contactId }) =>
    suppressionOf(rules, to, now) ??
    (limits ? suppressionOfKey(limits.key, { to, from: limits.from }, now) : null) ??
    (contactId === null ? null : suppressionOfHoldout(holdout, { projectId, contactId, to }, now));
}

/** A mail that a rule matched at hand-over; texts are null where they are not rendered. */
export interface SuppressedRow {
  id: string;
  suppression: SuppressionMatch;
  subject: string | null;
  body: string | null;
}

/**
 * Ends mail as SUPPRESSED: that of a queue while this claim holds it, or (null) that of a campaign while it waits. A suppressed mail gives
 * back its quota under the month's limit, and counts in its campaign. Returns how many mails were ended.
 */
export async function writeSuppressed(
  db: Database,
  mails: readonly SuppressedRow[],
  claimId: string | null,
): Promise<number> {
  const ids = mails.map(({ id }) => id);
  const row = await db.row<{ ended: number }>(sql`
    with held as (delete from email_queue where email_id = any(${ids}::uuid[]) and claim_id = ${claimId} returning email_id),
    suppressed as (
      update emails e set status = 'SUPPRESSED', suppression = k.suppression::jsonb, subject = coalesce(k.subject, e.subject),
        body = coalesce(k.body, e.body), render = case when k.subject is null then e.render end,
        attachments = ${raw(withoutBytes('e.attachments'))}, updated_at = now()
      from unnest(${ids}::uuid[], ${mails.map(({ suppression }) => JSON.stringify(suppression))}::text[],
        ${mails.map(({ subject }) => subject)}::text[], ${mails.map(({ body }) => body)}::text[]) as k (id, suppression, subject, body)
      where e.id = k.id and e.status in ('PENDING', 'SENDING') and e.sent_at is null
        and (${claimId}::text is null or e.id in (select email_id from held))
      returning ${raw(endedColumns)}, e.send_seq),
    ${raw(usageMoved('suppressed', 'false', 'true'))},
    counted as (${countingUnsent('suppressed', 'SUPPRESSED')}),
    skipped as (${countingSkipped('suppressed')})
    select count(*)::int as ended from suppressed`);
  return row?.ended ?? 0;
}
