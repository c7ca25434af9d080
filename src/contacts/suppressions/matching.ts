import { hash } from 'node:crypto';
import type { ScopedKey } from '../../http/context.ts';
import { matchesGlob } from '../../lib/text.ts';
import { domainOf, localPartOf } from '../../lib/validation/email-address.ts';
import { ApiKey } from '../../projects/api-key-service.ts';
import { Project } from '../../projects/queries.ts';
import type { Holdout } from '../../projects/schema.ts';
import type { Database } from '../../store/sql.ts';
import type { MatchingRule, RuleMatch, SuppressionMatch } from './schema.ts';

/**
 * The match of the first rule that matches an address, or null (docs/contract/core.md#6-1). Mail with a match is kept with
 * status SUPPRESSED and never sent. `rules` are the enabled ones of the project in the order of
 * their creation; `address` is in its stored form.
 */
export function suppressionOf(rules: readonly MatchingRule[], address: string, at: Date): RuleMatch | null {
  const rule = rules.find((each) => matches(each, address));
  if (rule === undefined) return null;
  const { id: ruleId, name, kind, pattern } = rule;
  return { ruleId, name, kind, pattern, recipient: address, matchedAt: at.toISOString() };
}

function matches({ kind, pattern }: MatchingRule, address: string): boolean {
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

/** The columns of a key that limit its mail. */
export type KeyLimits = Pick<ScopedKey, 'id' | 'prefix' | 'recipients' | 'senderDomains'>;

/** Whether mail of a key reaches an address. */
export function reaches(key: Pick<KeyLimits, 'recipients'> | null, address: string): boolean {
  if (!key?.recipients) return true;
  const { domains, addresses } = key.recipients;
  return domains.includes(domainOf(address)) || addresses.includes(address);
}

/** Why mail of a key is kept and not sent; null where it may go. */
export function suppressionOfKey(
  key: KeyLimits | null,
  { to, from }: { to: string; from: string },
  at: Date,
): SuppressionMatch | null {
  if (key === null) return null;
  const maySend = key.senderDomains === null || key.senderDomains.includes(domainOf(from));
  if (maySend && reaches(key, to)) return null;
  const name = maySend ? 'key may not send to it' : 'key may not send from its sender';
  return { ruleId: key.id, name, kind: 'KEY', pattern: key.prefix, recipient: to, matchedAt: at.toISOString() };
}

/**
 * Whether a contact is in the control group of its project at an instant: by a hash, so that it stays there while the share grows
 * (docs/contract/journeys.md#4).
 */
export function isHeldOut(holdout: Holdout | null, contactId: string, at: Date): boolean {
  if (holdout === null || (holdout.until !== null && Date.parse(holdout.until) <= at.getTime())) return false;
  const digest = hash('sha256', `${holdout.key}\n${contactId}`, 'buffer');
  return (digest.readUIntBE(0, 6) / 2 ** 48) * 100 < holdout.percent;
}

/** Whether a contact is in the control group of its project now, and when that ends. */
export async function holdoutOf(
  db: Database,
  projectId: string,
  contactId: string,
): Promise<{ heldOut: boolean; until: string | null }> {
  const fields = ['holdout'] as const;
  const project = await db.session().em.findOne(Project, { id: projectId }, { fields, disableIdentityMap: true });
  const holdout = project?.holdout ?? null;
  const heldOut = isHeldOut(holdout, contactId, new Date());
  return { heldOut, until: heldOut ? (holdout?.until ?? null) : null };
}

/** Why marketing mail to a contact is kept and not sent: the control group of its project; null where the contact is not in it. */
export function suppressionOfHoldout(
  holdout: Holdout | null,
  { projectId, contactId, to }: { projectId: string; contactId: string; to: string },
  at: Date,
): SuppressionMatch | null {
  if (holdout === null || !isHeldOut(holdout, contactId, at)) return null;
  const pattern = `${holdout.percent}%`;
  return { ruleId: projectId, name: 'holdout', kind: 'HOLDOUT', pattern, recipient: to, matchedAt: at.toISOString() };
}

/** Why mail was suppressed, as reports of a campaign list it; `reasonSql` says the same of a row. */
export function suppressedText({ kind, name }: Pick<SuppressionMatch, 'kind' | 'name'>): string {
  return kind === 'HOLDOUT' ? 'In the control group (holdout)' : `Suppressed by rule "${name}"`;
}

/** The limits of the keys that started something. A key that was deleted since reaches nobody. */
export async function limitsOfKeys(db: Database, projectId: string, ids: readonly string[]): Promise<KeyLimits[]> {
  if (ids.length === 0) return [];
  const fields = ['prefix', 'recipients', 'senderDomains'] as const;
  const where = { projectId, id: [...ids] };
  const keys = await db.session().em.find(ApiKey, where, { fields, disableIdentityMap: true });
  const known = new Map(keys.map((key) => [key.id, key]));
  return ids.map((id) => {
    const key = known.get(id);
    if (key === undefined) return { id, prefix: '', recipients: { domains: [], addresses: [] }, senderDomains: null };
    return { id, prefix: key.prefix, recipients: key.recipients ?? null, senderDomains: key.senderDomains ?? null };
  });
}
