import { enabledRules, type SuppressionRule } from '../../audience/suppressions/queries.ts';
import type { SuppressionMatch } from '../../audience/suppressions/schema.ts';
import type { Sql } from '../../core/database/sql.ts';
import { domainOf, localPartOf } from '../../core/lib/email-address.ts';
import { matchesGlob } from '../../core/lib/glob.ts';
import { type CaughtMail, writeCaught } from './queries.ts';

/**
 * What the first rule that matches an address says of it, or null when none does (contract page 1, 6.1). Mail with a
 * match is kept with status SUPPRESSED and never handed over. `rules` are the enabled ones of the project in the order of
 * their creation; `address` is in its stored form.
 */
export function suppressionOf(rules: readonly SuppressionRule[], address: string, at: Date): SuppressionMatch | null {
  const rule = rules.find((each) => matches(each, address));
  if (rule === undefined) return null;
  const { id: ruleId, name, kind, pattern } = rule;
  return { ruleId, name, kind, pattern, recipient: address, matchedAt: at.toISOString() };
}

function matches({ kind, pattern }: SuppressionRule, address: string): boolean {
  switch (kind) {
    case 'ADDRESS':
      return address === pattern;
    case 'DOMAIN':
      return domainOf(address) === pattern;
    case 'PREFIX':
      return localPartOf(address).startsWith(pattern);
    case 'SUFFIX':
      return localPartOf(address).endsWith(pattern);
    case 'WILDCARD':
      return matchesGlob(pattern, address);
  }
}

/** How mail is looked at before it is handed over. */
export interface LookOptions<Mail> {
  projectId: string;
  /** The id of the mail's row. */
  idOf(mail: Mail): string;
  /** The texts that would have been sent; null where they are not kept or cannot be made. */
  textsOf(mail: Mail): { subject: string; body: string } | null;
}

/** Mail that the rules of a project match, and what its rows shall say, as `writeCaught` takes it. */
export interface Caught<Mail> {
  mails: ReadonlySet<Mail>;
  rows: CaughtMail[];
}

/** Which mail a rule of the project matches by now. Only looks: nothing is written. */
export async function findCaught<Mail extends { toAddress: string }>(
  sql: Sql,
  mails: readonly Mail[],
  { projectId, idOf, textsOf }: LookOptions<Mail>,
): Promise<Caught<Mail>> {
  const rules = mails.length === 0 ? [] : await enabledRules(sql, projectId);
  if (rules.length === 0) return { mails: new Set(), rows: [] };
  const now = new Date();
  const caught = mails.flatMap((mail) => {
    const suppression = suppressionOf(rules, mail.toAddress, now);
    return suppression === null ? [] : [{ mail, suppression }];
  });
  const rows = caught.map(({ mail, suppression }) => {
    const texts = textsOf(mail);
    return { id: idOf(mail), suppression, subject: texts?.subject ?? null, body: texts?.body ?? null };
  });
  return { mails: new Set(caught.map(({ mail }) => mail)), rows };
}

/**
 * Looks at queued mail once more before it is handed over: what a rule of the project matches by now ends as SUPPRESSED,
 * where `claimId` still holds it. Answers that mail; the rest may go.
 */
export async function catchMail<Mail extends { toAddress: string }>(
  sql: Sql,
  mails: readonly Mail[],
  claimId: string,
  options: LookOptions<Mail>,
): Promise<ReadonlySet<Mail>> {
  const caught = await findCaught(sql, mails, options);
  if (caught.rows.length > 0) await writeCaught(sql, caught.rows, claimId);
  return caught.mails;
}
