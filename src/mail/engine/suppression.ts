import { usageMoved } from '../../billing/daily-queries.ts';
import { type KeyLimits, suppressionOf, suppressionOfKey } from '../../contacts/suppressions/matching.ts';
import { enabledRules } from '../../contacts/suppressions/rules.ts';
import type { SuppressionMatch } from '../../contacts/suppressions/schema.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { countingUnsent, endedColumns } from '../ledger/counting.ts';
import { withoutBytes } from '../ledger/queries.ts';

/** A mail that a rule matched at hand-over; texts are null where they are not rendered. */
export interface SuppressedRow {
  id: string;
  suppression: SuppressionMatch;
  subject: string | null;
  body: string | null;
}

/** How mail is checked before it is handed over. */
export interface SuppressionOptions<Mail> {
  projectId: string;
  /** The id of the mail's row. */
  idOf(mail: Mail): string;
  /** The texts that would have been sent; null where they are not kept or cannot be made. */
  textsOf(mail: Mail): { subject: string; body: string } | null;
  /** The key whose limits hold for the mail, and who it is from; absent where none do. */
  limits?: { key: KeyLimits; from: string };
}

/** Mail that the rules of a project match, and what its rows shall say, as `writeSuppressed` takes it. */
export interface Suppressed<Mail> {
  mails: ReadonlySet<Mail>;
  rows: SuppressedRow[];
}

/** Which mail a rule of the project matches by now. Writes nothing. */
export async function findSuppressed<Mail extends { toAddress: string }>(
  db: Database,
  mails: readonly Mail[],
  { projectId, idOf, textsOf, limits }: SuppressionOptions<Mail>,
): Promise<Suppressed<Mail>> {
  const rules = mails.length === 0 ? [] : await enabledRules(db, projectId);
  if (rules.length === 0 && limits === undefined) return { mails: new Set(), rows: [] };
  const now = new Date();
  const suppressed = mails.flatMap((mail) => {
    const suppression =
      suppressionOf(rules, mail.toAddress, now) ??
      (limits ? suppressionOfKey(limits.key, { to: mail.toAddress, from: limits.from }, now) : null);
    return suppression === null ? [] : [{ mail, suppression }];
  });
  const rows = suppressed.map(({ mail, suppression }) => {
    const texts = textsOf(mail);
    return { id: idOf(mail), suppression, subject: texts?.subject ?? null, body: texts?.body ?? null };
  });
  return { mails: new Set(suppressed.map(({ mail }) => mail)), rows };
}

/**
 * Checks queued mail once more before it is handed over: what a rule of the project matches by now ends as SUPPRESSED,
 * where `claimId` still holds it. Answers that mail; the rest may go.
 */
export async function suppressQueued<Mail extends { toAddress: string }>(
  db: Database,
  mails: readonly Mail[],
  claimId: string,
  options: SuppressionOptions<Mail>,
): Promise<ReadonlySet<Mail>> {
  const suppressed = await findSuppressed(db, mails, options);
  if (suppressed.rows.length > 0) await writeSuppressed(db, suppressed.rows, claimId);
  return suppressed.mails;
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
      returning ${raw(endedColumns)}),
    ${raw(usageMoved('suppressed', 'false', 'true'))},
    counted as (${countingUnsent('suppressed', 'SUPPRESSED')})
    select count(*) from suppressed`);
}
