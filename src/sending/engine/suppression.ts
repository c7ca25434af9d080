import { enabledRules, suppressionOf } from '../../audience/suppressions/index.ts';
import type { Database } from '../../core/database/sql.ts';
import { type SuppressedRow, writeSuppressed } from './suppression-queries.ts';

/** How mail is checked before it is handed over. */
export interface SuppressionOptions<Mail> {
  projectId: string;
  /** The id of the mail's row. */
  idOf(mail: Mail): string;
  /** The texts that would have been sent; null where they are not kept or cannot be made. */
  textsOf(mail: Mail): { subject: string; body: string } | null;
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
  { projectId, idOf, textsOf }: SuppressionOptions<Mail>,
): Promise<Suppressed<Mail>> {
  const rules = mails.length === 0 ? [] : await enabledRules(db, projectId);
  if (rules.length === 0) return { mails: new Set(), rows: [] };
  const now = new Date();
  const suppressed = mails.flatMap((mail) => {
    const suppression = suppressionOf(rules, mail.toAddress, now);
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
